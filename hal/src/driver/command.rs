// SPDX-License-Identifier: MIT OR Apache-2.0
//! One recorded command.

use std::{fmt, ops::Range, sync::Arc};

use crate::{
    driver::{self, buffer_ref::BufferRef, workgroup_count::WorkgroupCount},
    words::{debug_group::DebugGroup, pattern::Pattern},
};

/// One recorded command. Two of them may run in any order, or at once, unless a [`Barrier`](Self::Barrier) or an event
/// orders them; [`CommandList::predecessors`] tells the whole order.
///
/// Events are numbered within the list, from 0. A replay has events of its own: they begin unsignalled, and nothing of
/// them outlives it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Command {
    /// Everything before completes, and its writes are visible, before anything after starts.
    Barrier,
    /// Repeats a pattern.
    Fill {
        /// What to overwrite.
        target: BufferRef,
        /// What with.
        pattern: Pattern,
    },
    /// Writes recorded bytes.
    Update {
        /// The range of [`CommandList::data`] to write.
        source: Range<usize>,
        /// What to overwrite.
        target: BufferRef,
    },
    /// Copies between ranges of equal length.
    Copy {
        /// What to read.
        source: BufferRef,
        /// What to overwrite.
        target: BufferRef,
    },
    /// Launches a kernel.
    Dispatch(DispatchCommand),
    /// The first half of a split barrier: notes everything before it in the list, for the waits that name the event.
    /// The event is not signalled at this point of the list.
    SignalEvent {
        /// The event.
        event: usize,
    },
    /// Takes the signal back, so that the event can be signalled anew. It concerns what comes after it in the list
    /// alone: a wait before it means the signal before that wait, whenever either runs.
    ResetEvent {
        /// The event.
        event: usize,
    },
    /// The second half of a split barrier: for each event, everything before its last signal in the list completes, and
    /// its writes are visible, before anything after this command starts. What lies between signal and wait is ordered
    /// against neither. Each event is signalled at this point of the list.
    WaitEvents {
        /// The events, in no particular order.
        events: Box<[usize]>,
    },
    /// Opens a named group, for tools. Groups order nothing.
    BeginDebugGroup(DebugGroup),
    /// Closes the innermost group.
    EndDebugGroup,
}

/// A recorded launch.
#[derive(Clone)]
pub struct DispatchCommand {
    /// The code.
    pub executable: Arc<dyn driver::Executable>,
    /// The index in [`driver::Executable::functions`].
    pub function: u32,
    /// Workgroups in x, y, z, or where they are told.
    pub workgroup_count: WorkgroupCount,
    /// Work-items of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Bytes of local memory beyond what the function declares.
    pub dynamic_local_memory: u32,
    /// The range of [`CommandList::arguments`] that is its block, aligned to 16 bytes in the vector.
    pub arguments: Range<u32>,
    /// The range of [`CommandList::patches`] that belongs to it.
    pub patches: Range<u32>,
}

impl fmt::Debug for DispatchCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            self.executable.functions().get(self.function as usize).map(|function| function.name.as_str());
        write!(f, "Dispatch({name:?} {:?} x {:?})", self.workgroup_count, self.workgroup_size)
    }
}
