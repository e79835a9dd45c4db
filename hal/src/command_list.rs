// SPDX-License-Identifier: MIT OR Apache-2.0
//! A recorded command list in canonical form: what drivers prepare and replay.
//!
//! Kernel arguments are packed while recording, into one byte vector for the whole list, with every address in
//! place that is known by then. What a binding table supplies later is a patch: eight bytes of the block to be
//! overwritten with an address. Replaying copies blocks, applies patches, and launches.

use std::{fmt, ops::Range, sync::Arc};

use crate::{
    buffer::{Buffer, BufferUsage},
    debug_group::DebugGroup,
    driver,
    error::{Error, Result},
    indirect::WorkgroupCount,
    operation::Pattern,
};

/// What a command works on.
#[derive(Clone, Debug)]
pub enum BufferRef {
    /// A range that is known while recording.
    Direct(Buffer),
    /// A part of whatever the binding table holds in a slot.
    Slot {
        /// The slot's number.
        slot: u32,
        /// Where to begin in the bound range, in bytes.
        offset: u64,
        /// Bytes.
        length: u64,
    },
}

impl BufferRef {
    /// A part of whatever the binding table holds in `slot`.
    pub fn slot(slot: u32, offset: u64, length: u64) -> Self {
        Self::Slot { slot, offset, length }
    }

    /// The range that this names, with the table of the submission at hand.
    pub fn resolve(&self, bindings: &[Buffer]) -> Result<Buffer> {
        match self {
            Self::Direct(range) => Ok(range.clone()),
            Self::Slot { slot, offset, length } => bindings
                .get(*slot as usize)
                .ok_or_else(|| Error::internal(format!("slot {slot} has no binding")))?
                .subspan(*offset, *length),
        }
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Direct(buffer) => buffer.len(),
            Self::Slot { length, .. } => *length,
        }
    }

    /// Whether it names no byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device address once the table is known. The table was checked against [`CommandList::slots`].
    pub fn address(&self, bindings: &[Buffer]) -> u64 {
        match self {
            Self::Direct(buffer) => buffer.device_address(),
            Self::Slot { slot, offset, .. } => {
                bindings.get(*slot as usize).map_or(0, |buffer| buffer.device_address().wrapping_add(*offset))
            }
        }
    }
}

impl From<&Buffer> for BufferRef {
    fn from(buffer: &Buffer) -> Self {
        Self::Direct(buffer.clone())
    }
}

impl From<Buffer> for BufferRef {
    fn from(buffer: Buffer) -> Self {
        Self::Direct(buffer)
    }
}

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

/// An address that a binding table supplies.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// Where it belongs in [`CommandList::arguments`], in bytes.
    pub at: u32,
    /// The slot of the table.
    pub slot: u32,
    /// What to add to the address of the bound range.
    pub offset: u64,
}

/// What a slot of the table must satisfy, gathered while recording and checked once for each submission.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SlotRequirement {
    /// Whether any command uses the slot.
    pub used: bool,
    /// The least length of the bound range.
    pub length: u64,
    /// The usage its buffer needs.
    pub usage: BufferUsage,
    /// What its address must be a multiple of.
    pub alignment: u64,
}

/// A recorded command list. Immutable once it is made.
#[derive(Clone, Debug, Default)]
pub struct CommandList {
    pub(crate) commands: Vec<Command>,
    pub(crate) arguments: Vec<u8>,
    pub(crate) patches: Vec<Patch>,
    pub(crate) data: Vec<u8>,
    pub(crate) slots: Vec<SlotRequirement>,
    /// Kept alive with the list.
    pub(crate) resources: Vec<Buffer>,
    /// Copies between slots, whose overlap only the table can tell.
    pub(crate) slot_copies: Vec<usize>,
}

impl CommandList {
    /// The commands in their order.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// The argument blocks of all dispatches.
    pub fn arguments(&self) -> &[u8] {
        &self.arguments
    }

    /// The patches of all dispatches, by ascending place.
    pub fn patches(&self) -> &[Patch] {
        &self.patches
    }

    /// The bytes of all updates.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The same list with its commands and their argument blocks edited: for wrappers that record something else than
    /// they were given, such as the suite's saboteurs. Nothing checks what comes of it.
    pub fn edited(mut self, edit: impl FnOnce(&mut Vec<Command>, &mut [u8])) -> Self {
        edit(&mut self.commands, &mut self.arguments);
        let by_slot = |reference: &BufferRef| matches!(reference, BufferRef::Slot { .. });
        let is_slot_copy = |command: &Command| match command {
            Command::Copy { source, target } => by_slot(source) || by_slot(target),
            _ => false,
        };
        self.slot_copies =
            (0..self.commands.len()).filter(|index| is_slot_copy(&self.commands[*index])).collect();
        self
    }

    /// What each slot must satisfy; its length is the table's capacity.
    pub fn slots(&self) -> &[SlotRequirement] {
        &self.slots
    }

    /// For each command, how many commands from the beginning of the list must have completed before it starts.
    ///
    /// This is all the order that a list has. Barriers and events both order whole beginnings of the list, so one
    /// number says it for each command: whoever starts a command only when that many from the beginning have completed
    /// runs the list right, whatever else it permutes. The numbers never fall.
    pub fn predecessors(&self) -> Vec<usize> {
        let (mut signals, mut before) = (Vec::new(), 0);
        let step = |(index, command): (usize, &Command)| {
            match command {
                Command::Barrier => before = index,
                Command::SignalEvent { event } => {
                    if signals.len() <= *event {
                        signals.resize(event + 1, 0);
                    }
                    signals[*event] = index;
                }
                Command::WaitEvents { events } => {
                    let signalled = |event: &usize| signals.get(*event).copied().unwrap_or(0);
                    before = events.iter().map(signalled).fold(before, usize::max);
                }
                _ => {}
            }
            before
        };
        self.commands.iter().enumerate().map(step).collect()
    }
}
