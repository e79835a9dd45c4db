// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device: memory, queues, and the methods that every driver must implement.
//!
//! Several threads at once may call every method, and so may wakers that this driver's own signals run. No method
//! waits for other work, except [`drain`](driver::RawDevice::drain).

use std::sync::Arc;

use windlass_hal::{
    BufferParams, ChannelId, ChannelParams, CommandList, Deadline, DeviceFacts, DeviceInfo, Error,
    ExportFlags, External, ExternalStream, ExternalTimepoint, HostImport, Limits, MemoryType, OperationRef,
    Point, ProfileOptions, QueueAffinity, Release, Result, Statistics, Topology, TopologyEdge, TopologyNode,
    driver,
    edge::Domain,
    file,
    pending::Issue,
    pool::{PoolParams, Reach, SlabSource, Slabs},
};

use crate::{
    allocator::Heap, command_buffer::CommandBuffer, executable::Executable, queues::Queues, submit::is_known,
};

/// An opened null device.
#[derive(Clone)]
pub(crate) struct Device {
    info: DeviceInfo,
    limits: Limits,
    domain: Domain,
    heap: Heap,
    /// The default pools: one for memory that is requested as the device's own, one for memory that the host may map.
    device: Arc<Slabs>,
    host: Arc<Slabs>,
    queues: Arc<Queues>,
}

impl Device {
    pub(crate) fn new(info: DeviceInfo, limits: Limits) -> Result<Self> {
        let domain = Domain::unique();
        let pool = |memory| {
            let params = PoolParams::passthrough().with_memory(memory);
            Slabs::new(params, limits.allocation_alignment).map(Arc::new)
        };
        Ok(Self {
            info,
            domain,
            heap: Heap::new(domain, limits.total_memory),
            device: pool(BufferParams::device())?,
            host: pool(BufferParams::host())?,
            limits,
            queues: Arc::default(),
        })
    }
}

// SAFETY: the domain and the limits are set when the device is opened, and never change. All objects of the device carry
// this domain. A buffer owns its memory. An operation keeps its objects until it has run, and settles its signals after that.
unsafe impl driver::RawDevice for Device {
    /// Returns the description of the device with its lacks, the same from open to drop.
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Returns the limits of queues and memory, the same from open to drop, because fronts check against them and
    /// drivers do not check again.
    fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the identity that every buffer, executable and command buffer of this opened device carries, and that
    /// no other device has.
    fn domain(&self) -> Domain {
        self.domain
    }

    /// Returns a node for each of `Limits::physical_devices`, with the facts that the system tells and `None` for the
    /// others, and an edge for each ordered pair of them.
    fn topology(&self) -> Topology {
        Topology::new(vec![TopologyNode::host(0)], |_, _| TopologyEdge::default())
    }

    /// Returns the link to a processor of another device if this driver can tell how its own processor reaches that
    /// memory, and otherwise `None`, which stands for a way through host memory.
    fn edge_to(&self, _physical_device: u32, _node: &TopologyNode) -> Option<TopologyEdge> {
        None
    }

    /// Returns what the system tells of a processor, with the memory that is free at this moment and `None` for each
    /// unknown fact, and guesses nothing.
    fn facts(&self, _physical_device: u32) -> Result<DeviceFacts> {
        let (free, total) = self.heap.free_and_total();
        let mut facts = DeviceFacts::default();
        facts.free_memory_bytes = Some(free);
        facts.total_memory_bytes = Some(total);
        Ok(facts)
    }

    /// Reserves addresses that kernels see, without memory behind them, for memory that grows in place and that its
    /// buffers keep; the lack is `Feature::VirtualMemory`.
    fn reserve_growable(&self, params: &BufferParams, capacity: u64) -> Result<Arc<dyn driver::RawGrowable>> {
        Ok(Arc::new(self.heap.reserve_growable(params, capacity)?))
    }

    /// Returns memory that is usable at once, aligned as `params` request and with arbitrary content, or
    /// `RESOURCE_EXHAUSTED` with the requested and the free bytes; it may be slow, but waits for no work.
    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        let host = params.memory_type.contains(MemoryType::HOST_VISIBLE);
        let slabs = if host { &self.host } else { &self.device };
        Ok(slabs.acquire(&self.memory(), size, params.min_alignment, Reach::Now)?.memory()?)
    }

    /// Returns an address for an alloca on the queues of `affinity` without waiting, although the contents belong to
    /// the buffer only once that operation has completed; this driver would gain nothing by allocating later.
    fn reserve(
        &self,
        _affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        self.allocate(params, size)
    }

    /// Returns the source from which pools take slabs, which must not keep the device open.
    fn memory(&self) -> Arc<dyn SlabSource> {
        Arc::new(self.heap.clone())
    }

    /// Makes external memory a buffer that runs `release` once, when nothing uses the memory any more, or refuses the
    /// memory and does not run `release`; the lacks are `Feature::ImportHost` and `Feature::ImportDevice`.
    unsafe fn import(
        &self,
        _params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        // SAFETY: the caller's promise, passed on. The addresses of this device are exposed pointers.
        Ok(Arc::new(unsafe { HostImport::new(self.domain, memory, release) }?))
    }

    /// Tells whether recorders keep with each dispatch the ranges that its arguments name, which wrappers that describe work
    /// need and devices do not.
    fn wants_argument_ranges(&self) -> bool {
        false
    }

    /// Names a channel for ranks that will join it; the lack is `Feature::Collectives`.
    fn channel_id(&self) -> Result<ChannelId> {
        Err(Error::unimplemented("the null device has no channels"))
    }

    /// Makes the device a rank of a channel without waiting for the other ranks, whose absence fails groups of the channel
    /// with `ABORTED` after its timeout; the lack is `Feature::Collectives`.
    fn create_channel(&self, _params: &ChannelParams) -> Result<Arc<dyn driver::RawChannel>> {
        Err(Error::unimplemented("the null device has no channels"))
    }

    /// Loads code that the caller vouches for but whose bytes may be hostile, with `INVALID_ARGUMENT` if they are no
    /// code and `NOT_FOUND` if they are for another device; the lack is `Feature::Dispatch`.
    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        Ok(Arc::new(Executable::load(self.domain, &[code])?))
    }

    /// Loads two or more pieces of code as one executable, with an error that names every symbol that none of them
    /// defines; the lack is `Feature::Linking`.
    unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
        let linked = Executable::load(self.domain, parts);
        Ok(Arc::new(linked.map_err(|error| error.context(format!("linking {} pieces", parts.len())))?))
    }

    /// Prepares once the data that all submissions of a recording share, although many of them may be in flight at
    /// once; the lack is `Feature::CommandBuffers`.
    #[allow(unsafe_code)]
    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        Ok(Arc::new(CommandBuffer::new(self.domain, list)?))
    }

    /// Notes the present place in the order of another library's stream or event, for an import that may run much
    /// later; the lack is `Feature::ExternalTimepoints`.
    unsafe fn import_timepoint(
        &self,
        _affinity: QueueAffinity,
        timepoint: ExternalTimepoint,
    ) -> Result<Arc<dyn driver::RawTimepoint>> {
        Err(Error::unimplemented(format!("importing {timepoint:?}: no other library works on host memory")))
    }

    /// Lets later work of another library's stream wait for points that are reached or in a stream of this device,
    /// without the host; the lack is `Feature::ExternalTimepoints`.
    unsafe fn export_timepoint(
        &self,
        _affinity: QueueAffinity,
        _waits: &[Point],
        stream: ExternalStream,
        _flags: ExportFlags,
    ) -> Result<()> {
        Err(Error::unimplemented(format!("exporting to {stream:?}: no other library works on host memory")))
    }

    /// Accepts an operation that starts once every wait is reached and then reaches or fails every signal, or refuses
    /// it, leaves its signals alone and keeps nothing of it; it never waits for the waits.
    #[allow(unsafe_code)]
    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        match operation {
            OperationRef::Read { file, file_offset, target } => {
                let (device, points) = (Arc::new(self.clone()), (waits, signals));
                // SAFETY: the front's operation, passed on unchanged.
                unsafe { file::read_through_host(device, affinity, points, file, file_offset, target) }
            }
            OperationRef::Write { source, file, file_offset } => {
                let (device, points) = (Arc::new(self.clone()), (waits, signals));
                // SAFETY: the front's operation, passed on unchanged.
                unsafe { file::write_through_host(device, affinity, points, source, file, file_offset) }
            }
            operation if is_known(&operation) => {
                tracing::trace!(target: "windlass::queue", operation = operation.name(), "submit");
                self.queues.pending().submit(&self.queues, waits, signals, operation.into_owned().into())
            }
            operation => Err(Error::unimplemented(format!("the null device has no {}", operation.name()))),
        }
    }

    /// Retires finished work if no other thread is doing so, and returns at once; here all work is finished when it
    /// is issued.
    fn poll(&self) {}

    /// Waits until all issued work has retired, never for pending work, and returns `DEADLINE_EXCEEDED` at the
    /// deadline.
    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.queues.drain(deadline)
    }

    /// Fails pending work with `CANCELLED`, refuses new work from now on, and waits for nothing: issued work goes on
    /// and keeps alive everything that it uses.
    fn close(&self) {
        self.queues.pending().close(&self.queues, Error::cancelled(format!("{} was closed", self.info.uri)));
    }

    /// Frees memory that pools keep for reuse and that no buffer uses, without waiting for memory in use.
    fn trim(&self) {
        self.device.trim(&self.heap);
        self.host.trim(&self.heap);
    }

    /// Returns the bytes of allocated memory and the bytes that buffers hold, without waiting.
    fn statistics(&self) -> Statistics {
        self.heap.statistics()
    }

    /// Compares the clock of the device with that of the host, so that witnesses can be told when work ran; this
    /// device has the host's clock.
    fn profiling_begin(&self, _options: &ProfileOptions) -> Result<()> {
        Ok(())
    }

    /// Ends a profile and gives its resources back, although profiled work may still be in flight and is told later.
    fn profiling_end(&self) {}
}
