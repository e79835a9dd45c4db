// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device: memory, queues, and what a driver must answer.

use std::sync::Arc;

use windlass_hal::{
    BufferParams, CommandList, Deadline, DeviceInfo, Error, Limits, Operation, Point, Points, QueueAffinity,
    Result, Statistics, driver, edge::Domain, file, pending::Issue,
};

use crate::{
    allocator::Budget,
    buffer::Buffer,
    command_buffer::CommandBuffer,
    queue::{self, Queues},
};

/// An opened null device.
pub(crate) struct Device {
    info: DeviceInfo,
    limits: Limits,
    domain: Domain,
    budget: Arc<Budget>,
    queues: Arc<Queues>,
}

impl Device {
    pub(crate) fn new(info: DeviceInfo, limits: Limits) -> Self {
        Self {
            info,
            budget: Arc::new(Budget::new(limits.total_memory)),
            limits,
            domain: Domain::unique(),
            queues: Arc::default(),
        }
    }
}

impl driver::Device for Device {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn domain(&self) -> Domain {
        self.domain
    }

    /// Memory that is usable at once; `RESOURCE_EXHAUSTED` says what is free.
    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::Buffer>> {
        Ok(Arc::new(Buffer::new(self.domain, self.budget.clone(), size, params.min_alignment)?))
    }

    /// An address for an alloca. This driver has nothing to gain by taking the memory later.
    fn reserve(
        &self,
        _affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::Buffer>> {
        self.allocate(params, size)
    }

    /// Device code. The lack is declared in [`DeviceInfo::lacks`], so that callers and the suite know beforehand.
    unsafe fn load_executable(&self, _code: &[u8]) -> Result<Arc<dyn driver::Executable>> {
        Err(Error::unimplemented("the null device runs no kernels; open hip:// or hip-sim://gfx942"))
    }

    /// What can be built once for all submissions of a recording.
    fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::CommandBuffer>> {
        Ok(Arc::new(CommandBuffer::new(self.domain, list)?))
    }

    /// Accepts an operation, or refuses it and leaves its signals alone.
    fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: Operation,
    ) -> Result<()> {
        match operation {
            Operation::Read { file, file_offset, target } => {
                file::read_through_host(self, affinity, (waits, signals), file, file_offset, target)
            }
            Operation::Write { source, file, file_offset } => {
                file::write_through_host(self, affinity, (waits, signals), source, file, file_offset)
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

    /// Retires finished work. Here all work is finished when it is issued.
    fn poll(&self) {}

    /// Waits for what was issued, never for what is pending.
    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.queues.drain(deadline)
    }

    /// Fails what is pending and refuses new work.
    fn close(&self) {
        self.queues.pending().close(&self.queues, Error::cancelled(format!("{} was closed", self.info.uri)));
    }

    /// Gives cached memory back; there is none.
    fn trim(&self) {}

    /// What the memory is used for.
    fn statistics(&self) -> Statistics {
        self.budget.statistics()
    }
}
