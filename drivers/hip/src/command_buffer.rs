// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prepared command lists, and their replay into a stream.

use std::{any::Any, borrow::Cow, collections::HashMap, ops::Range, sync::Arc};

use windlass_hal::{
    Buffer, BufferRef, Command, CommandList, Dispatch, DispatchCommand, Error, FunctionInfo,
    IndirectParameters, Patch, Pattern, Result, WorkgroupCount, driver, edge::Domain,
};

use crate::{
    call::{Function, Hip, Stream},
    device::Inner,
    executable::Executable,
    gpu::Gpu,
    replay::{Counts, Enqueue, Progress, Visit},
};

/// A command list with everything looked up that replaying needs.
pub(crate) struct CommandBuffer {
    domain: Domain,
    list: CommandList,
    steps: Vec<Step>,
    /// Each kernel once for every GPU of the device.
    functions: Vec<Function>,
    /// The commands whose workgroup counts are read, in the order of reading.
    indirect: Vec<usize>,
    /// How many of them are read before anything runs.
    fixed: usize,
    /// The bytes of all updates, and of fills that HIP may get wrong, where the device can read them.
    data: Option<Buffer>,
}

enum Step {
    Fill {
        target: usize,
        pattern: Pattern,
        /// Where its bytes are in [`CommandBuffer::data`], if HIP may get it wrong.
        bytes: Option<u64>,
    },
    Update {
        offset: u64,
        target: usize,
    },
    Copy {
        source: usize,
        target: usize,
    },
    Launch(Launch),
    /// Copies these of `indirect` to where the host sees them.
    Fetch(Range<usize>),
    /// What comes next needs the first so many counts.
    Need(usize),
    /// A launch with a count that was fetched.
    LaunchIndirect {
        launch: Launch,
        count: usize,
        command: usize,
    },
    BeginGroup(usize),
    EndGroup,
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

impl Launch {
    /// Adds the kernels that it launches to `functions`.
    fn new(dispatch: &DispatchCommand, functions: &mut Vec<Function>, grid: [u32; 3]) -> Result<Self> {
        let function = functions.len();
        functions.extend_from_slice(functions_of(dispatch.executable.as_ref(), dispatch.function)?);
        Ok(Self {
            function,
            grid,
            block: dispatch.workgroup_size,
            local_memory: dispatch.dynamic_local_memory,
            arguments: dispatch.arguments.start as usize..dispatch.arguments.end as usize,
            patches: dispatch.patches.start as usize..dispatch.patches.end as usize,
        })
    }
}

/// When the workgroup counts of a list are read: each as soon as everything that may write it has been enqueued, so that
/// one trip to the host serves all that are known by then.
#[derive(Default)]
struct Reads {
    /// The commands that need counts, in the order of reading.
    order: Vec<usize>,
    /// For each of them, the command before which it is read.
    ready: Vec<usize>,
    /// The place of each command in that order.
    places: HashMap<usize, usize>,
    /// How many of them nothing in the list may write.
    fixed: usize,
}

impl Reads {
    fn of(list: &CommandList) -> Self {
        let counts = |command: &Command| match command {
            Command::Dispatch(DispatchCommand {
                workgroup_count: WorkgroupCount::Indirect(parameters),
                ..
            }) => Some(matches!(**parameters, IndirectParameters::Static(_))),
            _ => None,
        };
        if !list.commands().iter().any(|command| counts(command).is_some()) {
            return Self::default();
        }
        let mut reads: Vec<_> = (list.commands().iter().zip(list.predecessors()).enumerate())
            .filter_map(|(index, (command, before))| {
                counts(command).map(|fixed| (if fixed { 0 } else { before }, !fixed, index))
            })
            .collect();
        reads.sort_unstable();
        Self {
            fixed: reads.iter().filter(|(_, dynamic, _)| !dynamic).count(),
            ready: reads.iter().map(|(ready, _, _)| *ready).collect(),
            places: reads.iter().enumerate().map(|(place, (_, _, index))| (*index, place)).collect(),
            order: reads.into_iter().map(|(_, _, index)| index).collect(),
        }
    }

    /// How many counts are to be read before command `index`.
    fn due(&self, index: usize) -> usize {
        self.ready.partition_point(|ready| *ready <= index)
    }

    /// Which count is that of command `index`.
    fn count(&self, index: usize) -> Option<usize> {
        self.places.get(&index).copied()
    }
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
        let mut data = Cow::Borrowed(list.data());
        let reads = Reads::of(&list);
        let (mut fetched, mut needed) = (0, 0);
        let mut steps = Vec::with_capacity(list.commands().len());
        let mut known = Vec::new();
        for (index, command) in list.commands().iter().enumerate() {
            let due = reads.due(index);
            if due > fetched {
                steps.push(Step::Fetch(fetched..due));
                fetched = due;
            }
            let step = match command {
                // A stream runs its work in order.
                Command::Barrier
                | Command::SignalEvent { .. }
                | Command::ResetEvent { .. }
                | Command::WaitEvents { .. } => continue,
                Command::BeginDebugGroup(_) => Step::BeginGroup(index),
                Command::EndDebugGroup => Step::EndGroup,
                Command::Fill { pattern, target } => {
                    let bytes = device.hip.quirks.fill_may_run_away(target.len()).then(|| {
                        let start = data.len() as u64;
                        data.to_mut().extend(repeated(*pattern, target.len()));
                        start
                    });
                    Step::Fill { target: index, pattern: *pattern, bytes }
                }
                Command::Update { source, .. } => Step::Update { offset: source.start as u64, target: index },
                Command::Copy { .. } => Step::Copy { source: index, target: index },
                Command::Dispatch(dispatch) => match (&dispatch.workgroup_count, reads.count(index)) {
                    (WorkgroupCount::Direct(grid), _) => {
                        Step::Launch(Launch::new(dispatch, &mut known, *grid)?)
                    }
                    (_, Some(count)) => {
                        if count >= needed {
                            needed = fetched;
                            steps.push(Step::Need(needed));
                        }
                        let launch = Launch::new(dispatch, &mut known, [0; 3])?;
                        Step::LaunchIndirect { launch, count, command: index }
                    }
                    (other, None) => {
                        return Err(Error::unimplemented(format!(
                            "the HIP driver does not know the workgroup count {other:?}"
                        )));
                    }
                },
                other => {
                    return Err(Error::unimplemented(format!(
                        "the HIP driver does not know the command {other:?}"
                    )));
                }
            };
            steps.push(step);
        }
        let data = match &*data {
            [] => None,
            bytes => Some(device.allocator.stage(device, bytes)?),
        };
        let Reads { fixed, order, .. } = reads;
        Ok(Self { domain: device.domain, list, steps, functions: known, indirect: order, fixed, data })
    }

    /// How many workgroup counts a replay reads.
    pub(crate) fn counts(&self) -> usize {
        self.indirect.len()
    }

    /// Enqueues every command, or those up to one whose workgroup count the host has to read first.
    pub(crate) fn replay(
        &self,
        visit: &Visit<'_>,
        bindings: &[Buffer],
        scratch: &mut Scratch,
    ) -> Result<Enqueue> {
        let Visit { gpu, limits, stream, mut progress, settled, ref counts } = *visit;
        let hip = &gpu.hip;
        scratch.slots.clear();
        scratch.slots.extend(bindings.iter().map(Buffer::device_address));
        if settled && progress.step == 0 && self.read_fixed(bindings, counts)? {
            progress.known = self.fixed;
        }
        for (index, step) in self.steps.iter().enumerate().skip(progress.step) {
            match step {
                Step::Launch(launch) => self.launch(gpu, stream, launch, launch.grid, scratch)?,
                Step::Fetch(range) => {
                    for count in range.clone().filter(|count| *count >= progress.known) {
                        let source = self.count_at(count, bindings)?.device_address();
                        hip.copy(stream, counts.address(count)?, source, 12)?;
                    }
                }
                Step::Need(known) if *known > progress.known => {
                    return Ok(Enqueue::UpTo(Progress { step: index + 1, known: *known }));
                }
                Step::Need(_) => {}
                Step::LaunchIndirect { launch, count, command } => {
                    let grid = counts.get(*count)?;
                    if !grid.contains(&0) {
                        limits
                            .check_workgroups(self.info(*command)?, grid, launch.block)
                            .map_err(|error| error.context(format!("command {command}, count {grid:?}")))?;
                        self.launch(gpu, stream, launch, grid, scratch)?;
                    }
                }
                Step::BeginGroup(command) => {
                    if let Some(Command::BeginDebugGroup(group)) = self.list.commands().get(*command) {
                        tracing::trace!(target: "windlass::hip", %group, color = ?group.color, "debug group begins");
                    }
                }
                Step::EndGroup => tracing::trace!(target: "windlass::hip", "debug group ends"),
                Step::Fill { target: at, pattern, bytes } => {
                    let target = found(target(&self.list, *at))?;
                    let (address, length) = (target.address(bindings), target.len());
                    if hip.quirks.fill_runs_away(address, length) {
                        let bytes = bytes.zip(self.data.as_ref());
                        let bytes = bytes.map(|(offset, data)| data.device_address() + offset);
                        write(hip, stream, address, length, bytes)?;
                    } else {
                        fill(hip, stream, address, length, *pattern)?;
                    }
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
        Ok(Enqueue::Whole)
    }

    fn dispatch(&self, command: usize) -> Result<&DispatchCommand> {
        match self.list.commands().get(command) {
            Some(Command::Dispatch(dispatch)) => Ok(dispatch),
            _ => Err(Error::internal("a prepared command lost its dispatch")),
        }
    }

    fn info(&self, command: usize) -> Result<&FunctionInfo> {
        function_info(self.dispatch(command)?.executable.as_ref(), self.dispatch(command)?.function)
    }

    /// Where a count is.
    fn count_at(&self, count: usize, bindings: &[Buffer]) -> Result<Buffer> {
        let command = self.indirect.get(count).copied().unwrap_or(usize::MAX);
        self.dispatch(command)?
            .workgroup_count
            .buffer(bindings)
            .ok_or_else(|| Error::internal("a count outside its buffer"))
    }

    /// Reads the counts that are fixed, if the host sees all of them.
    fn read_fixed(&self, bindings: &[Buffer], counts: &Counts<'_>) -> Result<bool> {
        for count in 0..self.fixed {
            if !counts.read_now(count, &self.count_at(count, bindings)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[inline]
    fn launch(
        &self,
        gpu: &Gpu,
        stream: Stream,
        launch: &Launch,
        grid: [u32; 3],
        scratch: &mut Scratch,
    ) -> Result<()> {
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
        gpu.hip.launch(stream, function, grid, launch.block, launch.local_memory, arguments)
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
fn functions_of(executable: &dyn driver::Executable, index: u32) -> Result<&[Function]> {
    executable
        .as_any()
        .downcast_ref::<Executable>()
        .and_then(|executable| executable.functions_of(index))
        .ok_or_else(|| Error::internal("a function of another driver reached the HIP driver"))
}

fn function_info(executable: &dyn driver::Executable, index: u32) -> Result<&FunctionInfo> {
    executable
        .functions()
        .get(index as usize)
        .ok_or_else(|| Error::internal("a function without a description"))
}

/// Enqueues one launch, or the copy of its workgroup count.
pub(crate) fn dispatch(visit: &Visit<'_>, dispatch: &Dispatch) -> Result<Enqueue> {
    let Visit { gpu, limits, stream, progress, settled, ref counts } = *visit;
    let hip = &gpu.hip;
    let grid = match &dispatch.workgroup_count {
        WorkgroupCount::Direct(grid) => *grid,
        indirect => {
            let count = indirect.buffer(&[]).ok_or_else(|| Error::internal("a count without a buffer"))?;
            if progress.known == 0 && !(settled && counts.read_now(0, &count)?) {
                hip.copy(stream, counts.address(0)?, count.device_address(), 12)?;
                return Ok(Enqueue::UpTo(Progress { step: 0, known: 1 }));
            }
            let grid = counts.get(0)?;
            if grid.contains(&0) {
                return Ok(Enqueue::Whole);
            }
            let info = function_info(dispatch.executable.as_ref(), dispatch.function)?;
            limits
                .check_workgroups(info, grid, dispatch.workgroup_size)
                .map_err(|error| error.context(format!("indirect count {grid:?}")))?;
            grid
        }
    };
    let function = functions_of(dispatch.executable.as_ref(), dispatch.function)?[gpu.index];
    let (block, local_memory) = (dispatch.workgroup_size, dispatch.dynamic_local_memory);
    hip.launch(stream, function, grid, block, local_memory, &dispatch.arguments)?;
    Ok(Enqueue::Whole)
}

/// The bytes that a fill writes.
pub(crate) fn repeated(pattern: Pattern, length: u64) -> impl Iterator<Item = u8> {
    let (bytes, size) = (pattern.value().to_le_bytes(), pattern.bytes().len());
    (0..length as usize).map(move |index| bytes[index % size])
}

/// Writes what a fill writes, from a copy of its bytes. For what HIP must not fill.
pub(crate) fn write(hip: &Hip, stream: Stream, target: u64, length: u64, bytes: Option<u64>) -> Result<()> {
    let bytes = bytes.ok_or_else(|| Error::internal("a fill that HIP gets wrong, without its bytes"))?;
    hip.copy(stream, target, bytes, length)
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
