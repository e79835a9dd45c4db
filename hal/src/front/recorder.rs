// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recording: it makes all checks that do not need the binding table.

use std::{fmt, sync::Arc};

use crate::{
    driver::{
        self,
        buffer_ref::BufferRef,
        collective::Collective,
        command::{Command, Patch},
        command_list::{
            SlotRequirement,
            block::{Count, Template},
            builder::{CommandListBuilder, Keeper, Mark},
        },
        range::Buffer,
    },
    front::{
        argument::{self, Argument, Pack},
        check::{check_device, check_lengths, check_multiple, check_overlap},
        command_buffer::CommandBuffer,
        dispatch::{DispatchConfig, LaunchLimits, resolve},
        event::{Event, Events},
        executable::Function,
        group,
        indirect_dispatch::IndirectDispatchConfig,
    },
    order::edge::Domain,
    words::{
        buffer_params::BufferUsage,
        debug_group::DebugGroup,
        error::{Error, Result},
        fork,
        pattern::Pattern,
    },
};

/// The last launch that passed the checks that depend on the function and the configuration alone.
struct Admitted {
    function: (usize, u32),
    config: DispatchConfig,
    template: Template,
}

impl Admitted {
    /// Whether a launch differs from this one in nothing but its arguments.
    #[inline]
    fn is(&self, function: &Function, config: &DispatchConfig) -> bool {
        self.function == (function.identity, function.index) && self.config == *config
    }
}

fn template(
    function: &Function,
    number: u32,
    count: &Count,
    workgroup_size: [u32; 3],
    config: &DispatchConfig,
) -> Template {
    let size = function.info().argument_size;
    Template::new(number, count, workgroup_size, config.dynamic_local_memory, size)
}

/// Records a command buffer. Each call validates at once. A call that fails records nothing.
pub struct Recorder {
    device: Arc<dyn driver::RawDevice>,
    domain: Domain,
    list: CommandListBuilder,
    /// The limits of the functions that were launched in more than one configuration, by their numbers.
    limits: Vec<Option<LaunchLimits>>,
    admitted: Option<Admitted>,
    /// The patches of the dispatch that is being recorded.
    patches: SlotPatches,
    /// The ranges that the arguments of this dispatch name, if the device wants them.
    named: Option<Vec<BufferRef>>,
    events: Events,
    /// Why a command of a call that returns nothing was not recorded.
    overflow: Option<Error>,
    /// The numbers of the debug groups that are still open.
    open_groups: Vec<usize>,
}

impl Recorder {
    pub(crate) fn new(device: Arc<dyn driver::RawDevice>, slots: u32) -> Result<Self> {
        const MOST: u32 = 1 << 20;
        if slots > MOST {
            return Err(Error::out_of_range(format!("{slots} slots; a binding table has at most {MOST}")));
        }
        Ok(Self {
            domain: device.domain(),
            named: device.wants_argument_ranges().then(Vec::new),
            device,
            list: CommandListBuilder::with_slots(slots),
            limits: Vec::new(),
            admitted: None,
            patches: Vec::new(),
            events: Events::new(),
            overflow: None,
            open_groups: Vec::new(),
        })
    }

    /// All commands before this complete before any command after it starts.
    #[inline]
    pub fn barrier(&mut self) {
        if let Err(error) = self.list.barrier() {
            self.overflow.get_or_insert(error);
        }
    }

    /// Repeats `pattern` over `target`. Address and length of the target must be multiples of the size of the pattern.
    pub fn fill(&mut self, target: impl Into<BufferRef>, pattern: impl Into<Pattern>) -> Result<()> {
        let (target, pattern) = (target.into(), pattern.into());
        let size = pattern.bytes().len() as u64;
        check_multiple(target.len(), size, "the length of a fill")?;
        self.check(&target, BufferUsage::TRANSFER_TARGET, size, "the target of a fill")?;
        if !target.is_empty() {
            self.list.push(Command::Fill { target: (&target).into(), pattern })?;
            self.demand(&target, BufferUsage::TRANSFER_TARGET, size);
        }
        Ok(())
    }

    /// Writes `source` over `target`, which has the same length. The bytes are captured now.
    pub fn update(&mut self, source: &[u8], target: impl Into<BufferRef>) -> Result<()> {
        let target = target.into();
        check_lengths(source.len() as u64, target.len(), "an update")?;
        self.check(&target, BufferUsage::TRANSFER_TARGET, 1, "the target of an update")?;
        if !source.is_empty() {
            self.list.push(Command::Update { source, offset: 0, target: (&target).into() })?;
            self.demand(&target, BufferUsage::TRANSFER_TARGET, 1);
        }
        Ok(())
    }

    /// Copies `source` over `target`, which has the same length. The two must not overlap.
    pub fn copy(&mut self, source: impl Into<BufferRef>, target: impl Into<BufferRef>) -> Result<()> {
        let (source, target) = (source.into(), target.into());
        check_lengths(source.len(), target.len(), "a copy")?;
        self.check(&source, BufferUsage::TRANSFER_SOURCE, 1, "the source of a copy")?;
        self.check(&target, BufferUsage::TRANSFER_TARGET, 1, "the target of a copy")?;
        if let (BufferRef::Direct(source), BufferRef::Direct(target)) = (&source, &target) {
            check_overlap(source, target)?;
        }
        if !source.is_empty() {
            self.list.push(Command::Copy { source: (&source).into(), target: (&target).into() })?;
            self.demand(&source, BufferUsage::TRANSFER_SOURCE, 1);
            self.demand(&target, BufferUsage::TRANSFER_TARGET, 1);
        }
        Ok(())
    }

    /// Records a group of collective operations.
    pub(super) fn record_group(
        &mut self,
        channel: &Arc<dyn driver::RawChannel>,
        operations: &[Collective<BufferRef>],
    ) -> Result<()> {
        if channel.domain() != self.domain {
            return Err(group::of_another_device());
        }
        let others = self.list.channels().fold(u64::MAX, |bits, other| bits & other.affinity().bits());
        if others & channel.affinity().bits() == 0 {
            return Err(Error::invalid_argument(format!(
                "the channel runs on the queues {:#x}, and the channels that were recorded before on {others:#x}: a command \
                 buffer runs on queues that all of its channels have, so each processor has a command buffer of its own",
                channel.affinity().bits(),
            )));
        }
        let check = |range: &BufferRef, usage, size, what: &str| self.check(range, usage, size, what);
        let operations = group::canonical(operations, channel.as_ref(), check)?;
        if operations.is_empty() {
            return Ok(());
        }
        self.list.push(Command::Collective { channel, operations: &operations })?;
        for Collective { element, source, target, .. } in &operations {
            let size = element.size() as u64;
            source.iter().for_each(|source| self.demand(source, BufferUsage::TRANSFER_SOURCE, size));
            target.iter().for_each(|target| self.demand(target, BufferUsage::TRANSFER_TARGET, size));
        }
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
        self.list.push(Command::SignalEvent { event })
    }

    /// Makes `event` unsignalled for the commands from here on. Earlier waits still mean the signal before them.
    pub fn reset_event(&mut self, event: Event) -> Result<()> {
        let event = self.events.reset(event)?;
        self.list.push(Command::ResetEvent { event })
    }

    /// The second half of a split barrier. For each event, all commands before its last
    /// [`signal_event`](Self::signal_event) complete before any command after this call starts. Commands between signal
    /// and wait are free. `FAILED_PRECONDITION` where an event is not signalled at this point. An empty list records
    /// nothing.
    pub fn wait_events(&mut self, events: &[Event]) -> Result<()> {
        let events = self.events.wait(events)?;
        if !events.is_empty() {
            self.list.push(Command::WaitEvents { events: &events })?;
        }
        Ok(())
    }

    /// Launches `function` with one argument for each of its parameters. A grid without workgroups records nothing.
    #[inline]
    pub fn dispatch(
        &mut self,
        function: &Function,
        config: impl Into<DispatchConfig>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        self.dispatch_direct(function, &config.into(), arguments)
    }

    fn dispatch_direct(
        &mut self,
        function: &Function,
        config: &DispatchConfig,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let Self { list, patches, admitted: Some(last), domain, .. } = self else {
            return self.dispatch_another(function, config, arguments);
        };
        if !last.is(function, config) {
            return self.dispatch_another(function, config, arguments);
        }
        let mark = list.mark();
        let packed = pack(list, patches, &last.template, function, config, *domain, arguments);
        if let Err(error) = packed {
            return Err(self.refuse(mark, error));
        }
        self.end(mark)
    }

    #[cold]
    fn refuse(&mut self, mark: Mark, error: Error) -> Error {
        self.undo(mark);
        error
    }

    /// Records a dispatch that differs from the one before in more than its arguments.
    #[inline(never)]
    fn dispatch_another(
        &mut self,
        function: &Function,
        config: &DispatchConfig,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let mark = self.list.mark();
        let (number, size) = self.check_launch(function, config)?;
        let template = template(function, number, &Count::Direct(config.workgroup_count), size, config);
        let packed = self.pack(&template, function, config, arguments);
        if packed.is_err() || config.workgroup_count.contains(&0) {
            self.undo(mark);
            return packed;
        }
        self.end(mark)?;
        match &mut self.named {
            // The next dispatch comes here again, because the short way keeps no ranges.
            Some(named) => self.list.keep_ranges(mark, std::mem::take(named)),
            None => {
                let function = (function.identity, function.index);
                self.admitted = Some(Admitted { function, config: *config, template });
            }
        }
        Ok(())
    }

    /// Begins a dispatch, packs its arguments, and notes their ranges if the device wants them.
    fn pack(
        &mut self,
        template: &Template,
        function: &Function,
        config: &DispatchConfig,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let Self { list, patches, named: Some(ranges), domain, .. } = self else {
            return pack(
                &mut self.list,
                &mut self.patches,
                template,
                function,
                config,
                self.domain,
                arguments,
            );
        };
        let (block, keeper) = list.begin_dispatch(template)?;
        let mut keeper = RangeKeeper { list: ListKeeper { keeper, patches }, ranges };
        match config.raw_arguments {
            true => argument::pack_raw(function.info(), arguments, *domain, block, &mut keeper),
            false => argument::pack(function.info(), arguments, *domain, block, &mut keeper),
        }
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
        let one = config.with_one_workgroup();
        resolve(function, self.device.as_ref(), &one)?;
        let parameters = config.parameters.canonical()?;
        self.check(parameters.range(), USAGE, 4, "the parameters of an indirect dispatch")?;
        let mark = self.list.mark();
        let packed = self.check_launch(function, &one).and_then(|(number, size)| {
            let count = self.list.count(&parameters);
            let template = template(function, number, &count, size, &one);
            self.pack(&template, function, &one, arguments)
        });
        if packed.is_err() {
            self.undo(mark);
            return packed;
        }
        self.end(mark)?;
        if let Some(named) = &mut self.named {
            self.list.keep_ranges(mark, std::mem::take(named));
        }
        self.demand(parameters.range(), USAGE, 4);
        Ok(())
    }

    /// Makes a packed dispatch a command of the list.
    #[inline]
    fn end(&mut self, begun: Mark) -> Result<()> {
        if !self.patches.is_empty() {
            self.add_patches(begun)?;
        }
        self.list.end_dispatch(begun);
        Ok(())
    }

    #[inline(never)]
    fn add_patches(&mut self, begun: Mark) -> Result<()> {
        let patches = self.patches.iter().map(|(patch, _)| *patch);
        if let Err(error) = self.list.add_patches(begun, patches) {
            return Err(self.refuse(begun, error));
        }
        for (patch, end) in self.patches.drain(..) {
            require_slot(self.list.slots_mut(), patch.slot, end, BufferUsage::DISPATCH_STORAGE, 1);
        }
        Ok(())
    }

    /// Removes what a refused or empty dispatch has left.
    #[cold]
    fn undo(&mut self, mark: Mark) {
        self.list.undo(mark);
        self.limits.truncate(self.list.functions().len());
        self.admitted = None;
        self.patches.clear();
        self.named.iter_mut().for_each(Vec::clear);
    }

    /// Checks a launch. Returns the number of its function in the list, and the workgroup size.
    fn check_launch(&mut self, function: &Function, config: &DispatchConfig) -> Result<(u32, [u32; 3])> {
        let known = self.list.known_function((function.identity, function.index));
        if let Some(number) = known
            && let Some(size) = self.limits(number, function).admit(config)
        {
            return Ok((number, size));
        }
        let resolved = resolve(function, self.device.as_ref(), config)?;
        let number = known.unwrap_or_else(|| self.list.function(&function.executable, function.index));
        Ok((number, resolved.workgroup_size))
    }

    fn limits(&mut self, number: u32, function: &Function) -> &LaunchLimits {
        let number = number as usize;
        if self.limits.len() <= number {
            self.limits.resize_with(number + 1, || None);
        }
        self.limits[number].get_or_insert_with(|| LaunchLimits::new(function.info(), self.device.limits()))
    }

    /// Opens a named group, for tools: a name, or a [`DebugGroup`] with a colour and a source location. Groups nest,
    /// and order nothing.
    pub fn begin_debug_group(&mut self, group: impl Into<DebugGroup>) {
        self.open_groups.push(self.list.debug_groups().len());
        if let Err(error) = self.list.push(Command::BeginDebugGroup(&group.into())) {
            self.overflow.get_or_insert(error);
        }
    }

    /// Closes the innermost group. `FAILED_PRECONDITION` where no group is open.
    pub fn end_debug_group(&mut self) -> Result<()> {
        if self.open_groups.pop().is_none() {
            return Err(Error::failed_precondition("no debug group is open"));
        }
        self.list.push(Command::EndDebugGroup)
    }

    /// Ends the recording. `FAILED_PRECONDITION` where a debug group is still open. `RESOURCE_EXHAUSTED` where a barrier or
    /// a group did not fit a list of 4 GiB.
    pub fn finish(self) -> Result<CommandBuffer> {
        if let Some(group) = self.open_groups.last().and_then(|open| self.list.debug_groups().get(*open)) {
            return Err(Error::failed_precondition(format!(
                "{} debug groups are still open, the innermost is `{group}`",
                self.open_groups.len()
            )));
        }
        if let Some(error) = self.overflow {
            return Err(error);
        }
        fork::check()?;
        // SAFETY: each command of the list was checked when it was recorded.
        #[allow(unsafe_code)]
        let raw = unsafe { self.device.prepare(self.list.finish())? };
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
                slot_end(self.list.slots(), *slot, *offset, *length).map(|_| ())
            }
        }
    }

    /// Raises the requirements on the slot of `target`, if it is one.
    fn demand(&mut self, target: &BufferRef, usage: BufferUsage, alignment: u64) {
        if let BufferRef::Slot { slot, offset, length } = target {
            let end = offset.saturating_add(*length);
            require_slot(self.list.slots_mut(), *slot, end, usage, alignment);
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recorder({} commands)", self.list.len())
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

/// The patches of a dispatch, each with the end of the range that it uses of its slot.
type SlotPatches = Vec<(Patch, u64)>;

/// Begins a dispatch and packs its arguments.
#[inline]
fn pack(
    list: &mut CommandListBuilder,
    patches: &mut SlotPatches,
    template: &Template,
    function: &Function,
    config: &DispatchConfig,
    domain: Domain,
    arguments: &[Argument<'_>],
) -> Result<()> {
    let (block, keeper) = list.begin_dispatch(template)?;
    let mut keeper = ListKeeper { keeper, patches };
    if config.raw_arguments {
        return argument::pack_raw(function.info(), arguments, domain, block, &mut keeper);
    }
    argument::pack(function.info(), arguments, domain, block, &mut keeper)
}

struct ListKeeper<'a> {
    keeper: Keeper<'a>,
    patches: &'a mut SlotPatches,
}

impl Pack<'_> for ListKeeper<'_> {
    #[inline]
    fn keeps(&self, buffer: &Buffer) -> bool {
        self.keeper.keeps(buffer)
    }

    fn retain(&mut self, buffer: &Buffer) {
        self.keeper.retain(buffer);
    }

    fn patch(&mut self, at: u32, slot: u32, offset: u64, length: u64) -> Result<()> {
        self.patches.push((Patch { at, slot }, slot_end(self.keeper.slots, slot, offset, length)?));
        Ok(())
    }
}

/// A [`ListKeeper`] that notes the range of each argument too.
struct RangeKeeper<'a> {
    list: ListKeeper<'a>,
    ranges: &'a mut Vec<BufferRef>,
}

impl Pack<'_> for RangeKeeper<'_> {
    fn retain(&mut self, buffer: &Buffer) {
        self.list.retain(buffer);
        self.ranges.push(BufferRef::Direct(buffer.clone()));
    }

    fn patch(&mut self, at: u32, slot: u32, offset: u64, length: u64) -> Result<()> {
        self.list.patch(at, slot, offset, length)?;
        self.ranges.push(BufferRef::Slot { slot, offset, length });
        Ok(())
    }
}
