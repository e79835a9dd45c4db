// SPDX-License-Identifier: MIT OR Apache-2.0
//! An opened device, of one GPU or several: its queues, its pending operations, and the way of an operation into a stream.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, Weak,
    atomic::{AtomicU32, Ordering},
};

use smallvec::SmallVec;
use windlass_codeobject::Options as CodeOptions;
use windlass_hal::{
    BufferParams, CommandList, Deadline, DeviceInfo, Error, External, HostCalls, Limits, Notifications,
    Operation, Point, Points, QueueAffinity, Release, Result, Semaphore, Statistics, WaitPolicy,
    callback_pool, driver,
    edge::{Domain, EdgeSource},
    file,
    pending::{self, Edges, Issue, PendingSet},
    pool::{Frontier, SlabSource, placed},
    wait_all,
};

use crate::{
    allocator::{Allocator, Need},
    buffer::gpu_of,
    call::Hip,
    command_buffer::{self, CommandBuffer},
    executable::Executable,
    gpu::Gpu,
    import::Imported,
    queue::{Enqueued, Queue, Submission},
    replay::{self, Progress, Unfinished},
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
    /// The first GPU's, for what concerns the device.
    pub(crate) hip: Hip,
    pub(crate) gpus: Box<[Arc<Gpu>]>,
    pub(crate) domain: Domain,
    pub(crate) info: DeviceInfo,
    pub(crate) limits: Limits,
    /// Which code it is given.
    pub(crate) code: CodeOptions,
    pub(crate) queues: Box<[Queue]>,
    next_queue: AtomicU32,
    pub(crate) allocator: Allocator,
    pending: PendingSet<Self>,
    host_calls: HostCalls,
    pub(crate) unfinished: Unfinished,
    pub(crate) retirer: Retirer,
}

/// A pending operation of this driver.
pub(crate) struct Work {
    affinity: QueueAffinity,
    operation: Operation,
    staging: Option<windlass_hal::Buffer>,
}

impl Device {
    /// A device of `gpus`, at least one, with an equal share of the queues for each.
    pub(crate) fn open(
        gpus: Vec<Gpu>,
        info: DeviceInfo,
        limits: Limits,
        slab: u64,
        code: CodeOptions,
    ) -> Result<Self> {
        let allocator = Allocator::new(&gpus, &limits, slab)?;
        let gpus: Box<[_]> = gpus.into_iter().map(Arc::new).collect();
        let hip = gpus[0].hip.clone();
        let mut queues: Vec<Queue> = Vec::with_capacity(limits.queues as usize);
        let each = (limits.queues as usize / gpus.len()).max(1);
        for index in 0..limits.queues {
            let gpu = &gpus[(index as usize / each).min(gpus.len() - 1)];
            let queue = Queue::new(index, gpu)
                .inspect_err(|_| queues.iter().for_each(|queue| hip.destroy_stream(queue.stream)))?;
            queues.push(queue);
        }
        Ok(Self(Arc::new_cyclic(|this| Inner {
            this: this.clone(),
            hip,
            gpus,
            domain: Domain::unique(),
            info,
            limits,
            code,
            queues: queues.into(),
            next_queue: AtomicU32::new(0),
            allocator,
            pending: PendingSet::new(),
            host_calls: HostCalls::default(),
            unfinished: Unfinished::default(),
            retirer: Retirer::default(),
        })))
    }
}

impl Inner {
    pub(crate) fn this(&self) -> &Weak<Self> {
        &self.this
    }

    /// Why nothing on the device can be trusted any more, if so.
    pub(crate) fn lost(&self) -> Option<&Error> {
        self.hip.lost()
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost().is_some()
    }

    /// Refuses where the device is lost.
    pub(crate) fn usable(&self) -> Result<()> {
        self.lost().cloned().map_or(Ok(()), Err)
    }

    /// Passes a result on. If the call lost the device, everything else fails at once.
    pub(crate) fn noted<T>(&self, result: Result<T>) -> Result<T> {
        if result.is_err() && self.is_lost() {
            self.retire();
        }
        result
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
    fn choose(&self, mut affinity: QueueAffinity, edges: &Edges, operation: &Operation) -> &Queue {
        if let Some(near) = self.near(operation).filter(|near| near & affinity.bits() != 0) {
            affinity = QueueAffinity::from_bits(near & affinity.bits());
        }
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

    /// The GPU on which the memory of a queue set is best.
    pub(crate) fn gpu_of(&self, affinity: QueueAffinity) -> &Arc<Gpu> {
        let queue = self.queues.get(affinity.bits().trailing_zeros() as usize);
        queue.map_or(&self.gpus[0], |queue| &queue.gpu)
    }

    /// The queues of the GPU that has the memory an operation works on, where there is a choice.
    fn near(&self, operation: &Operation) -> Option<u64> {
        if self.gpus.len() == 1 {
            return None;
        }
        let buffer = match operation {
            Operation::Fill { target, .. } | Operation::Update { target, .. } => target,
            Operation::Copy { source, .. } => source,
            Operation::Dispatch(dispatch) => dispatch.resources.first()?,
            Operation::Execute { bindings, .. } => bindings.first()?,
            _ => return None,
        };
        let gpu = gpu_of(buffer)?;
        let mine = self.queues.iter().filter(|queue| queue.gpu.index == gpu);
        Some(mine.fold(0, |bits, queue| bits | 1 << queue.index))
    }

    /// Gets what an operation needs besides, and leaves it to the pending set.
    fn take_in(
        self: &Arc<Self>,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        mut operation: Operation,
    ) -> Result<()> {
        self.retire_some(affinity);
        self.usable()?;
        // Here rather than when it is issued: who is short of memory hears of it.
        let staging = match &mut operation {
            // HIP may wait for the stream before it reads pageable memory; pinned memory it never does.
            Operation::Update { source, .. } => {
                Some(self.noted(self.allocator.stage(self, &std::mem::take(source)))?)
            }
            Operation::Fill { target, pattern }
                if self.hip.quirks.fill_runs_away(target.device_address(), target.len()) =>
            {
                let bytes: SmallVec<[u8; 8]> = command_buffer::repeated(*pattern, target.len()).collect();
                Some(self.noted(self.allocator.stage(self, &bytes))?)
            }
            other => self.noted(replay::memory_for_counts(self, other))?,
        };
        self.pending.submit(self, waits.into(), signals.into(), Work { affinity, operation, staging })
    }

    /// Adds the work that used the memory of a buffer last, as far as it may still run.
    fn follow_birth(self: &Arc<Self>, buffer: &windlass_hal::Buffer, edges: &mut Edges) {
        for (lane, epoch) in placed(buffer).into_iter().flat_map(|placed| placed.birth().iter()) {
            if let Some(queue) = self.queues.get(lane as usize).filter(|queue| !queue.has_retired(epoch)) {
                edges.push(queue.edge(self, epoch));
            }
        }
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
        if let Operation::HostCall(call) = work.operation {
            return self.host_calls.spawn(call, signals);
        }
        let Work { affinity, operation, staging } = work;
        let mut released = None;
        match &operation {
            Operation::Alloca { buffer } => self.follow_birth(buffer, &mut edges),
            // The memory may not pass on before its last user but one is done, whatever the caller forgot to order.
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
        let queue = self.choose(affinity, &edges, &operation);
        let promised = signals.clone();
        let progress = Progress::default();
        let submission = Submission { operation, staging, waits, signals, edges, progress, whole: None };
        let epoch = match queue.enqueue(self, submission) {
            Enqueued::Work(epoch) => {
                release(released, Frontier::at(queue.index, epoch));
                let mut notifications = Notifications::new();
                for signal in promised.iter() {
                    signal.semaphore.attach_edge(signal.value, queue.edge(self, epoch), &mut notifications);
                }
                notifications.fire();
                epoch
            }
            Enqueued::Piece(epoch) => {
                self.demand(queue.index, epoch);
                epoch
            }
            Enqueued::Failure(epoch) => {
                // No edge: what depends on it must not run. So nobody who waits knows whom to ask, and the device sees
                // the failure through by itself.
                self.retire();
                self.demand(queue.index, epoch);
                epoch
            }
        };
        if self.is_lost() {
            self.retire();
        }
        if self.pending.is_closed() {
            // Closing may have looked for what is in flight just before.
            self.demand(queue.index, epoch);
        }
    }
}

fn release(buffer: Option<windlass_hal::Buffer>, death: Frontier) {
    if let Some(placed) = buffer.as_ref().and_then(placed) {
        placed.release(death);
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
        self.0.usable()?;
        Ok(self.0.allocator.allocate(&self.0, params, size, Need::Patient)?)
    }

    fn reserve(
        &self,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::Buffer>> {
        self.0.usable()?;
        Ok(self.0.allocator.allocate(&self.0, params, size, Need::Ordered(affinity))?)
    }

    fn memory(&self) -> Arc<dyn SlabSource> {
        self.0.clone()
    }

    unsafe fn import(
        &self,
        _params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn driver::Buffer>> {
        self.0.usable()?;
        // SAFETY: the caller's promise, passed on.
        let imported = unsafe { Imported::new(&self.0, memory, release) };
        Ok(Arc::new(self.0.noted(imported)?))
    }

    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::Executable>> {
        self.0.usable()?;
        Ok(Arc::new(self.0.noted(Executable::load(&self.0, &[code]))?))
    }

    unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn driver::Executable>> {
        self.0.usable()?;
        Ok(Arc::new(self.0.noted(Executable::load(&self.0, parts))?))
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::CommandBuffer>> {
        self.0.usable()?;
        Ok(Arc::new(self.0.noted(CommandBuffer::prepare(&self.0, list))?))
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: Operation,
    ) -> Result<()> {
        let this = || Arc::new(Self(self.0.clone()));
        match operation {
            Operation::Read { file, file_offset, target } => {
                // SAFETY: the front's own operation, as it came.
                unsafe {
                    file::read_through_host(this(), affinity, (waits, signals), file, file_offset, target)
                }
            }
            Operation::Write { source, file, file_offset } => {
                // SAFETY: the front's own operation, as it came.
                unsafe {
                    file::write_through_host(this(), affinity, (waits, signals), source, file, file_offset)
                }
            }
            operation => self.0.take_in(affinity, waits, signals, operation),
        }
    }

    fn poll(&self) {
        self.0.retire();
    }

    fn drain(&self, deadline: Deadline) -> Result<()> {
        let mut points = Vec::new();
        for queue in &self.0.queues {
            let newest = queue.newest();
            if queue.has_retired(newest) {
                continue;
            }
            let done = Semaphore::new(0).at(1);
            let mut notifications = Notifications::new();
            queue.watchers.add(newest, done.semaphore.clone());
            if queue.has_retired(newest) {
                queue.watchers.tell(newest, &mut notifications);
            }
            done.semaphore.attach_edge(1, queue.edge(&self.0, newest), &mut notifications);
            notifications.fire();
            points.push((queue, done));
        }
        let (queues, mut points): (Vec<_>, Vec<_>) = points.into_iter().unzip();
        points.extend(self.0.host_calls.ends());
        points.extend(self.0.unfinished.ends());
        let result = wait_all(&points, deadline, WaitPolicy::default());
        for (queue, point) in queues.iter().zip(&points) {
            queue.watchers.forget(&point.semaphore);
        }
        result.and_then(|()| self.0.usable())
    }

    fn close(&self) {
        let error =
            Error::cancelled(format!("{} was closed before the operation was issued", self.0.info.uri));
        self.0.close_pending(error);
        // What is in flight holds the device by its buffers: somebody has to see it through.
        for queue in &self.0.queues {
            self.0.demand(queue.index, queue.newest());
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
    /// Gives streams and events back on a thread of the callback pool: HIP synchronises for that, as for the memory,
    /// which goes the same way. A lost device keeps everything, and so does every device when the process ends.
    fn drop(&mut self) {
        self.give_up_in_flight();
        if self.hip.keeps_all() {
            return;
        }
        let gpus = std::mem::take(&mut self.gpus);
        let streams: Vec<_> = self.queues.iter().map(|queue| (queue.gpu.index, queue.stream)).collect();
        callback_pool::spawn(Box::new(move || {
            for gpu in &gpus {
                gpu.hip.give_back(|hip| {
                    gpu.events.take().iter().for_each(|event| hip.destroy_event(**event));
                    let own = streams.iter().filter(|(index, _)| *index == gpu.index);
                    own.for_each(|(_, stream)| hip.destroy_stream(*stream));
                });
            }
        }));
    }
}

impl Inner {
    /// Work in flight holds the device by its buffers, and a reaper sees it through. Only work without either can be
    /// here still, where the system had no thread for a reaper.
    fn give_up_in_flight(&mut self) {
        for queue in &mut self.queues {
            let state = queue.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            for flight in std::mem::take(&mut state.in_flight) {
                let error = Error::cancelled("the device went away before the work was seen to complete");
                windlass_hal::pending::fail(&flight.signals, &error);
                flight.event.into_iter().for_each(|event| queue.gpu.events.release(event));
            }
        }
    }
}
