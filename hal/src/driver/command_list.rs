// SPDX-License-Identifier: MIT OR Apache-2.0
//! A recorded command list in canonical form, which drivers prepare and replay.
//!
//! Recording packs the kernel arguments of the whole list into one byte vector and fills in all addresses that are
//! known. An address that a binding table supplies later is a patch: it overwrites eight bytes of a block. Replaying
//! copies blocks, applies patches, and launches.

use crate::{
    driver::{buffer_ref::BufferRef, command::Command, range::Buffer},
    words::buffer_params::BufferUsage,
};

/// An address that a binding table supplies.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// The offset of the address in [`CommandList::arguments`], in bytes.
    pub at: u32,
    /// The slot of the table.
    pub slot: u32,
    /// The bytes to add to the address of the bound range.
    pub offset: u64,
}

/// The requirements on one slot of the table. Recording collects them, and each submission checks them once.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SlotRequirement {
    /// Whether any command uses the slot.
    pub used: bool,
    /// The least length of the bound range in bytes.
    pub length: u64,
    /// The usage that the bound buffer needs.
    pub usage: BufferUsage,
    /// The address of the bound range is a multiple of this many bytes.
    pub alignment: u64,
}

/// A recorded command list. It does not change once it is made.
#[derive(Clone, Debug, Default)]
pub struct CommandList {
    pub(crate) commands: Vec<Command>,
    pub(crate) arguments: Vec<u8>,
    pub(crate) patches: Vec<Patch>,
    pub(crate) data: Vec<u8>,
    pub(crate) slots: Vec<SlotRequirement>,
    /// The buffers that the list keeps alive.
    pub(crate) resources: Vec<Buffer>,
    /// The indices of copies that involve slots. Only the table can show whether their ranges overlap.
    pub(crate) slot_copies: Vec<usize>,
}

impl CommandList {
    /// The commands in recorded order.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// The argument blocks of all dispatches.
    pub fn arguments(&self) -> &[u8] {
        &self.arguments
    }

    /// The patches of all dispatches, in ascending order of place.
    pub fn patches(&self) -> &[Patch] {
        &self.patches
    }

    /// The bytes of all updates.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Edits the commands and their argument blocks. For wrappers that record something other than they were given,
    /// such as the saboteurs of the conformance suite. The result is not checked.
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

    /// The requirements on each slot. Their number is the capacity of the table.
    pub fn slots(&self) -> &[SlotRequirement] {
        &self.slots
    }

    /// For each command, the number of commands from the beginning of the list that must have completed before it
    /// starts.
    ///
    /// This is the whole order of a list, because barriers and events only ever order a command behind a prefix of the
    /// list. A driver may permute commands in any way that keeps these numbers. The numbers never fall.
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
