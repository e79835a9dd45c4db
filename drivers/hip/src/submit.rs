// SPDX-License-Identifier: MIT OR Apache-2.0
//! How an operation enters a stream: it is accepted from the caller, pending until its waits allow it, then issued as a
//! submission, piece by piece.

use std::{mem, sync::Arc};

use windlass_hal::{
    Buffer, BufferParams, Error, Notifications, OperationRef, Point, QueueAffinity, Result, WorkgroupCount,
    driver,
    edge::{Domain, Edge},
    pending::{self, Edges, Issue, PendingSet},
    pool::{Frontier, placed},
};

use crate::{
    allocator::Need,
    call::Event,
    channel,
    command_buffer::CommandBuffer,
    device::Inner,
    line::{Line, Owner},
    queue::{Enqueued, Queue},
    rccl, replay,
    stream::fill_bytes,
    submission::{Resume, Submission, Unfinished, Work},
    workgroup_count,
};

impl Inner {
    /// Accepts an operation. Does it at once if it needs no stream and its waits are reached. Otherwise fills a submission,
    /// and hands it to the pending set, which issues it as soon as its waits allow.
    pub(crate) fn accept(
        self: &Arc<Self>,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        self.retire_some(affinity);
        self.usable()?;
        if self.is_on_host(&operation) && self.pending.all_reached(waits)? {
            if let OperationRef::Dealloca { buffer } = operation {
                release(buffer, Frontier::new());
            }
            pending::reach(signals);
            return Ok(());
        }
        if let OperationRef::Collective { operations, .. } = operation {
            operations.iter().try_for_each(rccl::check_known)?;
        }
        let mut submission = self.boxes.take();
        if needs_memory(&operation) {
            submission.staging = self.retire_if_lost(self.stage(&operation))?;
        }
        submission.keep(affinity, operation);
        self.pending.submit(self, waits, signals, submission)
    }

    /// Whether an operation needs no stream: it does nothing on the device, and the last use of its memory has retired.
    fn is_on_host(&self, operation: &OperationRef<'_>) -> bool {
        match operation {
            OperationRef::Barrier => true,
            OperationRef::Alloca { buffer } | OperationRef::Dealloca { buffer } => {
                placed(buffer).is_none_or(|placed| {
                    placed.birth().iter().all(|(lane, epoch)| self.queues.has_retired(lane, epoch))
                })
            }
            _ => false,
        }
    }

    /// Allocates the pinned memory that an operation needs beside its buffers. Not left to `issue`, so that the caller learns
    /// of a lack of memory.
    fn stage(self: &Arc<Self>, operation: &OperationRef<'_>) -> Result<Option<Buffer>> {
        let allocator = &self.allocator;
        match operation {
            // HIP may wait for the stream before it reads pageable memory. It never does so for pinned memory.
            OperationRef::Update { source, .. } => allocator.stage(self.clone(), source).map(Some),
            OperationRef::Fill { target, pattern } => {
                let quirks = &self.hip.quirks;
                let bytes = fill_bytes(quirks, target.device_address(), target.len(), *pattern);
                bytes.map(|bytes| allocator.stage(self.clone(), &bytes)).transpose()
            }
            OperationRef::Collective { operations, .. } => {
                let quirks = &self.hip.quirks;
                let bytes = operations.iter().filter_map(rccl::zeroed).filter_map(|target| {
                    fill_bytes(quirks, target.device_address(), target.len(), rccl::zero())
                });
                // The longest serve all.
                let bytes = bytes.max_by_key(|bytes| bytes.len());
                bytes.map(|bytes| allocator.stage(self.clone(), &bytes)).transpose()
            }
            OperationRef::Dispatch(dispatch) => match dispatch.workgroup_count {
                WorkgroupCount::Indirect(_) => self.room_for_counts(1),
                _ => Ok(None),
            },
            OperationRef::Execute { command_buffer, .. } => self.room_for_counts(counts_of(command_buffer)),
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

    /// Enqueues the next piece of a submission. Once all of it is in the stream, others may be ordered behind it on the device.
    fn enqueue(self: &Arc<Self>, queue: &Queue, submission: Box<Submission>) -> Enqueued {
        // The wakers run when the queue is no longer locked.
        let mut notifications = Notifications::new();
        self.queues.enqueue(queue, submission, |submission, epoch| {
            // Before anybody can be ordered behind the release.
            if let (Work::Dealloca, Some(buffer)) = (&submission.work, submission.resources.first()) {
                release(buffer, Frontier::at(queue.index, epoch));
            }
            for signal in submission.order.signals.iter() {
                signal.semaphore.attach_edge(signal.value, self.edge(queue, epoch), &mut notifications);
            }
        })
    }

    /// Enqueues the next piece of a submission whose last piece has retired. Called by the thread that retired it, with no
    /// lock held.
    pub(crate) fn resume(&self, mut submission: Box<Submission>) {
        let queue = self.queues.get(submission.piece.queue as usize);
        let Some((device, queue)) = self.this.upgrade().zip(queue) else {
            let error = Error::cancelled("the device went away between two dispatches");
            return pending::fail(&submission.order.signals, &error);
        };
        if let Some(error) = self.lost() {
            return pending::fail(&submission.order.signals, error);
        }
        // All of them were waited for by the first piece.
        submission.order.waits.clear();
        submission.order.edges.clear();
        let Some(submission) = push_group(submission) else { return };
        let epoch = device.enqueue(queue, submission).epoch();
        // No thread polls for the next piece, and a drain may wait for the end.
        self.demand_of(queue, epoch);
    }
}

impl Issue for Inner {
    type Work = Box<Submission>;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    fn domain_for(&self, submission: &Box<Submission>) -> Option<Domain> {
        match submission.work {
            Work::HostCall(_) => None,
            _ => Some(self.gpus.domain),
        }
    }

    fn issue(self: &Arc<Self>, mut submission: Box<Submission>) {
        let Submission { affinity, work, resources, group, order, .. } = &mut *submission;
        if let Some(error) = self.lost() {
            return pending::fail(&order.signals, error);
        }
        if let Work::HostCall(_) = work {
            let signals = mem::take(&mut order.signals);
            if let Work::HostCall(call) = mem::take(work) {
                self.host_calls.spawn(call, signals);
            }
            return self.boxes.give_back(submission.into());
        }
        if let Some(group) = group {
            let channel = group.channel.clone();
            return match channel::of(&channel) {
                Ok(channel) => channel.push(submission),
                Err(error) => pending::fail(&order.signals, &error),
            };
        }
        let is_on_host =
            matches!(work, Work::Barrier | Work::Alloca | Work::Dealloca | Work::ExportTimepoint(_));
        if is_on_host {
            // A dealloca too, in case the caller forgot an edge.
            resources.iter().for_each(|buffer| self.follow_birth(buffer, &mut order.edges));
        }
        if is_on_host && order.edges.is_empty() {
            if let (Work::Dealloca, Some(buffer)) = (work, resources.first()) {
                release(buffer, Frontier::new());
            }
            pending::reach(&order.signals);
            return self.boxes.give_back(submission.into());
        }
        let queue = self.queues.choose(*affinity, &submission);
        if matches!(submission.work, Work::Execute { .. }) && replay::begins_with_group(&submission) {
            return begin_with_group(submission, queue.index);
        }
        let enqueued = self.enqueue(queue, submission);
        if !matches!(enqueued, Enqueued::All(_)) {
            if matches!(enqueued, Enqueued::Failed(_)) {
                self.retire();
            }
            // There is no edge, so no waiter knows to poll this device: it must retire the work by itself.
            self.demand_of(queue, enqueued.epoch());
        }
        if self.is_lost() {
            self.retire();
        }
        if self.pending.is_closed() {
            // `close` may have looked for work in flight before this submission was.
            self.demand_of(queue, enqueued.epoch());
        }
    }
}

impl Owner for Inner {
    fn add(&self, line: &Arc<Line>) {
        self.channels.add(line);
    }

    fn event_of(&self, edge: &Edge) -> Result<Option<Arc<Event>>> {
        self.queues.event_of(edge)
    }

    fn unfinished(&self) -> Unfinished {
        self.queues.unfinished.begin()
    }

    fn enqueue_group(&self, submission: Box<Submission>) -> bool {
        let Some(device) = self.this.upgrade() else { return false };
        if let Some(error) = self.lost() {
            pending::fail(&submission.order.signals, error);
            return false;
        }
        let begun = match submission.work {
            Work::Execute { .. } => self.queues.get(submission.piece.queue as usize),
            _ => None,
        };
        let queue = begun.unwrap_or_else(|| self.queues.choose(submission.affinity, &submission));
        let epoch = device.enqueue(queue, submission).epoch();
        // No thread polls for it, and a drain may wait for the end.
        self.demand_of(queue, epoch);
        true
    }

    fn give_back(&self, submission: Box<Submission>) {
        self.boxes.give_back(submission.into());
    }
}

/// Starts a command buffer whose list begins with a group of collective operations. It leaves out the first piece, which is
/// empty: in the queue, the piece could be behind work that waits for the group on another GPU.
#[cold]
fn begin_with_group(mut submission: Box<Submission>, queue: u32) {
    submission.piece.queue = queue;
    submission.resume = Resume { step: 1, known: 0 };
    drop(push_group(submission));
}

/// Gives a command buffer to its channel if the next piece begins with a group of collective operations, and returns it
/// otherwise.
fn push_group(mut submission: Box<Submission>) -> Option<Box<Submission>> {
    match replay::take_group(&mut submission) {
        Ok(None) => return Some(submission),
        Ok(Some(channel)) => match channel::of(&channel) {
            Ok(channel) => channel.push(submission),
            Err(error) => pending::fail(&submission.order.signals, &error),
        },
        Err(error) => pending::fail(&submission.order.signals, &error),
    }
    None
}

/// Whether an operation may need memory beside its buffers.
fn needs_memory(operation: &OperationRef<'_>) -> bool {
    match operation {
        OperationRef::Update { .. } | OperationRef::Fill { .. } => true,
        OperationRef::Collective { operations, .. } => {
            operations.iter().any(|one| rccl::zeroed(one).is_some())
        }
        OperationRef::Dispatch(dispatch) => matches!(dispatch.workgroup_count, WorkgroupCount::Indirect(_)),
        OperationRef::Execute { command_buffer, .. } => counts_of(command_buffer) > 0,
        _ => false,
    }
}

/// How many workgroup counts a command buffer reads from device memory.
fn counts_of(command_buffer: &Arc<dyn driver::RawCommandBuffer>) -> usize {
    command_buffer.as_any().downcast_ref().map_or(0, CommandBuffer::counts)
}

/// Gives released memory to the next user, who is ordered behind its `death`.
fn release(buffer: &Buffer, death: Frontier) {
    if let Some(placed) = placed(buffer) {
        placed.release(death);
    }
}
