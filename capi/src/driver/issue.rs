// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of work of a driver of the program: an operation comes here when its waits are reached.
//!
//! The driver sees fills, updates, copies and dispatches. Everything else is done here: barriers, the life of memory,
//! host calls, and command buffers, whose commands go to the driver one after the other.

use std::sync::Arc;

use facade::{
    Operation, Points, QueueAffinity,
    edge::Domain,
    pending::{self, Issue, Ordered, PendingSet},
    pool::{Frontier, placed},
};

use super::{replay::Replay, work::Work};
use crate::view::View;

/// An operation and the queues that it may run on.
pub(crate) struct Submitted {
    pub(crate) affinity: QueueAffinity,
    pub(crate) operation: Operation,
}

impl Issue for Work {
    type Work = Ordered<Submitted>;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    /// The driver gets an operation when its waits are reached.
    fn domain_for(&self, _work: &Ordered<Submitted>) -> Option<Domain> {
        None
    }

    fn issue(self: &Arc<Self>, work: Ordered<Submitted>) {
        let Ordered { operation: submitted, order } = work;
        let signals = order.signals;
        match submitted.operation {
            Operation::HostCall(call) => self.calls.spawn(call, signals),
            Operation::Barrier | Operation::Alloca { .. } => {
                drop(submitted);
                pending::reach(&signals);
            }
            Operation::Dealloca { buffer } => {
                // All earlier users of the memory are done, so the next owner has nothing to wait for.
                if let Some(placed) = placed(&buffer) {
                    placed.release(Frontier::new());
                }
                drop(buffer);
                pending::reach(&signals);
            }
            Operation::Execute { ref command_buffer, .. } if self.takes(command_buffer.list()) => {
                let Submitted { affinity, operation } = submitted;
                let then = self.enter(signals);
                self.execute(View::of_operation(&operation, affinity), operation, then);
            }
            Operation::Execute { command_buffer, bindings } => {
                let then = self.enter(signals);
                Replay::start(self, command_buffer, bindings, submitted.affinity, then);
            }
            _ => self.run(submitted, signals),
        }
    }
}

impl Work {
    /// Gives an operation that is no command buffer to the driver.
    fn run(self: &Arc<Self>, submitted: Submitted, signals: Points) {
        let Submitted { affinity, operation } = submitted;
        let mut view = View::of_operation(&operation, affinity);
        if let Operation::Dispatch(dispatch) = &operation {
            let (function, size) = (dispatch.function, dispatch.workgroup_size);
            let count = dispatch.workgroup_count.as_ref();
            match self.count(dispatch.executable.as_ref(), function, size, count, &[]) {
                Ok(Some(count)) => view = view.launching(count),
                Ok(None) => return pending::reach(&signals),
                Err(error) => return pending::fail(&signals, &error),
            }
        }
        let then = self.enter(signals);
        self.perform(view, Some(operation), then);
    }
}
