// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues: what happens to an operation once its waits are reached.
//!
//! `windlass_hal::pending` keeps operations until then. What is issued goes to the list of the thread that issues it, and
//! the [`trampoline`] runs it there. Host calls go to the callback pool.

use std::sync::Arc;

use windlass_hal::{
    Deadline, Error, HostCalls, Limits, Operation, Points, Result, WaitPolicy,
    edge::Domain,
    host_memory, panics,
    pending::{self, Edges, Issue, PendingSet},
    pool::{Frontier, placed},
    wait_all,
};

use crate::{command_buffer, dispatch, in_flight::InFlight, trampoline, workgroup_count};

/// The queues of one device. They share one pending set: nothing but semaphores orders them.
pub(crate) struct Queues {
    limits: Limits,
    pending: PendingSet<Self>,
    calls: HostCalls,
    in_flight: InFlight,
}

impl Queues {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            pending: PendingSet::new(),
            calls: HostCalls::default(),
            in_flight: InFlight::default(),
        }
    }

    /// Waits for what was issued on other threads, host calls among it.
    pub(crate) fn drain(&self, deadline: Deadline) -> Result<()> {
        if trampoline::is_running() {
            return Err(Error::failed_precondition(
                "a drain inside an operation, or inside a waker that it calls, would wait for itself; drain from a \
                 thread of your own or from a host call",
            ));
        }
        let mut ends = self.calls.ends();
        ends.extend(self.in_flight.end_of_all());
        wait_all(&ends, deadline, WaitPolicy::default())
    }
}

impl Issue for Queues {
    type Work = Operation;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    /// The work runs on the host, so that every wait must really be reached.
    fn domain_for(&self, _work: &Operation) -> Option<Domain> {
        None
    }

    fn issue(self: &Arc<Self>, work: Operation, _waits: Points, signals: Points, _edges: Edges) {
        match work {
            Operation::HostCall(call) => self.calls.spawn(call, signals),
            work => {
                let flight = self.in_flight.begin();
                trampoline::push(Ready { queues: self.clone(), work, signals, flight });
            }
        }
    }

    fn issued(self: &Arc<Self>) {
        trampoline::run();
    }
}

/// An operation whose waits are reached.
pub(crate) struct Ready {
    queues: Arc<Queues>,
    work: Operation,
    signals: Points,
    flight: usize,
}

impl Ready {
    /// Runs the operation and settles its signals. Does not panic.
    pub(crate) fn run(self) {
        let Self { queues, work, signals, flight } = self;
        let name = work.name();
        let result = panics::caught(|| execute(work, &queues.limits))
            .unwrap_or_else(|text| Err(Error::aborted(format!("{name} panicked: {text}"))));
        match result {
            Ok(()) => pending::reach(&signals),
            Err(error) => pending::fail(&signals, &error),
        }
        queues.in_flight.end(flight);
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
            | Operation::HostCall(_)
            | Operation::Dispatch(_)
            | Operation::Execute { .. }
    )
}

/// Does the work, and lets go of it before its signals are reached.
fn execute(operation: Operation, limits: &Limits) -> Result<()> {
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
        Operation::Dispatch(launch) => {
            let (function, size) = ((launch.executable.as_ref(), launch.function), launch.workgroup_size);
            match workgroup_count::resolve(&launch.workgroup_count, &[], function, size, limits)? {
                None => Ok(()),
                Some(workgroup_count) => dispatch::run(&dispatch::Launch {
                    executable: launch.executable.as_ref(),
                    function: launch.function,
                    workgroup_count,
                    workgroup_size: launch.workgroup_size,
                    dynamic_local_memory: launch.dynamic_local_memory,
                    arguments: &launch.arguments,
                }),
            }
        }
        Operation::Execute { command_buffer, bindings } => {
            command_buffer::run(command_buffer.list(), &bindings, limits)
        }
        other => Err(Error::internal(format!("{} was accepted and cannot be run", other.name()))),
    }
}
