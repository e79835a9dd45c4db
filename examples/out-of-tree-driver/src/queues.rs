// SPDX-License-Identifier: MIT OR Apache-2.0
//! All queues of a device: the operations that wait, the stream that runs them, and draining.

use std::sync::Arc;

use windlass_hal::{
    Deadline, Error, HostCalls, Operation, Result, WaitPolicy, edge::Domain, pending::PendingSet, wait_all,
};

use crate::{
    allocator::Memory,
    queue,
    stream::{Lane, Stream},
};

/// The queues of one device. All share one pending set and one stream.
pub(crate) struct Queues {
    pub(crate) pending: PendingSet<Self>,
    pub(crate) calls: HostCalls,
    pub(crate) stream: Stream<Operation>,
    pub(crate) lane: Arc<Lane>,
}

impl Queues {
    pub(crate) fn new(domain: Domain, memory: Memory) -> Result<Self> {
        Ok(Self {
            pending: PendingSet::new(),
            calls: HostCalls::default(),
            stream: Stream::new(move |operation| queue::run(operation, &memory))?,
            lane: Arc::new(Lane(domain)),
        })
    }

    pub(crate) fn drain(&self, deadline: Deadline) -> Result<()> {
        if self.stream.is_current() {
            return Err(Error::failed_precondition(
                "a drain inside a waker that the machine's thread calls would wait for itself; drain from another thread",
            ));
        }
        let mut ends = self.calls.ends();
        ends.push(self.stream.end());
        wait_all(&ends, deadline, WaitPolicy::default())
    }
}
