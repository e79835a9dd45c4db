// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recording: it makes all checks that do not need the binding table.

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

/// Records a command buffer. Each call validates at once. A call that fails records nothing.
pub struct Recorder {
    device: Arc<dyn driver::RawDevice>,
    list: CommandList,
    events: Events,
    /// The indices of the commands that opened the debug groups which are still open.
    open_groups: Vec<usize>,
}

impl Recorder {
    pub(crate) fn new(device: Arc<dyn driver::RawDevice>, slots: u32) -> Result<Self> {
        const MOST: u32 = 1 << 20;
        if slots > MOST {
            return Err(Error::out_of_range(format!("{slots} slots; a binding table has at most {MOST}")));
        }
        let list =
            CommandList { slots: vec![SlotRequirement::default(); slots as usize], ..CommandList::default() };
        Ok(Self { device, list, events: Events::new(), open_groups: Vec::new() })
    }

    /// All commands before this complete before any command after it starts.
    pub fn barrier(&mut self) {
        self.list.commands.push(Command::Barrier);
    }

    /// Repeats `pattern` over `target`. Address and length of the target must be multiples of the size of the pattern.
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

    /// Writes `source` over `target`, which has the same length. The bytes are captured now.
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

    /// Copies `source` over `target`, which has the same length. The two must not overlap.
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

    /// Makes an event of this recording. It is not signalled.
    pub fn event(&mut self) -> Event {
        self.events.add()
    }

    /// The first half of a split barrier. A later [`wait_events`](Self::wait_events) for `event` waits for all commands
    /// before this call. `FAILED_PRECONDITION` where the event is already signalled and was not reset.
    pub fn signal_event(&mut self, event: Event) -> Result<()> {
        let event = self.events.signal(event)?;
        self.list.commands.push(Command::SignalEvent { event });
        Ok(())
    }

    /// Makes `event` unsignalled for the commands from here on. Earlier waits still mean the signal before them.
    pub fn reset_event(&mut self, event: Event) -> Result<()> {
        let event = self.events.reset(event)?;
        self.list.commands.push(Command::ResetEvent { event });
        Ok(())
    }

    /// The second half of a split barrier. For each event, all commands before its last
    /// [`signal_event`](Self::signal_event) complete before any command after this call starts. Commands between signal
    /// and wait are free. `FAILED_PRECONDITION` where an event is not signalled at this point. An empty list records
    /// nothing.
    pub fn wait_events(&mut self, events: &[Event]) -> Result<()> {
        let events = self.events.wait(events)?;
        if !events.is_empty() {
            self.list.commands.push(Command::WaitEvents { events });
        }
        Ok(())
    }

    /// Launches `function` with one argument for each of its parameters. A grid without workgroups records nothing.
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

    /// Launches `function` with a workgroup count from a range, which earlier commands may write. See
    /// [`IndirectParameters`](crate::IndirectParameters). A count with a zero in it launches nothing.
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

    /// Opens a named group, for tools: a name, or a [`DebugGroup`] with a colour and a source location. Groups nest,
    /// and order nothing.
    pub fn begin_debug_group(&mut self, group: impl Into<DebugGroup>) {
        self.open_groups.push(self.list.commands.len());
        self.list.commands.push(Command::BeginDebugGroup(group.into()));
    }

    /// Closes the innermost group. `FAILED_PRECONDITION` where no group is open.
    pub fn end_debug_group(&mut self) -> Result<()> {
        if self.open_groups.pop().is_none() {
            return Err(Error::failed_precondition("no debug group is open"));
        }
        self.list.commands.push(Command::EndDebugGroup);
        Ok(())
    }

    /// Ends the recording. `FAILED_PRECONDITION` where a debug group is still open.
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

    /// Checks that a command may use `target` in this way. Changes nothing, so that a command is checked as a whole
    /// before it is recorded.
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

    /// Notes that a command uses `target`: keeps the buffer alive, or raises the requirements on the slot.
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

/// Keeps a buffer alive. Looks at the last few entries only, because neighbouring commands tend to use the same
/// buffers.
fn retain(resources: &mut Vec<Buffer>, buffer: &Buffer) {
    if !resources.iter().rev().take(8).any(|known| Arc::ptr_eq(known.raw(), buffer.raw())) {
        resources.push(buffer.clone());
    }
}

/// The end of a range in a slot. An error where the slot does not exist or the range overflows.
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

/// Raises the requirements on a slot that [`slot_end`] has found.
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
    /// The used slots, each with the end of the used range.
    slots: SmallVec<[(u32, u64); 8]>,
}

impl Pack<'_> for ListSink<'_> {
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
