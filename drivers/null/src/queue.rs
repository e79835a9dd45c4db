// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues: what happens to an operation once its waits are reached.
//!
//! `windlass_hal::pending` keeps operations until then and calls [`Issue::issue`] on the thread that reached the
//! last wait. A driver for hardware would enqueue the work there and attach an edge to each signal; this one does
//! the work at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_hal::{
    Code, Deadline, Error, Notifications, Operation, Point, Points, Result, Semaphore,
    edge::Domain,
    pending::{self, Edges, Issue, PendingSet},
};

use crate::{buffer, command_buffer, transfer};

/// The queues of one device. They share one pending set: nothing but semaphores orders them.
#[derive(Default)]
pub(crate) struct Queues {
    pending: PendingSet<Self>,
    /// One semaphore for each host call that may still run, for `drain`.
    calls: Mutex<Vec<Semaphore>>,
}

impl Queues {
    /// Waits for the host calls that were issued. All else is done when it is issued.
    pub(crate) fn drain(&self, deadline: Deadline) -> Result<()> {
        self.forget_finished();
        let calls = self.calls().clone();
        for call in calls {
            match call.wait_blocking(1, deadline) {
                Err(error) if error.code() == Code::DeadlineExceeded => {
                    return Err(error.context("waiting for a host call to return"));
                }
                // A call that failed has ended too; its error is its own signal list's.
                _ => {}
            }
        }
        self.forget_finished();
        Ok(())
    }

    /// Drops what `drain` need not wait for any more.
    pub(crate) fn forget_finished(&self) {
        self.calls().retain(|call| matches!(call.query(), Ok(0)));
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Semaphore>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
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
        let result = match work {
            Operation::HostCall(call) => {
                let ended = Semaphore::new(0);
                let mut list = signals.to_vec();
                list.push(ended.at(1));
                self.forget_finished();
                self.calls().push(ended);
                call.spawn(Points::from(&list[..]));
                return;
            }
            work => run(work),
        };
        match result {
            Ok(()) => reach(&signals),
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
            buffer::own(&buffer)?.release();
            Ok(())
        }
        Operation::Fill { target, pattern } => transfer::fill(&target, pattern),
        Operation::Update { source, target } => transfer::update(&source, &target),
        Operation::Copy { source, target } => transfer::copy(&source, &target),
        Operation::Execute { command_buffer, bindings } => {
            command_buffer::run(command_buffer.list(), &bindings)
        }
        other => Err(Error::internal(format!("{} was accepted and cannot be run", other.name()))),
    }
}

/// Signals a whole list, then wakes whoever waited.
fn reach(signals: &[Point]) {
    let mut notifications = Notifications::new();
    for signal in signals {
        signal.semaphore.advance(signal.value, &mut notifications);
    }
    notifications.fire();
}
