// SPDX-License-Identifier: MIT OR Apache-2.0
//! The check of a recording before anything of it runs: each event names objects that exist and bytes that are there, and
//! no replay can wait for an operation that cannot end.

use std::collections::{HashMap, HashSet};

use windlass_hal::Code;

use crate::format::{
    chunk::Data,
    coding::Bytes,
    event::{
        Argument, Arguments, At, Change, Command, Count, Ended, Event, Launch, Origin, Piece, Place, Range,
        Submission, Work,
    },
};

/// The part of an operation in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It runs, and its end is the event with this index.
    Ends(usize),
    /// It runs, and its end is not in the recording.
    Open,
    /// The device refused it, or it was cancelled when the device was closed.
    Left,
}

/// The facts that the check knows at some point of the recording.
struct Check<'a> {
    data: &'a Data,
    /// The sizes of buffers in bytes.
    buffers: HashMap<u32, u64>,
    executables: HashSet<u32>,
    lists: HashSet<u32>,
    submissions: HashMap<u32, &'a Submission>,
    ended: HashSet<u32>,
    /// The values of semaphores that a replay reaches.
    reached: HashMap<u32, u64>,
    failed: HashSet<u32>,
    closed: bool,
    fates: HashMap<u32, Fate>,
}

/// The result of the check.
pub(super) struct Verdict {
    /// The fates of all operations.
    pub(super) fates: HashMap<u32, Fate>,
    /// The semaphores that fail.
    pub(super) failing: HashSet<u32>,
}

/// Checks all events. An error is the offset of the first wrong event, and its fault.
pub(super) fn check(events: &[(u64, Event)], data: &Data) -> Result<Verdict, (u64, String)> {
    let mut check = Check {
        data,
        buffers: HashMap::new(),
        executables: HashSet::new(),
        lists: HashSet::new(),
        submissions: HashMap::new(),
        ended: HashSet::new(),
        reached: HashMap::new(),
        failed: HashSet::new(),
        closed: false,
        fates: HashMap::new(),
    };
    for (index, (at, event)) in events.iter().enumerate() {
        check.event(index, event).map_err(|what| (*at, what))?;
    }
    Ok(Verdict { fates: check.fates, failing: check.failed })
}

type Checked = Result<(), String>;

fn new(fresh: bool, what: &str, number: u32) -> Checked {
    if fresh { Ok(()) } else { Err(format!("{what} {number} appears twice")) }
}

impl<'a> Check<'a> {
    fn event(&mut self, index: usize, event: &'a Event) -> Checked {
        match event {
            Event::Buffer { buffer, origin, size, params } => {
                if let Origin::Alias { of, offset } = origin {
                    self.range(&Range { buffer: *of, offset: *offset, length: *size })?;
                }
                if let Origin::Global { executable, .. } = origin {
                    self.executable(*executable)?;
                }
                if params.min_alignment > 0 && !params.min_alignment.is_power_of_two() {
                    return Err(format!("buffer {buffer} is aligned to {} bytes", params.min_alignment));
                }
                new(self.buffers.insert(*buffer, *size).is_none(), "buffer", *buffer)
            }
            Event::BufferGone { buffer } => {
                self.buffer(*buffer)?;
                self.buffers.remove(buffer);
                Ok(())
            }
            Event::Executable { executable, parts } => {
                if parts.is_empty() {
                    return Err("an executable of no pieces".to_owned());
                }
                parts.iter().try_for_each(|part| self.bytes(part))?;
                new(self.executables.insert(*executable), "executable", *executable)
            }
            Event::List { list, commands, .. } => {
                commands.iter().try_for_each(|command| self.command(command))?;
                new(self.lists.insert(*list), "command buffer", *list)
            }
            Event::Submit { submission } => {
                self.work(&submission.work)?;
                let number = submission.operation;
                self.fates.insert(number, Fate::Open);
                new(self.submissions.insert(number, submission).is_none(), "operation", number)
            }
            Event::Refused { operation } => {
                self.submission(*operation)?;
                self.fates.insert(*operation, Fate::Left);
                new(self.ended.insert(*operation), "the end of operation", *operation)
            }
            Event::Began { operation } => {
                let submission = self.submission(*operation)?;
                if submission.work != (Work::HostCall {}) || !self.can_start(submission) {
                    return Err(format!(
                        "operation {operation} begins, and is no host call whose waits are reached"
                    ));
                }
                Ok(())
            }
            Event::Ended { ended } => self.end(index, ended),
            Event::HostWrite { buffer, changes } => self.changes(*buffer, changes),
            Event::HostSignal { at } => {
                self.reach(at);
                Ok(())
            }
            Event::HostFail { semaphore, .. } => {
                self.failed.insert(*semaphore);
                Ok(())
            }
            Event::Contents { buffer, bytes } => {
                self.bytes(bytes)?;
                match self.buffer(*buffer)? == bytes.len() {
                    true => Ok(()),
                    false => Err(format!("the contents of buffer {buffer} have another size")),
                }
            }
            Event::Closed {} => {
                self.closed = true;
                Ok(())
            }
        }
    }

    fn end(&mut self, index: usize, ended: &Ended) -> Checked {
        let submission = self.submission(ended.operation)?;
        new(self.ended.insert(ended.operation), "the end of operation", ended.operation)?;
        for readback in &ended.readbacks {
            for [offset, length] in &readback.ranges {
                self.range(&Range { buffer: readback.buffer, offset: *offset, length: *length })?;
            }
            self.changes(readback.buffer, &readback.changes)?;
        }
        for Piece { bytes, .. } in &ended.pieces {
            self.bytes(bytes)?;
        }
        let can_start = self.can_start(submission);
        let fate = match &ended.failure {
            None if !can_start => {
                return Err(format!("operation {} ends before its waits are reached", ended.operation));
            }
            None => Fate::Ends(index),
            Some(failure) if self.closed && failure.code == Code::Cancelled as u32 => Fate::Left,
            Some(_) if can_start || self.waits_fail(submission) => Fate::Ends(index),
            Some(_) => Fate::Left,
        };
        self.fates.insert(ended.operation, fate);
        for signal in &submission.signals {
            match ended.failure {
                None => self.reach(signal),
                Some(_) => _ = self.failed.insert(signal.semaphore),
            }
        }
        Ok(())
    }

    fn reach(&mut self, at: &At) {
        let value = self.reached.entry(at.semaphore).or_default();
        *value = at.value.max(*value);
    }

    fn can_start(&self, submission: &Submission) -> bool {
        let reached = |at: &At| self.reached.get(&at.semaphore).copied().unwrap_or(0) >= at.value;
        submission.waits.iter().all(reached)
    }

    fn waits_fail(&self, submission: &Submission) -> bool {
        submission.waits.iter().any(|at| self.failed.contains(&at.semaphore))
    }

    fn submission(&self, operation: u32) -> Result<&'a Submission, String> {
        self.submissions
            .get(&operation)
            .copied()
            .ok_or_else(|| format!("operation {operation} was not submitted"))
    }

    fn buffer(&self, buffer: u32) -> Result<u64, String> {
        self.buffers.get(&buffer).copied().ok_or_else(|| format!("buffer {buffer} does not exist"))
    }

    fn executable(&self, executable: u32) -> Checked {
        let exists = self.executables.contains(&executable);
        if exists { Ok(()) } else { Err(format!("executable {executable} does not exist")) }
    }

    fn range(&self, range: &Range) -> Checked {
        let size = self.buffer(range.buffer)?;
        match range.offset.checked_add(range.length) {
            Some(end) if end <= size => Ok(()),
            _ => Err(format!(
                "bytes {}.. of length {} do not lie in buffer {} of {size} bytes",
                range.offset, range.length, range.buffer
            )),
        }
    }

    fn place(&self, place: &Place) -> Checked {
        match place {
            Place::Direct { range } => self.range(range),
            Place::Slot { .. } => Ok(()),
        }
    }

    fn bytes(&self, bytes: &Bytes) -> Checked {
        if self.data.holds(bytes) {
            Ok(())
        } else {
            Err(format!("{} bytes are not in the file", bytes.len()))
        }
    }

    fn changes(&self, buffer: u32, changes: &[Change]) -> Checked {
        for change in changes {
            let (offset, length) = change.range();
            self.range(&Range { buffer, offset, length })?;
            if let Change::Bytes { bytes, .. } = change {
                self.bytes(bytes)?;
            }
        }
        Ok(())
    }

    fn work(&self, work: &Work) -> Checked {
        match work {
            Work::Barrier {} | Work::HostCall {} => Ok(()),
            Work::Alloca { buffer } | Work::Dealloca { buffer } => self.buffer(*buffer).map(|_| ()),
            Work::Fill { target, size, .. } => self.range(target).and_then(|()| pattern(*size)),
            Work::Update { source, target } => {
                self.bytes(source)?;
                self.range(target)
            }
            Work::Copy { source, target } => self.range(source).and_then(|()| self.range(target)),
            Work::Read { target: range, .. } | Work::Write { source: range, .. } => self.range(range),
            Work::Dispatch { launch } => self.launch(launch),
            Work::Execute { list, bindings } => {
                if !self.lists.contains(list) {
                    return Err(format!("command buffer {list} does not exist"));
                }
                bindings.iter().try_for_each(|range| self.range(range))
            }
        }
    }

    fn command(&self, command: &Command) -> Checked {
        match command {
            Command::Fill { target, size, .. } => self.place(target).and_then(|()| pattern(*size)),
            Command::Update { source, target } => self.bytes(source).and_then(|()| self.place(target)),
            Command::Copy { source, target } => self.place(source).and_then(|()| self.place(target)),
            Command::Dispatch { launch } => self.launch(launch),
            Command::SignalEvent { event } | Command::ResetEvent { event } => is_event(*event),
            Command::WaitEvents { events } => events.iter().try_for_each(|event| is_event(*event)),
            Command::Barrier {} | Command::BeginGroup { .. } | Command::EndGroup {} => Ok(()),
        }
    }

    fn launch(&self, launch: &Launch) -> Checked {
        self.executable(launch.executable)?;
        launch.keeps.iter().try_for_each(|buffer| self.buffer(*buffer).map(|_| ()))?;
        if let Count::Static { place } | Count::Dynamic { place } = &launch.count {
            self.place(place)?;
        }
        let address = |buffer: u32, offset: u64| self.range(&Range { buffer, offset, length: 0 });
        match &launch.arguments {
            Arguments::Each { arguments } => arguments.iter().try_for_each(|argument| match argument {
                Argument::Buffer { buffer, offset } => address(*buffer, *offset),
                Argument::Value { bytes } => self.bytes(bytes),
                Argument::Slot { .. } | Argument::Null {} => Ok(()),
            }),
            Arguments::Block { bytes, addresses, .. } => {
                self.bytes(bytes)?;
                addresses.iter().try_for_each(|found| {
                    if u64::from(found.at) + 8 > bytes.len() {
                        return Err(format!(
                            "an address at byte {} of {} bytes of arguments",
                            found.at,
                            bytes.len()
                        ));
                    }
                    address(found.buffer, found.offset)
                })
            }
        }
    }
}

fn pattern(size: u8) -> Checked {
    if matches!(size, 1 | 2 | 4) { Ok(()) } else { Err(format!("a pattern of {size} bytes")) }
}

/// The events of a list are made up to the greatest number, so a number must be one that a list can have.
fn is_event(event: u32) -> Checked {
    if event < 1 << 20 { Ok(()) } else { Err(format!("event {event} of a command buffer")) }
}
