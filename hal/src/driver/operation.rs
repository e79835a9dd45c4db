// SPDX-License-Identifier: MIT OR Apache-2.0
//! The canonical operations of a queue. The front makes them; drivers and wrappers match on them.

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
    pub executable: Arc<dyn driver::RawExecutable>,
    /// The index in [`driver::RawExecutable::functions`].
    pub function: u32,
    /// Workgroups in x, y, z, or the buffer that holds these numbers; never a slot. Both indirect forms mean the same
    /// here: the count is read when the waits are reached.
    pub workgroup_count: WorkgroupCount,
    /// Work-items of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Bytes of local memory in addition to those that the function declares.
    pub dynamic_local_memory: u32,
    /// The argument block in the layout of the function, with all addresses filled in.
    pub arguments: SmallVec<[u8; 128]>,
    /// The buffers that the arguments point to. The submission keeps them alive.
    pub resources: SmallVec<[Buffer; 4]>,
}

/// An operation of a queue. See [`driver::RawDevice::submit`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Operation {
    /// Does nothing: its signals are reached when its waits are.
    Barrier,
    /// Gives a buffer of [`driver::RawDevice::reserve`] its memory: when this has completed, the contents belong to the
    /// buffer.
    Alloca {
        /// The reserved buffer.
        buffer: Buffer,
    },
    /// Releases the memory of a buffer. Other buffers may reuse it when this has completed.
    Dealloca {
        /// A whole allocation of this device.
        buffer: Buffer,
    },
    /// Repeats a pattern. Address and length of the target are multiples of the size of the pattern.
    Fill {
        /// The range to overwrite.
        target: Buffer,
        /// The pattern.
        pattern: Pattern,
    },
    /// Writes bytes that were captured at submission.
    Update {
        /// The bytes; as many as the target has.
        source: Box<[u8]>,
        /// The range to overwrite.
        target: Buffer,
    },
    /// Copies between ranges of equal length that do not overlap.
    Copy {
        /// The range to read.
        source: Buffer,
        /// The range to overwrite.
        target: Buffer,
    },
    /// Reads a file into a buffer.
    Read {
        /// The file.
        file: File,
        /// The first byte in the file.
        file_offset: u64,
        /// The range to fill. Its length is the number of bytes to read.
        target: Buffer,
    },
    /// Writes a buffer to a file.
    Write {
        /// The range to write.
        source: Buffer,
        /// The file.
        file: File,
        /// The first byte in the file.
        file_offset: u64,
    },
    /// Calls a function on the host.
    HostCall(HostCall),
    /// Launches one kernel.
    Dispatch(Dispatch),
    /// Runs a prepared command list.
    Execute {
        /// The list, from [`driver::RawDevice::prepare`].
        command_buffer: Arc<dyn driver::RawCommandBuffer>,
        /// The buffers for its slots, checked against [`crate::CommandList::slots`].
        bindings: BindingTable,
    },
}

impl Operation {
    /// The name as IREE spells it, such as `queue_fill`.
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
