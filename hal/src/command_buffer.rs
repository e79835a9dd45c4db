// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: recorded once, then immutable, in flight any number of times.

use std::{fmt, sync::Arc};

use smallvec::SmallVec;

use crate::{
    argument::{self, Argument, Pack},
    buffer::{Buffer, BufferUsage},
    command_list::{BufferRef, Command, CommandList, DispatchCommand, Patch, SlotRequirement},
    dispatch::{DispatchConfig, resolve},
    driver,
    error::{Error, Result},
    executable::Function,
    operation::Pattern,
};

/// A finished recording. Clones are handles; it may be submitted from any thread to any queue of its device, and
/// be in flight many times at once.
#[derive(Clone)]
pub struct CommandBuffer {
    pub(crate) raw: Arc<dyn driver::CommandBuffer>,
}

impl CommandBuffer {
    /// What was recorded.
    pub fn list(&self) -> &CommandList {
        self.raw.list()
    }

    /// Fails unless `bindings` give every used slot what the recording needs of it.
    pub(crate) fn check(&self, bindings: &BindingTable) -> Result<()> {
        let list = self.list();
        if bindings.len() > list.slots.len() {
            return Err(Error::invalid_argument(format!(
                "{} bindings for a command buffer recorded with {} slots",
                bindings.len(),
                list.slots.len()
            )));
        }
        for (slot, requirement) in list.slots.iter().enumerate().filter(|(_, requirement)| requirement.used) {
            let buffer = bindings.get(slot).ok_or_else(|| {
                Error::invalid_argument(format!(
                    "slot {slot} is used by the command buffer and has no binding"
                ))
            })?;
            check_slot(slot, requirement, buffer, self.raw.domain())?;
        }
        for index in &list.slot_copies {
            if let Some(Command::Copy { source, target }) = list.commands.get(*index) {
                let (from, to) = (source.address(bindings), target.address(bindings));
                if from < to.saturating_add(target.len()) && to < from.saturating_add(source.len()) {
                    return Err(Error::invalid_argument(format!(
                        "command {index}: with these bindings the copy's source and target overlap"
                    )));
                }
            }
        }
        Ok(())
    }
}

fn check_slot(
    slot: usize,
    requirement: &SlotRequirement,
    buffer: &Buffer,
    domain: crate::edge::Domain,
) -> Result<()> {
    if buffer.raw().domain() != domain {
        return Err(Error::invalid_argument(format!("slot {slot} is bound to a buffer of another device")));
    }
    if buffer.len() < requirement.length {
        return Err(Error::out_of_range(format!(
            "slot {slot} is bound to {} bytes and the command buffer uses {}",
            buffer.len(),
            requirement.length
        )));
    }
    if requirement.alignment > 1 && !buffer.device_address().is_multiple_of(requirement.alignment) {
        return Err(Error::invalid_argument(format!(
            "slot {slot} is bound at {:#x}, which is no multiple of {} bytes",
            buffer.device_address(),
            requirement.alignment
        )));
    }
    buffer.require(requirement.usage, format_args!("slot {slot}"))
}

impl fmt::Debug for CommandBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

/// The buffers that the slots of a command buffer stand for in one submission.
///
/// Up to four live without the heap; a longer table allocates once when it is made, and is cheap to clone for
/// every submission that uses it again.
#[derive(Clone, Debug)]
pub struct BindingTable(Repr);

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "short tables live without the heap")]
enum Repr {
    Inline(SmallVec<[Buffer; 4]>),
    Shared(Arc<[Buffer]>),
}

impl BindingTable {
    /// A table without slots.
    pub fn empty() -> Self {
        Self(Repr::Inline(SmallVec::new()))
    }
}

impl Default for BindingTable {
    fn default() -> Self {
        Self::empty()
    }
}

impl std::ops::Deref for BindingTable {
    type Target = [Buffer];
    fn deref(&self) -> &[Buffer] {
        match &self.0 {
            Repr::Inline(buffers) => buffers,
            Repr::Shared(buffers) => buffers,
        }
    }
}

impl From<&[Buffer]> for BindingTable {
    fn from(buffers: &[Buffer]) -> Self {
        Self(if buffers.len() <= 4 { Repr::Inline(buffers.into()) } else { Repr::Shared(buffers.into()) })
    }
}

impl<const N: usize> From<[Buffer; N]> for BindingTable {
    fn from(buffers: [Buffer; N]) -> Self {
        Self::from(&buffers[..])
    }
}

impl From<Vec<Buffer>> for BindingTable {
    fn from(buffers: Vec<Buffer>) -> Self {
        Self::from(&buffers[..])
    }
}

/// Records a command buffer. Every call validates at once; a call that fails records nothing.
pub struct Recorder {
    device: Arc<dyn driver::Device>,
    list: CommandList,
    open_groups: u32,
}

impl Recorder {
    pub(crate) fn new(device: Arc<dyn driver::Device>, slots: u32) -> Result<Self> {
        const MOST: u32 = 1 << 20;
        if slots > MOST {
            return Err(Error::out_of_range(format!("{slots} slots; a binding table has at most {MOST}")));
        }
        let list =
            CommandList { slots: vec![SlotRequirement::default(); slots as usize], ..CommandList::default() };
        Ok(Self { device, list, open_groups: 0 })
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

    /// Launches `function` with one argument for each of its parameters. A grid without workgroups does nothing.
    pub fn dispatch(
        &mut self,
        function: &Function,
        config: impl Into<DispatchConfig>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let resolved = resolve(function, self.device.as_ref(), &config.into())?;
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
        if packed.is_err() || resolved.workgroup_count.contains(&0) {
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
            executable: function.executable.clone(),
            function: function.index,
            workgroup_count: resolved.workgroup_count,
            workgroup_size: resolved.workgroup_size,
            dynamic_local_memory: resolved.dynamic_local_memory,
            arguments: range,
            patches,
        }));
        Ok(())
    }

    /// Opens a named group, for tools. Groups nest.
    pub fn begin_debug_group(&mut self, label: &str) {
        self.open_groups += 1;
        self.list.commands.push(Command::BeginDebugGroup { label: label.to_owned() });
    }

    /// Closes the innermost group.
    pub fn end_debug_group(&mut self) -> Result<()> {
        if self.open_groups == 0 {
            return Err(Error::failed_precondition("no debug group is open"));
        }
        self.open_groups -= 1;
        self.list.commands.push(Command::EndDebugGroup);
        Ok(())
    }

    /// Ends the recording.
    pub fn finish(self) -> Result<CommandBuffer> {
        if self.open_groups > 0 {
            return Err(Error::failed_precondition(format!(
                "{} debug groups are still open",
                self.open_groups
            )));
        }
        Ok(CommandBuffer { raw: self.device.prepare(self.list)? })
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

pub(crate) fn check_multiple(value: u64, of: u64, what: &str) -> Result<()> {
    if of > 1 && !value.is_multiple_of(of) {
        return Err(Error::invalid_argument(format!("{what}: {value} is no multiple of {of} bytes")));
    }
    Ok(())
}

pub(crate) fn check_lengths(source: u64, target: u64, what: &str) -> Result<()> {
    if source != target {
        return Err(Error::invalid_argument(format!(
            "{what} from {source} to {target} bytes: source and target must have the same length"
        )));
    }
    Ok(())
}

pub(crate) fn check_device(buffer: &Buffer, device: &dyn driver::Device, what: &str) -> Result<()> {
    if buffer.raw().domain() != device.domain() {
        return Err(Error::invalid_argument(format!("{what} is a buffer of another device")));
    }
    Ok(())
}

pub(crate) fn check_overlap(source: &Buffer, target: &Buffer) -> Result<()> {
    let (from, to, length) = (source.device_address(), target.device_address(), source.len());
    if Arc::ptr_eq(source.raw(), target.raw()) && from.abs_diff(to) < length {
        return Err(Error::invalid_argument(format!(
            "a copy of {length} bytes from {from:#x} to {to:#x}: source and target must not overlap"
        )));
    }
    Ok(())
}

struct ListSink<'a> {
    list: &'a mut CommandList,
    block: std::ops::Range<usize>,
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
