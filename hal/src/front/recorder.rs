// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recording: every check that can be made before the binding table is known is made here.

use std::{fmt, ops::Range, sync::Arc};

use smallvec::SmallVec;

use crate::{
    driver::{
        self,
        buffer_ref::BufferRef,
        command::{Command, DispatchCommand},
        command_list::{CommandList, Patch, SlotRequirement},
        range::Buffer,
        workgroup_count::WorkgroupCount,
    },
    front::{
        argument::{self, Argument, Pack},
        check::{check_device, check_lengths, check_multiple, check_overlap},
        command_buffer::CommandBuffer,
        dispatch::{DispatchConfig, Resolved, resolve},
        event::{Event, Events},
        executable::Function,
        indirect_dispatch::IndirectDispatchConfig,
    },
    words::{
        buffer_params::BufferUsage,
        debug_group::DebugGroup,
        error::{Error, Result},
        pattern::Pattern,
    },
};

/// Records a command buffer. Every call validates at once; a call that fails records nothing.
pub struct Recorder {
    device: Arc<dyn driver::Device>,
    list: CommandList,
    events: Events,
    /// Where in the list the open debug groups begin.
    open_groups: Vec<usize>,
}

impl Recorder {
    pub(crate) fn new(device: Arc<dyn driver::Device>, slots: u32) -> Result<Self> {
        const MOST: u32 = 1 << 20;
        if slots > MOST {
            return Err(Error::out_of_range(format!("{slots} slots; a binding table has at most {MOST}")));
        }
        let list =
            CommandList { slots: vec![SlotRequirement::default(); slots as usize], ..CommandList::default() };
        Ok(Self { device, list, events: Events::new(), open_groups: Vec::new() })
    }

    /// Everything recorded before completes before anything recorded after starts.
    pub fn barrier(&mut self) {
        self.list.commands.push(Command::Barrier);
    }

    /// Repeats `pattern` over `target`, whose address and length must be multiples of the pattern's size.
    pub fn fill(&mut self, target: impl Into<BufferRef>, pattern: impl Into<Pattern>) -> Result<()> {
        let (target, pattern) = (target.into(), pattern.into());
        let size = pattern.bytes().len() as u64;
        check_multiple(target.len(), size, "the length of a fill")?;
        self.check(&target, BufferUsage::TRANSFER_TARGET, size, "the target of a fill")?;
        if !target.is_empty() {
            self.demand(&target, BufferUsage::TRANSFER_TARGET, size);
            self.list.commands.push(Command::Fill { target, pattern });
        }
        Ok(())
    }

    /// Writes `source`, which is captured now, over `target` of the same length.
    pub fn update(&mut self, source: &[u8], target: impl Into<BufferRef>) -> Result<()> {
        let target = target.into();
        check_lengths(source.len() as u64, target.len(), "an update")?;
        self.check(&target, BufferUsage::TRANSFER_TARGET, 1, "the target of an update")?;
        if !source.is_empty() {
            self.demand(&target, BufferUsage::TRANSFER_TARGET, 1);
            let start = self.list.data.len();
            self.list.data.extend_from_slice(source);
            self.list.commands.push(Command::Update { source: start..self.list.data.len(), target });
        }
        Ok(())
    }

    /// Copies `source` over `target` of the same length; they must not overlap.
    pub fn copy(&mut self, source: impl Into<BufferRef>, target: impl Into<BufferRef>) -> Result<()> {
        let (source, target) = (source.into(), target.into());
        check_lengths(source.len(), target.len(), "a copy")?;
        self.check(&source, BufferUsage::TRANSFER_SOURCE, 1, "the source of a copy")?;
        self.check(&target, BufferUsage::TRANSFER_TARGET, 1, "the target of a copy")?;
        let direct = match (&source, &target) {
            (BufferRef::Direct(source), BufferRef::Direct(target)) => {
                check_overlap(source, target)?;
                true
            }
            _ => false,
        };
        if source.is_empty() {
            return Ok(());
        }
        if !direct {
            self.list.slot_copies.push(self.list.commands.len());
        }
        self.demand(&source, BufferUsage::TRANSFER_SOURCE, 1);
        self.demand(&target, BufferUsage::TRANSFER_TARGET, 1);
        self.list.commands.push(Command::Copy { source, target });
        Ok(())
    }

    /// Makes an event of this recording, not signalled.
    pub fn event(&mut self) -> Event {
        self.events.add()
    }

    /// The first half of a split barrier: a later [`wait_events`](Self::wait_events) for `event` orders everything
    /// recorded before this call. `FAILED_PRECONDITION` where the event is signalled already and was not reset since.
    pub fn signal_event(&mut self, event: Event) -> Result<()> {
        let event = self.events.signal(event)?;
        self.list.commands.push(Command::SignalEvent { event });
        Ok(())
    }

    /// Makes `event` unsignalled again for what is recorded from here on. Waits that were recorded before are not
    /// touched.
    pub fn reset_event(&mut self, event: Event) -> Result<()> {
        let event = self.events.reset(event)?;
        self.list.commands.push(Command::ResetEvent { event });
        Ok(())
    }

    /// The second half of a split barrier: for each event, everything recorded before its last
    /// [`signal_event`](Self::signal_event) completes before anything recorded after this call starts. What was
    /// recorded between the two is not ordered, and may overlap with both sides. `FAILED_PRECONDITION` where an event
    /// is not signalled at this point; no events order nothing.
    pub fn wait_events(&mut self, events: &[Event]) -> Result<()> {
        let events = self.events.wait(events)?;
        if !events.is_empty() {
            self.list.commands.push(Command::WaitEvents { events });
        }
        Ok(())
    }

    /// Launches `function` with one argument for each of its parameters. A grid without workgroups does nothing.
    pub fn dispatch(
        &mut self,
        function: &Function,
        config: impl Into<DispatchConfig>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let resolved = resolve(function, self.device.as_ref(), &config.into())?;
        let count = WorkgroupCount::Direct(resolved.workgroup_count);
        self.launch(function, &resolved, count, arguments)
    }

    /// Launches `function` as often as a buffer says, which earlier commands may have written;
    /// [`IndirectParameters`](crate::IndirectParameters) has the details. A count with a zero in it launches nothing.
    pub fn dispatch_indirect(
        &mut self,
        function: &Function,
        config: impl Into<IndirectDispatchConfig>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        const USAGE: BufferUsage = BufferUsage::DISPATCH_INDIRECT_PARAMETERS;
        let config = config.into();
        let resolved = resolve(function, self.device.as_ref(), &config.with_one_workgroup())?;
        let parameters = config.parameters.canonical()?;
        self.check(parameters.range(), USAGE, 4, "the parameters of an indirect dispatch")?;
        let range = parameters.range().clone();
        self.launch(function, &resolved, WorkgroupCount::Indirect(Box::new(parameters)), arguments)?;
        self.demand(&range, USAGE, 4);
        Ok(())
    }

    fn launch(
        &mut self,
        function: &Function,
        resolved: &Resolved,
        workgroup_count: WorkgroupCount,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let start = self.list.arguments.len().next_multiple_of(16);
        let end = start + function.info().argument_size as usize;
        let range = match (u32::try_from(start), u32::try_from(end)) {
            (Ok(start), Ok(end)) => start..end,
            _ => return Err(Error::resource_exhausted("more than 4 GiB of arguments in one command buffer")),
        };
        let before = (self.list.arguments.len(), self.list.patches.len(), self.list.resources.len());
        self.list.arguments.resize(end, 0);
        let domain = self.device.domain();
        let mut sink = ListSink { list: &mut self.list, block: start..end, slots: SmallVec::new() };
        let pack = if resolved.raw_arguments { argument::pack_raw } else { argument::pack };
        let packed = pack(function.info(), arguments, domain, &mut sink);
        let slots = sink.slots;
        let nothing_to_do = matches!(&workgroup_count, WorkgroupCount::Direct(count) if count.contains(&0));
        if packed.is_err() || nothing_to_do {
            self.list.arguments.truncate(before.0);
            self.list.patches.truncate(before.1);
            self.list.resources.truncate(before.2);
            return packed;
        }
        for (slot, end) in slots {
            require_slot(&mut self.list.slots, slot, end, BufferUsage::DISPATCH_STORAGE, 1);
        }
        let patches = before.1 as u32..self.list.patches.len() as u32;
        self.list.commands.push(Command::Dispatch(DispatchCommand {
            executable: Arc::clone(&function.executable),
            function: function.index,
            workgroup_count,
            workgroup_size: resolved.workgroup_size,
            dynamic_local_memory: resolved.dynamic_local_memory,
            arguments: range,
            patches,
        }));
        Ok(())
    }

    /// Opens a named group, for tools: a name alone, or a [`DebugGroup`] with colour and place. Groups nest, and order
    /// nothing.
    pub fn begin_debug_group(&mut self, group: impl Into<DebugGroup>) {
        self.open_groups.push(self.list.commands.len());
        self.list.commands.push(Command::BeginDebugGroup(group.into()));
    }

    /// Closes the innermost group.
    pub fn end_debug_group(&mut self) -> Result<()> {
        if self.open_groups.pop().is_none() {
            return Err(Error::failed_precondition("no debug group is open"));
        }
        self.list.commands.push(Command::EndDebugGroup);
        Ok(())
    }

    /// Ends the recording.
    pub fn finish(self) -> Result<CommandBuffer> {
        if let Some(Command::BeginDebugGroup(group)) =
            self.open_groups.last().and_then(|open| self.list.commands.get(*open))
        {
            return Err(Error::failed_precondition(format!(
                "{} debug groups are still open, the innermost is `{group}`",
                self.open_groups.len()
            )));
        }
        // SAFETY: each command of the list was checked when it was recorded.
        #[allow(unsafe_code)]
        let raw = unsafe { self.device.prepare(self.list)? };
        Ok(CommandBuffer { raw: raw.into() })
    }

    /// Whether a command may use `target` so. Changes nothing: a command is checked whole before it is recorded.
    fn check(&self, target: &BufferRef, usage: BufferUsage, alignment: u64, what: &str) -> Result<()> {
        match target {
            BufferRef::Direct(buffer) => {
                check_device(buffer, self.device.as_ref(), what)?;
                buffer.require(usage, what)?;
                check_multiple(buffer.device_address(), alignment, what)
            }
            BufferRef::Slot { slot, offset, length } => {
                check_multiple(*offset, alignment, what)?;
                slot_end(&self.list.slots, *slot, *offset, *length).map(|_| ())
            }
        }
    }

    /// Notes that a command uses `target` so: keeps the buffer, or demands it of the slot.
    fn demand(&mut self, target: &BufferRef, usage: BufferUsage, alignment: u64) {
        match target {
            BufferRef::Direct(buffer) => retain(&mut self.list.resources, buffer),
            BufferRef::Slot { slot, offset, length } => {
                let end = offset.saturating_add(*length);
                require_slot(&mut self.list.slots, *slot, end, usage, alignment);
            }
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recorder({} commands)", self.list.commands.len())
    }
}

/// Keeps a buffer once in a row: neighbours in a list use the same few.
fn retain(resources: &mut Vec<Buffer>, buffer: &Buffer) {
    if !resources.iter().rev().take(8).any(|known| Arc::ptr_eq(known.raw(), buffer.raw())) {
        resources.push(buffer.clone());
    }
}

/// Where a range of a slot ends; an error where the slot does not exist or the range overflows.
fn slot_end(slots: &[SlotRequirement], slot: u32, offset: u64, length: u64) -> Result<u64> {
    if slot as usize >= slots.len() {
        return Err(Error::out_of_range(format!(
            "slot {slot} of a command buffer recorded with {} slots",
            slots.len()
        )));
    }
    offset.checked_add(length).ok_or_else(|| {
        Error::out_of_range(format!("offset {offset} and length {length} of slot {slot} overflow"))
    })
}

/// Raises what is demanded of a slot that [`slot_end`] found.
fn require_slot(slots: &mut [SlotRequirement], slot: u32, end: u64, usage: BufferUsage, alignment: u64) {
    if let Some(requirement) = slots.get_mut(slot as usize) {
        requirement.used = true;
        requirement.length = requirement.length.max(end);
        requirement.usage = requirement.usage | usage;
        requirement.alignment = requirement.alignment.max(alignment);
    }
}

struct ListSink<'a> {
    list: &'a mut CommandList,
    block: Range<usize>,
    /// Slots used, with the end of the range used.
    slots: SmallVec<[(u32, u64); 8]>,
}

impl Pack for ListSink<'_> {
    fn block(&mut self) -> &mut [u8] {
        &mut self.list.arguments[self.block.clone()]
    }

    fn retain(&mut self, buffer: &Buffer) {
        retain(&mut self.list.resources, buffer);
    }

    fn patch(&mut self, at: u32, slot: u32, offset: u64, length: u64) -> Result<()> {
        self.slots.push((slot, slot_end(&self.list.slots, slot, offset, length)?));
        self.list.patches.push(Patch { at: self.block.start as u32 + at, slot, offset });
        Ok(())
    }
}
