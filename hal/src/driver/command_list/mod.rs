// SPDX-License-Identifier: MIT OR Apache-2.0
//! A recorded command list in canonical form, which drivers prepare and replay.
//!
//! Recording packs the commands of the whole list, kernel arguments included, into one block of bytes, and fills in all
//! addresses that are known. An address that a binding table supplies later is a patch: it overwrites eight bytes of an
//! argument block. Replaying walks the block, copies argument blocks that have patches, and launches.

pub(crate) mod block;
pub(crate) mod builder;
mod contents;
mod index;
pub(crate) mod patched_block;
mod profile;
mod tables;

use std::{fmt, ops::Range, sync::Arc};

use crate::{
    driver::{
        self,
        command::{Command, RecordedFunction},
        command_list::{
            block::{Packed, RecordedLaunch},
            contents::{Contents, NOTHING},
            tables::Tables,
        },
        range::Buffer,
    },
    words::buffer_params::BufferUsage,
};

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

/// The place of a command in its list. Later commands have greater positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u32);

impl Position {
    /// The position of the first command.
    pub const START: Self = Self(0);
    /// A position behind all commands.
    pub const END: Self = Self(u32::MAX);
}

/// A recorded command list. It does not change once it is made. The default is an empty list.
#[derive(Default)]
pub struct CommandList(Option<Box<Contents>>);

impl Clone for CommandList {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|contents| Box::new(contents.copy())))
    }
}

impl Drop for CommandList {
    fn drop(&mut self) {
        if let Some(contents) = self.0.take() {
            contents::give_back(contents);
        }
    }
}

impl CommandList {
    #[inline]
    fn contents(&self) -> &Contents {
        self.0.as_deref().unwrap_or(&NOTHING)
    }

    /// Copies and groups of collective operations that involve slots. Only the table can show whether their ranges overlap.
    pub(crate) fn slot_pairs(&self) -> &[Position] {
        &self.contents().slot_pairs
    }

    /// The commands in recorded order.
    pub fn commands(&self) -> Commands<'_> {
        let Contents { block, tables, length, .. } = self.contents();
        Commands { rest: block, tables, left: *length, barrier: false }
    }

    /// The commands in recorded order, each with its position.
    pub fn positions(&self) -> impl Iterator<Item = (Position, Command<'_>)> {
        let mut commands = self.commands();
        let end = commands.rest.len();
        std::iter::from_fn(move || {
            // A barrier without a header has the position of the last byte of the command before it.
            let behind = (end - commands.rest.len()) as u32;
            let position = Position(behind - u32::from(commands.barrier));
            Some((position, commands.next()?))
        })
    }

    /// The commands with positions in a range, for a driver that runs them one after the other. Barriers may be left out.
    #[inline]
    pub fn in_order(&self, range: Range<Position>) -> InOrder<'_> {
        let Contents { block, tables, .. } = self.contents();
        let header_at = |position: Position| (position.0 as usize).next_multiple_of(8);
        let end = header_at(range.end).min(block.len());
        let start = header_at(range.start).min(end);
        InOrder { rest: &block[start..end], end: end as u32, tables }
    }

    /// The command at a position of this list. `None` behind the last command.
    pub fn at(&self, position: Position) -> Option<Command<'_>> {
        let Contents { block, tables, .. } = self.contents();
        let rest = block.get(position.0 as usize..).filter(|rest| !rest.is_empty())?;
        if !position.0.is_multiple_of(8) {
            return Some(Command::Barrier);
        }
        Packed::split(rest)?.0.decode(tables)
    }

    /// The number of commands before a position, such as that of a command in an error. It takes a walk through the list.
    pub fn index(&self, position: Position) -> usize {
        self.positions().take_while(|(earlier, _)| *earlier < position).count()
    }

    /// The functions that the dispatches of the list launch, each once.
    pub fn functions(&self) -> &[RecordedFunction] {
        &self.contents().tables.functions
    }

    /// The channel of each group of collective operations, in recorded order.
    pub fn channels(&self) -> impl ExactSizeIterator<Item = &Arc<dyn driver::RawChannel>> {
        self.contents().tables.collectives.iter().map(|group| &group.channel)
    }

    /// A handle of each allocation that the list keeps alive, each once. Workgroup counts in memory keep their own.
    pub fn buffers(&self) -> &[Buffer] {
        &self.contents().tables.buffers
    }

    /// The bytes of all updates, in recorded order.
    pub fn data(&self) -> &[u8] {
        &self.contents().tables.data
    }

    /// The bytes that the list needs for its commands: 48 for each command, and for a dispatch its argument block, padded to
    /// a multiple of eight bytes, and eight for each patch. A barrier behind another command needs none. The objects of
    /// the list, and the bytes of updates, come on top.
    pub fn size(&self) -> usize {
        self.contents().block.len()
    }

    /// The requirements on each slot. Their number is the capacity of the table.
    pub fn slots(&self) -> &[SlotRequirement] {
        &self.contents().slots
    }

    /// For each command, the number of commands from the beginning of the list that must have completed before it
    /// starts.
    ///
    /// This is the whole order of a list, because barriers and events only ever order a command behind a prefix of the
    /// list. A driver may permute commands in any way that keeps these numbers. The numbers never fall.
    pub fn predecessors(&self) -> Vec<usize> {
        let (mut signals, mut before) = (Vec::new(), 0);
        let step = |(index, command): (usize, Command<'_>)| {
            match command {
                Command::Barrier => before = index,
                Command::SignalEvent { event } => {
                    if signals.len() <= event {
                        signals.resize(event + 1, 0);
                    }
                    signals[event] = index;
                }
                Command::WaitEvents { events } => {
                    let signalled = |event: &usize| signals.get(*event).copied().unwrap_or(0);
                    before = events.iter().map(signalled).fold(before, usize::max);
                }
                _ => {}
            }
            before
        };
        self.commands().enumerate().map(step).collect()
    }
}

impl fmt::Debug for CommandList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.commands()).finish()
    }
}

/// The commands of a list. See [`CommandList::commands`].
#[derive(Clone)]
pub struct Commands<'a> {
    rest: &'a [u8],
    tables: &'a Tables,
    left: usize,
    /// Whether a barrier without a header is next.
    barrier: bool,
}

impl<'a> Iterator for Commands<'a> {
    type Item = Command<'a>;

    #[inline]
    fn next(&mut self) -> Option<Command<'a>> {
        if std::mem::take(&mut self.barrier) {
            self.left -= 1;
            return Some(Command::Barrier);
        }
        let (packed, rest) = Packed::split(self.rest)?;
        (self.rest, self.barrier) = (rest, packed.barrier_follows());
        self.left -= 1;
        packed.decode(self.tables)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Commands<'_> {}

impl fmt::Debug for Commands<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// Commands of a list, most barriers left out. See [`CommandList::in_order`].
#[derive(Clone)]
pub struct InOrder<'a> {
    rest: &'a [u8],
    /// The position behind `rest`.
    end: u32,
    tables: &'a Tables,
}

impl<'a> InOrder<'a> {
    /// The next command, if it is a dispatch of a known workgroup count without patches. `None` for any other, which
    /// [`next`](Iterator::next) returns. A replay that asks for launches first decodes nothing that it does not use.
    #[inline]
    pub fn next_launch(&mut self) -> Option<RecordedLaunch<'a>> {
        let (launch, rest) = Packed::split_launch(self.rest, block::DISPATCH)?;
        self.rest = rest;
        Some(launch)
    }

    /// As [`next_launch`](Self::next_launch), for dispatches with patches.
    #[inline]
    pub fn next_patched(&mut self) -> Option<RecordedLaunch<'a>> {
        let (launch, rest) = Packed::split_launch(self.rest, block::DISPATCH_PATCHED)?;
        self.rest = rest;
        Some(launch)
    }
}

impl<'a> Iterator for InOrder<'a> {
    type Item = (Position, Command<'a>);

    fn next(&mut self) -> Option<(Position, Command<'a>)> {
        let position = Position(self.end - self.rest.len() as u32);
        let (packed, rest) = Packed::split(self.rest)?;
        self.rest = rest;
        Some((position, packed.decode(self.tables)?))
    }
}
