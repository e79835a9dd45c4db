// SPDX-License-Identifier: MIT OR Apache-2.0
//! Heaps: the kinds of memory that a device allocates.

use crate::words::buffer_params::{BufferParams, BufferUsage, MemoryType};

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Heap {
    /// The place of the memory, and its access by host and device.
    pub memory_type: MemoryType,
    /// The allowed uses of its buffers.
    pub usage: BufferUsage,
    /// The size in bytes of the largest buffer in an empty heap; `u64::MAX` where it is unknown.
    pub max_size: u64,
    /// All addresses are multiples of this many bytes.
    pub min_alignment: u64,
}

impl Heap {
    /// The device's own memory.
    pub const fn device(max_size: u64, min_alignment: u64) -> Self {
        Self { memory_type: MemoryType::DEVICE_LOCAL, usage: USAGE, max_size, min_alignment }
    }

    /// Host memory, coherent and cached, that the device sees and the host can map.
    pub const fn host(max_size: u64, min_alignment: u64) -> Self {
        Self {
            memory_type: MemoryType(BufferParams::host().memory_type.0 | MemoryType::HOST_CACHED.0),
            usage: BufferUsage(USAGE.0 | BufferUsage::MAPPING.0),
            max_size,
            min_alignment,
        }
    }

    /// Whether buffers with these parameters can be in this heap. Access and usage must match; the place of the memory
    /// is a preference.
    pub(crate) fn serves(&self, params: &BufferParams) -> bool {
        let needed = MemoryType(params.memory_type.0 & !LOCALITY);
        self.memory_type.contains(needed) && self.usage.contains(params.usage)
    }
}

const USAGE: BufferUsage = BufferUsage(BufferUsage::DEFAULT.0 | BufferUsage::DISPATCH_INDIRECT_PARAMETERS.0);

/// The bits that only say where memory lives.
const LOCALITY: u32 = (MemoryType::HOST_LOCAL.0 & !MemoryType::HOST_VISIBLE.0)
    | (MemoryType::DEVICE_LOCAL.0 & !MemoryType::DEVICE_VISIBLE.0);
