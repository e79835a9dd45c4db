// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers: ranges of memory that queues work on.

use std::{fmt, sync::Arc};

use crate::{
    argument::Argument,
    driver,
    error::{Error, Result},
    flags::flags,
    fork::Kept,
    mapping::Mapping,
    operation::QueueAffinity,
    pool,
};

flags! {
    /// Where memory lives and who sees it, with IREE's numeric values.
    pub struct MemoryType: u32 {
        /// The host can map it.
        HOST_VISIBLE = 1 << 1;
        /// Host and device see each other's writes without flushes.
        HOST_COHERENT = 1 << 2;
        /// Host reads are cached.
        HOST_CACHED = 1 << 3;
        /// It lives near the host.
        HOST_LOCAL = (1 << 6) | Self::HOST_VISIBLE.0;
        /// Device queues can use it.
        DEVICE_VISIBLE = 1 << 4;
        /// It lives near the device.
        DEVICE_LOCAL = (1 << 5) | Self::DEVICE_VISIBLE.0;
    }
}

flags! {
    /// What a buffer may be used for.
    pub struct BufferUsage: u32 {
        /// Source of copies.
        TRANSFER_SOURCE = 1 << 0;
        /// Target of copies, fills and updates.
        TRANSFER_TARGET = 1 << 1;
        /// Both.
        TRANSFER = Self::TRANSFER_SOURCE.0 | Self::TRANSFER_TARGET.0;
        /// Parameters of indirect dispatches.
        DISPATCH_INDIRECT_PARAMETERS = 1 << 8;
        /// Argument of dispatches that read it.
        DISPATCH_STORAGE_READ = 1 << 10;
        /// Argument of dispatches that write it.
        DISPATCH_STORAGE_WRITE = 1 << 11;
        /// Argument of dispatches.
        DISPATCH_STORAGE = Self::DISPATCH_STORAGE_READ.0 | Self::DISPATCH_STORAGE_WRITE.0;
        /// The host may map it.
        MAPPING = 1 << 24;
        /// Transfers and dispatches.
        DEFAULT = Self::TRANSFER.0 | Self::DISPATCH_STORAGE.0;
    }
}

/// How to allocate a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferParams {
    /// Where it lives.
    pub memory_type: MemoryType,
    /// What it may be used for.
    pub usage: BufferUsage,
    /// The least alignment of its address in bytes, a power of two; 0 for the device's own.
    pub min_alignment: u64,
    /// The queues that use it most: where a device has several GPUs, the memory is near the first of these.
    pub queue_affinity: QueueAffinity,
}

impl BufferParams {
    /// Device memory for transfers and dispatches.
    pub const fn device() -> Self {
        Self {
            memory_type: MemoryType::DEVICE_LOCAL,
            usage: BufferUsage::DEFAULT,
            min_alignment: 0,
            queue_affinity: QueueAffinity::ANY,
        }
    }

    /// Host memory that the device can use and the host can map.
    pub const fn host() -> Self {
        Self {
            memory_type: MemoryType(
                MemoryType::HOST_LOCAL.0 | MemoryType::HOST_COHERENT.0 | MemoryType::DEVICE_VISIBLE.0,
            ),
            usage: BufferUsage(BufferUsage::DEFAULT.0 | BufferUsage::MAPPING.0),
            min_alignment: 0,
            queue_affinity: QueueAffinity::ANY,
        }
    }

    /// The same with another usage.
    pub const fn with_usage(mut self, usage: BufferUsage) -> Self {
        self.usage = usage;
        self
    }

    /// The same with an alignment.
    pub const fn with_min_alignment(mut self, bytes: u64) -> Self {
        self.min_alignment = bytes;
        self
    }

    /// The same near other queues.
    pub const fn with_queue_affinity(mut self, affinity: QueueAffinity) -> Self {
        self.queue_affinity = affinity;
        self
    }
}

impl Default for BufferParams {
    fn default() -> Self {
        Self::device()
    }
}

/// A range of device memory: a whole allocation or a part of it.
///
/// Clones and subspans share the allocation, which lives until the last handle is gone and the last submission
/// that uses it has ended.
#[derive(Clone)]
pub struct Buffer {
    raw: Kept<Arc<dyn driver::Buffer>>,
    params: BufferParams,
    offset: u64,
    length: u64,
}

impl Buffer {
    /// Wraps what a driver allocated.
    pub fn from_driver(raw: Arc<dyn driver::Buffer>, params: BufferParams) -> Self {
        let length = raw.size();
        Self { raw: raw.into(), params, offset: 0, length }
    }

    /// Bytes in this range.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether the range holds no byte.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Where the range begins in its allocation, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What the allocation was made with.
    pub fn params(&self) -> BufferParams {
        self.params
    }

    /// The address that device code sees.
    pub fn device_address(&self) -> u64 {
        self.raw.device_address().wrapping_add(self.offset)
    }

    /// A part of this range. `OUT_OF_RANGE` where it does not fit.
    pub fn subspan(&self, offset: u64, length: u64) -> Result<Self> {
        match offset.checked_add(length) {
            Some(end) if end <= self.length => {
                Ok(Self { raw: self.raw.clone(), params: self.params, offset: self.offset + offset, length })
            }
            _ => Err(Error::out_of_range(format!(
                "bytes {offset}.. of length {length} do not lie in a buffer of {} bytes",
                self.length
            ))),
        }
    }

    /// This range as an argument of a dispatch.
    pub fn arg(&self) -> Argument<'_> {
        Argument::Buffer(self)
    }

    /// Access for the host to the bytes of a mappable buffer. What a queue does to them meanwhile is ordered only
    /// by semaphores.
    pub fn map(&self) -> Result<Mapping> {
        if !self.params.usage.contains(BufferUsage::MAPPING) {
            return Err(Error::failed_precondition(
                "the buffer was not allocated for mapping; allocate host memory with usage MAPPING, or let \
                 a queue download it",
            ));
        }
        let pointer = self.raw.host_pointer().ok_or_else(|| {
            Error::unavailable("the device's memory cannot be mapped; let a queue update and download it")
        })?;
        Ok(Mapping::new(Arc::clone(&self.raw), pointer, self.offset, self.length))
    }

    /// The bytes where the host can reach them, whatever the buffer may be used for: for this crate, not for callers.
    pub(crate) fn host_view(&self) -> Option<Mapping> {
        let pointer = self.raw.host_pointer()?;
        Some(Mapping::new(Arc::clone(&self.raw), pointer, self.offset, self.length))
    }

    /// The allocation. Of a buffer that a pool placed, [`backing`](Self::backing) gives the driver's own.
    pub fn raw(&self) -> &Arc<dyn driver::Buffer> {
        &self.raw
    }

    /// The driver's own allocation behind this range, and where in it the range begins, in bytes.
    pub fn backing(&self) -> (&Arc<dyn driver::Buffer>, u64) {
        match pool::placed(self) {
            Some(placed) => (placed.slab(), placed.offset() + self.offset),
            None => (&self.raw, self.offset),
        }
    }

    /// Fails unless the buffer may be used so.
    pub(crate) fn require(&self, usage: BufferUsage, what: impl fmt::Display) -> Result<()> {
        if self.params.usage.contains(usage) {
            Ok(())
        } else {
            Err(Error::invalid_argument(format!(
                "{what} needs usage {usage:?}; the buffer was allocated with {:?}",
                self.params.usage
            )))
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({:#x}, {} bytes)", self.device_address(), self.length)
    }
}
