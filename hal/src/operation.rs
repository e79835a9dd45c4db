// SPDX-License-Identifier: MIT OR Apache-2.0
//! The canonical forms of what a queue does. The front makes them; drivers and wrappers match on them.

use std::{fmt, sync::Arc};

use smallvec::SmallVec;

use crate::{
    binding_table::BindingTable, buffer::Buffer, driver, file::File, host_call::HostCall,
    indirect::WorkgroupCount,
};

/// The queues that may take an operation: bit `n` stands for queue `n`, and the device picks one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueAffinity(u64);

impl QueueAffinity {
    /// Any queue.
    pub const ANY: Self = Self(u64::MAX);

    /// A set of queues as a bitmap; an empty one means any.
    pub const fn from_bits(bits: u64) -> Self {
        if bits == 0 { Self::ANY } else { Self(bits) }
    }

    /// One queue. No device has more than 64; a greater number means any queue.
    pub const fn queue(index: u32) -> Self {
        if index < 64 { Self(1 << index) } else { Self::ANY }
    }

    /// The queues that are in both sets; those of `self` where none is.
    pub const fn intersection(self, other: Self) -> Self {
        if self.0 & other.0 == 0 { self } else { Self(self.0 & other.0) }
    }

    /// The bitmap.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// A fill pattern of one, two or four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    bytes: [u8; 4],
    size: u8,
}

impl Pattern {
    /// The bytes that are repeated: one, two or four of them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.size as usize]
    }

    /// The pattern as a little-endian number.
    pub fn value(&self) -> u32 {
        u32::from_le_bytes(self.bytes)
    }
}

macro_rules! patterns {
    ($($type:ty),*) => {$(
        impl From<$type> for Pattern {
            fn from(value: $type) -> Self {
                let mut bytes = [0; 4];
                let value = value.to_le_bytes();
                bytes[..value.len()].copy_from_slice(&value);
                Self { bytes, size: value.len() as u8 }
            }
        }
    )*};
}
patterns!(u8, i8, u16, i16, u32, i32, f32);

/// One kernel launch.
#[derive(Clone)]
#[non_exhaustive]
pub struct Dispatch {
    /// The code.
    pub executable: Arc<dyn driver::Executable>,
    /// The index in [`driver::Executable::functions`].
    pub function: u32,
    /// Workgroups in x, y, z, or where they are told: a buffer, and not a slot. Both indirect forms mean the same here:
    /// the count is read when the waits are reached.
    pub workgroup_count: WorkgroupCount,
    /// Work-items of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Bytes of local memory beyond what the function declares.
    pub dynamic_local_memory: u32,
    /// The argument block in the function's layout, with every address in place.
    pub arguments: SmallVec<[u8; 128]>,
    /// What the arguments point to, kept alive by the submission.
    pub resources: SmallVec<[Buffer; 4]>,
}

/// What a queue does. See [`driver::Device::submit`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Operation {
    /// Nothing: a pure edge from waits to signals.
    Barrier,
    /// From here on the buffer, which [`driver::Device::reserve`] gave, holds its memory.
    Alloca {
        /// What was reserved.
        buffer: Buffer,
    },
    /// From here on the buffer's memory may be reused by others.
    Dealloca {
        /// A whole allocation of this device.
        buffer: Buffer,
    },
    /// Repeats a pattern. Address and length are multiples of its size.
    Fill {
        /// What to overwrite.
        target: Buffer,
        /// What with.
        pattern: Pattern,
    },
    /// Writes bytes that were captured at submission.
    Update {
        /// As many bytes as the target has.
        source: Box<[u8]>,
        /// What to overwrite.
        target: Buffer,
    },
    /// Copies between ranges of equal length that do not overlap.
    Copy {
        /// What to read.
        source: Buffer,
        /// What to overwrite.
        target: Buffer,
    },
    /// Reads a file into a buffer.
    Read {
        /// The file.
        file: File,
        /// Where to begin in the file, in bytes.
        file_offset: u64,
        /// As many bytes are read as this has.
        target: Buffer,
    },
    /// Writes a buffer to a file.
    Write {
        /// What to write.
        source: Buffer,
        /// The file.
        file: File,
        /// Where to begin in the file, in bytes.
        file_offset: u64,
    },
    /// Calls a function on the host.
    HostCall(HostCall),
    /// Launches one kernel.
    Dispatch(Dispatch),
    /// Runs a prepared command list.
    Execute {
        /// The list, as [`driver::Device::prepare`] gave it.
        command_buffer: Arc<dyn driver::CommandBuffer>,
        /// What its slots stand for: checked against [`crate::CommandList::slots`].
        bindings: BindingTable,
    },
}

impl Operation {
    /// The operation's name as IREE spells it, such as `queue_fill`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Barrier => "queue_barrier",
            Self::Alloca { .. } => "queue_alloca",
            Self::Dealloca { .. } => "queue_dealloca",
            Self::Fill { .. } => "queue_fill",
            Self::Update { .. } => "queue_update",
            Self::Copy { .. } => "queue_copy",
            Self::Read { .. } => "queue_read",
            Self::Write { .. } => "queue_write",
            Self::HostCall(_) => "queue_host_call",
            Self::Dispatch(_) => "queue_dispatch",
            Self::Execute { .. } => "queue_execute",
        }
    }
}

impl fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            self.executable.functions().get(self.function as usize).map(|function| function.name.as_str());
        f.debug_struct("Dispatch")
            .field("function", &name)
            .field("workgroup_count", &self.workgroup_count)
            .field("workgroup_size", &self.workgroup_size)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for dyn driver::CommandBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandBuffer({} commands)", self.list().commands().len())
    }
}
