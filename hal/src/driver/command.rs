// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commands of a command buffer, as a reader of a list sees them.

use std::{fmt, sync::Arc};

use crate::{
    driver::{
        self, buffer_ref::BufferRef, collective::Collective, recorded_range::RecordedRange,
        workgroup_count::WorkgroupCountRef,
    },
    words::{debug_group::DebugGroup, pattern::Pattern},
};

/// One recorded command. Two commands may run in any order or at the same time, unless a [`Barrier`](Self::Barrier) or
/// an event orders them. [`CommandList::predecessors`](crate::CommandList::predecessors) returns the whole order.
///
/// Events are numbered within the list, from 0. Each replay has events of its own, which begin unsignalled.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Command<'a> {
    /// All commands before this one complete, and their writes are visible, before any command after it starts.
    Barrier,
    /// Repeats a pattern.
    Fill {
        /// The range to overwrite.
        target: RecordedRange<'a>,
        /// The pattern.
        pattern: Pattern,
    },
    /// Writes recorded bytes.
    Update {
        /// The bytes, as many as the target has.
        source: &'a [u8],
        /// The offset of the bytes in [`CommandList::data`](crate::CommandList::data). A list that the command is added
        /// to chooses its own.
        offset: u64,
        /// The range to overwrite.
        target: RecordedRange<'a>,
    },
    /// Copies between ranges of equal length.
    Copy {
        /// The range to read.
        source: RecordedRange<'a>,
        /// The range to overwrite.
        target: RecordedRange<'a>,
    },
    /// Launches a kernel.
    Dispatch(DispatchCommand<'a>),
    /// Carries out a group of collective operations. The groups of a list start in recorded order, also without a barrier
    /// between them.
    Collective {
        /// This rank's side of the channel, of the device that the list is of.
        channel: &'a Arc<dyn driver::RawChannel>,
        /// The operations, at least one.
        operations: &'a [Collective<BufferRef>],
    },
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
        events: &'a [usize],
    },
    /// Opens a named group, for tools. Groups order nothing.
    BeginDebugGroup(&'a DebugGroup),
    /// Closes the innermost group.
    EndDebugGroup,
}

/// A function that a list launches.
#[derive(Clone)]
pub struct RecordedFunction {
    /// The code.
    pub executable: Arc<dyn driver::RawExecutable>,
    /// The index in [`driver::RawExecutable::functions`].
    pub index: u32,
}

/// A recorded group of collective operations.
#[derive(Clone)]
pub(crate) struct RecordedGroup {
    pub(crate) channel: Arc<dyn driver::RawChannel>,
    pub(crate) operations: Vec<Collective<BufferRef>>,
}

/// A recorded kernel launch.
#[derive(Clone, Copy)]
pub struct DispatchCommand<'a> {
    pub(crate) recorded: &'a RecordedFunction,
    pub(crate) number: u32,
    /// Workgroups in x, y, z, or the range that holds these numbers.
    pub workgroup_count: WorkgroupCountRef<'a>,
    /// Work-items of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Bytes of local memory in addition to those that the function declares.
    pub dynamic_local_memory: u32,
    /// The argument block. At the place of each patch, it holds the bytes to add to the address of the bound range.
    pub arguments: &'a [u8],
    /// The addresses in the block that a binding table supplies.
    pub patches: Patches<'a>,
    /// The ranges that the arguments name, in no particular order. Empty unless the device
    /// [wants them](crate::driver::RawDevice::wants_argument_ranges).
    pub ranges: &'a [BufferRef],
}

impl<'a> DispatchCommand<'a> {
    /// The number of the function in [`CommandList::functions`](crate::CommandList::functions).
    #[inline]
    pub fn number(&self) -> usize {
        self.number as usize
    }

    /// The code.
    pub fn executable(&self) -> &'a Arc<dyn driver::RawExecutable> {
        &self.recorded.executable
    }

    /// The index of the function in [`driver::RawExecutable::functions`].
    pub fn function(&self) -> u32 {
        self.recorded.index
    }
}

impl fmt::Debug for DispatchCommand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self
            .executable()
            .functions()
            .get(self.function() as usize)
            .map(|function| function.name.as_str());
        write!(f, "Dispatch({name:?} {:?} x {:?})", self.workgroup_count, self.workgroup_size)
    }
}

/// An address that a binding table supplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The offset of the address in the argument block, in bytes.
    pub at: u32,
    /// The slot of the table.
    pub slot: u32,
}

/// The patches of an argument block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patches<'a>(pub(crate) &'a [[u8; PATCH_SIZE]]);

/// The bytes of a recorded patch.
pub(crate) const PATCH_SIZE: usize = 8;

impl Patch {
    #[inline]
    pub(crate) fn read(record: &[u8; PATCH_SIZE]) -> Self {
        let number = u64::from_le_bytes(*record);
        Self { at: number as u32, slot: (number >> 32) as u32 }
    }

    /// The place and the slot of a record in which each is below 256.
    #[inline]
    pub(crate) fn read_small(record: &[u8; PATCH_SIZE]) -> (u8, u8) {
        (record[0], record[4])
    }

    pub(crate) fn record(self) -> [u8; PATCH_SIZE] {
        (u64::from(self.at) | u64::from(self.slot) << 32).to_le_bytes()
    }
}

impl<'a> Patches<'a> {
    /// No patches: the block is complete as it is.
    pub const NONE: Self = Self(&[]);

    /// Whether the block is complete as it is.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The patches.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Patch> + 'a {
        self.0.iter().map(Patch::read)
    }
}
