// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device. The traits of `windlass_hal::driver` state the contract of each method.

use std::sync::Arc;

use windlass_hal::{
    BufferParams, CommandList, Deadline, DeviceInfo, Error, Limits, MemoryType, OperationRef, Point,
    QueueAffinity, Result, Statistics, driver,
    edge::Domain,
    file,
    pending::Issue,
    pool::{PoolParams, Reach, SlabSource, Slabs},
};

use crate::{
    allocator::Memory, command_buffer::CommandBuffer, executable::Executable, queues::Queues, submit,
};

/// An opened postfix machine.
#[derive(Clone)]
pub(crate) struct Device {
    info: DeviceInfo,
    limits: Limits,
    domain: Domain,
    memory: Memory,
    /// The default pools: one for the device's own memory, one for memory that the host may map.
    device: Arc<Slabs>,
    host: Arc<Slabs>,
    queues: Arc<Queues>,
}

impl Device {
    pub(crate) fn new(info: DeviceInfo, limits: Limits) -> Result<Self> {
        let domain = Domain::unique();
        let memory = Memory::new(domain, limits.total_memory);
        let pool = |kind| {
            let params = PoolParams::passthrough().with_memory(kind);
            Slabs::new(params, limits.allocation_alignment).map(Arc::new)
        };
        Ok(Self {
            info,
            domain,
            device: pool(BufferParams::device())?,
            host: pool(BufferParams::host())?,
            queues: Arc::new(Queues::new(domain, memory.clone())?),
            memory,
            limits,
        })
    }
}

// SAFETY: the domain and the limits are set when the device is opened, and never change. All objects of the device carry
// this domain. A buffer owns its memory. An operation keeps its objects until it has run, and settles its signals after that.
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

    fn reserve(
        &self,
        _affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        self.allocate(params, size)
    }

    fn memory(&self) -> Arc<dyn SlabSource> {
        Arc::new(self.memory.clone())
    }

    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        Ok(Arc::new(Executable::load(self.domain, code)?))
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        Ok(Arc::new(CommandBuffer::new(self.domain, list)?))
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        tracing::trace!(target: "windlass::queue", operation = operation.name(), "submit");
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
            operation => {
                submit::check(&operation)?;
                self.queues.pending().submit(&self.queues, waits, signals, operation.into_owned().into())
            }
        }
    }

    /// Does nothing: the machine's thread retires its work.
    fn poll(&self) {}

    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.queues.drain(deadline)
    }

    fn close(&self) {
        self.queues.pending().close(&self.queues, Error::cancelled(format!("{} was closed", self.info.uri)));
    }

    fn trim(&self) {
        self.device.trim(&self.memory);
        self.host.trim(&self.memory);
    }

    fn statistics(&self) -> Statistics {
        self.memory.statistics()
    }
}
