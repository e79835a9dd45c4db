// SPDX-License-Identifier: MIT OR Apache-2.0
//! How an operation enters the stream: it is pending until its waits allow it, then enqueued.

use std::sync::Arc;

use windlass_hal::{
    Error, Notifications, Operation, Points, Result,
    edge::{Domain, Edge, EdgeSource},
    pending::{self, Edges, Issue, PendingSet},
};

use crate::{queue, queues::Queues, stream::Packet};

impl Issue for Queues {
    type Work = Operation;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    /// Work on the stream needs only an edge: the work behind the edge runs before it. A host call does not run on the
    /// stream, so it needs reached values.
    fn domain_for(&self, work: &Operation) -> Option<Domain> {
        (!matches!(work, Operation::HostCall(_))).then(|| self.lane.domain())
    }

    /// The edges need no wait, because the only stream runs in order. A device with several streams would append here a
    /// wait for `(edge.lane, edge.epoch)` of every other lane.
    fn issue(self: &Arc<Self>, work: Operation, waits: Points, signals: Points, _edges: Edges) {
        if let Operation::HostCall(call) = work {
            return self.calls.spawn(call, signals);
        }
        match self.stream.enqueue(Packet { work, waits, signals: signals.clone() }) {
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
pub(crate) fn check(operation: &Operation) -> Result<()> {
    match operation {
        Operation::Dispatch(dispatch) => queue::direct(dispatch.workgroup_count.as_ref()).map(drop),
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
