// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parameters of a pool.

use crate::words::buffer_params::BufferParams;

/// How a pool places buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolKind {
    /// Buffers of any size side by side in slabs, which are added when needed.
    Tlsf {
        /// Bytes of a slab. A larger buffer gets a slab of its own size.
        slab_size: u64,
    },
    /// A fixed number of blocks of one size, in one slab.
    FixedBlock {
        /// The least size of a block in bytes.
        block_size: u64,
        /// The number of blocks.
        blocks: u32,
    },
    /// An allocation for each buffer, kept for the next buffer that fits into it.
    Passthrough {
        /// Whether an allocation serves only requests of exactly its size. Otherwise it may be larger by an eighth.
        exact: bool,
    },
}

impl PoolKind {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tlsf { .. } => "tlsf",
            Self::FixedBlock { .. } => "fixed block",
            Self::Passthrough { .. } => "passthrough",
        }
    }
}

/// The parameters for [`Device::create_pool`](crate::Device::create_pool).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolParams {
    /// The name of the pool in messages.
    pub name: String,
    /// How the pool places buffers.
    pub kind: PoolKind,
    /// The memory of the pool. Its buffers may have less usage and a greater alignment.
    pub memory: BufferParams,
    /// The most bytes that the pool takes from the device.
    pub budget: u64,
    /// The most bytes in slabs without a buffer that the pool keeps. Further slabs are returned when no work uses them. The
    /// pool keeps no more than it had in slabs with buffers at its busiest time.
    pub retained: u64,
    /// Whether an alloca may make its queue wait, on the device, for memory that another queue used last. Otherwise
    /// such memory is not reused before its last use has retired.
    pub device_waits: bool,
}

impl PoolParams {
    /// Device memory without a limit.
    pub fn new(kind: PoolKind) -> Self {
        Self {
            name: String::new(),
            kind,
            memory: BufferParams::device(),
            budget: u64::MAX,
            retained: u64::MAX,
            device_waits: true,
        }
    }

    /// Buffers of any size, in slabs of `slab_size` bytes.
    pub fn tlsf(slab_size: u64) -> Self {
        Self::new(PoolKind::Tlsf { slab_size })
    }

    /// `blocks` buffers of up to `block_size` bytes.
    pub fn fixed_block(block_size: u64, blocks: u32) -> Self {
        Self::new(PoolKind::FixedBlock { block_size, blocks })
    }

    /// An allocation for each buffer, of exactly its size.
    pub fn passthrough() -> Self {
        Self::new(PoolKind::Passthrough { exact: true })
    }

    /// Sets the name.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the kind of memory.
    pub fn with_memory(mut self, memory: BufferParams) -> Self {
        self.memory = memory;
        self
    }

    /// Sets the most bytes that the pool takes from the device.
    pub fn with_budget(mut self, bytes: u64) -> Self {
        self.budget = bytes;
        self
    }

    /// Sets the most unused bytes that the pool keeps.
    pub fn with_retained(mut self, bytes: u64) -> Self {
        self.retained = bytes;
        self
    }

    /// Sets whether the device may wait between queues.
    pub fn with_device_waits(mut self, device_waits: bool) -> Self {
        self.device_waits = device_waits;
        self
    }
}
