// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packed form of commands, one behind the other in a block of bytes.
//!
//! A command is a header of 48 bytes, and for a dispatch a payload: the argument block, padded to a multiple of eight
//! bytes, and its patches. All numbers are little-endian. A barrier takes a bit of the header of the command before it;
//! only a barrier that begins a list, or that follows another one, has a header of its own.
//!
//! | bytes | of a dispatch | of a transfer |
//! |---|---|---|
//! | 0 | the kind | the kind |
//! | 1 | bit 0: a barrier follows | bit 0: a barrier follows; bits 1 and 2: target and source are in slots |
//! | 2 | | the size of the pattern |
//! | 4..8 | the bytes of the payload | zero |
//! | 8..12 | the number of the function | the buffer or slot of the target |
//! | 12..16 | the bytes of the arguments | the buffer or slot of the source |
//! | 16..24 | workgroups in x and y, or the number of the count | the offset of the target |
//! | 24..32 | workgroups in z, work-items in x | the offset of the source, or of the bytes in the list's data |
//! | 32..40 | work-items in y and z | the length |
//! | 40..44 | the dynamic local memory | the pattern |
//! | 44..48 | the number of its ranges, from 1; zero without | zero |
//!
//! An event has its number in bytes 16..24. A wait has the range of its events there and in 24..32. A debug group has its
//! number in bytes 8..12, and so has a group of collective operations.

use crate::{
    driver::{
        command::{Command, DispatchCommand, PATCH_SIZE, Patch, Patches, RecordedGroup},
        command_list::{patched_block::PatchedBlock, tables::Tables},
        recorded_range::RecordedRange,
        workgroup_count::WorkgroupCountRef,
    },
    words::pattern::Pattern,
};

pub(crate) const HEADER: usize = 48;

pub(crate) const BARRIER: u8 = 0;
/// A dispatch of a known workgroup count without patches.
pub(crate) const DISPATCH: u8 = 1;
/// A dispatch whose workgroup count is in memory.
pub(crate) const DISPATCH_INDIRECT: u8 = 2;
/// A dispatch of a known workgroup count with patches.
pub(crate) const DISPATCH_PATCHED: u8 = 11;
pub(crate) const FILL: u8 = 3;
pub(crate) const UPDATE: u8 = 4;
pub(crate) const COPY: u8 = 5;
pub(crate) const SIGNAL_EVENT: u8 = 6;
pub(crate) const RESET_EVENT: u8 = 7;
pub(crate) const WAIT_EVENTS: u8 = 8;
pub(crate) const BEGIN_DEBUG_GROUP: u8 = 9;
pub(crate) const END_DEBUG_GROUP: u8 = 10;
pub(crate) const COLLECTIVE: u8 = 12;

const BARRIER_FOLLOWS: u8 = 1;
pub(crate) const TARGET_SLOT: u8 = 2;
pub(crate) const SOURCE_SLOT: u8 = 4;

#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Header([u8; HEADER]);

impl Header {
    #[inline]
    pub(crate) fn new(kind: u8) -> Self {
        let mut bytes = [0; HEADER];
        bytes[0] = kind;
        Self(bytes)
    }

    #[inline]
    pub(crate) fn with_byte(mut self, at: usize, byte: u8) -> Self {
        self.0[at] = byte;
        self
    }

    pub(crate) fn with_flag(mut self, flag: u8) -> Self {
        self.0[1] |= flag;
        self
    }

    #[inline]
    pub(crate) fn with(mut self, at: usize, number: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&number.to_le_bytes());
        self
    }

    #[inline]
    pub(crate) fn with_long(mut self, at: usize, number: u64) -> Self {
        self.0[at..at + 8].copy_from_slice(&number.to_le_bytes());
        self
    }

    pub(crate) fn bytes(&self) -> &[u8; HEADER] {
        &self.0
    }
}

/// The bytes of a template: the header of a dispatch, and zeros for a short argument block.
const TEMPLATE: usize = HEADER + 32;

/// A dispatch before its arguments are known, with an argument block of zeros.
#[derive(Clone, Copy)]
pub(crate) struct Template {
    bytes: [u8; TEMPLATE],
    /// The bytes of the arguments.
    size: usize,
}

/// The workgroup count of a [`Template`]: numbers, or the number of a count in memory.
pub(crate) enum Count {
    Direct([u32; 3]),
    Indirect(u32),
}

impl Template {
    pub(crate) fn new(
        function: u32,
        count: &Count,
        [x, y, z]: [u32; 3],
        dynamic_local_memory: u32,
        argument_size: u32,
    ) -> Self {
        let (kind, [columns, rows, layers]) = match *count {
            Count::Direct(count) => (DISPATCH, count),
            Count::Indirect(number) => (DISPATCH_INDIRECT, [number, 0, 0]),
        };
        let mut header = [0; HEADER];
        header[0] = kind;
        set(&mut header, 4, padded(argument_size) as u32);
        set(&mut header, 8, function);
        set(&mut header, 12, argument_size);
        set(&mut header, 16, columns);
        set(&mut header, 20, rows);
        set(&mut header, 24, layers);
        set(&mut header, 28, x);
        set(&mut header, 32, y);
        set(&mut header, 36, z);
        set(&mut header, 40, dynamic_local_memory);
        let mut bytes = [0; TEMPLATE];
        bytes[..HEADER].copy_from_slice(&header);
        Self { bytes, size: argument_size as usize }
    }

    /// The bytes of the dispatch without its patches.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        HEADER + padded(self.size as u32)
    }

    /// Adds the dispatch to a block, and returns its arguments.
    #[inline]
    pub(crate) fn append_to<'a>(&self, block: &'a mut Vec<u8>) -> &'a mut [u8] {
        let arguments = block.len() + HEADER;
        let end = block.len() + self.size();
        // To copy a fixed number of bytes takes less time than to copy and clear a variable one.
        block.extend_from_slice(&self.bytes);
        if self.size() <= TEMPLATE {
            block.truncate(end);
        } else {
            block.resize(end, 0);
        }
        block.get_mut(arguments..arguments + self.size).unwrap_or_default()
    }
}

/// Makes a dispatch without patches, which ends a block, one with these patches.
pub(crate) fn add_patches(block: &mut Vec<u8>, start: usize, patches: impl Iterator<Item = Patch>) {
    patches.for_each(|patch| block.extend_from_slice(&patch.record()));
    let end = block.len();
    if let Some(header) = block[start..].first_chunk_mut() {
        if header[0] == DISPATCH {
            header[0] = DISPATCH_PATCHED;
        }
        set(header, 4, (end - start - HEADER) as u32);
    }
}

/// Gives a dispatch, whose header is the first of these bytes, a number among the ranges of its list.
pub(crate) fn set_ranges(dispatch: &mut [u8], number: usize) {
    if let Some(header) = dispatch.first_chunk_mut() {
        set(header, 44, number as u32 + 1);
    }
}

#[inline]
fn set(header: &mut [u8; HEADER], at: usize, number: u32) {
    if let Some(place) = header[at..].first_chunk_mut() {
        *place = number.to_le_bytes();
    }
}

#[inline]
fn word(header: &[u8; HEADER], at: usize) -> u32 {
    header[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The room that an argument block takes.
#[inline]
pub(crate) fn padded(argument_size: u32) -> usize {
    (argument_size as usize + 7) & !7
}

fn long(header: &[u8; HEADER], at: usize) -> u64 {
    header[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Marks that a barrier follows the command with this header. `false` where one does already.
#[inline]
pub(crate) fn mark_barrier(header: &mut [u8]) -> bool {
    let Some(flags) = header.get_mut(1) else { return false };
    let unmarked = *flags & BARRIER_FOLLOWS == 0;
    *flags |= BARRIER_FOLLOWS;
    unmarked
}

/// A command in its packed form.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a> {
    header: &'a [u8; HEADER],
    payload: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Splits the first command off.
    #[inline]
    pub(crate) fn split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (header, rest) = bytes.split_first_chunk()?;
        let (payload, rest) = rest.split_at_checked(word(header, 4) as usize)?;
        Some((Self { header, payload }, rest))
    }

    /// Splits the first command off, if it is a dispatch of this kind.
    #[inline]
    pub(crate) fn split_launch(bytes: &'a [u8], kind: u8) -> Option<(RecordedLaunch<'a>, &'a [u8])> {
        let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
        if header[0] != kind {
            return None;
        }
        let (payload, behind) = rest.split_at_checked(word(header, 4) as usize)?;
        let size = word(header, 12);
        let (patches, arguments) = match kind {
            DISPATCH => (&[][..], payload.get(..size as usize)?),
            _ => (payload.get(padded(size)..)?.as_chunks().0, rest),
        };
        Some((RecordedLaunch { header, patches, arguments }, behind))
    }

    #[inline]
    pub(crate) fn barrier_follows(self) -> bool {
        self.header[1] & BARRIER_FOLLOWS != 0
    }

    /// The command. `None` for bytes that are none, such as those at a position of another list.
    pub(crate) fn decode(self, tables: &'a Tables) -> Option<Command<'a>> {
        let header = self.header;
        Some(match header[0] {
            BARRIER => Command::Barrier,
            DISPATCH | DISPATCH_PATCHED => {
                let launch = self.launch()?;
                let count = WorkgroupCountRef::Direct(launch.workgroup_count());
                Command::Dispatch(launch.with_count(tables, count)?)
            }
            DISPATCH_INDIRECT => {
                let launch = self.launch()?;
                let count = WorkgroupCountRef::Indirect(tables.counts.get(word(header, 16) as usize)?);
                Command::Dispatch(launch.with_count(tables, count)?)
            }
            FILL => {
                let value = word(header, 40);
                let pattern = match header[2] {
                    1 => Pattern::from(value as u8),
                    2 => Pattern::from(value as u16),
                    _ => Pattern::from(value),
                };
                Command::Fill { target: self.target(tables)?, pattern }
            }
            UPDATE => {
                let (offset, length) = (long(header, 24), long(header, 32));
                let source = tables.data.get(offset as usize..)?.get(..length as usize)?;
                Command::Update { source, offset, target: self.target(tables)? }
            }
            COPY => {
                let source = self.range(tables, SOURCE_SLOT, word(header, 12), long(header, 24))?;
                Command::Copy { source, target: self.target(tables)? }
            }
            SIGNAL_EVENT => Command::SignalEvent { event: long(header, 16) as usize },
            RESET_EVENT => Command::ResetEvent { event: long(header, 16) as usize },
            WAIT_EVENTS => {
                let range = long(header, 16) as usize..long(header, 24) as usize;
                Command::WaitEvents { events: tables.events.get(range)? }
            }
            BEGIN_DEBUG_GROUP => Command::BeginDebugGroup(tables.groups.get(word(header, 8) as usize)?),
            END_DEBUG_GROUP => Command::EndDebugGroup,
            COLLECTIVE => {
                let RecordedGroup { channel, operations } =
                    tables.collectives.get(word(header, 8) as usize)?;
                Command::Collective { channel, operations }
            }
            _ => return None,
        })
    }

    fn launch(self) -> Option<RecordedLaunch<'a>> {
        let patches = self.payload.get(padded(word(self.header, 12))..)?.as_chunks().0;
        Some(RecordedLaunch { header: self.header, patches, arguments: self.payload })
    }

    fn target(self, tables: &'a Tables) -> Option<RecordedRange<'a>> {
        self.range(tables, TARGET_SLOT, word(self.header, 8), long(self.header, 16))
    }

    fn range(self, tables: &'a Tables, slot: u8, number: u32, offset: u64) -> Option<RecordedRange<'a>> {
        let length = long(self.header, 32);
        Some(match self.header[1] & slot {
            0 => RecordedRange::Direct { buffer: tables.buffers.get(number as usize)?, offset, length },
            _ => RecordedRange::Slot { slot: number, offset, length },
        })
    }
}

/// A dispatch of a known workgroup count, as it lies in its list. See [`InOrder::next_launch`](crate::InOrder::next_launch).
#[derive(Clone, Copy)]
pub struct RecordedLaunch<'a> {
    header: &'a [u8; HEADER],
    patches: &'a [[u8; PATCH_SIZE]],
    /// The arguments, and perhaps everything behind them.
    arguments: &'a [u8],
}

impl<'a> RecordedLaunch<'a> {
    /// The number of the function in [`CommandList::functions`](crate::CommandList::functions).
    #[inline]
    pub fn number(self) -> usize {
        word(self.header, 8) as usize
    }

    /// Workgroups in x, y, z.
    #[inline]
    pub fn workgroup_count(self) -> [u32; 3] {
        [16, 20, 24].map(|at| word(self.header, at))
    }

    /// Work-items of a workgroup in x, y, z.
    #[inline]
    pub fn workgroup_size(self) -> [u32; 3] {
        [28, 32, 36].map(|at| word(self.header, at))
    }

    /// Bytes of local memory in addition to those that the function declares.
    #[inline]
    pub fn dynamic_local_memory(self) -> u32 {
        word(self.header, 40)
    }

    /// The argument block, as [`DispatchCommand::arguments`].
    #[inline]
    pub fn arguments(self) -> &'a [u8] {
        self.arguments.get(..self.size()).unwrap_or_default()
    }

    /// The addresses in the block that a binding table supplies.
    #[inline]
    pub fn patches(self) -> Patches<'a> {
        Patches(self.patches)
    }

    #[inline]
    fn size(self) -> usize {
        word(self.header, 12) as usize
    }

    /// The argument block with the addresses of a binding table. See [`PatchedBlock::fill`].
    #[inline]
    pub fn patched(self, block: &mut PatchedBlock) -> &[u8] {
        match self.arguments.first_chunk() {
            Some(bytes) if block.takes(self.size()) => {
                block.fill_short(bytes, self.size() as u8, self.patches)
            }
            _ => block.fill(self.arguments(), self.patches()),
        }
    }

    fn with_count(
        self,
        tables: &'a Tables,
        workgroup_count: WorkgroupCountRef<'a>,
    ) -> Option<DispatchCommand<'a>> {
        let ranges = (word(self.header, 44) as usize).checked_sub(1);
        Some(DispatchCommand {
            recorded: tables.functions.get(self.number())?,
            number: self.number() as u32,
            workgroup_count,
            workgroup_size: self.workgroup_size(),
            dynamic_local_memory: self.dynamic_local_memory(),
            arguments: self.arguments(),
            patches: self.patches(),
            ranges: ranges.and_then(|number| tables.ranges.get(number)).map_or(&[], Vec::as_slice),
        })
    }
}
