// SPDX-License-Identifier: MIT OR Apache-2.0
//! A recorded command list in canonical form: what drivers prepare and replay.
//!
//! Kernel arguments are packed while recording, into one byte vector for the whole list, with every address in
//! place that is known by then. What a binding table supplies later is a patch: eight bytes of the block to be
//! overwritten with an address. Replaying copies blocks, applies patches, and launches.

use crate::{
    driver::{buffer_ref::BufferRef, command::Command, range::Buffer},
    words::buffer_params::BufferUsage,
};

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
