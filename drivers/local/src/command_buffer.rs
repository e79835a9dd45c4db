// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: a recorded list, made ready to be run.
//!
//! Barriers, events and groups are gone from what is run. What lies between two points of order is a segment, whose
//! commands may run at once. Segments that have but one thing to run, one behind the other, are a serial stage: one
//! thread runs them in a loop. Every other segment is a parallel stage: threads share its commands and their workgroups.

use std::{any::Any, ops::Range, sync::Arc};

use windlass_hal::{
    Command, CommandList, DispatchCommand, Error, IndirectParameters, Result, WorkgroupCount, driver,
    edge::Domain,
};

use crate::{
    block::Blocks,
    cut::Cut,
    dispatch,
    entry::{Entry, NativeKernel, WorkgroupRecord},
};

/// The longest transfer, in bytes, that is not worth another thread.
pub(crate) const SHORT_TRANSFER: u64 = 4096;

/// A prepared list.
pub(crate) struct CommandBuffer {
    domain: Domain,
    program: Arc<Program>,
}

/// What a list runs.
pub(crate) struct Program {
    pub(crate) list: CommandList,
    /// The list's argument blocks, aligned.
    pub(crate) blocks: Blocks,
    pub(crate) steps: Vec<Step>,
    pub(crate) stages: Vec<Stage>,
    /// Dispatches whose workgroup count is read before anything runs.
    pub(crate) fixed_counts: Vec<u32>,
}

/// Something to run.
pub(crate) enum Step {
    /// One workgroup of a shared object's kernel, without local memory: everything is known beforehand.
    Call(Call),
    /// Any other command, by its number.
    Command(u32),
}

/// A kernel that is called once.
pub(crate) struct Call {
    pub(crate) kernel: NativeKernel,
    /// Where its block begins.
    pub(crate) arguments: u32,
    pub(crate) command: u32,
    pub(crate) record: WorkgroupRecord,
}

impl Step {
    /// The number of the command.
    pub(crate) fn command(&self) -> u32 {
        match self {
            Self::Call(call) => call.command,
            Self::Command(command) => *command,
        }
    }
}

/// Steps that run behind everything before them. The numbers are those of [`Program::steps`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// One after the other.
    Serial(Range<u32>),
    /// In any order, or at once.
    Parallel(Range<u32>),
}

impl CommandBuffer {
    /// Prepares a list for so many threads.
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
        let predecessors = list.predecessors();
        // Where the segment at hand begins, in commands.
        let mut segment = 0;
        for (index, command) in list.commands().iter().enumerate() {
            let shared = match command {
                Command::Barrier
                | Command::SignalEvent { .. }
                | Command::ResetEvent { .. }
                | Command::WaitEvents { .. }
                | Command::BeginDebugGroup(_)
                | Command::EndDebugGroup => continue,
                Command::Fill { target, .. }
                | Command::Update { target, .. }
                | Command::Copy { target, .. } => Share::of_transfer(target.len(), threads),
                Command::Dispatch(command) => {
                    if let WorkgroupCount::Indirect(parameters) = &command.workgroup_count
                        && matches!(**parameters, IndirectParameters::Static(_))
                    {
                        fixed_counts.push(index as u32);
                    }
                    Share::of_dispatch(command, threads)
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
            steps.push(step(command, index as u32)?);
        }
        stages.end_segment(threads);
        Ok(Self { blocks: Blocks::of(list.arguments()), list, steps, stages: stages.done, fixed_counts })
    }
}

/// How a command is made ready.
fn step(command: &Command, index: u32) -> Result<Step> {
    let Command::Dispatch(command) = command else { return Ok(Step::Command(index)) };
    let executable = dispatch::own(command.executable.as_ref())?;
    let function = command.executable.functions().get(command.function as usize);
    Ok(match (executable.entry(command.function), function, &command.workgroup_count) {
        (Some(Entry::Native(kernel)), Some(function), WorkgroupCount::Direct([1, 1, 1]))
            if function.static_local_memory == 0 && command.dynamic_local_memory == 0 =>
        {
            Step::Call(Call {
                kernel: *kernel,
                arguments: command.arguments.start,
                command: index,
                record: WorkgroupRecord::new([1; 3], command.workgroup_size),
            })
        }
        _ => Step::Command(index),
    })
}

/// What a command has for other threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    /// It is done sooner than another thread hears of it.
    Nothing,
    /// Itself, beside others.
    Whole,
    /// Parts of it.
    Parts,
}

impl Share {
    fn of_transfer(length: u64, threads: usize) -> Self {
        match Cut::bytes(length, threads).parts() {
            _ if length <= SHORT_TRANSFER => Self::Nothing,
            0 | 1 => Self::Whole,
            _ => Self::Parts,
        }
    }

    fn of_dispatch(command: &DispatchCommand, threads: usize) -> Self {
        match command.workgroup_count {
            WorkgroupCount::Direct(count) if Cut::grid(count, threads).parts() <= 1 => Self::Whole,
            _ => Self::Parts,
        }
    }
}

/// Stages in the making.
#[derive(Default)]
struct Stages {
    done: Vec<Stage>,
    /// Where the segment at hand begins, and the steps in all so far.
    start: u32,
    end: u32,
    /// How many steps of the segment are worth another thread; a step in parts is worth two.
    worth: usize,
}

impl Stages {
    fn add(&mut self, share: Share) {
        self.end += 1;
        self.worth += match share {
            Share::Nothing => 0,
            Share::Whole => 1,
            Share::Parts => 2,
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
