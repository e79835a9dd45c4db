// SPDX-License-Identifier: MIT OR Apache-2.0
//! How an operation enters the stream: it is pending until its waits allow it, then enqueued.

use std::sync::Arc;

use windlass_hal::{
    Error, Notifications, Operation, OperationRef, Result,
    edge::{Domain, Edge, EdgeSource},
    pending::{self, Issue, Ordered, PendingSet},
};

use crate::{queue, queues::Queues};

impl Issue for Queues {
    type Work = Ordered<Operation>;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    /// Work on the stream needs only an edge: the work behind the edge runs before it. A host call does not run on the
    /// stream, so it needs reached values.
    fn domain_for(&self, work: &Ordered<Operation>) -> Option<Domain> {
        (!matches!(work.operation, Operation::HostCall(_))).then(|| self.lane.domain())
    }

    /// The edges need no wait, because the only stream runs in order. A device with several streams would append here a
    /// wait for `(edge.lane, edge.epoch)` of every other lane.
    fn issue(self: &Arc<Self>, work: Ordered<Operation>) {
        let signals = work.order.signals.clone();
        if let Operation::HostCall(call) = work.operation {
            return self.calls.spawn(call, signals);
        }
        match self.stream.enqueue(work) {
            Ok(epoch) => {
                // From here on, work that waits for these values may be enqueued behind this work.
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

/// Refuses operations that the stream cannot run. Called at submission.
pub(crate) fn check(operation: &OperationRef<'_>) -> Result<()> {
    match operation {
        OperationRef::Dispatch(dispatch) => queue::direct(dispatch.workgroup_count).map(drop),
        OperationRef::Barrier
        | OperationRef::Alloca { .. }
        | OperationRef::Dealloca { .. }
        | OperationRef::Fill { .. }
        | OperationRef::Update { .. }
        | OperationRef::Copy { .. }
        | OperationRef::HostCall(_)
        | OperationRef::Execute { .. } => Ok(()),
        other => Err(Error::unimplemented(format!("the postfix machine has no {}", other.name()))),
    }
}
