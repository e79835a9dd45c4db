// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device: memory, queues, and what a driver must answer.
//!
//! Every method may be called from any thread, by several at once, and by wakers that this driver's own signals run. None
//! waits for other work, except [`drain`](driver::RawDevice::drain).

use std::sync::Arc;

use windlass_hal::{
    BufferParams, CommandList, Deadline, DeviceInfo, Error, External, HostImport, Limits, MemoryType,
    Operation, Point, Points, QueueAffinity, Release, Result, Statistics, driver,
    edge::Domain,
    file,
    pending::Issue,
    pool::{PoolParams, Reach, SlabSource, Slabs},
};

use crate::{
    allocator::Heap,
    command_buffer::CommandBuffer,
    executable::Executable,
    queue::{self, Queues},
};

/// An opened null device.
#[derive(Clone)]
pub(crate) struct Device {
    info: DeviceInfo,
    limits: Limits,
    domain: Domain,
    heap: Heap,
    /// The pools that everything comes from that names no other: of what was asked for as the device's own, and of what
    /// the host may map.
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

// SAFETY: the domain and the limits are set when the device is opened and never change. All of its objects carry this domain.
unsafe impl driver::RawDevice for Device {
    /// Answers what the device is, with what it lacks, the same from open to drop.
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Answers what queues and memory can take, the same from open to drop, because fronts check against it and drivers
    /// do not check again.
    fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Answers the identity that every buffer, executable and command buffer of this opened device carries, and no other
    /// device's.
    fn domain(&self) -> Domain {
        self.domain
    }

    /// Gives memory that is usable at once, aligned as `params` ask and with any contents, or `RESOURCE_EXHAUSTED` with the
    /// size and what is free; it may be slow, but waits for no work.
    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        let host = params.memory_type.contains(MemoryType::HOST_VISIBLE);
        let slabs = if host { &self.host } else { &self.device };
        Ok(slabs.acquire(&self.memory(), size, params.min_alignment, Reach::Now)?.memory()?)
    }

    /// Gives an address for an alloca on the queues of `affinity` without waiting, though the contents belong to the buffer
    /// only once that operation has completed; this driver has nothing to gain by taking the memory later.
    fn reserve(
        &self,
        _affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        self.allocate(params, size)
    }

    /// Gives what pools take slabs from, which must not keep the device open.
    fn memory(&self) -> Arc<dyn SlabSource> {
        Arc::new(self.heap.clone())
    }

    /// Makes somebody else's memory a buffer that runs `release` once, when nothing uses it any more, or refuses it and does
    /// not run it; the lacks are `Feature::ImportHost` and `Feature::ImportDevice`.
    unsafe fn import(
        &self,
        _params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        // SAFETY: the caller's promise, passed on; the addresses of this device are exposed pointers.
        Ok(Arc::new(unsafe { HostImport::new(self.domain, memory, release) }?))
    }

    /// Loads code that the caller vouches for but whose bytes may be anything, `INVALID_ARGUMENT` where they are no code and
    /// `NOT_FOUND` where they are for another device; the lack is `Feature::Dispatch`.
    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        Ok(Arc::new(Executable::load(self.domain, &[code])?))
    }

    /// Loads two pieces of code or more as one executable, with an error that names every symbol that none of them has; the
    /// lack is `Feature::Linking`.
    unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
        let linked = Executable::load(self.domain, parts);
        Ok(Arc::new(linked.map_err(|error| error.context(format!("linking {} pieces", parts.len())))?))
    }

    /// Builds once what all submissions of a recording share, which may then be in flight many times at once; the lack is
    /// `Feature::CommandBuffers`.
    #[allow(unsafe_code)]
    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        Ok(Arc::new(CommandBuffer::new(self.domain, list)?))
    }

    /// Accepts an operation that starts once every wait is reached and then reaches or fails every signal, or refuses it,
    /// leaves its signals alone and keeps nothing of it; it never waits for the waits.
    #[allow(unsafe_code)]
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
            operation => Err(Error::unimplemented(format!("the null device has no {}", operation.name()))),
        }
    }

    /// Retires what has finished if no other thread is doing so, and returns at once; here all work is finished when it is
    /// issued.
    fn poll(&self) {}

    /// Waits until what was issued has retired, never for what is pending, and gives up with `DEADLINE_EXCEEDED`.
    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.queues.drain(deadline)
    }

    /// Fails what is pending with `CANCELLED`, refuses new work from now on, and waits for nothing: what was issued goes
    /// on and keeps alive what it uses.
    fn close(&self) {
        self.queues.pending().close(&self.queues, Error::cancelled(format!("{} was closed", self.info.uri)));
    }

    /// Gives memory back that was kept for reuse and that nobody uses, and waits for none that somebody does.
    fn trim(&self) {
        self.device.trim(&self.heap);
        self.host.trim(&self.heap);
    }

    /// Answers how much memory is taken and how much of it buffers hold, at once and as of now.
    fn statistics(&self) -> Statistics {
        self.heap.statistics()
    }
}
