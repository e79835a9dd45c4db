// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's side of semaphores: edges, and progress for the threads that wait for them.

use std::sync::Arc;

use windlass_hal::edge::{Domain, Edge, EdgeSource};

use crate::{device::Inner, queue::Queue};

impl EdgeSource for Inner {
    fn domain(&self) -> Domain {
        self.gpus.domain
    }

    fn poll(&self) {
        self.retire();
    }

    fn demand(&self, lane: u32, epoch: u64) {
        if let Some(queue) = self.queues.get(lane as usize) {
            self.demand_of(queue, epoch);
        }
    }
}

impl Inner {
    /// An edge that stands for an epoch of a queue.
    pub(crate) fn edge(self: &Arc<Self>, queue: &Queue, epoch: u64) -> Edge {
        Edge { source: self.clone(), lane: queue.index, epoch }
    }
}
