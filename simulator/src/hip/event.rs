// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events: what was recorded last, and when the device got there.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::packet::Point;

use super::capture::Capture;
use super::code::{Code, Outcome};
use super::failure::Failure;
use super::stream::Stream;

/// `hipEventDisableTiming`.
pub(crate) const DISABLE_TIMING: u32 = 0x2;
/// `hipEventInterprocess`.
pub(crate) const INTERPROCESS: u32 = 0x4;

/// An event. Recording it again replaces what it stands for; who waits already is not affected.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) device: usize,
    flags: u32,
    latest: Mutex<Latest>,
}

/// What an event stands for.
#[derive(Clone, Debug, Default)]
enum Latest {
    #[default]
    Nothing,
    Recorded(Recording),
    /// A place in a graph that was, or is being, captured.
    Captured(Arc<Capture>, Vec<u64>),
}

/// One recording of an event on a stream.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub(crate) point: Point,
    pub(crate) mark: Arc<Mark>,
}

/// What a stream leaves in a recording when it gets there.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    /// On the machine's clock.
    pub(crate) time: OnceLock<Duration>,
    /// The first failure on the stream since the recording before.
    pub(crate) failure: OnceLock<Arc<Failure>>,
    /// Failures that were told before the recording was asked for.
    known: Vec<Arc<Failure>>,
}

impl Mark {
    /// For a recording that is asked for now.
    pub(crate) fn on(stream: &Stream) -> Self {
        Self { known: stream.told_failures(), ..Self::default() }
    }

    /// The stream has got here, at a time of the machine's clock.
    pub(crate) fn reach(&self, stream: &Stream, time: Duration) {
        let _ = self.time.set(time);
        let news = |failure: &Arc<Failure>| !self.known.iter().any(|known| Arc::ptr_eq(known, failure));
        if let Some(failure) = stream.take_failures().into_iter().find(news) {
            let _ = self.failure.set(failure);
        }
    }
}

impl Recording {
    /// `Err` with the failure that the recording stands for, if it is reached.
    pub(crate) fn check(&self) -> Outcome<()> {
        self.mark.failure.get().map_or(Ok(()), |failure| failure.answer())
    }
}

impl Event {
    pub(crate) fn new(device: usize, flags: u32) -> Self {
        Self { device, flags, latest: Mutex::default() }
    }

    /// The latest recording, if there is one that was not captured.
    pub(crate) fn recording(&self) -> Option<Recording> {
        match &*self.lock() {
            Latest::Recorded(recording) => Some(recording.clone()),
            Latest::Nothing | Latest::Captured(..) => None,
        }
    }

    /// The capture that the event was recorded in last, and the nodes that it stands for there.
    pub(crate) fn captured(&self) -> Option<(Arc<Capture>, Vec<u64>)> {
        match &*self.lock() {
            Latest::Captured(capture, nodes) => Some((capture.clone(), nodes.clone())),
            Latest::Nothing | Latest::Recorded(_) => None,
        }
    }

    /// Records by means of `enqueue`. Two threads that record at once do so one after the other, so that the event
    /// stands for whichever was queued later.
    pub(crate) fn record(&self, enqueue: impl FnOnce() -> Outcome<Recording>) -> Outcome<()> {
        let mut latest = self.lock();
        *latest = Latest::Recorded(enqueue()?);
        Ok(())
    }

    /// Has the event stand for nodes of a capture.
    pub(crate) fn capture(&self, capture: Arc<Capture>, nodes: Vec<u64>) {
        *self.lock() = Latest::Captured(capture, nodes);
    }

    fn lock(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds from this event to `end`, as hipEventElapsedTime has it.
    pub(crate) fn milliseconds_until(&self, end: &Self) -> Outcome<f32> {
        if (self.flags | end.flags) & DISABLE_TIMING != 0 {
            return Err(Code::INVALID_HANDLE);
        }
        if self.captured().is_some() || end.captured().is_some() {
            return Err(Code::CAPTURED_EVENT);
        }
        let (Some(start), Some(end)) = (self.recording(), end.recording()) else {
            return Err(Code::INVALID_HANDLE);
        };
        if !start.point.is_reached() || !end.point.is_reached() {
            return Err(Code::NOT_READY);
        }
        // A recording that was skipped because its device failed has no time.
        let (Some(start), Some(end)) = (start.mark.time.get(), end.mark.time.get()) else {
            return Err(Code::INVALID_HANDLE);
        };
        let forward = end.saturating_sub(*start).as_secs_f64();
        let backward = start.saturating_sub(*end).as_secs_f64();
        Ok(((forward - backward) * 1000.0) as f32)
    }
}
