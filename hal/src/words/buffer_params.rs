// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parameters of an allocation: the place of the memory, its usage, its alignment.

use crate::words::{
    error::{Error, Result},
    flags::flags,
    queue_affinity::QueueAffinity,
};

flags! {
    /// The place of memory, and its access by host and device, with IREE's numeric values.
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
    /// The allowed uses of a buffer, with IREE's numeric values.
    pub struct BufferUsage: u32 {
        /// Source of copies.
        TRANSFER_SOURCE = 1 << 0;
        /// Target of copies, fills and updates.
        TRANSFER_TARGET = 1 << 1;
        /// Source and target of transfers.
        TRANSFER = Self::TRANSFER_SOURCE.0 | Self::TRANSFER_TARGET.0;
        /// Parameters of indirect dispatches.
        DISPATCH_INDIRECT_PARAMETERS = 1 << 8;
        /// Argument of dispatches that read it.
        DISPATCH_STORAGE_READ = 1 << 10;
        /// Argument of dispatches that write it.
        DISPATCH_STORAGE_WRITE = 1 << 11;
        /// Argument of dispatches that read and write it.
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
    /// The place of the memory, and its access.
    pub memory_type: MemoryType,
    /// The allowed uses.
    pub usage: BufferUsage,
    /// The least alignment of the address in bytes: a power of two, or 0 for the device's own alignment.
    pub min_alignment: u64,
    /// The queues that use the buffer most. On a device of several GPUs, the memory is near the first of these queues.
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

    /// Sets the usage.
    pub const fn with_usage(mut self, usage: BufferUsage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets the least alignment in bytes.
    pub const fn with_min_alignment(mut self, bytes: u64) -> Self {
        self.min_alignment = bytes;
        self
    }

    /// Sets the queues that use the buffer most.
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

pub(crate) fn check_params(params: &BufferParams) -> Result<()> {
    let alignment = params.min_alignment;
    if alignment > 0 && !alignment.is_power_of_two() {
        return Err(Error::invalid_argument(format!(
            "an alignment of {alignment} bytes is not a power of two"
        )));
    }
    for (what, bits) in
        [("memory type", params.memory_type.unknown_bits()), ("usage", params.usage.unknown_bits())]
    {
        if bits != 0 {
            return Err(Error::invalid_argument(format!("bits of the {what} {bits:#x} have no meaning")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::error::Code;

    #[test]
    fn every_bit_has_a_name() {
        let debug = |memory: MemoryType| format!("{memory:?}");
        assert_eq!(debug(MemoryType::NONE), "NONE");
        assert_eq!(debug(MemoryType::DEVICE_LOCAL), "DEVICE_LOCAL");
        assert_eq!(debug(BufferParams::host().memory_type), "HOST_LOCAL|HOST_COHERENT|DEVICE_VISIBLE");
        assert_eq!(debug(MemoryType::DEVICE_VISIBLE), "DEVICE_VISIBLE");
        // A bit that means something only together with another bit has no name of its own.
        assert_eq!(debug(MemoryType(1 << 5)), "0x20");
        assert_eq!(debug(MemoryType(1 << 30) | MemoryType::HOST_VISIBLE), "HOST_VISIBLE|0x40000000");
        let usage = BufferUsage::TRANSFER | BufferUsage::MAPPING;
        assert_eq!(format!("{usage:?}"), "TRANSFER_SOURCE|TRANSFER_TARGET|MAPPING");
    }

    #[test]
    fn allocations_take_no_bits_that_mean_nothing() {
        for (memory_type, usage, names) in [
            (MemoryType(u32::MAX), BufferUsage::DEFAULT, "memory type 0xffffff81"),
            (MemoryType(1), BufferUsage::DEFAULT, "memory type 0x1"),
            (MemoryType::DEVICE_LOCAL, BufferUsage(1 << 30), "usage 0x40000000"),
        ] {
            let params = BufferParams { memory_type, usage, ..BufferParams::device() };
            let error = check_params(&params).unwrap_err();
            assert_eq!(error.code(), Code::InvalidArgument);
            assert!(error.message().contains(names), "{error}");
        }
        check_params(&BufferParams::host()).unwrap();
    }
}
