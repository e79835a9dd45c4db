// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events: barriers in two halves, within one command buffer.
//!
//! An event belongs to a recording and not to the device. A command buffer may be in flight many times at once, and all
//! events are unsignalled at the beginning of each replay. An event object of the device would be one state that all
//! replays share. So an event is a name in the list, the recorder knows its state, and a driver needs nothing that
//! outlives a replay.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::words::error::{Error, Result};

/// A split barrier of one recording. See [`Recorder::signal_event`](crate::Recorder::signal_event).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    recording: u64,
    index: usize,
}

/// The events of a recording, with their states at the present point of the list.
#[derive(Debug)]
pub(crate) struct Events {
    recording: u64,
    signalled: Vec<bool>,
}

impl Events {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { recording: NEXT.fetch_add(1, Ordering::Relaxed), signalled: Vec::new() }
    }

    pub(crate) fn add(&mut self) -> Event {
        self.signalled.push(false);
        Event { recording: self.recording, index: self.signalled.len() - 1 }
    }

    /// The number of an event in the list. `INVALID_ARGUMENT` for an event of another recording.
    fn number(&self, event: Event) -> Result<usize> {
        if event.recording == self.recording {
            Ok(event.index)
        } else {
            Err(Error::invalid_argument(
                "the event belongs to another recording; make it with the recorder that uses it",
            ))
        }
    }

    pub(crate) fn signal(&mut self, event: Event) -> Result<usize> {
        let number = self.number(event)?;
        if self.signalled[number] {
            return Err(Error::failed_precondition(format!(
                "event {number} is signalled already; reset it before it is signalled again"
            )));
        }
        self.signalled[number] = true;
        Ok(number)
    }

    pub(crate) fn reset(&mut self, event: Event) -> Result<usize> {
        let number = self.number(event)?;
        self.signalled[number] = false;
        Ok(number)
    }

    pub(crate) fn wait(&self, events: &[Event]) -> Result<Box<[usize]>> {
        let number = |event: &Event| {
            let number = self.number(*event)?;
            if self.signalled[number] {
                return Ok(number);
            }
            Err(Error::failed_precondition(format!(
                "a wait for event {number}, which no command before signals; record the signal first"
            )))
        };
        events.iter().map(number).collect()
    }
}
