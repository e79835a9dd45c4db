// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues: how an operation gets onto the stream, and what it does there.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use windlass_hal::{
    Buffer, Deadline, Error, HostCalls, Notifications, Operation, Points, Result, WaitPolicy, WorkgroupCount,
    edge::{Domain, Edge, EdgeSource},
    pending::{self, Edges, Issue, PendingSet},
    pool::{Frontier, placed},
    wait_all,
};

use crate::{
    allocator::{Memory, bytes_of},
    command_buffer,
    machine::{self, Launch},
    stream::{Lane, Packet, Stream},
};

/// The queues of one device: one pending set and one stream, whatever a submission's queue is.
pub(crate) struct Queues {
    pending: PendingSet<Self>,
    calls: HostCalls,
    stream: Stream<Operation>,
    lane: Arc<Lane>,
}

impl Queues {
    pub(crate) fn new(domain: Domain, memory: Memory) -> Result<Self> {
        Ok(Self {
            pending: PendingSet::new(),
            calls: HostCalls::default(),
            stream: Stream::new(move |operation| run(operation, &memory))?,
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

impl Issue for Queues {
    type Work = Operation;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    /// On the stream an edge of the stream is as good as a value: it stands for work that runs before. A host call runs
    /// elsewhere and needs values.
    fn domain_for(&self, work: &Operation) -> Option<Domain> {
        (!matches!(work, Operation::HostCall(_))).then(|| self.lane.domain())
    }

    /// The edges need no wait: there is one stream, and it works in order. A device with several would append here a wait
    /// for `(edge.lane, edge.epoch)` of every other lane.
    fn issue(self: &Arc<Self>, work: Operation, waits: Points, signals: Points, _edges: Edges) {
        if let Operation::HostCall(call) = work {
            return self.calls.spawn(call, signals);
        }
        match self.stream.enqueue(Packet { work, waits, signals: signals.clone() }) {
            Ok(epoch) => {
                // From here on, what waits for these values may be enqueued behind this work.
                let mut notifications = Notifications::new();
                for signal in signals.iter() {
                    let edge = Edge { source: self.lane.clone(), lane: 0, epoch };
                    signal.semaphore.attach_edge(signal.value, edge, &mut notifications);
                }
                notifications.fire();
            }
            Err(error) => pending::fail(&signals, &error),
        }
    }
}

/// Refuses at submission what the stream cannot run.
pub(crate) fn check(operation: &Operation) -> Result<()> {
    match operation {
        Operation::Dispatch(dispatch) => direct(&dispatch.workgroup_count).map(drop),
        Operation::Barrier
        | Operation::Alloca { .. }
        | Operation::Dealloca { .. }
        | Operation::Fill { .. }
        | Operation::Update { .. }
        | Operation::Copy { .. }
        | Operation::HostCall(_)
        | Operation::Execute { .. } => Ok(()),
        other => Err(Error::unimplemented(format!("the postfix machine has no {}", other.name()))),
    }
}

/// A workgroup count that is known beforehand.
pub(crate) fn direct(count: &WorkgroupCount) -> Result<[u32; 3]> {
    match count {
        WorkgroupCount::Direct(count) => Ok(*count),
        _ => Err(Error::unimplemented("the postfix machine reads no workgroup counts from memory")),
    }
}

/// Does the work of one operation, and lets go of it.
fn run(operation: Operation, memory: &Memory) -> Result<()> {
    match operation {
        Operation::Barrier | Operation::Alloca { .. } => Ok(()),
        Operation::Dealloca { buffer } => {
            // Whatever used it ran before on this stream: whoever gets it next has nothing to wait for.
            if let Some(placed) = placed(&buffer) {
                placed.release(Frontier::new());
            }
            Ok(())
        }
        Operation::Fill { target, pattern } => fill(&target, pattern.bytes()),
        Operation::Update { source, target } => fill(&target, &source),
        Operation::Copy { source, target } => copy(&source, &target),
        Operation::Dispatch(dispatch) => machine::run(&Launch {
            executable: dispatch.executable.as_ref(),
            function: dispatch.function,
            workgroup_count: direct(&dispatch.workgroup_count)?,
            workgroup_size: dispatch.workgroup_size,
            dynamic_local_memory: dispatch.dynamic_local_memory,
            arguments: &dispatch.arguments,
            memory,
        }),
        Operation::Execute { command_buffer, bindings } => {
            command_buffer::run(command_buffer.list(), &bindings, memory)
        }
        other => Err(Error::internal(format!("{} was accepted and cannot be run", other.name()))),
    }
}

/// Writes bytes over a range, again and again where it is longer.
pub(crate) fn fill(target: &Buffer, bytes: &[u8]) -> Result<()> {
    for (to, from) in bytes_of(target)?.iter().zip(bytes.iter().cycle()) {
        to.store(*from, Relaxed);
    }
    Ok(())
}

/// Copies a range over another of its length.
pub(crate) fn copy(source: &Buffer, target: &Buffer) -> Result<()> {
    for (to, from) in bytes_of(target)?.iter().zip(bytes_of(source)?) {
        to.store(from.load(Relaxed), Relaxed);
    }
    Ok(())
}
