// SPDX-License-Identifier: MIT OR Apache-2.0
//! An opened device, of one GPU or several.

use std::sync::{Arc, PoisonError, Weak};

use windlass_codeobject::Options as CodeOptions;
use windlass_hal::{
    Accounts, BufferParams, ChannelId, ChannelParams, CommandList, Deadline, DeviceFacts, DeviceInfo, Error,
    ExportFlags, External, ExternalStream, ExternalTimepoint, HostCalls, Limits, Notifications, OperationRef,
    Point, ProfileOptions, QueueAffinity, Release, Result, Semaphore, Statistics, Topology, TopologyEdge,
    TopologyNode, WaitPolicy, callback_pool, driver,
    edge::Domain,
    file,
    pending::{self, PendingSet},
    pool::{SlabRequest, SlabSource},
    wait_all,
};

use crate::{
    allocator::{Allocator, Need},
    channel::Channel,
    channels::Channels,
    command_buffer::CommandBuffer,
    executable::Executable,
    externals::Externals,
    gpu::Gpu,
    gpus::Gpus,
    growable,
    hip::Hip,
    import::Imported,
    info,
    queue::Queue,
    queues::Queues,
    rccl,
    retire::Retirer,
    submission::Boxes,
    timing::ClockStreams,
};

/// The driver's side of an opened device.
pub(crate) struct Device(Arc<Inner>);

/// The parts of a device. `submit.rs`, `progress.rs`, `edge.rs`, `reaper.rs` and `interop.rs` make them work together.
pub(crate) struct Inner {
    pub(crate) this: Weak<Self>,
    /// The first GPU's, at hand: each submission asks it whether the device is lost.
    pub(crate) hip: Hip,
    pub(crate) gpus: Arc<Gpus>,
    info: DeviceInfo,
    /// Which code fits the device.
    code: CodeOptions,
    pub(crate) queues: Queues,
    pub(crate) allocator: Allocator,
    pub(crate) pending: PendingSet<Self>,
    pub(crate) host_calls: HostCalls,
    pub(crate) boxes: Boxes,
    pub(crate) retirer: Retirer,
    pub(crate) externals: Externals,
    pub(crate) clock_streams: ClockStreams,
    pub(crate) channels: Channels,
}

impl Device {
    /// A device of `gpus`, at least one, with an equal share of the queues for each. `slab` is the bytes of a slab.
    pub(crate) fn open(
        gpus: Vec<Gpu>,
        info: DeviceInfo,
        limits: Limits,
        slab: u64,
        code: CodeOptions,
        channels: Channels,
    ) -> Result<Self> {
        let gpus = Arc::new(Gpus::new(gpus, limits));
        let allocator = Allocator::new(&gpus, slab)?;
        let queues = Queues::new(&gpus)?;
        Ok(Self(Arc::new_cyclic(|this| Inner {
            this: this.clone(),
            hip: gpus.hip.clone(),
            gpus,
            info,
            code,
            queues,
            allocator,
            pending: PendingSet::new(),
            host_calls: HostCalls::default(),
            boxes: Boxes::default(),
            retirer: Retirer::default(),
            externals: Externals::default(),
            clock_streams: ClockStreams::default(),
            channels,
        })))
    }

    fn load(&self, parts: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
        let inner = &self.0;
        inner.usable()?;
        let loaded = Executable::load(&inner.gpus, inner.clone(), &inner.code, parts);
        Ok(Arc::new(inner.retire_if_lost(loaded)?))
    }
}

impl Inner {
    /// Why the device is lost, if it is.
    pub(crate) fn lost(&self) -> Option<&Error> {
        self.hip.lost()
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost().is_some()
    }

    /// The error of a lost device.
    pub(crate) fn usable(&self) -> Result<()> {
        self.lost().cloned().map_or(Ok(()), Err)
    }

    /// Passes a result on. If the call lost the device, everything in flight or pending fails at once.
    pub(crate) fn retire_if_lost<T>(&self, result: Result<T>) -> Result<T> {
        if result.is_err() && self.is_lost() {
            self.retire();
        }
        result
    }

    /// Fails every operation that was not issued, and refuses new ones.
    pub(crate) fn close_pending(&self, error: Error) {
        if let Some(this) = self.this.upgrade() {
            self.pending.close(&this, error);
        }
    }
}

impl SlabSource for Inner {
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::RawBuffer>> {
        self.allocator.allocate_slab(self, request)
    }

    fn has_retired(&self, lane: u32, epoch: u64) -> bool {
        self.queues.has_retired(lane, epoch)
    }

    fn poll(&self) {
        self.retire_all();
    }

    fn usable(&self) -> Result<()> {
        Self::usable(self)
    }

    fn accounts(&self) -> &Accounts {
        self.allocator.accounts()
    }
}

// SAFETY: the domain and the limits are set when the device is opened and never change. All of its objects carry this domain.
// A buffer owns its part of a slab, and a slab owns its memory of HIP. A piece in flight owns its operation with all objects,
// and retires when its event has completed or the device is lost; a lost device gives no memory back. Signals settle after that.
unsafe impl driver::RawDevice for Device {
    fn info(&self) -> &DeviceInfo {
        &self.0.info
    }

    fn limits(&self) -> &Limits {
        &self.0.gpus.limits
    }

    fn domain(&self) -> Domain {
        self.0.gpus.domain
    }

    fn topology(&self) -> Topology {
        self.0.gpus.topology()
    }

    fn edge_to(&self, physical_device: u32, node: &TopologyNode) -> Option<TopologyEdge> {
        self.0.gpus.edge_to(physical_device, node)
    }

    fn facts(&self, physical_device: u32) -> Result<DeviceFacts> {
        self.0.usable()?;
        let gpu = self.0.gpus.get(physical_device as usize);
        let gpu = gpu.ok_or_else(|| Error::internal(format!("no GPU {physical_device}")))?;
        Ok(info::facts(&gpu.hip))
    }

    fn reserve_growable(&self, params: &BufferParams, capacity: u64) -> Result<Arc<dyn driver::RawGrowable>> {
        self.0.usable()?;
        let (inner, gpu) = (self.0.clone(), self.0.gpus.nearest(params.queue_affinity).index);
        let returns = inner.allocator.returns(gpu).clone();
        let reclaim = Box::new(move || inner.allocator.reclaim(&*inner, gpu));
        let source =
            growable::Source { gpus: self.0.gpus.clone(), gpu, device: self.0.clone(), returns, reclaim };
        let reserved = growable::reserve(source, params.min_alignment, capacity);
        Ok(Arc::new(self.0.retire_if_lost(reserved)?))
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        self.0.usable()?;
        Ok(self.0.allocator.allocate(self.0.clone(), params, size, Need::Patient)?)
    }

    fn reserve(
        &self,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        self.0.usable()?;
        Ok(self.0.allocator.allocate(self.0.clone(), params, size, Need::Ordered(affinity))?)
    }

    fn memory(&self) -> Arc<dyn SlabSource> {
        self.0.clone()
    }

    unsafe fn import(
        &self,
        _params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        self.0.usable()?;
        // SAFETY: the caller makes the same promise.
        let imported = unsafe { Imported::new(&self.0.gpus, self.0.clone(), memory, release) };
        Ok(Arc::new(self.0.retire_if_lost(imported)?))
    }

    fn channel_id(&self) -> Result<ChannelId> {
        self.0.usable()?;
        rccl::channel_id(self.0.channels.rccl(&self.0.hip)?)
    }

    fn create_channel(&self, params: &ChannelParams) -> Result<Arc<dyn driver::RawChannel>> {
        let inner = &self.0;
        inner.usable()?;
        let library = inner.channels.rccl(&inner.hip)?.clone();
        rccl::check_joins(&library)?;
        let gpu = inner.gpus.nearest(params.affinity).clone();
        let own = inner.queues.iter().filter(|queue| queue.gpu.index == gpu.index);
        let own = QueueAffinity::from_bits(own.fold(0, |bits, queue| bits | 1 << queue.index));
        let affinity = own.intersection(params.affinity);
        Ok(Arc::new(Channel::join(inner.clone(), inner.gpus.domain, gpu, library, params, affinity)))
    }

    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        self.load(&[code])
    }

    unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
        self.load(parts)
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        let inner = &self.0;
        inner.usable()?;
        let prepared = CommandBuffer::prepare(&inner.gpus, &inner.allocator, inner.clone(), list);
        Ok(Arc::new(inner.retire_if_lost(prepared)?))
    }

    unsafe fn import_timepoint(
        &self,
        affinity: QueueAffinity,
        timepoint: ExternalTimepoint,
    ) -> Result<Arc<dyn driver::RawTimepoint>> {
        let noted = self.0.import_timepoint(affinity, timepoint);
        Ok(Arc::new(self.0.retire_if_lost(noted)?))
    }

    unsafe fn export_timepoint(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        stream: ExternalStream,
        flags: ExportFlags,
    ) -> Result<()> {
        self.0.retire_if_lost(self.0.export_timepoint(affinity, waits, stream, flags))
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        let this = || Arc::new(Self(self.0.clone()));
        match operation {
            OperationRef::Read { file, file_offset, target } => {
                // SAFETY: the front's own operation, unchanged.
                unsafe {
                    file::read_through_host(this(), affinity, (waits, signals), file, file_offset, target)
                }
            }
            OperationRef::Write { source, file, file_offset } => {
                // SAFETY: the front's own operation, unchanged.
                unsafe {
                    file::write_through_host(this(), affinity, (waits, signals), source, file, file_offset)
                }
            }
            operation => self.0.accept(affinity, waits, signals, operation),
        }
    }

    fn poll(&self) {
        self.0.retire_all();
    }

    fn drain(&self, deadline: Deadline) -> Result<()> {
        let inner = &self.0;
        let mut watched = Vec::new();
        let mut points = Vec::new();
        for queue in inner.queues.iter() {
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
            done.semaphore.attach_edge(1, inner.edge(queue, newest), &mut notifications);
            notifications.fire();
            watched.push(queue);
            points.push(done);
        }
        points.extend(inner.host_calls.ends());
        points.extend(inner.queues.unfinished.ends());
        let result = wait_all(&points, deadline, WaitPolicy::default());
        for (queue, point) in watched.iter().zip(&points) {
            queue.watchers.forget(&point.semaphore);
        }
        result.and_then(|()| inner.usable())
    }

    fn close(&self) {
        let inner = &self.0;
        let error =
            Error::cancelled(format!("{} was closed before the operation was issued", inner.info.uri));
        inner.close_pending(error.clone());
        inner.channels.close(&error);
        // Work in flight keeps the device open, so reapers must retire it.
        for queue in inner.queues.iter() {
            inner.demand_of(queue, queue.newest());
        }
    }

    fn trim(&self) {
        self.0.retire_all();
        self.0.allocator.give_back_idle(&*self.0);
    }

    fn statistics(&self) -> Statistics {
        self.0.allocator.accounts().statistics()
    }

    fn profiling_begin(&self, options: &ProfileOptions) -> Result<()> {
        self.0.usable()?;
        self.0.begin_timing(options.device_times)
    }

    fn profiling_end(&self) {
        self.0.end_timing();
    }
}

impl Drop for Inner {
    /// Gives streams and events back on a thread of the callback pool, because HIP synchronises for that. A lost device keeps
    /// everything, and so does every device when the process ends.
    fn drop(&mut self) {
        self.queues.iter().for_each(|queue| queue.demand.end());
        self.give_up_in_flight();
        if self.hip.keeps_all() {
            return;
        }
        let (gpus, externals) = (self.gpus.clone(), self.externals.take());
        let of_queue = |queue: &mut Queue| {
            let state = queue.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            let mut events = state.events.take();
            events.extend(state.clock.take());
            (queue.gpu.index, queue.handle, events)
        };
        let mut streams: Vec<_> = self.queues.iter_mut().map(of_queue).collect();
        streams.extend(self.clock_streams.take().map(|(gpu, stream)| (gpu, stream, Vec::new())));
        callback_pool::spawn(Box::new(move || {
            for gpu in gpus.iter() {
                gpu.hip.give_back(|hip| {
                    for (_, stream, events) in streams.iter().filter(|(index, ..)| *index == gpu.index) {
                        events.iter().for_each(|event| hip.destroy_event(**event));
                        hip.destroy_stream(*stream);
                    }
                });
            }
            externals.give_back(&gpus.hip);
        }));
    }
}

impl Inner {
    /// Fails the pieces that are still in flight. There are none as a rule: work in flight keeps the device open by its buffers
    /// or its executable, and a reaper retires any other. Only if the system had no thread for a reaper can some be left.
    fn give_up_in_flight(&mut self) {
        for queue in self.queues.iter_mut() {
            let state = queue.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            for mut submission in std::mem::take(&mut state.in_flight) {
                let error = Error::cancelled("the device went away before the work was seen to complete");
                pending::fail(&submission.order.signals, &error);
                submission.piece.event.take().into_iter().for_each(|event| state.events.release(event));
            }
        }
    }
}
