// SPDX-License-Identifier: MIT OR Apache-2.0
//! A pool of HIP events. One event stands for all signals of a submission.

use std::sync::{Arc, Mutex};

use windlass_hal::Result;

use crate::{call::Event, hip::Hip, sync::lock};

/// Events that no piece in flight holds. The piece that recorded an event shares it with threads that are making a
/// stream wait for it. The pool hands an event out again only when no other owner is left.
#[derive(Default)]
pub(crate) struct EventPool(Mutex<Vec<Arc<Event>>>);

impl EventPool {
    pub(crate) fn acquire(&self, hip: &Hip) -> Result<Arc<Event>> {
        let mut free = lock(&self.0);
        if let Some(index) = free.iter_mut().rposition(|event| Arc::get_mut(event).is_some()) {
            return Ok(free.swap_remove(index));
        }
        drop(free);
        Ok(Arc::new(hip.create_event()?))
    }

    pub(crate) fn release(&self, event: Arc<Event>) {
        lock(&self.0).push(event);
    }

    /// Takes every released event out, to destroy it.
    pub(crate) fn take(&self) -> Vec<Arc<Event>> {
        std::mem::take(&mut lock(&self.0))
    }
}
