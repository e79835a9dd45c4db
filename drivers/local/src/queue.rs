// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues: what happens to an operation once its waits are reached.
//!
//! `windlass_hal::pending` keeps operations until then. What is issued goes to the threads of the device's [`Pool`], where
//! it has one; what is done sooner than a thread is woken, and everything where it has none, goes to the list of the
//! thread that issues it, and the [`trampoline`] runs it there. Host calls go to the callback pool.

use std::sync::Arc;

use windlass_hal::{
    Deadline, Error, HostCalls, Limits, Operation, Points, Result, WaitPolicy,
    edge::Domain,
    pending::{Edges, Issue, PendingSet},
    wait_all,
};

use crate::{
    command_buffer::SHORT_TRANSFER,
    in_flight::InFlight,
    pool::{self, Pool},
    trampoline,
    work::{Job, Owed, Ready},
};

/// The queues of one device. They share one pending set: nothing but semaphores orders them.
pub(crate) struct Queues {
    limits: Limits,
    pending: PendingSet<Self>,
    calls: HostCalls,
    in_flight: InFlight,
    /// The device's threads; `None` for the inline form.
    pool: Option<Pool<Job>>,
}

impl Queues {
    /// With so many threads of their own.
    pub(crate) fn new(limits: Limits, threads: usize) -> Result<Self> {
        Ok(Self {
            limits,
            pending: PendingSet::new(),
            calls: HostCalls::default(),
            in_flight: InFlight::default(),
            pool: if threads > 0 { Some(Pool::start(threads)?) } else { None },
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// How many threads can run parts of one operation.
    pub(crate) fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, Pool::threads)
    }

    /// Asks up to so many other threads to help with something.
    pub(crate) fn ask_for_help(&self, parts: u64, job: impl Fn() -> Job) {
        if let Some(pool) = &self.pool {
            for _ in 0..parts.min(pool.threads() as u64 - 1) {
                pool.push(job());
            }
        }
    }

    /// Runs the end of an operation, which may issue others, on a thread that is free behind it.
    pub(crate) fn ending(&self, end: impl FnOnce()) {
        match &self.pool {
            Some(pool) => pool.ending(end),
            None => end(),
        }
    }

    /// Waits for what was issued on other threads, host calls among it.
    pub(crate) fn drain(&self, deadline: Deadline) -> Result<()> {
        if trampoline::is_running() || pool::is_worker() {
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

/// The threads end when nothing is left that they could run: operations hold the queues.
impl Drop for Queues {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.close();
        }
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

    fn issue(self: &Arc<Self>, operation: Operation, _waits: Points, signals: Points, _edges: Edges) {
        let operation = match operation {
            Operation::HostCall(call) => return self.calls.spawn(call, signals),
            operation => operation,
        };
        let pool = self.pool.as_ref().filter(|_| !is_short(&operation));
        let flight = self.in_flight.begin();
        let owed = Owed { queues: self.clone(), signals, flight, on_pool: pool.is_some() };
        let ready = Box::new(Ready { owed, operation });
        match pool {
            Some(pool) => pool.push(Job::Begin(ready)),
            None => {
                if self.pool.is_none() {
                    // Work of any length, on a thread that may be another device's.
                    pool::announce();
                }
                trampoline::push(ready);
            }
        }
    }

    fn issued(self: &Arc<Self>) {
        trampoline::run();
    }
}

/// Whether an operation is done sooner than another thread hears of it.
fn is_short(operation: &Operation) -> bool {
    match operation {
        Operation::Barrier | Operation::Alloca { .. } | Operation::Dealloca { .. } => true,
        Operation::Fill { target, .. }
        | Operation::Update { target, .. }
        | Operation::Copy { target, .. } => target.len() <= SHORT_TRANSFER,
        _ => false,
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
