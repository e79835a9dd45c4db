// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device: the host as one.

use std::sync::Arc;

use windlass_hal::{
    BufferParams, CommandList, Deadline, DeviceInfo, Error, External, HostImport, Limits, MemoryType,
    Operation, Point, Points, QueueAffinity, Release, Result, Statistics, driver,
    edge::Domain,
    file,
    host_memory::HostHeap,
    pending::Issue,
    pool::{PoolParams, Reach, SlabSource, Slabs},
};

use crate::{
    command_buffer::CommandBuffer,
    executable::Executable,
    library::Library,
    queue::{self, Queues},
};

/// An opened local device.
#[derive(Clone)]
pub(crate) struct Device {
    info: DeviceInfo,
    limits: Limits,
    domain: Domain,
    heap: HostHeap,
    /// The pools that everything comes from that names no other: of what was asked for as the device's own, and of what
    /// the host may map. All of it is the host's; reports tell it apart.
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
    /// Whether it takes shared objects, as its information says.
    fn loads_native(&self) -> bool {
        self.info.executable_formats.iter().any(|format| format == crate::NATIVE_FORMAT)
    }
}

// SAFETY: the domain and the limits are set when the device is opened and never change. All of its objects carry this domain.
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

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        let host = params.memory_type.contains(MemoryType::HOST_VISIBLE);
        let slabs = if host { &self.host } else { &self.device };
        Ok(slabs.acquire(&self.memory(), size, params.min_alignment, Reach::Now)?.memory()?)
    }

    /// The memory itself: taking it later would gain nothing.
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

    /// Memory of this process, which a device address leads to as well.
    unsafe fn import(
        &self,
        _params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        // SAFETY: the caller's promise, passed on; the addresses of this device are exposed pointers.
        Ok(Arc::new(unsafe { HostImport::new(self.domain, memory, release) }?))
    }

    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        let native = self.loads_native();
        // SAFETY: the caller's promise, passed on.
        Ok(Arc::new(unsafe { Executable::load(self.domain, &self.libraries, code, native) }?))
    }

    unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
        let native = self.loads_native();
        // SAFETY: the caller's promise, passed on.
        Ok(Arc::new(unsafe { Executable::load_linked(self.domain, parts, native) }?))
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        Ok(Arc::new(CommandBuffer::new(self.domain, list, self.queues.threads())?))
    }

    /// Without threads of its own, the device runs what is ready before this returns, unless the calling thread is
    /// running something already.
    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: Operation,
    ) -> Result<()> {
        match operation {
            Operation::Read { file, file_offset, target } => {
                let (device, points) = (Arc::new(self.clone()), (waits, signals));
                // SAFETY: the front's own operation, as it came.
                unsafe { file::read_through_host(device, affinity, points, file, file_offset, target) }
            }
            Operation::Write { source, file, file_offset } => {
                let (device, points) = (Arc::new(self.clone()), (waits, signals));
                // SAFETY: the front's own operation, as it came.
                unsafe { file::write_through_host(device, affinity, points, source, file, file_offset) }
            }
            operation if queue::is_known(&operation) => {
                tracing::trace!(target: "windlass::queue", operation = operation.name(), "submit");
                self.queues.pending().submit(
                    &self.queues,
                    Points::from(waits),
                    Points::from(signals),
                    operation,
                )
            }
            operation => Err(Error::unimplemented(format!("the local device has no {}", operation.name()))),
        }
    }

    /// There is nothing to retire: work settles its signals when it ends.
    fn poll(&self) {}

    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.queues.drain(deadline)
    }

    fn close(&self) {
        self.queues.pending().close(&self.queues, Error::cancelled(format!("{} was closed", self.info.uri)));
    }

    /// Gives memory back that was kept for reuse.
    fn trim(&self) {
        self.device.trim(&self.heap);
        self.host.trim(&self.heap);
    }

    fn statistics(&self) -> Statistics {
        self.heap.statistics()
    }
}
