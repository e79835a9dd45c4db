// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device: the host as one.

use std::sync::Arc;

use windlass_hal::{
    BufferParams, CommandList, Deadline, DeviceFacts, DeviceInfo, Error, External, HostImport, Limits,
    MemoryType, OperationRef, Point, QueueAffinity, Release, Result, Statistics, Topology, TopologyEdge,
    driver,
    edge::Domain,
    file,
    host_memory::HostHeap,
    pending::Issue,
    pool::{PoolParams, Reach, SlabSource, Slabs},
};

use crate::{
    command_buffer::CommandBuffer, executable::Executable, library::Library, queues::Queues,
    submit::is_known, topology,
};

/// An opened local device.
#[derive(Clone)]
pub(crate) struct Device {
    info: DeviceInfo,
    limits: Limits,
    domain: Domain,
    heap: HostHeap,
    /// The default pools: one for memory that is requested as the device's own, one for memory that the host may map.
    /// Both hold host memory, but reports tell them apart.
    device: Arc<Slabs>,
    host: Arc<Slabs>,
    libraries: Arc<[Library]>,
    queues: Arc<Queues>,
}

impl Device {
    pub(crate) fn new(
        info: DeviceInfo,
        limits: Limits,
        libraries: Arc<[Library]>,
        threads: usize,
    ) -> Result<Self> {
        let domain = Domain::unique();
        let pool = |memory| {
            let params = PoolParams::passthrough().with_memory(memory);
            Slabs::new(params, limits.allocation_alignment).map(Arc::new)
        };
        Ok(Self {
            info,
            heap: HostHeap::new(
                domain,
                limits.total_memory,
                "release buffers, or open local://?memory=BYTES",
            ),
            device: pool(BufferParams::device())?,
            host: pool(BufferParams::host())?,
            queues: Arc::new(Queues::new(limits.clone(), threads)?),
            limits,
            domain,
            libraries,
        })
    }
}

impl Device {
    /// Whether the device takes shared objects, as its information states.
    fn loads_native(&self) -> bool {
        self.info.executable_formats.iter().any(|format| format == crate::NATIVE_FORMAT)
    }
}

// SAFETY: the domain and the limits are set when the device is opened, and never change. All objects of the device carry
// this domain. A buffer owns its memory. A submission owns its operation with all objects until its last batch has run, and
// settles its signals after that.
unsafe impl driver::RawDevice for Device {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn domain(&self) -> Domain {
        self.domain
    }

    fn topology(&self) -> Topology {
        Topology::new(vec![topology::node()], |_, _| TopologyEdge::default())
    }

    fn facts(&self, _physical_device: u32) -> Result<DeviceFacts> {
        Ok(topology::facts(self.queues.thread_count(), self.heap.free_and_total()))
    }

    fn reserve_growable(&self, params: &BufferParams, capacity: u64) -> Result<Arc<dyn driver::RawGrowable>> {
        Ok(Arc::new(self.heap.reserve_growable(params, capacity)?))
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        let host = params.memory_type.contains(MemoryType::HOST_VISIBLE);
        let slabs = if host { &self.host } else { &self.device };
        Ok(slabs.acquire(&self.memory(), size, params.min_alignment, Reach::Now)?.memory()?)
    }

    /// Allocates at once: there is no gain in a later allocation.
    fn reserve(
        &self,
        _affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        self.allocate(params, size)
    }

    fn memory(&self) -> Arc<dyn SlabSource> {
        Arc::new(self.heap.clone())
    }

    /// Imports memory of this process, by host pointer or by device address.
    unsafe fn import(
        &self,
        _params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        // SAFETY: the caller's promise, passed on. The addresses of this device are exposed pointers.
        Ok(Arc::new(unsafe { HostImport::new(self.domain, memory, release) }?))
    }

    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        let native = self.loads_native();
        // SAFETY: the caller's promise, passed on.
        let loaded = unsafe { Executable::load(self.domain, &self.libraries, code, native) }?;
        Ok(Arc::new(loaded.on_threads(self.queues.thread_count())))
    }

    unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
        let native = self.loads_native();
        // SAFETY: the caller's promise, passed on.
        let loaded = unsafe { Executable::load_linked(self.domain, parts, native) }?;
        Ok(Arc::new(loaded.on_threads(self.queues.thread_count())))
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        Ok(Arc::new(CommandBuffer::new(self.domain, list, self.queues.thread_count())?))
    }

    /// Without threads of its own, the device runs ready work before this returns, unless the calling thread is
    /// already running work.
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
                if self.queues.run_at_once(waits, signals, &operation)? {
                    return Ok(());
                }
                self.queues.pending().submit(&self.queues, waits, signals, operation.into_owned().into())
            }
            operation => Err(Error::unimplemented(format!("the local device has no {}", operation.name()))),
        }
    }

    /// Does nothing: work reaches or fails its signals when it ends.
    fn poll(&self) {}

    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.queues.drain(deadline)
    }

    fn close(&self) {
        self.queues.pending().close(&self.queues, Error::cancelled(format!("{} was closed", self.info.uri)));
    }

    /// Frees memory that the pools keep for reuse.
    fn trim(&self) {
        self.device.trim(&self.heap);
        self.host.trim(&self.heap);
    }

    fn statistics(&self) -> Statistics {
        self.heap.statistics()
    }
}
