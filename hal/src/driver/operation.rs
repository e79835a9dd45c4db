// SPDX-License-Identifier: MIT OR Apache-2.0
//! The canonical operations of a queue. The front makes them; drivers and wrappers match on them.
//!
//! An [`OperationRef`] borrows everything from the caller of a submission. A driver that runs or enqueues it at once
//! copies nothing. A driver that must keep it owns an [`Operation`], or copies the parts that it needs.

use std::{fmt, sync::Arc};

use smallvec::SmallVec;

use crate::{
    driver::{
        self, binding_table::BindingTable, collective::Collective, host_call::HostCall, range::Buffer,
        storage::File, workgroup_count::WorkgroupCount,
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
    pub arguments: Vec<u8>,
    /// The buffers that the arguments point to. The submission keeps them alive.
    pub resources: Vec<Buffer>,
}

/// A [`Dispatch`] that borrows its parts.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct DispatchRef<'a> {
    /// See [`Dispatch::executable`].
    pub executable: &'a Arc<dyn driver::RawExecutable>,
    /// See [`Dispatch::function`].
    pub function: u32,
    /// See [`Dispatch::workgroup_count`].
    pub workgroup_count: &'a WorkgroupCount,
    /// See [`Dispatch::workgroup_size`].
    pub workgroup_size: [u32; 3],
    /// See [`Dispatch::dynamic_local_memory`].
    pub dynamic_local_memory: u32,
    /// See [`Dispatch::arguments`].
    pub arguments: &'a [u8],
    /// See [`Dispatch::resources`].
    pub resources: &'a [&'a Buffer],
}

/// An operation as a caller submits it: everything but a host call is borrowed. See [`driver::RawDevice::submit`].
#[derive(Debug)]
#[non_exhaustive]
pub enum OperationRef<'a> {
    /// See [`Operation::Barrier`].
    Barrier,
    /// See [`Operation::Alloca`].
    Alloca {
        /// The reserved buffer.
        buffer: &'a Buffer,
    },
    /// See [`Operation::Dealloca`].
    Dealloca {
        /// A whole allocation of this device.
        buffer: &'a Buffer,
    },
    /// See [`Operation::Fill`].
    Fill {
        /// The range to overwrite.
        target: &'a Buffer,
        /// The pattern.
        pattern: Pattern,
    },
    /// Writes bytes, which the driver captures before the submission returns.
    Update {
        /// The bytes; as many as the target has.
        source: &'a [u8],
        /// The range to overwrite.
        target: &'a Buffer,
    },
    /// See [`Operation::Copy`].
    Copy {
        /// The range to read.
        source: &'a Buffer,
        /// The range to overwrite.
        target: &'a Buffer,
    },
    /// See [`Operation::Read`].
    Read {
        /// The file.
        file: &'a File,
        /// The first byte in the file.
        file_offset: u64,
        /// The range to fill. Its length is the number of bytes to read.
        target: &'a Buffer,
    },
    /// See [`Operation::Write`].
    Write {
        /// The range to write.
        source: &'a Buffer,
        /// The file.
        file: &'a File,
        /// The first byte in the file.
        file_offset: u64,
    },
    /// See [`Operation::HostCall`].
    HostCall(HostCall),
    /// See [`Operation::Dispatch`].
    Dispatch(&'a DispatchRef<'a>),
    /// See [`Operation::Execute`].
    Execute {
        /// The list, from [`driver::RawDevice::prepare`].
        command_buffer: &'a Arc<dyn driver::RawCommandBuffer>,
        /// The buffers for its slots, checked against [`crate::CommandList::slots`].
        bindings: &'a BindingTable,
    },
    /// See [`Operation::ImportTimepoint`].
    ImportTimepoint {
        /// The place, from [`driver::RawDevice::import_timepoint`].
        timepoint: &'a Arc<dyn driver::RawTimepoint>,
    },
    /// See [`Operation::Collective`].
    Collective {
        /// This rank's side of the channel, from [`driver::RawDevice::create_channel`].
        channel: &'a Arc<dyn driver::RawChannel>,
        /// The group, at least one operation.
        operations: &'a [Collective],
    },
}

/// An operation that owns its parts, for drivers and wrappers that keep it.
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
    /// Does nothing, and completes when the work of another library has completed as well.
    ImportTimepoint {
        /// The place, from [`driver::RawDevice::import_timepoint`].
        timepoint: Arc<dyn driver::RawTimepoint>,
    },
    /// Carries out a group of operations together with the other ranks of a channel. Each has elements, and ranks, lengths
    /// and places that fit.
    Collective {
        /// This rank's side of the channel, from [`driver::RawDevice::create_channel`].
        channel: Arc<dyn driver::RawChannel>,
        /// The group, at least one operation.
        operations: Vec<Collective>,
    },
}

macro_rules! names {
    ($($kind:ident => $name:literal,)*) => {
        impl Operation {
            /// The name as IREE spells it, such as `queue_fill`.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$kind { .. } => $name,)* }
            }
        }

        impl OperationRef<'_> {
            /// The name as IREE spells it, such as `queue_fill`.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$kind { .. } => $name,)* }
            }
        }
    };
}

names! {
    Barrier => "queue_barrier",
    Alloca => "queue_alloca",
    Dealloca => "queue_dealloca",
    Fill => "queue_fill",
    Update => "queue_update",
    Copy => "queue_copy",
    Read => "queue_read",
    Write => "queue_write",
    HostCall => "queue_host_call",
    Dispatch => "queue_dispatch",
    Execute => "queue_execute",
    ImportTimepoint => "queue_import_timepoint",
    Collective => "queue_collective",
}

impl OperationRef<'_> {
    /// An operation that owns its parts: clones of the handles, and copies of the bytes.
    pub fn into_owned(self) -> Operation {
        match self {
            Self::Barrier => Operation::Barrier,
            Self::Alloca { buffer } => Operation::Alloca { buffer: buffer.clone() },
            Self::Dealloca { buffer } => Operation::Dealloca { buffer: buffer.clone() },
            Self::Fill { target, pattern } => Operation::Fill { target: target.clone(), pattern },
            Self::Update { source, target } => {
                Operation::Update { source: source.into(), target: target.clone() }
            }
            Self::Copy { source, target } => {
                Operation::Copy { source: source.clone(), target: target.clone() }
            }
            Self::Read { file, file_offset, target } => {
                Operation::Read { file: file.clone(), file_offset, target: target.clone() }
            }
            Self::Write { source, file, file_offset } => {
                Operation::Write { source: source.clone(), file: file.clone(), file_offset }
            }
            Self::HostCall(call) => Operation::HostCall(call),
            Self::Dispatch(dispatch) => Operation::Dispatch(dispatch.to_owned()),
            Self::Execute { command_buffer, bindings } => {
                Operation::Execute { command_buffer: command_buffer.clone(), bindings: bindings.clone() }
            }
            Self::ImportTimepoint { timepoint } => {
                Operation::ImportTimepoint { timepoint: timepoint.clone() }
            }
            Self::Collective { channel, operations } => {
                Operation::Collective { channel: channel.clone(), operations: operations.to_vec() }
            }
        }
    }
}

impl Operation {
    /// Calls `submit` with a borrowed form of this operation.
    pub fn lend<R>(self, submit: impl FnOnce(OperationRef<'_>) -> R) -> R {
        match &self {
            Self::HostCall(_) => {
                let Self::HostCall(call) = self else { return submit(OperationRef::Barrier) };
                submit(OperationRef::HostCall(call))
            }
            Self::Barrier => submit(OperationRef::Barrier),
            Self::Alloca { buffer } => submit(OperationRef::Alloca { buffer }),
            Self::Dealloca { buffer } => submit(OperationRef::Dealloca { buffer }),
            Self::Fill { target, pattern } => submit(OperationRef::Fill { target, pattern: *pattern }),
            Self::Update { source, target } => submit(OperationRef::Update { source, target }),
            Self::Copy { source, target } => submit(OperationRef::Copy { source, target }),
            Self::Read { file, file_offset, target } => {
                submit(OperationRef::Read { file, file_offset: *file_offset, target })
            }
            Self::Write { source, file, file_offset } => {
                submit(OperationRef::Write { source, file, file_offset: *file_offset })
            }
            Self::Dispatch(dispatch) => dispatch.lend(|dispatch| submit(OperationRef::Dispatch(&dispatch))),
            Self::Execute { command_buffer, bindings } => {
                submit(OperationRef::Execute { command_buffer, bindings })
            }
            Self::ImportTimepoint { timepoint } => submit(OperationRef::ImportTimepoint { timepoint }),
            Self::Collective { channel, operations } => {
                submit(OperationRef::Collective { channel, operations })
            }
        }
    }
}

impl DispatchRef<'_> {
    /// A dispatch that owns its parts.
    pub fn to_owned(&self) -> Dispatch {
        Dispatch {
            executable: self.executable.clone(),
            function: self.function,
            workgroup_count: self.workgroup_count.clone(),
            workgroup_size: self.workgroup_size,
            dynamic_local_memory: self.dynamic_local_memory,
            arguments: self.arguments.to_vec(),
            resources: self.resources.iter().map(|buffer| (*buffer).clone()).collect(),
        }
    }
}

impl Dispatch {
    fn lend<R>(&self, submit: impl FnOnce(DispatchRef<'_>) -> R) -> R {
        let resources: SmallVec<[&Buffer; 8]> = self.resources.iter().collect();
        submit(DispatchRef {
            executable: &self.executable,
            function: self.function,
            workgroup_count: &self.workgroup_count,
            workgroup_size: self.workgroup_size,
            dynamic_local_memory: self.dynamic_local_memory,
            arguments: &self.arguments,
            resources: &resources,
        })
    }
}

impl fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lend(|dispatch| dispatch.fmt(f))
    }
}

impl fmt::Debug for DispatchRef<'_> {
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
