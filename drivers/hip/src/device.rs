// SPDX-License-Identifier: MIT OR Apache-2.0
//! An opened GPU: its queues, its pending operations, and the way of an operation into a stream.

use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
    atomic::{AtomicU32, Ordering},
};

use windlass_hal::{
    BufferParams, CommandList, Deadline, DeviceInfo, Error, Limits, Notifications, Operation, Point, Points,
    QueueAffinity, Result, Semaphore, Statistics, WaitPolicy, callback_pool, driver,
    edge::{Domain, EdgeSource},
    file,
    pending::{Edges, Issue, PendingSet},
    wait_all,
};

use crate::{
    allocator::{self, Allocator},
    buffer::Buffer,
    call::{Current, Hip},
    command_buffer::CommandBuffer,
    event::EventPool,
    executable::Executable,
    queue::Queue,
    quirks::Quirks,
    retire::Retirer,
};

/// Locks, and goes on with the data of a thread that panicked: each critical section leaves its data valid.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The driver's side of an opened device.
pub(crate) struct Device(pub(crate) Arc<Inner>);

/// What everything that belongs to the device shares.
pub(crate) struct Inner {
    this: Weak<Self>,
    pub(crate) hip: Hip,
    pub(crate) domain: Domain,
    pub(crate) info: DeviceInfo,
    limits: Limits,
    pub(crate) quirks: Quirks,
    pub(crate) queues: Box<[Queue]>,
    next_queue: AtomicU32,
    pub(crate) events: EventPool,
    pub(crate) allocator: Allocator,
    pending: PendingSet<Self>,
    pub(crate) retirer: Retirer,
    lost: OnceLock<Error>,
}

/// A pending operation of this driver.
pub(crate) struct Work {
    affinity: QueueAffinity,
    operation: Operation,
}

impl Device {
    pub(crate) fn open(hip: Hip, info: DeviceInfo, limits: Limits) -> Result<Self> {
        let queues: Result<Box<[_]>> = (0..limits.queues).map(|index| Queue::new(index, &hip)).collect();
        let (queues, quirks) = (queues?, Quirks::of(&hip.api));
        Ok(Self(Arc::new_cyclic(|this| Inner {
            this: this.clone(),
            hip,
            domain: Domain::unique(),
            info,
            limits,
            quirks,
            queues,
            next_queue: AtomicU32::new(0),
            events: EventPool::default(),
            allocator: Allocator::default(),
            pending: PendingSet::new(),
            retirer: Retirer::default(),
            lost: OnceLock::new(),
        })))
    }
}

impl Inner {
    pub(crate) fn this(&self) -> &Weak<Self> {
        &self.this
    }

    pub(crate) fn lost(&self) -> Option<&Error> {
        self.lost.get()
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// `true` if this error is the one that counts.
    pub(crate) fn set_lost(&self, error: Error) -> bool {
        self.lost.set(error).is_ok()
    }

    pub(crate) fn has_retired(&self, lane: u32, epoch: u64) -> bool {
        self.queues.get(lane as usize).is_none_or(|queue| queue.has_retired(epoch))
    }

    pub(crate) fn close_pending(&self, error: Error) {
        if let Some(this) = self.this.upgrade() {
            self.pending.close(&this, error);
        }
    }

    /// The queue for an operation: one that it has to follow anyway, else the next in turn.
    fn choose(&self, affinity: QueueAffinity, edges: &Edges) -> &Queue {
        let allowed = |index: u32| affinity.bits() >> index & 1 == 1;
        let last = self.queues.len() as u32 - 1;
        if let Some(edge) = edges.iter().find(|edge| edge.lane <= last && allowed(edge.lane)) {
            return &self.queues[edge.lane as usize];
        }
        let only = affinity.bits().trailing_zeros();
        if affinity.bits().is_power_of_two() && only <= last {
            return &self.queues[only as usize];
        }
        let start = self.next_queue.fetch_add(1, Ordering::Relaxed);
        let turn = (0..=last).map(|step| start.wrapping_add(step) % (last + 1)).find(|index| allowed(*index));
        &self.queues[turn.unwrap_or(0) as usize]
    }

    /// Work with nothing for the device to do, whose waits are all reached: signals at once.
    fn settle_on_host(&self, signals: &Points) {
        let mut notifications = Notifications::new();
        for signal in signals.iter() {
            signal.semaphore.advance(signal.value, &mut notifications);
        }
        notifications.fire();
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
            _ => Some(self.domain),
        }
    }

    fn issue(self: &Arc<Self>, work: Work, waits: Points, signals: Points, mut edges: Edges) {
        if let Some(error) = self.lost() {
            return windlass_hal::pending::fail(&signals, error);
        }
        let mut released = None;
        match work.operation {
            Operation::HostCall(call) => return call.spawn(signals),
            Operation::Alloca { ref buffer } => {
                let birth =
                    buffer.raw().as_any().downcast_ref::<Buffer>().and_then(|buffer| buffer.birth.clone());
                if let Some(birth) = birth.filter(|birth| !self.has_retired(birth.lane, birth.epoch)) {
                    edges.push(birth);
                }
            }
            Operation::Dealloca { ref buffer } => released = Some(buffer.clone()),
            _ => {}
        }
        let on_host = matches!(
            work.operation,
            Operation::Barrier | Operation::Alloca { .. } | Operation::Dealloca { .. }
        ) && edges.is_empty();
        if on_host {
            release(released, None);
            return self.settle_on_host(&signals);
        }
        let queue = self.choose(work.affinity, &edges);
        let promised = signals.clone();
        let epoch = queue.enqueue(self, work.operation, waits, signals, edges);
        release(released, Some((queue.index, epoch)));
        let mut notifications = Notifications::new();
        for signal in promised.iter() {
            signal.semaphore.attach_edge(signal.value, queue.edge(self, epoch), &mut notifications);
        }
        notifications.fire();
    }
}

fn release(buffer: Option<windlass_hal::Buffer>, death: Option<(u32, u64)>) {
    if let Some(buffer) = &buffer {
        if let Some(buffer) = buffer.raw().as_any().downcast_ref::<Buffer>() {
            buffer.release(death);
        }
    }
}

impl driver::Device for Device {
    fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn limits(&self) -> &Limits {
        &self.0.limits
    }

    fn domain(&self) -> Domain {
        self.0.domain
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::Buffer>> {
        self.0.lost().cloned().map_or(Ok(()), Err)?;
        Ok(Arc::new(self.0.allocator.allocate(&self.0, params, size, false)?))
    }

    fn reserve(
        &self,
        _affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::Buffer>> {
        self.0.lost().cloned().map_or(Ok(()), Err)?;
        Ok(Arc::new(self.0.allocator.allocate(&self.0, params, size, true)?))
    }

    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::Executable>> {
        self.0.lost().cloned().map_or(Ok(()), Err)?;
        Ok(Arc::new(Executable::load(&self.0, code)?))
    }

    fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::CommandBuffer>> {
        Ok(Arc::new(CommandBuffer::prepare(&self.0, list)?))
    }

    fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: Operation,
    ) -> Result<()> {
        let operation = match operation {
            Operation::Read { file, file_offset, target } => {
                return file::read_through_host(self, affinity, (waits, signals), file, file_offset, target);
            }
            Operation::Write { source, file, file_offset } => {
                return file::write_through_host(self, affinity, (waits, signals), source, file, file_offset);
            }
            other => other,
        };
        self.0.retire();
        self.0.pending.submit(&self.0, waits.into(), signals.into(), Work { affinity, operation })
    }

    fn poll(&self) {
        self.0.retire();
    }

    fn drain(&self, deadline: Deadline) -> Result<()> {
        let mut points = Vec::new();
        for queue in self.0.queues.iter().filter(|queue| !queue.is_idle()) {
            let done = Semaphore::new(0).at(1);
            let signals = Points::from(std::slice::from_ref(&done));
            let epoch =
                queue.enqueue(&self.0, Operation::Barrier, Points::default(), signals, Edges::default());
            let mut notifications = Notifications::new();
            done.semaphore.attach_edge(1, queue.edge(&self.0, epoch), &mut notifications);
            notifications.fire();
            points.push(done);
        }
        wait_all(&points, deadline, WaitPolicy::default())
    }

    fn close(&self) {
        let error =
            Error::cancelled(format!("{} was closed before the operation was issued", self.0.info.uri));
        self.0.close_pending(error);
        // What is in flight holds the device by its buffers: somebody has to see it through.
        for queue in &self.0.queues {
            let newest = lock(&queue.state).newest;
            self.0.demand(queue.index, newest);
        }
    }

    fn trim(&self) {
        self.0.allocator.trim(&self.0);
    }

    fn statistics(&self) -> Statistics {
        self.0.allocator.statistics()
    }
}

impl Drop for Inner {
    /// Gives streams, events and memory back on a thread of the callback pool: HIP synchronises for that. A lost
    /// device keeps everything.
    fn drop(&mut self) {
        if self.is_lost() {
            return;
        }
        let hip = self.hip.clone();
        let streams: Vec<_> = self.queues.iter().map(|queue| queue.stream).collect();
        let (events, blocks) = (self.events.take(), self.allocator.take_all());
        callback_pool::spawn(Box::new(move || {
            allocator::free_all(&hip, blocks);
            let current: Result<Current<'_>> = hip.current();
            if current.is_ok() {
                events.iter().for_each(|event| hip.destroy_event(**event));
                streams.iter().for_each(|stream| hip.destroy_stream(*stream));
            }
        }));
    }
}
