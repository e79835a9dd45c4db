// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: recorded lists, prepared for the threads.
//!
//! Barriers, events and groups are not run. They divide the list into segments, and the commands of a segment may run
//! at once. A segment with more than one command worth a thread is a parallel stage: threads share its commands and
//! their workgroups. Adjacent other segments form a serial stage, which one thread runs in a loop.

use std::{any::Any, ops::Range, sync::Arc};

use windlass_hal::{
    Command, CommandList, DispatchCommand, Error, IndirectParameters, Patch, Position, Result,
    WorkgroupCountRef, driver, edge::Domain,
};

use crate::{
    block::Blocks,
    cut::Cut,
    dispatch,
    entry::{Entry, NativeKernel, WorkgroupRecord},
};

/// Transfers of up to this many bytes are not worth another thread.
pub(crate) const SHORT_TRANSFER: u64 = 4096;

/// A prepared list.
pub(crate) struct CommandBuffer {
    domain: Domain,
    program: Arc<Program>,
}

/// The runnable form of a list.
pub(crate) struct Program {
    pub(crate) list: CommandList,
    /// The argument blocks of all dispatches, aligned.
    pub(crate) blocks: Blocks,
    /// The patches of all blocks. They count from the beginning of `blocks`.
    pub(crate) patches: Vec<Patch>,
    pub(crate) steps: Vec<Step>,
    pub(crate) stages: Vec<Stage>,
    /// The dispatches whose workgroup count is read when the list begins.
    pub(crate) fixed_counts: Vec<Position>,
}

/// A command, prepared to run.
pub(crate) enum Step {
    /// A dispatch of one workgroup of a shared object's kernel without local memory, ready to be called.
    Call(Call),
    /// Any other dispatch.
    Dispatch {
        command: Position,
        /// The byte at which the argument block begins, within [`Program::blocks`].
        arguments: u32,
    },
    /// Any other command.
    Transfer(Position),
}

/// The call of a kernel for one workgroup.
pub(crate) struct Call {
    pub(crate) kernel: NativeKernel,
    /// The byte at which the argument block begins, within [`Program::blocks`].
    pub(crate) arguments: u32,
    pub(crate) command: Position,
    pub(crate) record: WorkgroupRecord,
}

impl Step {
    pub(crate) fn command(&self) -> Position {
        match self {
            Self::Call(Call { command, .. }) | Self::Dispatch { command, .. } | Self::Transfer(command) => {
                *command
            }
        }
    }
}

/// Steps that run after all earlier stages. The range is of [`Program::steps`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// One after the other.
    Serial(Range<u32>),
    /// In any order, or at once.
    Parallel(Range<u32>),
}

impl CommandBuffer {
    /// Prepares a list for `threads` threads.
    pub(crate) fn new(domain: Domain, list: CommandList, threads: usize) -> Result<Self> {
        Ok(Self { domain, program: Arc::new(Program::new(list, threads)?) })
    }

    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.program
    }
}

// SAFETY: `list` is the list that is replayed, and never changes.
unsafe impl driver::RawCommandBuffer for CommandBuffer {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn list(&self) -> &CommandList {
        &self.program.list
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Program {
    fn new(list: CommandList, threads: usize) -> Result<Self> {
        let (mut steps, mut stages, mut fixed_counts) = (Vec::new(), Stages::default(), Vec::new());
        let (mut blocks, mut patches) = (Blocks::default(), Vec::new());
        let predecessors = list.predecessors();
        // The index of the command at which the current segment begins.
        let mut segment = 0;
        for (index, (position, command)) in list.positions().enumerate() {
            let shared = match &command {
                Command::Barrier
                | Command::SignalEvent { .. }
                | Command::ResetEvent { .. }
                | Command::WaitEvents { .. }
                | Command::BeginDebugGroup(_)
                | Command::EndDebugGroup => continue,
                Command::Fill { target, .. }
                | Command::Update { target, .. }
                | Command::Copy { target, .. } => Sharing::of_transfer(target.len(), threads),
                Command::Dispatch(dispatch) => {
                    let count = dispatch.workgroup_count;
                    if matches!(count, WorkgroupCountRef::Indirect(IndirectParameters::Static(_))) {
                        fixed_counts.push(position);
                    }
                    Sharing::of_dispatch(dispatch, threads)
                }
                other => {
                    return Err(Error::unimplemented(format!(
                        "the local device does not run {other:?} in a command buffer"
                    )));
                }
            };
            if predecessors.get(index).is_some_and(|before| *before > segment) {
                stages.end_segment(threads);
                segment = index;
            }
            stages.add(shared);
            steps.push(match &command {
                Command::Dispatch(dispatch) => {
                    let start = blocks.push(dispatch.arguments) as u32;
                    let here = |patch: Patch| Patch { at: start + patch.at, ..patch };
                    patches.extend(dispatch.patches.iter().map(here));
                    step(dispatch, position, start)?
                }
                _ => Step::Transfer(position),
            });
        }
        stages.end_segment(threads);
        Ok(Self { list, blocks, patches, steps, stages: stages.done, fixed_counts })
    }
}

/// Prepares a dispatch.
fn step(dispatch: &DispatchCommand<'_>, command: Position, arguments: u32) -> Result<Step> {
    let code = dispatch.executable().as_ref();
    let function = code.functions().get(dispatch.function() as usize);
    Ok(match (dispatch::own(code)?.entry(dispatch.function()), function, dispatch.workgroup_count) {
        (Some(Entry::Native(kernel)), Some(function), WorkgroupCountRef::Direct([1, 1, 1]))
            if function.static_local_memory == 0 && dispatch.dynamic_local_memory == 0 =>
        {
            let record = WorkgroupRecord::new([1; 3], dispatch.workgroup_size);
            Step::Call(Call { kernel: *kernel, arguments, command, record })
        }
        _ => Step::Dispatch { command, arguments },
    })
}

/// The share of a command that other threads can take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// None: waking a thread takes longer than the command.
    Nothing,
    /// The whole command, beside other commands.
    Whole,
    /// Parts of the command.
    Parts,
}

impl Sharing {
    fn of_transfer(length: u64, threads: usize) -> Self {
        match Cut::bytes(length, threads).parts() {
            _ if length <= SHORT_TRANSFER => Self::Nothing,
            0 | 1 => Self::Whole,
            _ => Self::Parts,
        }
    }

    fn of_dispatch(command: &DispatchCommand<'_>, threads: usize) -> Self {
        match command.workgroup_count {
            WorkgroupCountRef::Direct(count) if Cut::grid(count, threads).parts() <= 1 => Self::Whole,
            _ => Self::Parts,
        }
    }
}

/// The stages of a list while it is prepared.
#[derive(Default)]
struct Stages {
    done: Vec<Stage>,
    /// The step at which the current segment begins. `end` counts all steps so far.
    start: u32,
    end: u32,
    /// The number of threads that the segment is worth: one for a whole step, two for a step in parts.
    worth: usize,
}

impl Stages {
    fn add(&mut self, sharing: Sharing) {
        self.end += 1;
        self.worth += match sharing {
            Sharing::Nothing => 0,
            Sharing::Whole => 1,
            Sharing::Parts => 2,
        };
    }

    fn end_segment(&mut self, threads: usize) {
        let segment = self.start..self.end;
        let parallel = threads > 1 && self.worth > 1;
        (self.start, self.worth) = (self.end, 0);
        if segment.is_empty() {
            return;
        }
        match self.done.last_mut() {
            _ if parallel => self.done.push(Stage::Parallel(segment)),
            Some(Stage::Serial(before)) => before.end = segment.end,
            _ => self.done.push(Stage::Serial(segment)),
        }
    }
}
