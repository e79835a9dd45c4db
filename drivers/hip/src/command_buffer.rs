// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prepared command lists, and their replay into a stream.

use std::{any::Any, ops::Range, sync::Arc};

use windlass_hal::{
    Buffer, BufferRef, Command, CommandList, Error, Patch, Pattern, Result, driver, edge::Domain,
};

use crate::{
    call::{Function, Hip, Stream},
    device::Inner,
    executable::Executable,
    gpu::Gpu,
};

/// A command list with everything looked up that replaying needs.
pub(crate) struct CommandBuffer {
    domain: Domain,
    list: CommandList,
    steps: Vec<Step>,
    /// Each kernel once for every GPU of the device.
    functions: Vec<Function>,
    /// The bytes of all updates, where the device can read them.
    data: Option<Buffer>,
}

enum Step {
    Fill { target: usize, pattern: Pattern },
    Update { offset: u64, target: usize },
    Copy { source: usize, target: usize },
    Launch(Launch),
}

struct Launch {
    /// The kernel on the device's first GPU, in [`CommandBuffer::functions`].
    function: usize,
    grid: [u32; 3],
    block: [u32; 3],
    local_memory: u32,
    arguments: Range<usize>,
    patches: Range<usize>,
}

/// The buffer of command `index`: what a step's `usize` stands for.
fn target(list: &CommandList, index: usize) -> Option<&BufferRef> {
    match list.commands().get(index)? {
        Command::Fill { target, .. } | Command::Update { target, .. } | Command::Copy { target, .. } => {
            Some(target)
        }
        _ => None,
    }
}

fn source(list: &CommandList, index: usize) -> Option<&BufferRef> {
    match list.commands().get(index)? {
        Command::Copy { source, .. } => Some(source),
        _ => None,
    }
}

impl CommandBuffer {
    pub(crate) fn prepare(device: &Arc<Inner>, list: CommandList) -> Result<Self> {
        let data = match list.data() {
            [] => None,
            bytes => Some(device.allocator.stage(device, bytes)?),
        };
        let mut steps = Vec::with_capacity(list.commands().len());
        let mut known = Vec::new();
        for (index, command) in list.commands().iter().enumerate() {
            steps.push(match command {
                // A stream runs its work in order.
                Command::Barrier | Command::BeginDebugGroup { .. } | Command::EndDebugGroup => continue,
                Command::Fill { pattern, .. } => Step::Fill { target: index, pattern: *pattern },
                Command::Update { source, .. } => Step::Update { offset: source.start as u64, target: index },
                Command::Copy { .. } => Step::Copy { source: index, target: index },
                Command::Dispatch(dispatch) => Step::Launch(Launch {
                    function: {
                        let at = known.len();
                        known.extend_from_slice(functions(dispatch.executable.as_ref(), dispatch.function)?);
                        at
                    },
                    grid: dispatch.workgroup_count,
                    block: dispatch.workgroup_size,
                    local_memory: dispatch.dynamic_local_memory,
                    arguments: dispatch.arguments.start as usize..dispatch.arguments.end as usize,
                    patches: dispatch.patches.start as usize..dispatch.patches.end as usize,
                }),
                other => {
                    return Err(Error::unimplemented(format!(
                        "the HIP driver does not know the command {other:?}"
                    )));
                }
            });
        }
        Ok(Self { domain: device.domain, list, steps, functions: known, data })
    }

    /// Enqueues every command.
    pub(crate) fn replay(
        &self,
        gpu: &Gpu,
        stream: Stream,
        bindings: &[Buffer],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let hip = &gpu.hip;
        scratch.slots.clear();
        scratch.slots.extend(bindings.iter().map(Buffer::device_address));
        for step in &self.steps {
            match step {
                Step::Launch(launch) => self.launch(gpu, stream, launch, scratch)?,
                Step::Fill { target: at, pattern } => {
                    let target = found(target(&self.list, *at))?;
                    fill(hip, stream, target.address(bindings), target.len(), *pattern)?;
                }
                Step::Update { offset, target: at } => {
                    let target = found(target(&self.list, *at))?;
                    let data = self.data.as_ref().map_or(0, Buffer::device_address);
                    hip.copy(stream, target.address(bindings), data + offset, target.len())?;
                }
                Step::Copy { source: from, target: to } => {
                    let (source, target) =
                        (found(source(&self.list, *from))?, found(target(&self.list, *to))?);
                    hip.copy(stream, target.address(bindings), source.address(bindings), target.len())?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn launch(&self, gpu: &Gpu, stream: Stream, launch: &Launch, scratch: &mut Scratch) -> Result<()> {
        let recorded = &self.list.arguments()[launch.arguments.clone()];
        let arguments = if launch.patches.is_empty() {
            recorded
        } else {
            let Scratch { block, slots } = scratch;
            block.clear();
            block.extend_from_slice(recorded);
            for patch in &self.list.patches()[launch.patches.clone()] {
                apply(patch, launch.arguments.start, slots, block)?;
            }
            &block[..]
        };
        let function = self.functions[launch.function + gpu.index];
        gpu.hip.launch(stream, function, launch.grid, launch.block, launch.local_memory, arguments)
    }
}

/// Room for a replay, kept by its queue.
#[derive(Default)]
pub(crate) struct Scratch {
    /// One argument block.
    block: Vec<u8>,
    /// The addresses of the binding table.
    slots: Vec<u64>,
}

#[inline]
fn apply(patch: &Patch, start: usize, slots: &[u64], block: &mut [u8]) -> Result<()> {
    let at = (patch.at as usize).wrapping_sub(start);
    match (slots.get(patch.slot as usize), block.get_mut(at..at.wrapping_add(8))) {
        (Some(address), Some(place)) => {
            place.copy_from_slice(&address.wrapping_add(patch.offset).to_le_bytes());
            Ok(())
        }
        _ => Err(Error::internal(format!("a patch of slot {} does not fit its block", patch.slot))),
    }
}

fn found(reference: Option<&BufferRef>) -> Result<&BufferRef> {
    reference.ok_or_else(|| Error::internal("a prepared command lost its buffer"))
}

/// The HIP function behind an executable of this device, once for each GPU.
pub(crate) fn functions(executable: &dyn driver::Executable, index: u32) -> Result<&[Function]> {
    executable
        .as_any()
        .downcast_ref::<Executable>()
        .and_then(|executable| executable.functions_of(index))
        .ok_or_else(|| Error::internal("a function of another driver reached the HIP driver"))
}

/// Repeats a pattern. Address and length are multiples of its size.
pub(crate) fn fill(hip: &Hip, stream: Stream, target: u64, length: u64, pattern: Pattern) -> Result<()> {
    let size = pattern.bytes().len();
    hip.fill(stream, target, pattern.value(), size, length as usize / size)
}

impl driver::CommandBuffer for CommandBuffer {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn list(&self) -> &CommandList {
        &self.list
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
