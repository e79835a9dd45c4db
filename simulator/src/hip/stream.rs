// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use crate::packet::{Queue, Role};

use super::capture::Capture;
use super::code::Outcome;
use super::failure::{Failure, Unreported};

/// A stream: a queue, and what HIP keeps with it.
#[derive(Debug)]
pub(crate) struct Stream {
    queue: Arc<Queue>,
    pub(crate) priority: i32,
    /// What the event recorded next has to tell.
    for_event: Unreported,
    /// What a synchronisation with the stream has to tell.
    for_synchronization: Unreported,
    /// What records the stream's work instead of running it.
    capture: Mutex<Option<Arc<Capture>>>,
}

impl Deref for Stream {
    type Target = Arc<Queue>;

    fn deref(&self) -> &Arc<Queue> {
        &self.queue
    }
}

impl Stream {
    pub(crate) fn new(queue: Arc<Queue>, priority: i32) -> Self {
        Self {
            queue,
            priority,
            for_event: Unreported::default(),
            for_synchronization: Unreported::default(),
            capture: Mutex::default(),
        }
    }

    /// The flags that the stream was made with, as HIP spells them.
    pub(crate) fn flags(&self) -> u32 {
        u32::from(self.role == Role::NonBlocking)
    }

    /// Notes that an item of the stream failed, whose device goes on.
    pub(crate) fn fail(&self, failure: &Arc<Failure>) {
        self.for_event.note(failure);
        self.for_synchronization.note(failure);
    }

    /// What failed since an event was recorded last. Whoever records one now takes it over.
    pub(crate) fn take_failures(&self) -> Vec<Arc<Failure>> {
        self.for_event.take()
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
}
