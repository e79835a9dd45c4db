// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams: queues of packets, with HIP's priority and the failures that no call has answered yet.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::hip::words::code::Outcome;
use crate::hip::words::failure::{Failure, Unreported};
use crate::packet::{Queue, Role};

/// `hipSyncPolicyAuto`.
const POLICY_AUTO: u32 = 1;

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    queue: Arc<Queue>,
    pub(crate) priority: i32,
    /// The compute units that its client chose, in words of 32; none for all of them.
    pub(crate) units: Vec<u32>,
    /// How calls that wait for it wait, in HIP's numbers.
    policy: AtomicU32,
    /// The failures that the event recorded next stands for.
    for_event: Unreported,
    /// The failures that a synchronisation with the stream answers.
    for_synchronization: Unreported,
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
            units: Vec::new(),
            policy: AtomicU32::new(POLICY_AUTO),
            for_event: Unreported::default(),
            for_synchronization: Unreported::default(),
        }
    }

    /// A stream for these compute units, in words of 32.
    pub(crate) fn on_units(queue: Arc<Queue>, units: Vec<u32>) -> Self {
        Self { units, ..Self::new(queue, 0) }
    }

    /// How calls that wait for it wait.
    pub(crate) fn policy(&self) -> u32 {
        self.policy.load(Ordering::Relaxed)
    }

    /// Sets how calls that wait for it wait. The simulator's calls wait in one way.
    pub(crate) fn set_policy(&self, policy: u32) {
        self.policy.store(policy, Ordering::Relaxed);
    }

    /// The flags of the call that made the stream, in HIP's numbers.
    pub(crate) fn flags(&self) -> u32 {
        u32::from(self.role == Role::NonBlocking)
    }

    /// Notes a failure of work of the stream. The device goes on.
    pub(crate) fn fail(&self, failure: &Arc<Failure>) {
        self.for_event.note(failure);
        self.for_synchronization.note(failure);
    }

    /// Takes the failures since an event was recorded last.
    pub(crate) fn take_failures(&self) -> Vec<Arc<Failure>> {
        self.for_event.take()
    }

    /// The failures since an event was recorded last that a call has answered. The next event does not repeat them.
    pub(crate) fn told_failures(&self) -> Vec<Arc<Failure>> {
        self.for_event.told()
    }

    /// `Err` with the first failure since the last synchronisation that no call has answered.
    pub(crate) fn report(&self) -> Outcome<()> {
        self.for_synchronization.report()
    }
}
