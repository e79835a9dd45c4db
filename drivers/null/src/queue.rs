// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues: what happens to an operation once its waits are reached.
//!
//! `windlass_hal::pending` keeps operations until then and calls [`Issue::issue`] on the thread that reached the
//! last wait. A driver for hardware would enqueue the work there and attach an edge to each signal; this one does
//! the work at once.

use std::sync::Arc;

use windlass_hal::{
    Deadline, Error, HostCalls, Operation, Points, Result, WaitPolicy,
    edge::Domain,
    host_memory,
    pending::{self, Edges, Issue, PendingSet},
    pool::{Frontier, placed},
    wait_all,
};

use crate::command_buffer;

/// The queues of one device. They share one pending set: nothing but semaphores orders them.
#[derive(Default)]
pub(crate) struct Queues {
    pending: PendingSet<Self>,
    calls: HostCalls,
}

impl Queues {
    /// Waits for the host calls that were issued. All else is done when it is issued.
    pub(crate) fn drain(&self, deadline: Deadline) -> Result<()> {
        wait_all(&self.calls.ends(), deadline, WaitPolicy::default())
    }
}

impl Issue for Queues {
    type Work = Operation;

    /// Gives the set that keeps operations until their waits are reached: one for each device.
    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    /// Names whose edges can stand for this work's waits, or nothing where every wait must really be reached; here the work
    /// runs on the host.
    fn domain_for(&self, _work: &Operation) -> Option<Domain> {
        None
    }

    /// Starts work whose waits are reached or stand in `_edges`, on whichever thread reached the last of them and without
    /// waiting for other work; from here on every error, and every end, goes to the signal list.
    fn issue(self: &Arc<Self>, work: Operation, _waits: Points, signals: Points, _edges: Edges) {
        let result = match work {
            Operation::HostCall(call) => return self.calls.spawn(call, signals),
            work => run(work),
        };
        match result {
            Ok(()) => pending::reach(&signals),
            Err(error) => pending::fail(&signals, &error),
        }
    }
}

/// Whether this driver knows what to do with an operation. What it does not know is refused at submission.
pub(crate) fn is_known(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Barrier
            | Operation::Alloca { .. }
            | Operation::Dealloca { .. }
            | Operation::Fill { .. }
            | Operation::Update { .. }
            | Operation::Copy { .. }
            | Operation::Read { .. }
            | Operation::Write { .. }
            | Operation::HostCall(_)
            | Operation::Execute { .. }
    )
}

fn run(operation: Operation) -> Result<()> {
    match operation {
        // The memory was there from `reserve` on.
        Operation::Barrier | Operation::Alloca { .. } => Ok(()),
        Operation::Dealloca { buffer } => {
            // Whatever used it is done: whoever gets it next has nothing to wait for.
            if let Some(placed) = placed(&buffer) {
                placed.release(Frontier::new());
            }
            Ok(())
        }
        Operation::Fill { target, pattern } => host_memory::fill(&target, pattern),
        Operation::Update { source, target } => host_memory::update(&source, &target),
        Operation::Copy { source, target } => host_memory::copy(&source, &target),
        Operation::Execute { command_buffer, bindings } => {
            command_buffer::run(command_buffer.list(), &bindings)
        }
        other => Err(Error::internal(format!("{} was accepted and cannot be run", other.name()))),
    }
}
