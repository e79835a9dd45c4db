// SPDX-License-Identifier: MIT OR Apache-2.0
//! The HIP events of a queue. One event stands for all signals of a submission.

use std::sync::Arc;

use windlass_hal::Result;

use crate::{call::Event, hip::Hip};

/// Events that no piece in flight holds. The piece that recorded an event shares it with threads that are making a
/// stream wait for it. The pool hands an event out again only when no other owner is left. All events are of the GPU of
/// the queue, because an event can be recorded only in streams of the GPU that it was made on. Any stream may wait for it.
#[derive(Default)]
pub(crate) struct EventPool {
    events: Vec<Arc<Event>>,
    /// Whether the events take times.
    timed: bool,
}

impl EventPool {
    /// A pool of events that take times.
    pub(crate) fn timed() -> Self {
        Self { events: Vec::new(), timed: true }
    }

    pub(crate) fn acquire(&mut self, hip: &Hip) -> Result<Arc<Event>> {
        match self.events.iter_mut().rposition(|event| Arc::get_mut(event).is_some()) {
            Some(index) => Ok(self.events.swap_remove(index)),
            None if self.timed => Ok(Arc::new(hip.create_timed_event()?)),
            None => Ok(Arc::new(hip.create_event()?)),
        }
    }

    pub(crate) fn release(&mut self, event: Arc<Event>) {
        self.events.push(event);
    }

    pub(crate) fn extend(&mut self, events: impl IntoIterator<Item = Arc<Event>>) {
        self.events.extend(events);
    }

    pub(crate) fn into_events(self) -> impl Iterator<Item = Arc<Event>> {
        self.events.into_iter()
    }

    /// Takes every released event out, to destroy it.
    pub(crate) fn take(&mut self) -> Vec<Arc<Event>> {
        std::mem::take(&mut self.events)
    }
}
