// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations and commands as events: each object by its number, each address as a buffer and an offset.

use std::{collections::HashSet, ops::Range as Span, sync::Arc};

use windlass_hal::{
    Buffer, BufferParams, BufferRef, Command as HalCommand, CommandList, FunctionInfo, IndirectParameters,
    OperationRef, ParameterKind, Patches, RecordedRange, WorkgroupCountRef, driver,
};

use super::{log::Log, objects::Objects};
use crate::format::{
    coding::Bytes,
    event::{Address, Argument, Arguments, Command, Count, Launch, Origin, Place, Range, Work},
};

/// The buffers that an operation uses, as far as the recorder must look at them.
#[derive(Default)]
pub(super) struct Uses {
    /// Buffers in mapped memory.
    pub(super) mapped: Vec<u32>,
    /// The ranges in mapped memory that the operation may write.
    pub(super) writes: Vec<(u32, Span<u64>)>,
    /// Buffers whose contents must be recorded first.
    pub(super) captures: Vec<(u32, Buffer)>,
}

/// The writer of descriptions.
pub(super) struct Describer<'a> {
    pub(super) objects: &'a mut Objects,
    pub(super) log: &'a mut Log,
    pub(super) uses: Uses,
}

/// A recorded list, and the ranges that it writes.
pub(super) struct ListDescription {
    pub(super) commands: Vec<Command>,
    pub(super) writes: Vec<Place>,
    pub(super) counts: Vec<u32>,
}

/// An allocation that arguments may point to.
struct Target {
    number: u32,
    base: u64,
    size: u64,
    /// The range that the program named.
    named: Span<u64>,
}

impl Target {
    fn offset_of(&self, address: u64) -> Option<u64> {
        address.checked_sub(self.base).filter(|offset| *offset < self.size)
    }

    /// An empty range at the end of a buffer has the address behind it.
    fn is_end(&self, address: u64) -> bool {
        address.checked_sub(self.base) == Some(self.size)
    }
}

/// A launch, as operations and commands have it.
struct Given<'a> {
    executable: &'a Arc<dyn driver::RawExecutable>,
    function: u32,
    count: WorkgroupCountRef<'a>,
    size: [u32; 3],
    local_memory: u32,
    block: &'a [u8],
    patches: Patches<'a>,
}

impl Describer<'_> {
    /// The number of a buffer. One that appears here for the first time was placed by a pool, is a global variable, or
    /// was made where the recorder did not see it.
    pub(super) fn buffer(&mut self, buffer: &Buffer) -> u32 {
        if let Some(number) = self.objects.find(buffer.raw()) {
            return number;
        }
        let origin = match windlass_hal::pool::placed(buffer) {
            Some(_) => Origin::Reserved {},
            None => match self.objects.global(buffer.raw().device_address(), buffer.raw().size()) {
                Some((origin, _, 0)) => origin,
                _ => Origin::Foreign {},
            },
        };
        self.objects.add(self.log, buffer.raw(), &buffer.params(), origin)
    }

    /// Notes that the operation uses a buffer. `writes` is the range that it may write.
    fn note(&mut self, buffer: &Buffer, writes: Option<Span<u64>>) -> u32 {
        let number = self.buffer(buffer);
        if let Some(entry) = self.objects.entry(number) {
            if std::mem::take(&mut entry.wants_contents) {
                let size = buffer.raw().size();
                let whole = Buffer::from_driver(buffer.raw().clone(), buffer.params());
                if size > 0 {
                    self.uses.captures.push((number, whole));
                }
            }
            if entry.is_mapped() {
                if !self.uses.mapped.contains(&number) {
                    self.uses.mapped.push(number);
                }
                self.uses.writes.extend(writes.map(|range| (number, range)));
            }
        }
        number
    }

    fn range(&mut self, buffer: &Buffer, writes: bool) -> Range {
        let span = buffer.offset()..buffer.offset() + buffer.len();
        let number = self.note(buffer, writes.then_some(span));
        Range { buffer: number, offset: buffer.offset(), length: buffer.len() }
    }

    /// The work of an operation.
    pub(super) fn operation(&mut self, operation: &OperationRef<'_>) -> Work {
        match operation {
            OperationRef::Alloca { buffer } => Work::Alloca { buffer: self.buffer(buffer) },
            OperationRef::Dealloca { buffer } => Work::Dealloca { buffer: self.buffer(buffer) },
            OperationRef::Fill { target, pattern } => Work::Fill {
                target: self.range(target, true),
                pattern: pattern.value(),
                size: pattern.bytes().len() as u8,
            },
            OperationRef::Update { source, target } => {
                Work::Update { source: Bytes::Here(source.to_vec()), target: self.range(target, true) }
            }
            OperationRef::Copy { source, target } => {
                Work::Copy { source: self.range(source, false), target: self.range(target, true) }
            }
            OperationRef::Read { file_offset, target, .. } => {
                Work::Read { offset: *file_offset, target: self.range(target, true) }
            }
            OperationRef::Write { source, file_offset, .. } => {
                Work::Write { source: self.range(source, false), offset: *file_offset }
            }
            OperationRef::HostCall(_) => Work::HostCall {},
            OperationRef::Dispatch(dispatch) => {
                let mut targets = Vec::with_capacity(dispatch.resources.len());
                for buffer in dispatch.resources {
                    let range = self.range(buffer, true);
                    targets.push(target(range, buffer));
                }
                let given = Given {
                    executable: dispatch.executable,
                    function: dispatch.function,
                    count: dispatch.workgroup_count.as_ref(),
                    size: dispatch.workgroup_size,
                    local_memory: dispatch.dynamic_local_memory,
                    block: dispatch.arguments,
                    patches: Patches::NONE,
                };
                Work::Dispatch { launch: self.launch(&given, &targets, None, &mut HashSet::new()) }
            }
            OperationRef::Execute { command_buffer, bindings } => self.execute(command_buffer, bindings),
            // A kind of operation that this recorder does not know keeps its order.
            _ => Work::Barrier {},
        }
    }

    fn execute(&mut self, command_buffer: &Arc<dyn driver::RawCommandBuffer>, bindings: &[Buffer]) -> Work {
        for buffer in command_buffer.list().buffers() {
            self.note(buffer, None);
        }
        let bindings: Vec<_> = bindings.iter().map(|buffer| self.range(buffer, false)).collect();
        let Some(list) = self.objects.list(command_buffer) else { return Work::Barrier {} };
        let number = list.number;
        let mut used = list.counts.clone();
        let mut writes = Vec::new();
        for place in &list.writes {
            match *place {
                Place::Direct { range } => {
                    writes.push((range.buffer, range.offset..range.offset + range.length))
                }
                Place::Slot { slot, offset, length } => {
                    if let Some(bound) = bindings.get(slot as usize) {
                        let start = bound.offset + offset.min(bound.length);
                        writes.push((
                            bound.buffer,
                            start..start + length.min(bound.length - offset.min(bound.length)),
                        ));
                    }
                }
            }
        }
        used.extend(writes.iter().map(|(buffer, _)| *buffer));
        let mapped = |number: &u32, objects: &mut Objects| {
            objects.entry(*number).is_some_and(|entry| entry.is_mapped())
        };
        for number in used {
            if mapped(&number, self.objects) && !self.uses.mapped.contains(&number) {
                self.uses.mapped.push(number);
            }
        }
        writes.retain(|(number, _)| mapped(number, self.objects));
        self.uses.writes.extend(writes);
        Work::Execute { list: number, bindings }
    }

    /// The commands of a list.
    pub(super) fn list(&mut self, list: &CommandList) -> ListDescription {
        let mut targets = Vec::with_capacity(list.buffers().len());
        for buffer in list.buffers() {
            let (number, size) = (self.buffer(buffer), buffer.raw().size());
            let base = buffer.raw().device_address();
            targets.push(Target { number, base, size, named: 0..size });
        }
        let mut named = HashSet::new();
        let mut described = self.commands(list, &targets, false, &mut named);
        // A buffer that no argument names is in an argument block that the program packed.
        if targets.iter().any(|target| !named.contains(&target.number)) {
            described = self.commands(list, &targets, true, &mut named);
        }
        described
    }

    fn commands(
        &mut self,
        list: &CommandList,
        targets: &[Target],
        packed: bool,
        named: &mut HashSet<u32>,
    ) -> ListDescription {
        let mut described = ListDescription { commands: Vec::new(), writes: Vec::new(), counts: Vec::new() };
        for command in list.commands() {
            let mut place = |range: RecordedRange<'_>| {
                let place = self.place(range);
                if let Place::Direct { range } = place {
                    named.insert(range.buffer);
                }
                place
            };
            let command = match command {
                HalCommand::Barrier => Command::Barrier {},
                HalCommand::Fill { target, pattern } => {
                    let target = place(target);
                    described.writes.push(target);
                    Command::Fill { target, pattern: pattern.value(), size: pattern.bytes().len() as u8 }
                }
                HalCommand::Update { source, target, .. } => {
                    let target = place(target);
                    described.writes.push(target);
                    Command::Update { source: Bytes::Here(source.to_vec()), target }
                }
                HalCommand::Copy { source, target } => {
                    let (source, target) = (place(source), place(target));
                    described.writes.push(target);
                    Command::Copy { source, target }
                }
                HalCommand::Dispatch(dispatch) => {
                    let given = Given {
                        executable: dispatch.executable(),
                        function: dispatch.function(),
                        count: dispatch.workgroup_count,
                        size: dispatch.workgroup_size,
                        local_memory: dispatch.dynamic_local_memory,
                        block: dispatch.arguments,
                        patches: dispatch.patches,
                    };
                    let launch = self.launch(&given, targets, Some(packed), named);
                    self.written(&launch, dispatch.ranges, targets, &mut described);
                    Command::Dispatch { launch }
                }
                HalCommand::SignalEvent { event } => Command::SignalEvent { event: event as u32 },
                HalCommand::ResetEvent { event } => Command::ResetEvent { event: event as u32 },
                HalCommand::WaitEvents { events } => {
                    Command::WaitEvents { events: events.iter().map(|event| *event as u32).collect() }
                }
                HalCommand::BeginDebugGroup(group) => Command::BeginGroup {
                    label: group.label.clone(),
                    color: group.color,
                    file: group.location.as_ref().map(|location| location.file.clone()).unwrap_or_default(),
                    line: group.location.as_ref().map_or(0, |location| location.line),
                },
                HalCommand::EndDebugGroup => Command::EndGroup {},
                _ => continue,
            };
            described.commands.push(command);
        }
        described
    }

    /// Notes the ranges that a recorded launch may write, and its count's buffer. An address in a buffer that no argument
    /// names, such as that of a global variable, may be written up to the end.
    fn written(
        &mut self,
        launch: &Launch,
        named: &[BufferRef],
        targets: &[Target],
        described: &mut ListDescription,
    ) {
        let mut writes: Vec<Place> = named.iter().map(|range| self.place(range.into())).collect();
        let known: HashSet<u32> = writes
            .iter()
            .filter_map(|place| match place {
                Place::Direct { range } => Some(range.buffer),
                Place::Slot { .. } => None,
            })
            .collect();
        let to_the_end = |buffer: u32, offset: u64| {
            let target = targets.iter().find(|target| target.number == buffer);
            let length = target.map_or(0, |target| target.size.saturating_sub(offset));
            let place = Place::Direct { range: Range { buffer, offset, length } };
            (!known.contains(&buffer)).then_some(place)
        };
        match &launch.arguments {
            Arguments::Each { arguments } => {
                writes.extend(arguments.iter().filter_map(|argument| match argument {
                    Argument::Buffer { buffer, offset } => to_the_end(*buffer, *offset),
                    Argument::Slot { slot, offset } if named.is_empty() => {
                        Some(Place::Slot { slot: *slot, offset: *offset, length: u64::MAX })
                    }
                    _ => None,
                }));
            }
            Arguments::Block { addresses, .. } => {
                let places =
                    addresses.iter().filter_map(|address| to_the_end(address.buffer, address.offset));
                writes.extend(places);
            }
        }
        described.writes.extend(writes);
        if let Count::Static { place: Place::Direct { range } }
        | Count::Dynamic { place: Place::Direct { range } } = launch.count
        {
            described.counts.push(range.buffer);
        }
    }

    fn place(&mut self, range: RecordedRange<'_>) -> Place {
        match range {
            RecordedRange::Direct { buffer, offset, length } => {
                Place::Direct { range: Range { buffer: self.buffer(buffer), offset, length } }
            }
            RecordedRange::Slot { slot, offset, length } => Place::Slot { slot, offset, length },
        }
    }

    fn count(&mut self, count: WorkgroupCountRef<'_>) -> Count {
        let parameters = match count {
            WorkgroupCountRef::Indirect(parameters) => parameters,
            WorkgroupCountRef::Direct(count) => return Count::Direct { count },
            _ => return Count::Direct { count: [0; 3] },
        };
        let direct = match parameters.range() {
            windlass_hal::BufferRef::Direct(buffer) => Place::Direct { range: self.range(buffer, false) },
            windlass_hal::BufferRef::Slot { slot, offset, length } => {
                Place::Slot { slot: *slot, offset: *offset, length: *length }
            }
        };
        match parameters {
            IndirectParameters::Static(_) => Count::Static { place: direct },
            _ => Count::Dynamic { place: direct },
        }
    }

    /// A launch. `packed` says whether the block may hold addresses where the function takes values; without it, that
    /// depends on whether the arguments name all `targets`.
    fn launch(
        &mut self,
        given: &Given<'_>,
        targets: &[Target],
        packed: Option<bool>,
        named: &mut HashSet<u32>,
    ) -> Launch {
        let count = self.count(given.count);
        let function = given.executable.functions().get(given.function as usize);
        let mut own = HashSet::new();
        let arguments = self.arguments(function, given, targets, packed, &mut own);
        let keeps = match packed {
            None => targets.iter().map(|target| target.number).collect(),
            Some(_) => own.iter().copied().collect::<std::collections::BTreeSet<_>>().into_iter().collect(),
        };
        named.extend(own);
        Launch {
            executable: self.objects.executable(given.executable),
            number: given.function,
            function: function.map(|function| function.name.clone()).unwrap_or_default(),
            count,
            size: given.size,
            local_memory: given.local_memory,
            arguments,
            keeps,
        }
    }

    fn arguments(
        &mut self,
        function: Option<&FunctionInfo>,
        given: &Given<'_>,
        targets: &[Target],
        packed: Option<bool>,
        named: &mut HashSet<u32>,
    ) -> Arguments {
        let block = given.block;
        let mut covered = vec![false; block.len()];
        let (mut arguments, mut addresses, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for parameter in function.iter().flat_map(|function| &function.parameters) {
            let at = parameter.offset as usize;
            let Some(bytes) = block.get(at..at + parameter.size as usize) else { continue };
            covered[at..at + bytes.len()].fill(true);
            let word = <[u8; 8]>::try_from(bytes).map(u64::from_le_bytes);
            let (ParameterKind::Buffer, Ok(word)) = (parameter.kind, word) else {
                arguments.push(Argument::Value { bytes: Bytes::Here(bytes.to_vec()) });
                continue;
            };
            let patch = given.patches.iter().find(|patch| patch.at == parameter.offset);
            arguments.push(match (patch, word) {
                (Some(patch), offset) => Argument::Slot { slot: patch.slot, offset },
                (None, 0) => Argument::Null {},
                (None, address) => match self.resolve(address, targets) {
                    Some((buffer, offset)) => {
                        named.insert(buffer);
                        addresses.push(Address { at: parameter.offset, buffer, offset });
                        Argument::Buffer { buffer, offset }
                    }
                    None => {
                        unknown.push(parameter.offset);
                        Argument::Null {}
                    }
                },
            });
        }
        let all_named = targets.iter().all(|target| named.contains(&target.number));
        let mut is_packed =
            !unknown.is_empty() || covered.iter().zip(block).any(|(covered, byte)| !covered && *byte != 0);
        if packed.unwrap_or(!all_named) {
            let known: HashSet<u32> = addresses.iter().map(|address| address.at).collect();
            for at in
                (0..block.len().saturating_sub(7)).step_by(8).filter(|at| !known.contains(&(*at as u32)))
            {
                let mut word = [0; 8];
                word.copy_from_slice(&block[at..at + 8]);
                let address = u64::from_le_bytes(word);
                let found =
                    targets.iter().find_map(|target| Some((target.number, target.offset_of(address)?)));
                if let Some((buffer, offset)) = found {
                    named.insert(buffer);
                    addresses.push(Address { at: at as u32, buffer, offset });
                    is_packed = true;
                }
            }
        }
        // Only arguments of their own can name slots.
        match is_packed && given.patches.is_empty() {
            true => Arguments::Block { bytes: Bytes::Here(block.to_vec()), addresses, unknown },
            false => Arguments::Each { arguments },
        }
    }

    /// The buffer that an address leads to, and the offset in it. The buffers of the launch come first, and among them
    /// those with the address inside the named range.
    fn resolve(&mut self, address: u64, targets: &[Target]) -> Option<(u32, u64)> {
        let inside = |target: &&Target| {
            target
                .offset_of(address)
                .is_some_and(|offset| target.named.contains(&offset) || target.named.start == offset)
        };
        let named = targets.iter().find(inside);
        let any = named.or_else(|| targets.iter().find(|target| target.offset_of(address).is_some()));
        let any = any.or_else(|| targets.iter().find(|target| target.is_end(address)));
        let found = any.map(|target| (target.number, address - target.base));
        if let Some(found) = found.or_else(|| self.objects.covering(address, 1)) {
            return Some(found);
        }
        let (origin, raw, offset) = self.objects.global(address, 1)?;
        Some((self.objects.add(self.log, &raw, &BufferParams::device(), origin), offset))
    }
}

fn target(range: Range, buffer: &Buffer) -> Target {
    Target {
        number: range.buffer,
        base: buffer.raw().device_address(),
        size: buffer.raw().size(),
        named: range.offset..range.offset + range.length,
    }
}
