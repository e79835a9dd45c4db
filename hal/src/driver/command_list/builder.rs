// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making lists: packs commands, and keeps each object that they name once.

use std::{fmt, sync::Arc};

use crate::{
    driver::{
        self,
        buffer_ref::BufferRef,
        command::{Command, DispatchCommand, PATCH_SIZE, Patch, RecordedFunction, RecordedGroup},
        command_list::{
            CommandList, Commands, Position, SlotRequirement,
            block::{self, Count, HEADER, Header, Template},
            contents::{self, Contents, Known},
            index::Index,
            tables::Tables,
        },
        range::Buffer,
        recorded_range::RecordedRange,
        workgroup_count::{IndirectParameters, WorkgroupCountRef},
    },
    words::{
        debug_group::DebugGroup,
        error::{Error, Result},
    },
};

/// A list that takes more commands. A [`Recorder`](crate::Recorder) checks what it adds; a wrapper that edits a list gets
/// one from [`CommandList::edited`].
pub struct CommandListBuilder {
    list: Box<Contents>,
    /// Where the header of the last command begins.
    last: usize,
}

/// The state of a builder to which it can return.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    block: usize,
    buffers: usize,
    functions: usize,
    counts: usize,
}

/// Keeps the objects that the arguments of a dispatch name.
pub(crate) struct Keeper<'a> {
    pub(crate) slots: &'a [SlotRequirement],
    buffers: &'a mut Vec<Buffer>,
    known: &'a mut Known,
}

impl Keeper<'_> {
    /// Whether the list keeps an allocation.
    #[inline]
    pub(crate) fn keeps(&self, buffer: &Buffer) -> bool {
        self.known.buffers.get(buffer.identity()).is_some()
    }

    /// Keeps an allocation, if the list does not do so already.
    #[inline(never)]
    pub(crate) fn retain(&mut self, buffer: &Buffer) {
        if !self.keeps(buffer) {
            keep(self.buffers, &mut self.known.buffers, buffer);
        }
    }
}

/// The key of a function among those of a list.
#[inline]
fn identity_of_function(executable: &Arc<dyn driver::RawExecutable>, index: u32) -> (usize, u32) {
    (Arc::as_ptr(executable).cast::<()>() as usize, index)
}

fn keep(retained: &mut Vec<Buffer>, index: &mut Index<usize, u32>, buffer: &Buffer) -> u32 {
    let number = retained.len() as u32;
    index.insert(buffer.identity(), number);
    retained.push(buffer.clone());
    number
}

impl CommandListBuilder {
    /// A list without commands, for a table of this many slots.
    pub(crate) fn with_slots(slots: u32) -> Self {
        let mut list = contents::take();
        list.slots.resize(slots as usize, SlotRequirement::default());
        Self { list, last: 0 }
    }

    /// The list.
    pub(crate) fn finish(mut self) -> CommandList {
        self.list.trim();
        CommandList(Some(self.list))
    }

    /// The number of commands so far.
    pub fn len(&self) -> usize {
        self.list.length
    }

    /// Whether no command was added yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a command. The list gets a copy of its bytes, and keeps its objects alive. `RESOURCE_EXHAUSTED` for more than
    /// 4 GiB of commands.
    pub fn push(&mut self, command: Command<'_>) -> Result<()> {
        let tables = &mut self.list.tables;
        let header = match command {
            Command::Barrier => return self.barrier(),
            Command::Fill { target, pattern } => {
                let header = Header::new(block::FILL).with_byte(2, pattern.bytes().len() as u8);
                self.target(header.with(40, pattern.value()), target)
            }
            Command::Update { source, offset: _, target } => {
                let start = tables.data.len() as u64;
                tables.data.extend_from_slice(source);
                self.target(Header::new(block::UPDATE).with_long(24, start), target)
            }
            Command::Copy { source, target } => {
                if matches!(
                    (source, target),
                    (RecordedRange::Slot { .. }, _) | (_, RecordedRange::Slot { .. })
                ) {
                    self.list.slot_pairs.push(Position(self.list.block.len() as u32));
                }
                let header = self.target(Header::new(block::COPY), target);
                let (number, offset, flag) = self.range(source, block::SOURCE_SLOT);
                header.with(12, number).with_long(24, offset).with_flag(flag)
            }
            Command::Dispatch(dispatch) => return self.push_dispatch(&dispatch),
            Command::SignalEvent { event } => Header::new(block::SIGNAL_EVENT).with_long(16, event as u64),
            Command::ResetEvent { event } => Header::new(block::RESET_EVENT).with_long(16, event as u64),
            Command::WaitEvents { events } => {
                let start = tables.events.len() as u64;
                tables.events.extend_from_slice(events);
                let end = tables.events.len() as u64;
                Header::new(block::WAIT_EVENTS).with_long(16, start).with_long(24, end)
            }
            Command::BeginDebugGroup(group) => {
                let number = tables.groups.len() as u32;
                tables.groups.push(group.clone());
                Header::new(block::BEGIN_DEBUG_GROUP).with(8, number)
            }
            Command::EndDebugGroup => Header::new(block::END_DEBUG_GROUP),
            Command::Collective { channel, operations } => {
                let number = tables.collectives.len() as u32;
                let group = RecordedGroup { channel: channel.clone(), operations: operations.to_vec() };
                tables.collectives.push(group);
                let mut has_slots = false;
                for range in operations.iter().flat_map(|one| [&one.source, &one.target]).flatten() {
                    has_slots |= matches!(range, BufferRef::Slot { .. });
                    self.range(range.into(), 0);
                }
                if has_slots {
                    self.list.slot_pairs.push(Position(self.list.block.len() as u32));
                }
                Header::new(block::COLLECTIVE).with(8, number)
            }
        };
        self.append(header)
    }

    /// Adds a barrier.
    #[inline]
    pub(crate) fn barrier(&mut self) -> Result<()> {
        if self.list.block.get_mut(self.last..).is_some_and(block::mark_barrier) {
            self.list.length += 1;
            return Ok(());
        }
        self.append(Header::new(block::BARRIER))
    }

    fn push_dispatch(&mut self, dispatch: &DispatchCommand<'_>) -> Result<()> {
        let function = self.function(dispatch.executable(), dispatch.function());
        let count = match dispatch.workgroup_count {
            WorkgroupCountRef::Direct(count) => Count::Direct(count),
            WorkgroupCountRef::Indirect(parameters) => self.count(parameters),
        };
        let (local_memory, size) = (dispatch.dynamic_local_memory, dispatch.arguments.len() as u32);
        let template = Template::new(function, &count, dispatch.workgroup_size, local_memory, size);
        let mark = self.mark();
        let (arguments, _) = self.begin_dispatch(&template)?;
        arguments.copy_from_slice(dispatch.arguments);
        if !dispatch.patches.is_empty() {
            self.add_patches(mark, dispatch.patches.iter()).inspect_err(|_| self.undo(mark))?;
        }
        self.end_dispatch(mark);
        self.keep_ranges(mark, dispatch.ranges.to_vec());
        Ok(())
    }

    /// Keeps the ranges that the arguments of the dispatch name that was begun at a mark.
    pub(crate) fn keep_ranges(&mut self, begun: Mark, named: Vec<BufferRef>) {
        let Contents { block, tables: Tables { ranges, .. }, .. } = &mut *self.list;
        if let (false, Some(dispatch)) = (named.is_empty(), block.get_mut(begun.block..)) {
            block::set_ranges(dispatch, ranges.len());
            ranges.push(named);
        }
    }

    /// Keeps a workgroup count in memory.
    pub(crate) fn count(&mut self, parameters: &IndirectParameters) -> Count {
        let counts = &mut self.list.tables.counts;
        counts.push(parameters.clone());
        Count::Indirect(counts.len() as u32 - 1)
    }

    /// Writes a dispatch with an argument block of zeros, and returns the block. The dispatch is part of the list once
    /// [`end_dispatch`](Self::end_dispatch) is called; until then [`undo`](Self::undo) removes it.
    #[inline(always)]
    pub(crate) fn begin_dispatch(&mut self, template: &Template) -> Result<(&mut [u8], Keeper<'_>)> {
        if self.list.block.len() + template.size() >= Position::END.0 as usize {
            return Err(too_long());
        }
        let arguments = template.append_to(&mut self.list.block);
        let keeper = Keeper {
            slots: &self.list.slots,
            buffers: &mut self.list.tables.buffers,
            known: &mut self.list.known,
        };
        Ok((arguments, keeper))
    }

    /// Makes the dispatch that was begun at a mark a command of the list.
    #[inline]
    pub(crate) fn end_dispatch(&mut self, begun: Mark) {
        self.last = begun.block;
        self.list.length += 1;
    }

    /// Adds patches to the dispatch that was begun at a mark.
    pub(crate) fn add_patches(
        &mut self,
        begun: Mark,
        patches: impl ExactSizeIterator<Item = Patch>,
    ) -> Result<()> {
        if self.list.block.len() + patches.len() * PATCH_SIZE >= Position::END.0 as usize {
            return Err(too_long());
        }
        block::add_patches(&mut self.list.block, begun.block, patches);
        Ok(())
    }

    /// The state to which [`undo`](Self::undo) returns.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        let tables = &self.list.tables;
        let [buffers, functions] = [tables.buffers.len(), tables.functions.len()];
        Mark { block: self.list.block.len(), buffers, functions, counts: tables.counts.len() }
    }

    /// Removes a dispatch that was begun after the mark, with the objects that only it names.
    #[cold]
    pub(crate) fn undo(&mut self, mark: Mark) {
        let Contents { block, tables: Tables { functions, buffers, counts, .. }, known, .. } =
            &mut *self.list;
        block.truncate(mark.block);
        counts.truncate(mark.counts);
        if functions.len() > mark.functions {
            functions.truncate(mark.functions);
            known.functions.clear();
            for (number, function) in functions.iter().enumerate() {
                let key = identity_of_function(&function.executable, function.index);
                known.functions.insert(key, number as u32);
            }
        }
        if buffers.len() > mark.buffers {
            buffers.truncate(mark.buffers);
            known.buffers.clear();
            for (number, buffer) in buffers.iter().enumerate() {
                known.buffers.insert(buffer.identity(), number as u32);
            }
        }
    }

    /// The number of a function, given by the address of its executable's object and its index, if the list has it already.
    #[inline]
    pub(crate) fn known_function(&self, key: (usize, u32)) -> Option<u32> {
        self.list.known.functions.get(key)
    }

    /// The number of a function, which the list keeps from now on.
    pub(crate) fn function(&mut self, executable: &Arc<dyn driver::RawExecutable>, index: u32) -> u32 {
        let key = identity_of_function(executable, index);
        self.known_function(key).unwrap_or_else(|| {
            let functions = &mut self.list.tables.functions;
            let number = functions.len() as u32;
            functions.push(RecordedFunction { executable: executable.clone(), index });
            self.list.known.functions.insert(key, number);
            number
        })
    }

    /// The requirements on the slots.
    #[inline]
    pub(crate) fn slots(&self) -> &[SlotRequirement] {
        &self.list.slots
    }

    #[inline]
    pub(crate) fn slots_mut(&mut self) -> &mut [SlotRequirement] {
        &mut self.list.slots
    }

    /// The functions that the list launches.
    pub(crate) fn functions(&self) -> &[RecordedFunction] {
        &self.list.tables.functions
    }

    /// The channels of the groups of collective operations.
    pub(crate) fn channels(&self) -> impl Iterator<Item = &Arc<dyn driver::RawChannel>> {
        self.list.tables.collectives.iter().map(|group| &group.channel)
    }

    /// The debug groups that the list has opened.
    pub(crate) fn debug_groups(&self) -> &[DebugGroup] {
        &self.list.tables.groups
    }

    fn target(&mut self, header: Header, target: RecordedRange<'_>) -> Header {
        let (number, offset, flag) = self.range(target, block::TARGET_SLOT);
        header.with(8, number).with_long(16, offset).with_long(32, target.len()).with_flag(flag)
    }

    /// The buffer or slot of a range, its offset, and the flag of ranges in slots if it is one.
    fn range(&mut self, range: RecordedRange<'_>, flag: u8) -> (u32, u64, u8) {
        match range {
            RecordedRange::Slot { slot, offset, .. } => (slot, offset, flag),
            RecordedRange::Direct { buffer, offset, .. } => {
                let number = match self.list.known.buffers.get(buffer.identity()) {
                    Some(known) => known,
                    None => {
                        let Contents { tables, known, .. } = &mut *self.list;
                        keep(&mut tables.buffers, &mut known.buffers, buffer)
                    }
                };
                (number, offset, 0)
            }
        }
    }

    /// Adds a command without a payload.
    fn append(&mut self, header: Header) -> Result<()> {
        let start = self.list.block.len();
        if start + HEADER >= Position::END.0 as usize {
            return Err(too_long());
        }
        self.list.block.extend_from_slice(header.bytes());
        self.last = start;
        self.list.length += 1;
        Ok(())
    }
}

#[cold]
fn too_long() -> Error {
    Error::resource_exhausted("more than 4 GiB of commands and arguments in one command buffer")
}

impl CommandList {
    /// A list with other commands, for wrappers that record something other than they were given, such as the saboteurs
    /// of the conformance suite. `edit` reads the commands of this list and adds those of the new one, which has the same
    /// slots with the same requirements and keeps all objects of this list alive. The result is not checked.
    pub fn edited(
        &self,
        edit: impl FnOnce(Commands<'_>, &mut CommandListBuilder) -> Result<()>,
    ) -> Result<Self> {
        let mut builder = CommandListBuilder::with_slots(0);
        builder.list.slots.extend_from_slice(self.slots());
        let Contents { tables, known, .. } = &mut *builder.list;
        for buffer in self.buffers() {
            keep(&mut tables.buffers, &mut known.buffers, buffer);
        }
        for function in self.functions() {
            builder.function(&function.executable, function.index);
        }
        edit(self.commands(), &mut builder)?;
        Ok(builder.finish())
    }
}

impl fmt::Debug for CommandListBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandListBuilder({} commands)", self.len())
    }
}
