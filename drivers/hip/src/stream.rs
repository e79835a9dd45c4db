// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stream of a queue and its verbs: wait, fill, copy, launch, record. Submitted operations and recorded commands both
//! go through them, so each verb is translated to HIP's calls once.

use std::sync::Arc;

use smallvec::SmallVec;
use windlass_hal::{Error, Pattern, Result};

use crate::{
    call::{Event, Launches, StreamHandle},
    event_pool::EventPool,
    gate::Opening,
    gpu::Gpu,
    quirks::Quirks,
};

/// An in-order stream of a GPU, which a queue owns.
#[derive(Clone, Copy)]
pub(crate) struct Stream<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) handle: StreamHandle,
}

impl Stream<'_> {
    /// Lets later work of the stream wait for an event.
    #[inline]
    pub(crate) fn wait(self, event: &Event) -> Result<()> {
        self.gpu.hip.wait_event(self.handle, *event)
    }

    /// Opens the gate of a foreign stream.
    pub(crate) fn open(self, opening: &Opening) -> Result<()> {
        self.gpu.hip.write_word(self.handle, opening.word())
    }

    /// Records an event behind everything in the stream.
    pub(crate) fn record(self, events: &mut EventPool) -> Result<Arc<Event>> {
        let hip = &self.gpu.hip;
        let event = events.acquire(hip)?;
        match hip.record(*event, self.handle) {
            Ok(()) => Ok(event),
            Err(error) => {
                events.release(event);
                Err(error)
            }
        }
    }

    /// Repeats a pattern over a range, whose address and length are multiples of the pattern's size. `staged` is the address
    /// of the [`fill_bytes`]; only a fill that HIP gets wrong needs them.
    pub(crate) fn fill(self, target: u64, length: u64, pattern: Pattern, staged: Option<u64>) -> Result<()> {
        let hip = &self.gpu.hip;
        if hip.quirks.fill_runs_away(target, length) {
            let staged =
                staged.ok_or_else(|| Error::internal("a fill that HIP gets wrong, without its bytes"))?;
            return self.copy(target, staged, length);
        }
        let size = pattern.bytes().len();
        hip.fill(self.handle, target, pattern.value(), size, length as usize / size)
    }

    /// Copies between device addresses: those of buffers, or of staged bytes.
    pub(crate) fn copy(self, target: u64, source: u64, length: u64) -> Result<()> {
        self.gpu.hip.copy(self.handle, target, source, length)
    }

    /// Launches of kernels, one behind the other.
    #[inline]
    pub(crate) fn launches(&self) -> Launches<'_> {
        self.gpu.hip.launches(self.handle)
    }
}

/// The bytes that a fill writes, if HIP gets the fill wrong at this address. They must be staged before
/// [`Stream::fill`], which copies them.
pub(crate) fn fill_bytes(
    quirks: &Quirks,
    target: u64,
    length: u64,
    pattern: Pattern,
) -> Option<SmallVec<[u8; 8]>> {
    quirks.fill_runs_away(target, length).then(|| repeated(pattern, length))
}

/// The bytes that a recorded fill writes, if HIP gets the fill wrong at some address: a command buffer may learn the address
/// only when it is submitted.
pub(crate) fn fill_bytes_anywhere(
    quirks: &Quirks,
    length: u64,
    pattern: Pattern,
) -> Option<SmallVec<[u8; 8]>> {
    quirks.fill_may_run_away(length).then(|| repeated(pattern, length))
}

fn repeated(pattern: Pattern, length: u64) -> SmallVec<[u8; 8]> {
    pattern.bytes().iter().copied().cycle().take(length as usize).collect()
}
