// SPDX-License-Identifier: MIT OR Apache-2.0
//! How an operation reaches its thread: it is pending until its waits are reached, then issued.
//!
//! `windlass_hal::pending` keeps operations until their waits are reached. An issued operation goes to the device's
//! [`Threads`](crate::threads::Threads). Short operations, and all operations of a device without threads, go to the list
//! of the issuing thread, where the [`trampoline`] runs them. Host calls go to the callback pool.

use std::sync::Arc;

use windlass_hal::{
    Operation, OperationRef,
    edge::Domain,
    pending::{Issue, Ordered, PendingSet},
};

use crate::{
    command_buffer::SHORT_TRANSFER,
    queues::Queues,
    submission::{Job, Owed, Submission},
    threads, trampoline,
};

impl Issue for Queues {
    type Work = Ordered<Operation>;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    /// The work runs on the host, so every wait must be reached, not only promised.
    fn domain_for(&self, _work: &Ordered<Operation>) -> Option<Domain> {
        None
    }

    fn issue(self: &Arc<Self>, work: Ordered<Operation>) {
        let signals = work.order.signals;
        let operation = match work.operation {
            Operation::HostCall(call) => return self.calls.spawn(call, signals),
            operation => operation,
        };
        let threads = self.threads.as_ref().filter(|_| !is_short(&operation));
        let flight = self.in_flight.begin();
        let owed = Owed { queues: self.clone(), signals, flight, on_worker: threads.is_some() };
        let submission = Box::new(Submission { owed, operation });
        match threads {
            Some(threads) => threads.push(Job::Begin(submission)),
            None => {
                if self.threads.is_none() {
                    // The work may take long, and the calling thread may be another device's worker.
                    threads::announce();
                }
                trampoline::push(submission);
            }
        }
    }

    fn issued(self: &Arc<Self>) {
        trampoline::run();
    }
}

/// Whether running an operation takes less time than waking another thread for it.
fn is_short(operation: &Operation) -> bool {
    match operation {
        Operation::Barrier | Operation::Alloca { .. } | Operation::Dealloca { .. } => true,
        Operation::Fill { target, .. }
        | Operation::Update { target, .. }
        | Operation::Copy { target, .. } => target.len() <= SHORT_TRANSFER,
        _ => false,
    }
}

/// Whether this driver can run an operation. The device refuses all others at submission.
pub(crate) fn is_known(operation: &OperationRef<'_>) -> bool {
    matches!(
        operation,
        OperationRef::Barrier
            | OperationRef::Alloca { .. }
            | OperationRef::Dealloca { .. }
            | OperationRef::Fill { .. }
            | OperationRef::Update { .. }
            | OperationRef::Copy { .. }
            | OperationRef::HostCall(_)
            | OperationRef::Dispatch(_)
            | OperationRef::Execute { .. }
    )
}
