// SPDX-License-Identifier: MIT OR Apache-2.0
//! How an operation enters a stream: it is accepted from the caller, pending until its waits allow it, then issued as a
//! submission, piece by piece.

use std::{mem, sync::Arc};

use windlass_hal::{
    Buffer, BufferParams, Error, Notifications, Operation, Point, Points, QueueAffinity, Result,
    WorkgroupCount,
    edge::Domain,
    pending::{self, Edges, Issue, PendingSet},
    pool::{Frontier, placed},
};

use crate::{
    allocator::Need,
    command_buffer::CommandBuffer,
    device::Inner,
    queue::{Enqueued, Queue},
    stream::fill_bytes,
    submission::{Piece, Resume, Submission},
    workgroup_count,
};

/// An accepted operation, while it may be pending.
pub(crate) struct Work {
    affinity: QueueAffinity,
    operation: Operation,
    staging: Option<Buffer>,
}

impl Inner {
    /// Accepts an operation: stages its bytes, and hands it to the pending set, which issues it as soon as its waits allow.
    pub(crate) fn accept(
        self: &Arc<Self>,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        mut operation: Operation,
    ) -> Result<()> {
        self.retire_some(affinity);
        self.usable()?;
        let staging = self.retire_if_lost(self.stage(&mut operation))?;
        self.pending.submit(self, waits.into(), signals.into(), Work { affinity, operation, staging })
    }

    /// Allocates the pinned memory that an operation needs beside its buffers. Not left to `issue`, so that the caller learns
    /// of a lack of memory.
    fn stage(self: &Arc<Self>, operation: &mut Operation) -> Result<Option<Buffer>> {
        let allocator = &self.allocator;
        match operation {
            // HIP may wait for the stream before it reads pageable memory. It never does so for pinned memory.
            Operation::Update { source, .. } => allocator.stage(self.clone(), &mem::take(source)).map(Some),
            Operation::Fill { target, pattern } => {
                let quirks = &self.hip.quirks;
                let bytes = fill_bytes(quirks, target.device_address(), target.len(), *pattern);
                bytes.map(|bytes| allocator.stage(self.clone(), &bytes)).transpose()
            }
            Operation::Dispatch(dispatch) => match dispatch.workgroup_count {
                WorkgroupCount::Indirect(_) => self.room_for_counts(1),
                _ => Ok(None),
            },
            Operation::Execute { command_buffer, .. } => {
                let own = command_buffer.as_any().downcast_ref();
                self.room_for_counts(own.map_or(0, CommandBuffer::counts))
            }
            _ => Ok(None),
        }
    }

    fn room_for_counts(self: &Arc<Self>, counts: usize) -> Result<Option<Buffer>> {
        if counts == 0 {
            return Ok(None);
        }
        let (params, size) = (BufferParams::host(), workgroup_count::SIZE * counts as u64);
        let memory = self.allocator.allocate(self.clone(), &params, size, Need::Now)?;
        Ok(Some(Buffer::from_driver(memory, params)))
    }

    /// Adds an edge for each last use of a buffer's memory that may still run.
    fn follow_birth(self: &Arc<Self>, buffer: &Buffer, edges: &mut Edges) {
        for (lane, epoch) in placed(buffer).into_iter().flat_map(|placed| placed.birth().iter()) {
            if let Some(queue) = self.queues.get(lane as usize).filter(|queue| !queue.has_retired(epoch)) {
                edges.push(self.edge(queue, epoch));
            }
        }
    }

    /// Lets others be ordered behind an enqueued submission on the device.
    fn promise(self: &Arc<Self>, signals: &[Point], queue: &Queue, epoch: u64) {
        let mut notifications = Notifications::new();
        for signal in signals {
            signal.semaphore.attach_edge(signal.value, self.edge(queue, epoch), &mut notifications);
        }
        notifications.fire();
    }

    /// Enqueues the next piece of a submission whose last piece has retired. Called by the thread that retired it, with no
    /// lock held.
    pub(crate) fn resume(&self, piece: Piece) {
        let Piece { queue, mut submission, .. } = piece;
        let Some((device, queue)) = self.this.upgrade().zip(self.queues.get(queue as usize)) else {
            let error = Error::cancelled("the device went away between two dispatches");
            return pending::fail(&submission.signals, &error);
        };
        if let Some(error) = self.lost() {
            return pending::fail(&submission.signals, error);
        }
        let signals = submission.signals.clone();
        // All of them were waited for by the first piece.
        (submission.waits, submission.edges) = (Points::default(), Edges::default());
        let epoch = match self.queues.enqueue(queue, submission) {
            Enqueued::All(epoch) => {
                device.promise(&signals, queue, epoch);
                epoch
            }
            Enqueued::Part(epoch) | Enqueued::Failed(epoch) => epoch,
        };
        // No thread polls for the next piece, and a drain may wait for the end.
        self.demand_of(queue, epoch);
    }
}

impl Issue for Inner {
    type Work = Work;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    fn domain_for(&self, work: &Work) -> Option<Domain> {
        match work.operation {
            Operation::HostCall(_) => None,
            _ => Some(self.gpus.domain),
        }
    }

    fn issue(self: &Arc<Self>, work: Work, waits: Points, signals: Points, mut edges: Edges) {
        if let Some(error) = self.lost() {
            return pending::fail(&signals, error);
        }
        if let Operation::HostCall(call) = work.operation {
            return self.host_calls.spawn(call, signals);
        }
        let Work { affinity, operation, staging } = work;
        let mut released = None;
        match &operation {
            Operation::Alloca { buffer } => self.follow_birth(buffer, &mut edges),
            // Also behind the previous user of the memory, in case the caller forgot an edge.
            Operation::Dealloca { buffer } => {
                released = Some(buffer.clone());
                self.follow_birth(buffer, &mut edges);
            }
            _ => {}
        }
        let on_host =
            matches!(operation, Operation::Barrier | Operation::Alloca { .. } | Operation::Dealloca { .. })
                && edges.is_empty();
        if on_host {
            release(released, Frontier::new());
            return pending::reach(&signals);
        }
        let queue = self.queues.choose(affinity, &edges, &operation);
        let promised = signals.clone();
        let resume = Resume::default();
        let submission = Submission { operation, staging, waits, signals, edges, resume, unfinished: None };
        let epoch = match self.queues.enqueue(queue, submission) {
            Enqueued::All(epoch) => {
                release(released, Frontier::at(queue.index, epoch));
                self.promise(&promised, queue, epoch);
                epoch
            }
            Enqueued::Part(epoch) => {
                self.demand_of(queue, epoch);
                epoch
            }
            Enqueued::Failed(epoch) => {
                // There is no edge, so no waiter knows to poll this device: it must retire the failure by itself.
                self.retire();
                self.demand_of(queue, epoch);
                epoch
            }
        };
        if self.is_lost() {
            self.retire();
        }
        if self.pending.is_closed() {
            // `close` may have looked for work in flight before this submission was.
            self.demand_of(queue, epoch);
        }
    }
}

/// Gives released memory to the next user, who is ordered behind its `death`.
fn release(buffer: Option<Buffer>, death: Frontier) {
    if let Some(placed) = buffer.as_ref().and_then(placed) {
        placed.release(death);
    }
}
