// SPDX-License-Identifier: MIT OR Apache-2.0
//! The objects of a replay, made from their descriptions.

use std::collections::HashMap;

use windlass_hal::{
    Buffer, BufferParams, BufferRef, BufferUsage, CommandBuffer, DebugGroup, Device, DispatchConfig, Error,
    Executable, Function, IndirectDispatchConfig, IndirectParameters, MemoryType, Pattern, QueueAffinity,
    Recorder, Result, ResultExt, Semaphore,
};

use super::recording::Recording;
use crate::format::{
    coding::Bytes,
    event::{Argument, Arguments, Command, Count, Failed, Launch, Origin, Params, Place, Range},
};

/// The objects that exist at some point of a replay.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) executables: HashMap<u32, Executable>,
    pub(super) buffers: HashMap<u32, Buffer>,
    pub(super) lists: HashMap<u32, CommandBuffer>,
    semaphores: HashMap<u32, Semaphore>,
    /// The parameters and the size of a reserved buffer, which is made when its alloca comes.
    pub(super) reserved: HashMap<u32, (BufferParams, u64)>,
}

/// An object that a checked recording has, and the replay lacks: its making failed before.
fn absent(what: &str, number: u32) -> Error {
    Error::failed_precondition(format!("{what} {number} is used when it does not exist in the replay"))
}

impl Objects {
    pub(super) fn buffer(&self, number: u32) -> Result<&Buffer> {
        self.buffers.get(&number).ok_or_else(|| absent("buffer", number))
    }

    pub(super) fn range(&self, range: &Range) -> Result<Buffer> {
        self.buffer(range.buffer)?.subspan(range.offset, range.length)
    }

    /// The rest of a buffer from an offset on, whose address is an argument.
    fn rest(&self, number: u32, offset: u64) -> Result<Buffer> {
        let buffer = self.buffer(number)?;
        buffer.subspan(offset, buffer.len().saturating_sub(offset))
    }

    pub(super) fn semaphore(&mut self, number: u32) -> Semaphore {
        self.semaphores.entry(number).or_insert_with(|| Semaphore::new(0)).clone()
    }

    /// Forgets the semaphores, which a second run has anew.
    pub(super) fn clear_semaphores(&mut self) {
        self.semaphores.clear();
    }

    fn function(&self, launch: &Launch) -> Result<Function> {
        let executable = self
            .executables
            .get(&launch.executable)
            .ok_or_else(|| absent("executable", launch.executable))?;
        let by_number = executable.functions().nth(launch.number as usize);
        match by_number.filter(|function| function.name() == launch.function) {
            Some(function) => Ok(function),
            None => executable.function(&launch.function),
        }
    }

    fn place(&self, place: &Place) -> Result<BufferRef> {
        Ok(match place {
            Place::Direct { range } => self.range(range)?.into(),
            Place::Slot { slot, offset, length } => BufferRef::slot(*slot, *offset, *length),
        })
    }

    /// Makes the arguments of a launch, and hands them to `launch`.
    pub(super) fn launch<R>(
        &self,
        recording: &Recording,
        description: &Launch,
        launch: impl FnOnce(&Function, Configured, &[windlass_hal::Argument<'_>]) -> Result<R>,
    ) -> Result<R> {
        let function = self.function(description)?;
        let (mut buffers, mut values) = (Vec::new(), Vec::new());
        let is_block = matches!(description.arguments, Arguments::Block { .. });
        match &description.arguments {
            Arguments::Each { arguments } => {
                for argument in arguments {
                    match argument {
                        Argument::Buffer { buffer, offset } => buffers.push(self.rest(*buffer, *offset)?),
                        Argument::Value { bytes } => values.push(recording.data.get(bytes)?),
                        Argument::Slot { .. } | Argument::Null {} => {}
                    }
                }
            }
            Arguments::Block { bytes, addresses, unknown } => {
                if let Some(at) = unknown.first() {
                    return Err(Error::failed_precondition(format!(
                        "the arguments of `{}` hold an address at byte {at} that leads to no recorded buffer, so there is \
                         none to put in its place",
                        description.function
                    )));
                }
                let mut block = recording.data.get(bytes)?;
                for found in addresses {
                    let address = self.buffer(found.buffer)?.device_address().wrapping_add(found.offset);
                    block[found.at as usize..found.at as usize + 8].copy_from_slice(&address.to_le_bytes());
                }
                values.push(block);
                for buffer in &description.keeps {
                    buffers.push(self.buffer(*buffer)?.clone());
                }
            }
        }
        let (mut next_buffer, mut next_value) = (buffers.iter(), values.iter());
        let mut packed = Vec::new();
        match &description.arguments {
            Arguments::Each { arguments } => {
                for argument in arguments {
                    packed.push(match argument {
                        Argument::Buffer { .. } => next_buffer.next().map(windlass_hal::Argument::Buffer),
                        Argument::Value { .. } => {
                            next_value.next().map(|bytes| windlass_hal::Argument::Bytes(bytes))
                        }
                        Argument::Slot { slot, offset } => {
                            Some(windlass_hal::Argument::Slot { slot: *slot, offset: *offset, length: 0 })
                        }
                        Argument::Null {} => Some(windlass_hal::Argument::Null),
                    });
                }
            }
            Arguments::Block { .. } => {
                packed.push(next_value.next().map(|bytes| windlass_hal::Argument::Bytes(bytes)));
                packed.extend(next_buffer.map(|buffer| Some(windlass_hal::Argument::Buffer(buffer))));
            }
        }
        let packed: Vec<_> = packed.into_iter().flatten().collect();
        let configured = match &description.count {
            Count::Direct { count } => {
                let config = DispatchConfig::new(*count)
                    .workgroup_size(description.size)
                    .dynamic_local_memory(description.local_memory);
                Configured::Direct(if is_block { config.raw_arguments() } else { config })
            }
            Count::Static { place } | Count::Dynamic { place } => {
                let range = self.place(place)?;
                let parameters = match description.count {
                    Count::Static { .. } => IndirectParameters::Static(range),
                    _ => IndirectParameters::Dynamic(range),
                };
                let config = IndirectDispatchConfig::new(parameters)
                    .workgroup_size(description.size)
                    .dynamic_local_memory(description.local_memory);
                Configured::Indirect(if is_block { config.raw_arguments() } else { config })
            }
        };
        launch(&function, configured, &packed)
    }

    /// Records a command buffer.
    pub(super) fn record(
        &self,
        recording: &Recording,
        device: &Device,
        slots: u32,
        commands: &[Command],
    ) -> Result<CommandBuffer> {
        let mut recorder = device.record_with_slots(slots)?;
        let greatest = commands.iter().flat_map(events).max();
        let events: Vec<_> = (0..greatest.map_or(0, |event| event + 1)).map(|_| recorder.event()).collect();
        for (index, command) in commands.iter().enumerate() {
            self.command(recording, &mut recorder, &events, command)
                .context(|| format!("recording command {index}"))?;
        }
        recorder.finish()
    }

    fn command(
        &self,
        recording: &Recording,
        recorder: &mut Recorder,
        events: &[windlass_hal::Event],
        command: &Command,
    ) -> Result<()> {
        let event = |number: u32| events[number as usize];
        match command {
            Command::Barrier {} => recorder.barrier(),
            Command::Fill { target, pattern, size } => {
                recorder.fill(self.place(target)?, pattern_of(*pattern, *size))?;
            }
            Command::Update { source, target } => {
                recorder.update(&recording.data.get(source)?, self.place(target)?)?;
            }
            Command::Copy { source, target } => recorder.copy(self.place(source)?, self.place(target)?)?,
            Command::Dispatch { launch } => {
                self.launch(recording, launch, |function, configured, arguments| match configured {
                    Configured::Direct(config) => recorder.dispatch(function, config, arguments),
                    Configured::Indirect(config) => recorder.dispatch_indirect(function, config, arguments),
                })?;
            }
            Command::SignalEvent { event: number } => recorder.signal_event(event(*number))?,
            Command::ResetEvent { event: number } => recorder.reset_event(event(*number))?,
            Command::WaitEvents { events: numbers } => {
                let events: Vec<_> = numbers.iter().map(|number| event(*number)).collect();
                recorder.wait_events(&events)?;
            }
            Command::BeginGroup { label, color, file, line } => {
                let mut group = DebugGroup::new(label);
                group.color = *color;
                recorder.begin_debug_group(if file.is_empty() { group } else { group.location(file, *line) });
            }
            Command::EndGroup {} => recorder.end_debug_group()?,
        }
        Ok(())
    }
}

/// The configuration of a launch.
pub(super) enum Configured {
    Direct(DispatchConfig),
    Indirect(IndirectDispatchConfig),
}

fn events(command: &Command) -> Vec<u32> {
    match command {
        Command::SignalEvent { event } | Command::ResetEvent { event } => vec![*event],
        Command::WaitEvents { events } => events.clone(),
        _ => Vec::new(),
    }
}

/// The buffers that commands name themselves.
pub(super) fn named(commands: &[Command]) -> Vec<u32> {
    let mut buffers = Vec::new();
    let mut place = |place: &Place| {
        if let Place::Direct { range } = place {
            buffers.push(range.buffer);
        }
    };
    let mut more = Vec::new();
    for command in commands {
        match command {
            Command::Fill { target, .. } | Command::Update { target, .. } => place(target),
            Command::Copy { source, target } => {
                place(source);
                place(target);
            }
            Command::Dispatch { launch } => {
                more.extend(launch.keeps.iter().copied());
                if let Count::Static { place: count } | Count::Dynamic { place: count } = &launch.count {
                    place(count);
                }
            }
            _ => {}
        }
    }
    buffers.extend(more);
    buffers
}

pub(super) fn pattern_of(pattern: u32, size: u8) -> Pattern {
    match size {
        1 => (pattern as u8).into(),
        2 => (pattern as u16).into(),
        _ => pattern.into(),
    }
}

/// The recorded parameters, with the usage that a replay needs in addition.
pub(super) fn params_of(params: &Params, origin: &Origin, shared: bool) -> BufferParams {
    let mut usage = BufferUsage(params.usage) | BufferUsage::TRANSFER;
    if shared {
        usage = usage | BufferUsage::DEFAULT | BufferUsage::DISPATCH_INDIRECT_PARAMETERS;
    }
    if matches!(origin, Origin::HostImport {}) {
        usage = usage | BufferUsage::MAPPING;
    }
    let mut made = BufferParams::device().with_usage(usage).with_min_alignment(params.min_alignment);
    made.memory_type = MemoryType(params.memory_type);
    made.queue_affinity = QueueAffinity::from_bits(params.affinity);
    made
}

pub(super) fn error_of(failure: &Failed) -> Error {
    let code = windlass_hal::Code::from_number(failure.code).unwrap_or(windlass_hal::Code::Unknown);
    Error::new(code, failure.message.clone())
}

/// The bytes of several values.
pub(super) fn all(recording: &Recording, parts: &[Bytes]) -> Result<Vec<Vec<u8>>> {
    parts.iter().map(|part| recording.data.get(part)).collect()
}
