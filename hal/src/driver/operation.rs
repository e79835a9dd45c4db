// SPDX-License-Identifier: MIT OR Apache-2.0
//! The canonical forms of what a queue does. The front makes them; drivers and wrappers match on them.

use std::{fmt, sync::Arc};

use smallvec::SmallVec;

use crate::{
    driver::{
        self, binding_table::BindingTable, host_call::HostCall, range::Buffer, storage::File,
        workgroup_count::WorkgroupCount,
    },
    words::pattern::Pattern,
};

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
