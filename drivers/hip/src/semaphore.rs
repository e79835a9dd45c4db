// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's side of semaphores: edges, and progress for those who wait for them.

use std::sync::Arc;

use windlass_hal::{
    Result,
    edge::{Domain, Edge, EdgeSource},
};

use crate::{call::Event, device::Inner, queue::Queue};

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
            Some(queue) if !queue.has_retired(edge.epoch) => queue.event_from(edge.epoch),
            _ => Ok(None),
        }
    }

    /// Retires a queue up to `epoch`, blocking in HIP. For its reaper.
    pub(crate) fn reap(&self, lane: u32, epoch: u64) {
        let Some(queue) = self.queues.get(lane as usize) else { return };
        while !queue.has_retired(epoch) {
            let outcome = self.obstacle(queue).and_then(|event| match event {
                Some(event) => self.hip.synchronize(*event),
                None => Ok(()),
            });
            if let Err(error) = outcome {
                self.hip.lose(error);
            }
            self.retire();
        }
    }

    /// The event that has to come before the oldest work of a queue can retire: its own, or one of the work that
    /// its edges name. Usually the stream has waited for those; where enqueuing that wait failed, it has not.
    fn obstacle(&self, queue: &Queue) -> Result<Option<Arc<Event>>> {
        let mut queue = queue;
        loop {
            // Edges lead to work that was enqueued before, so this ends.
            let Some((epoch, edges)) = queue.oldest() else { return Ok(None) };
            let open = edges.iter().find(|edge| !self.has_retired(edge.lane, edge.epoch));
            match open.and_then(|edge| self.queues.get(edge.lane as usize)) {
                Some(before) => queue = before,
                None => return queue.event_from(epoch),
            }
        }
    }
}
