// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's side of semaphores: edges, and progress for those who wait for them.

use std::sync::Arc;

use windlass_hal::{
    Result,
    edge::{Domain, Edge, EdgeSource},
};

use crate::{call::Event, device::Inner};

impl EdgeSource for Inner {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn poll(&self) {
        self.retire();
    }

    fn demand(&self, lane: u32, epoch: u64) {
        if let Some(queue) = self.queues.get(lane as usize).filter(|queue| !queue.has_retired(epoch)) {
            queue.reaper.demand(self.this(), lane, epoch);
        }
    }
}

impl Inner {
    /// What a stream has to wait for to honour an edge of this device; `None` if it has retired.
    pub(crate) fn event_of(&self, edge: &Edge) -> Result<Option<Arc<Event>>> {
        match self.queues.get(edge.lane as usize) {
            Some(queue) if !queue.has_retired(edge.epoch) => queue.event_from(self, edge.epoch),
            _ => Ok(None),
        }
    }

    /// Retires a queue up to `epoch`, blocking in HIP. For its reaper.
    pub(crate) fn reap(&self, lane: u32, epoch: u64) {
        let Some(queue) = self.queues.get(lane as usize) else { return };
        while !queue.has_retired(epoch) {
            let outcome = queue.oldest_event(self).and_then(|event| match event {
                Some(event) => self.hip.synchronize(*event),
                None => Ok(()),
            });
            if let Err(error) = outcome {
                self.lose(error);
            }
            self.retire();
            if queue.is_idle() {
                // Nothing is left that this epoch could stand for; whoever retires now has it in hand.
                return;
            }
        }
    }
}
