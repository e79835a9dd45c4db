// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams, and points on them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::capture::Capture;
use super::code::Outcome;
use super::failure::{Failure, Unreported};

/// How a stream relates to its device's null stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The device's null stream: waits for every blocking stream, and they for it.
    Null,
    /// Ordered against the null stream both ways.
    Blocking,
    /// Knows nothing of the null stream.
    NonBlocking,
}

/// A queue of work that runs in order. What waits in it is kept by the scheduler.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Unique in its scheduler.
    pub(crate) id: u64,
    pub(crate) device: usize,
    pub(crate) role: Role,
    pub(crate) priority: i32,
    /// Items that have finished. Item number `n` (from 1) has finished once this is at least `n`.
    finished: AtomicU64,
    /// Set by hipStreamDestroy: nothing more is taken, what is queued still runs.
    destroyed: AtomicBool,
    /// What the event recorded next has to tell.
    for_event: Unreported,
    /// What a synchronisation with the stream has to tell.
    for_synchronization: Unreported,
    /// The stream that this one works for, as a part of a graph that was launched there.
    owner: Option<Arc<Stream>>,
    /// What records the stream's work instead of running it.
    capture: Mutex<Option<Arc<Capture>>>,
}

impl Stream {
    pub(crate) fn new(id: u64, device: usize, role: Role, priority: i32) -> Self {
        Self {
            id,
            device,
            role,
            priority,
            finished: AtomicU64::new(0),
            destroyed: AtomicBool::new(false),
            for_event: Unreported::default(),
            for_synchronization: Unreported::default(),
            owner: None,
            capture: Mutex::default(),
        }
    }

    /// A stream that does a part of what another was asked for.
    pub(crate) fn lane(id: u64, device: usize, owner: &Arc<Self>) -> Self {
        let lane = Self::new(id, device, Role::NonBlocking, owner.priority);
        lane.destroy();
        Self { owner: Some(owner.clone()), ..lane }
    }

    /// The flags that the stream was made with, as HIP spells them.
    pub(crate) fn flags(&self) -> u32 {
        u32::from(self.role == Role::NonBlocking)
    }

    pub(crate) fn finished(&self) -> u64 {
        self.finished.load(Ordering::Acquire)
    }

    /// Only the scheduler calls this, under its lock.
    pub(super) fn finish(&self, number: u64) {
        self.finished.store(number, Ordering::Release);
    }

    /// Notes that an item of the stream failed, whose device goes on.
    pub(crate) fn fail(&self, failure: &Arc<Failure>) {
        let stream = self.owner.as_deref().unwrap_or(self);
        stream.for_event.note(failure);
        stream.for_synchronization.note(failure);
    }

    /// What failed since an event was recorded last. Whoever records one now takes it over.
    pub(crate) fn take_failures(&self) -> Vec<Arc<Failure>> {
        self.owner.as_deref().unwrap_or(self).for_event.take()
    }

    /// What failed, and was told, since an event was recorded last: nothing for one that is recorded behind.
    pub(crate) fn told_failures(&self) -> Vec<Arc<Failure>> {
        self.for_event.told()
    }

    /// `Err` with what failed since somebody synchronised last, once.
    pub(crate) fn report(&self) -> Outcome<()> {
        self.for_synchronization.report()
    }

    /// What captures the stream's work, if anything does.
    pub(crate) fn capture(&self) -> Option<Arc<Capture>> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_capture(&self, capture: Option<Arc<Capture>>) {
        *self.capture.lock().unwrap_or_else(PoisonError::into_inner) = capture;
    }

    pub(crate) fn destroy(&self) {
        self.destroyed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Relaxed)
    }
}

/// The end of one item of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) stream: Arc<Stream>,
    pub(crate) number: u64,
}

impl Point {
    pub(crate) fn is_reached(&self) -> bool {
        self.stream.finished() >= self.number
    }
}
