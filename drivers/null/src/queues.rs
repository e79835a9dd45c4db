// SPDX-License-Identifier: MIT OR Apache-2.0
//! All queues of a device: the operations that wait, the host calls that run, and draining.

use windlass_hal::{Deadline, HostCalls, Result, WaitPolicy, pending::PendingSet, wait_all};

/// The queues of one device. They share one pending set: nothing but semaphores orders them.
#[derive(Default)]
pub(crate) struct Queues {
    pub(crate) pending: PendingSet<Self>,
    pub(crate) calls: HostCalls,
}

impl Queues {
    /// Waits for the issued host calls. All other work is done when it is issued.
    pub(crate) fn drain(&self, deadline: Deadline) -> Result<()> {
        wait_all(&self.calls.ends(), deadline, WaitPolicy::default())
    }
}
