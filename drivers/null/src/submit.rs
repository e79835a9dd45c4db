// SPDX-License-Identifier: MIT OR Apache-2.0
//! How an operation runs: it is pending until its waits are reached, then issued.
//!
//! `windlass_hal::pending` keeps operations until their waits are reached, and calls [`Issue::issue`] on the thread that
//! reached the last wait. A driver for hardware would enqueue the work there and attach an edge to each signal. This
//! driver does the work at once.

use std::sync::Arc;

use windlass_hal::{
    Operation, OperationRef,
    edge::Domain,
    pending::{self, Issue, Ordered, PendingSet},
    witness::Witness,
};

use crate::{queue, queues::Queues};

impl Issue for Queues {
    type Work = Ordered<Operation>;

    /// Returns the set that keeps operations until their waits are reached, one set for each device.
    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    /// Returns the domain whose edges can stand for this work's waits, or `None` if every wait must be reached; this
    /// driver's work runs on the host.
    fn domain_for(&self, _work: &Ordered<Operation>) -> Option<Domain> {
        None
    }

    /// Starts work whose waits are reached or stand in its edges, on the thread that reached the last of them and without
    /// waiting for other work; from here on the signal list gets every error and every end.
    fn issue(self: &Arc<Self>, work: Ordered<Operation>) {
        let signals = work.order.signals;
        let result = match work.operation {
            Operation::HostCall(call) => return self.calls.spawn(call, signals),
            work => {
                // For profiles: when the work ran.
                let witness = Witness::of(&signals);
                witness.inspect(|witness| witness.begin());
                let result = queue::run(work);
                witness.inspect(|witness| witness.end());
                result
            }
        };
        match result {
            Ok(()) => pending::reach(&signals),
            Err(error) => pending::fail(&signals, &error),
        }
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
            | OperationRef::Read { .. }
            | OperationRef::Write { .. }
            | OperationRef::HostCall(_)
            | OperationRef::Execute { .. }
    )
}
