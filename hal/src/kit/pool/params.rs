// SPDX-License-Identifier: MIT OR Apache-2.0
//! How to make a pool.

use crate::words::buffer_params::BufferParams;

/// How a pool places buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolKind {
    /// Buffers of any size side by side in slabs, which are added as they are needed.
    Tlsf {
        /// Bytes of a slab. A buffer that does not fit gets a slab of its own size.
        slab_size: u64,
    },
    /// A fixed number of blocks of one size, in one slab.
    FixedBlock {
        /// Bytes that each block has at least.
        block_size: u64,
        /// How many there are.
        blocks: u32,
    },
    /// An allocation for each buffer, kept for the next one that it fits.
    Passthrough {
        /// Whether an allocation serves requests of its very size alone; else it may be larger by an eighth.
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

/// What [`Device::create_pool`](crate::Device::create_pool) makes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolParams {
    /// What messages call it.
    pub name: String,
    /// How it places buffers.
    pub kind: PoolKind,
    /// The memory it has. Its buffers may have less usage and more alignment than this.
    pub memory: BufferParams,
    /// The most bytes that it takes from the device.
    pub budget: u64,
    /// The most bytes in slabs without a buffer that it keeps; the rest goes back when nothing uses it any more.
    pub retained: u64,
    /// Whether an alloca may make its queue wait, on the device, for memory that another queue used last. If not, such
    /// memory is passed over until its use has retired.
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

    /// The same under a name.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same with other memory.
    pub fn with_memory(mut self, memory: BufferParams) -> Self {
        self.memory = memory;
        self
    }

    /// The same with at most this many bytes.
    pub fn with_budget(mut self, bytes: u64) -> Self {
        self.budget = bytes;
        self
    }

    /// The same, keeping at most this many bytes that no buffer uses.
    pub fn with_retained(mut self, bytes: u64) -> Self {
        self.retained = bytes;
        self
    }

    /// The same with or without device waits between queues.
    pub fn with_device_waits(mut self, device_waits: bool) -> Self {
        self.device_waits = device_waits;
        self
    }
}
