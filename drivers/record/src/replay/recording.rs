// SPDX-License-Identifier: MIT OR Apache-2.0
//! A recording: a file that was read and checked.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use windlass_hal::{Error, Result};

use super::{
    check::{Fate, Verdict, check},
    objects::named,
};
use crate::format::{
    chunk::{self, Contents, Data},
    coding::Bytes,
    event::{Event, Header, Origin, Work},
};

/// A recording of a device's work, read from a file and checked. Nothing of it has run.
#[derive(Debug)]
pub struct Recording {
    header: Header,
    pub(super) events: Vec<(u64, Event)>,
    pub(super) data: Data,
    cut: Option<u64>,
    pub(super) fates: HashMap<u32, Fate>,
    /// Semaphores that fail at some point.
    pub(super) failing: HashSet<u32>,
    /// The contents of imported memory, by the buffer.
    pub(super) contents: HashMap<u32, Bytes>,
    /// Buffers that other buffers share memory with.
    pub(super) shared: HashSet<u32>,
    /// Buffers that end within the recording: their memory is not there for a second run.
    pub(super) passing: HashSet<u32>,
    /// Buffers of the device's own memory, which a dealloca releases. For all others a dealloca is a barrier.
    pub(super) allocated: HashSet<u32>,
    /// The buffers that the commands of a command buffer name.
    pub(super) named: HashMap<u32, Vec<u32>>,
    /// The events of submissions, by the operation.
    pub(super) submissions: HashMap<u32, usize>,
}

impl Recording {
    /// Reads a recording. `DATA_LOSS` names the byte at which a file is damaged, and the version of a format that this
    /// crate does not read. `NOT_FOUND`, `PERMISSION_DENIED` or `UNAVAILABLE` where the file cannot be read.
    ///
    /// A file that was cut short is read up to the [cut](Self::cut).
    pub fn open(path: &Path) -> Result<Self> {
        let Contents { header, events, data, cut } = chunk::read(path)?;
        let Verdict { fates, failing } = check(&events, &data).map_err(|(at, what)| {
            Error::data_loss(format!("{} is no whole recording: at byte {at}, {what}", path.display()))
        })?;
        let (mut contents, mut shared, mut passing) = (HashMap::new(), HashSet::new(), HashSet::new());
        let (mut allocated, mut lists, mut submissions) = (HashSet::new(), HashMap::new(), HashMap::new());
        for (index, (_, event)) in events.iter().enumerate() {
            if let Event::Buffer { buffer, origin: Origin::Allocated {} | Origin::Reserved {}, .. } = event {
                allocated.insert(*buffer);
            }
            match event {
                Event::Contents { buffer, bytes } => _ = contents.insert(*buffer, bytes.clone()),
                Event::Buffer { origin: Origin::Alias { of, .. }, .. } => _ = shared.insert(*of),
                Event::Buffer { buffer, origin: Origin::Reserved {}, .. } | Event::BufferGone { buffer } => {
                    passing.insert(*buffer);
                }
                Event::List { list, commands, .. } => _ = lists.insert(*list, named(commands)),
                Event::Submit { submission } => {
                    submissions.insert(submission.operation, index);
                    if let Work::Dealloca { buffer } = submission.work {
                        passing.insert(buffer);
                    }
                }
                _ => {}
            }
        }
        Ok(Self {
            header,
            events,
            data,
            cut,
            fates,
            failing,
            contents,
            shared,
            passing,
            allocated,
            named: lists,
            submissions,
        })
    }

    /// The program that made it, with its version.
    pub fn made_by(&self) -> &str {
        &self.header.made_by
    }

    /// The URI of the recorded device.
    pub fn uri(&self) -> &str {
        &self.header.uri
    }

    /// The target that the recorded device's code was built for, such as `gfx942:sramecc+:xnack-`.
    pub fn architecture(&self) -> &str {
        &self.header.architecture
    }

    /// The byte at which the file was cut short, if it was. The events before it are whole.
    pub fn cut(&self) -> Option<u64> {
        self.cut
    }

    /// The number of operations.
    pub fn operations(&self) -> usize {
        self.fates.len()
    }

    /// The events as lines for people, in their order.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let [Header { made_by, uri, name, architecture }] = [&self.header];
        let first = format!("recorded by {made_by} over {uri} ({name}, {architecture})");
        let cut = self.cut.map(|at| format!("the file was cut short at byte {at}"));
        std::iter::once(first).chain(self.events.iter().map(|(_, event)| event.to_string())).chain(cut)
    }
}
