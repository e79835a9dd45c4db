// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commands of a command buffer.

use std::{fmt, ops::Range, sync::Arc};

use crate::{
    driver::{self, buffer_ref::BufferRef, workgroup_count::WorkgroupCount},
    words::{debug_group::DebugGroup, pattern::Pattern},
};

/// One recorded command. Two commands may run in any order or at the same time, unless a [`Barrier`](Self::Barrier) or
/// an event orders them. [`CommandList::predecessors`](crate::CommandList::predecessors) returns the whole order.
///
/// Events are numbered within the list, from 0. Each replay has events of its own, which begin unsignalled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Command {
    /// All commands before this one complete, and their writes are visible, before any command after it starts.
    Barrier,
    /// Repeats a pattern.
    Fill {
        /// The range to overwrite.
        target: BufferRef,
        /// The pattern.
        pattern: Pattern,
    },
    /// Writes recorded bytes.
    Update {
        /// The range of [`CommandList::data`](crate::CommandList::data) that holds the bytes.
        source: Range<usize>,
        /// The range to overwrite.
        target: BufferRef,
    },
    /// Copies between ranges of equal length.
    Copy {
        /// The range to read.
        source: BufferRef,
        /// The range to overwrite.
        target: BufferRef,
    },
    /// Launches a kernel.
    Dispatch(DispatchCommand),
    /// The first half of a split barrier. It marks the commands before it, for the waits that name the event. The event
    /// is not signalled at this point of the list.
    SignalEvent {
        /// The event.
        event: usize,
    },
    /// Makes the event unsignalled, so that it can be signalled anew. This concerns only later commands of the list: an
    /// earlier wait still means the signal before it.
    ResetEvent {
        /// The event.
        event: usize,
    },
    /// The second half of a split barrier. For each event, all commands before its last signal in the list complete,
    /// and their writes are visible, before any command after this one starts. Commands between signal and wait are
    /// free. Each event is signalled at this point of the list.
    WaitEvents {
        /// The events, in no particular order.
        events: Box<[usize]>,
    },
    /// Opens a named group, for tools. Groups order nothing.
    BeginDebugGroup(DebugGroup),
    /// Closes the innermost group.
    EndDebugGroup,
}

/// A recorded kernel launch.
#[derive(Clone)]
pub struct DispatchCommand {
    /// The code.
    pub executable: Arc<dyn driver::RawExecutable>,
    /// The index in [`driver::RawExecutable::functions`].
    pub function: u32,
    /// Workgroups in x, y, z, or the range that holds these numbers.
    pub workgroup_count: WorkgroupCount,
    /// Work-items of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Bytes of local memory in addition to those that the function declares.
    pub dynamic_local_memory: u32,
    /// The argument block: a range of [`CommandList::arguments`](crate::CommandList::arguments), at a multiple of 16
    /// bytes.
    pub arguments: Range<u32>,
    /// The patches of the block: a range of [`CommandList::patches`](crate::CommandList::patches).
    pub patches: Range<u32>,
}

impl fmt::Debug for DispatchCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            self.executable.functions().get(self.function as usize).map(|function| function.name.as_str());
        write!(f, "Dispatch({name:?} {:?} x {:?})", self.workgroup_count, self.workgroup_size)
    }
}
