// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pooled events. One stands for all signals of a submission.

use std::sync::{Arc, Mutex};

use windlass_hal::Result;

use crate::{call, device::lock};

/// Events that are not in flight. A pooled event is shared by the submission that recorded it and by whoever makes
/// a stream wait for it just now; it is recorded anew only when neither holds it.
#[derive(Default)]
pub(crate) struct EventPool(Mutex<Vec<Arc<call::Event>>>);

impl EventPool {
    pub(crate) fn acquire(&self, hip: &call::Hip) -> Result<Arc<call::Event>> {
        let mut free = lock(&self.0);
        if let Some(index) = free.iter_mut().rposition(|event| Arc::get_mut(event).is_some()) {
            return Ok(free.swap_remove(index));
        }
        drop(free);
        Ok(Arc::new(hip.create_event()?))
    }

    pub(crate) fn release(&self, event: Arc<call::Event>) {
        lock(&self.0).push(event);
    }

    /// Everything that was released, for destruction.
    pub(crate) fn take(&self) -> Vec<Arc<call::Event>> {
        std::mem::take(&mut lock(&self.0))
    }
}
