// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events: the latest recording, and the time at which its stream reached it.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::shared_event::{Passage, SharedEvent};
use super::stream::Stream;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::failure::Failure;
use crate::packet::{Edge, Point};

/// `hipEventDisableTiming`.
pub(crate) const DISABLE_TIMING: u32 = 0x2;
/// `hipEventInterprocess`.
pub(crate) const INTERPROCESS: u32 = 0x4;

/// An event. A new recording replaces the old one, for which earlier waits still wait.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) device: usize,
    flags: u32,
    latest: Mutex<Latest>,
    /// The part that other processes see, if there is one.
    shared: Option<Arc<SharedEvent>>,
}

#[derive(Clone, Debug, Default)]
enum Latest {
    #[default]
    Nothing,
    Recorded(Recording),
    Captured(CapturedPlace),
}

/// A place in a graph that was, or is being, captured.
#[derive(Clone, Debug)]
pub(crate) struct CapturedPlace {
    /// The number of the capture.
    pub(crate) capture: u64,
    /// Handles of the nodes that run before this place.
    pub(crate) nodes: Vec<u64>,
}

/// One recording of an event on a stream.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub(crate) point: Point,
    pub(crate) mark: Arc<Mark>,
    /// Whether it is on a stream of the client's: neither on the null stream nor by a graph.
    pub(crate) is_on_stream: bool,
}

/// The mark that a stream leaves in a recording when it reaches it.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    /// On the machine's clock.
    pub(crate) time: OnceLock<Duration>,
    /// The first failure on the stream since the recording before.
    pub(crate) failure: OnceLock<Arc<Failure>>,
    /// Failures that calls answered before the recording.
    known: Vec<Arc<Failure>>,
    /// The part that other processes see.
    passage: Passage,
}

impl Mark {
    /// The mark of a recording that a call makes now.
    pub(crate) fn on(stream: &Stream) -> Self {
        Self { known: stream.told_failures(), ..Self::default() }
    }

    /// Notes that the stream is here, at a time of the machine's clock.
    pub(crate) fn reach(&self, stream: &Stream, time: Duration) {
        let _ = self.time.set(time);
        let news = |failure: &Arc<Failure>| !self.known.iter().any(|known| Arc::ptr_eq(known, failure));
        if let Some(failure) = stream.take_failures().into_iter().find(news) {
            let _ = self.failure.set(failure);
        }
        self.passage.pass();
    }

    /// Notes that the stream has passed it on a device that has failed.
    pub(crate) fn skip(&self) {
        self.passage.pass();
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
        Self { device, flags, latest: Mutex::default(), shared: None }
    }

    /// An event that other processes see too.
    pub(crate) fn sharing(device: usize, flags: u32, shared: Arc<SharedEvent>) -> Self {
        Self { shared: Some(shared), ..Self::new(device, flags) }
    }

    /// The part that other processes see, if there is one.
    pub(crate) fn shared(&self) -> Option<&Arc<SharedEvent>> {
        self.shared.as_ref()
    }

    /// The latest recording, unless it was captured.
    pub(crate) fn recording(&self) -> Option<Recording> {
        match &*self.lock() {
            Latest::Recorded(recording) => Some(recording.clone()),
            Latest::Nothing | Latest::Captured(_) => None,
        }
    }

    /// The edge for work that waits for the event: the latest recording, of any process, unless it is reached.
    pub(crate) fn edge(&self) -> Option<Edge> {
        match &self.shared {
            Some(shared) => {
                let latest = shared.latest().filter(|latest| !latest.is_over())?;
                Some(Edge::Condition(Arc::new(latest.awaited())))
            }
            None => {
                let point = self.recording()?.point;
                (!point.is_reached()).then_some(Edge::Point(point))
            }
        }
    }

    /// The latest recording, if it was captured.
    pub(crate) fn captured(&self) -> Option<CapturedPlace> {
        match &*self.lock() {
            Latest::Captured(place) => Some(place.clone()),
            Latest::Nothing | Latest::Recorded(_) => None,
        }
    }

    /// Records by means of `enqueue`. Of two threads that record at once one waits for the other, so the event stands
    /// for the recording that was queued last.
    pub(crate) fn record(&self, enqueue: impl FnOnce() -> Outcome<Recording>) -> Outcome<()> {
        let mut latest = self.lock();
        let recording = enqueue()?;
        if let Some(shared) = &self.shared {
            recording.mark.passage.share(shared.record());
        }
        *latest = Latest::Recorded(recording);
        Ok(())
    }

    /// Has the event stand for a place in a captured graph.
    pub(crate) fn capture(&self, place: CapturedPlace) {
        *self.lock() = Latest::Captured(place);
    }

    fn lock(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds from this event to `end`, as hipEventElapsedTime has it.
    pub(crate) fn milliseconds_until(&self, end: &Self) -> Outcome<f32> {
        if (self.flags | end.flags) & DISABLE_TIMING != 0 {
            return Err(Code::INVALID_HANDLE);
        }
        let (Some(start), Some(end)) = (self.recording(), end.recording()) else {
            return Err(Code::INVALID_HANDLE);
        };
        if !start.point.is_reached() || !end.point.is_reached() {
            return Err(Code::NOT_READY);
        }
        // A recording has no time if its device failed before.
        let (Some(start), Some(end)) = (start.mark.time.get(), end.mark.time.get()) else {
            return Err(Code::INVALID_HANDLE);
        };
        let forward = end.saturating_sub(*start).as_secs_f64();
        let backward = start.saturating_sub(*end).as_secs_f64();
        Ok(((forward - backward) * 1000.0) as f32)
    }
}
