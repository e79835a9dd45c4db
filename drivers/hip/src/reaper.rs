// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reaper of a queue: a thread that makes progress when a thread that does not poll depends on the queue.
//!
//! It is started when it is first needed. It blocks inside HIP on the oldest event of its queue, and retires finished work.
//! An idle reaper keeps nothing of the device alive, and ends after a while.

use std::{sync::Weak, thread};

use windlass_hal::panics::contain;

use crate::{demand::Demand, device::Inner, queue::Queue};

impl Inner {
    /// Makes a queue progress on a reaper until `epoch` has retired.
    pub(crate) fn demand_of(&self, queue: &Queue, epoch: u64) {
        if queue.has_retired(epoch) || !queue.demand.raise(epoch) {
            return;
        }
        let (demand, device, index) = (queue.demand.clone(), self.this.clone(), queue.index);
        let name = format!("windlass-reaper-{index}");
        let spawned = thread::Builder::new().name(name).spawn(move || run(&demand, &device, index));
        if let Err(error) = spawned {
            tracing::error!(target: "windlass::hip", %error, "no thread for a reaper; only polling makes progress");
            queue.demand.withdraw();
        }
    }

    /// Retires a queue up to `epoch`, blocking in HIP.
    fn reap(&self, queue: &Queue, epoch: u64) {
        while !queue.has_retired(epoch) {
            let outcome = self.queues.first_obstacle(queue).and_then(|event| match event {
                Some(event) => self.hip.synchronize(*event),
                None => Ok(()),
            });
            if let Err(error) = outcome {
                self.hip.lose(error);
            }
            self.retire();
        }
    }
}

fn run(demand: &Demand, device: &Weak<Inner>, queue: u32) {
    let mut done = 0;
    while let Some(demanded) = demand.next(done) {
        // Held only while there is something to do for the device.
        let Some(device) = device.upgrade() else { break };
        // After a panic of the program's own code, the rest is still demanded.
        if contain("retiring work", || {
            if let Some(queue) = device.queues.get(queue as usize) {
                device.reap(queue, demanded);
            }
        }) {
            done = demanded;
        }
    }
}
