// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays: one submission of a command buffer, as it runs.

use std::{ops::Range, sync::Arc};

use smallvec::SmallVec;
use windlass_hal::{BindingTable, Command, DispatchCommand, Error, Limits, Result, driver};

use crate::{
    block::Blocks,
    command_buffer::{CommandBuffer, Program, Stage, Step},
    cut::Cut,
    dispatch::{self, Launch},
    transfer::Transfer,
    workgroup_count,
};

/// A submitted list with what its slots stand for.
pub(crate) struct Replay {
    program: Arc<Program>,
    bindings: BindingTable,
    /// The argument blocks with the table's addresses, where there are any.
    patched: Option<Blocks>,
    /// Workgroup counts that were read at the beginning, in the order of [`Program::fixed_counts`].
    fixed: Vec<[u32; 3]>,
    /// The next stage.
    stage: usize,
}

/// What a replay goes on with.
pub(crate) enum Next {
    /// Steps that this thread runs.
    Serial(Range<u32>),
    /// Steps that threads share.
    Parallel(SmallVec<[Share; 4]>),
}

/// A step of a parallel stage, cut into parts.
pub(crate) struct Share {
    step: u32,
    cut: Cut,
    workgroup_count: [u32; 3],
    /// The number of its last part, plus one, among those of the stage.
    end: u64,
}

impl Replay {
    /// Patches a copy of the arguments, and reads the counts that are read first.
    pub(crate) fn begin(
        command_buffer: &dyn driver::RawCommandBuffer,
        bindings: BindingTable,
    ) -> Result<Self> {
        let own: Option<&CommandBuffer> = command_buffer.as_any().downcast_ref();
        let own = own.ok_or_else(|| Error::internal("the command buffer is none of the local device"))?;
        let program = own.program().clone();
        let patched = patched(&program, &bindings)?;
        let read = |index: &u32| match program.list.commands().get(*index as usize) {
            Some(Command::Dispatch(command)) => workgroup_count::read(&command.workgroup_count, &bindings),
            _ => Err(Error::internal(format!("command {index} is no dispatch"))),
        };
        let fixed = program.fixed_counts.iter().map(read).collect::<Result<_>>()?;
        Ok(Self { program, bindings, patched, fixed, stage: 0 })
    }

    /// The next stage; `None` at the end.
    pub(crate) fn next(&mut self, threads: usize, limits: &Limits) -> Result<Option<Next>> {
        let Some(stage) = self.program.stages.get(self.stage) else { return Ok(None) };
        self.stage += 1;
        Ok(Some(match stage {
            Stage::Serial(steps) => Next::Serial(steps.clone()),
            Stage::Parallel(steps) => {
                let (mut shares, mut end) = (SmallVec::new(), 0);
                for step in steps.clone() {
                    let (cut, workgroup_count) =
                        self.cut(step, threads, limits).map_err(|error| self.at(step, error))?;
                    end += cut.parts();
                    shares.push(Share { step, cut, workgroup_count, end });
                }
                Next::Parallel(shares)
            }
        }))
    }

    /// Runs steps one after the other. The first that fails ends it.
    pub(crate) fn serial(&self, steps: Range<u32>, limits: &Limits) -> Result<()> {
        let blocks = self.blocks().bytes().as_ptr();
        for (step, index) in self.program.steps[steps.start as usize..steps.end as usize].iter().zip(steps) {
            match step {
                Step::Call(call) => {
                    // SAFETY: the list's executable keeps the code loaded, and whoever loaded it vouches for it; the block
                    // lies in the list's arguments, of which `blocks` is a copy, and both are there until it returns.
                    let status =
                        unsafe { (call.kernel)(blocks.add(call.arguments as usize).cast(), &call.record) };
                    if status != 0 {
                        return Err(self.returned(index, status));
                    }
                }
                Step::Command(command) => {
                    self.whole(*command, limits).map_err(|error| self.at(index, error))?;
                }
            }
        }
        Ok(())
    }

    /// Runs one part of a parallel stage.
    pub(crate) fn part(&self, shares: &[Share], part: u64) -> Result<()> {
        let place = shares.partition_point(|share| share.end <= part);
        let share =
            shares.get(place).ok_or_else(|| Error::internal(format!("a stage has no part {part}")))?;
        let range = share.cut.range(part + share.cut.parts() - share.end);
        let commands = self.program.list.commands();
        let command = self.program.steps[share.step as usize].command();
        let run = match &commands[command as usize] {
            Command::Dispatch(command) => {
                self.launch(command, share.workgroup_count).and_then(|launch| dispatch::run(&launch, range))
            }
            command => self.transfer(command).and_then(|transfer| transfer.run(range)),
        };
        run.map_err(|error| self.at(share.step, error))
    }

    /// How a step is cut, and a dispatch's workgroup count.
    fn cut(&self, step: u32, threads: usize, limits: &Limits) -> Result<(Cut, [u32; 3])> {
        let index = self.program.steps[step as usize].command();
        match &self.program.list.commands()[index as usize] {
            Command::Dispatch(command) => {
                let count = self.count(command, index, limits)?.unwrap_or_default();
                Ok((Cut::grid(count, threads), count))
            }
            command => Ok((Cut::bytes(self.transfer(command)?.len(), threads), [0; 3])),
        }
    }

    /// Runs a command from its beginning to its end.
    fn whole(&self, index: u32, limits: &Limits) -> Result<()> {
        match &self.program.list.commands()[index as usize] {
            Command::Dispatch(command) => match self.count(command, index, limits)? {
                None => Ok(()),
                Some(count) => dispatch::run(&self.launch(command, count)?, 0..dispatch::workgroups(count)),
            },
            command => {
                let transfer = self.transfer(command)?;
                transfer.run(0..transfer.len())
            }
        }
    }

    /// How many workgroups a dispatch has now; `None` if there are none.
    fn count(&self, command: &DispatchCommand, index: u32, limits: &Limits) -> Result<Option<[u32; 3]>> {
        let (function, size) = ((command.executable.as_ref(), command.function), command.workgroup_size);
        let fixed = self.program.fixed_counts.binary_search(&index).ok();
        match fixed.and_then(|place| self.fixed.get(place)) {
            Some(count) => workgroup_count::checked(*count, function, size, limits),
            None => {
                workgroup_count::resolve(&command.workgroup_count, &self.bindings, function, size, limits)
            }
        }
    }

    fn launch<'a>(&'a self, command: &'a DispatchCommand, workgroup_count: [u32; 3]) -> Result<Launch<'a>> {
        let block = command.arguments.start as usize..command.arguments.end as usize;
        let arguments = self.blocks().bytes().get(block);
        Ok(Launch {
            executable: command.executable.as_ref(),
            function: command.function,
            workgroup_count,
            workgroup_size: command.workgroup_size,
            dynamic_local_memory: command.dynamic_local_memory,
            arguments: arguments
                .ok_or_else(|| Error::internal("a dispatch's arguments lie outside the list's"))?,
        })
    }

    fn transfer<'a>(&'a self, command: &'a Command) -> Result<Transfer<'a>> {
        Transfer::recorded(&self.program.list, command, &self.bindings)?
            .ok_or_else(|| Error::internal(format!("{command:?} was accepted and cannot be run")))
    }

    fn blocks(&self) -> &Blocks {
        self.patched.as_ref().unwrap_or(&self.program.blocks)
    }

    #[cold]
    fn returned(&self, step: u32, status: i32) -> Error {
        let name = match &self.program.list.commands()[self.program.steps[step as usize].command() as usize] {
            Command::Dispatch(command) => command.executable.functions().get(command.function as usize),
            _ => None,
        };
        let name = name.map(|function| function.name.as_str()).unwrap_or_default();
        self.at(step, dispatch::returned(status).context(format!("running `{name}`, workgroup [0, 0, 0]")))
    }

    #[cold]
    fn at(&self, step: u32, error: Error) -> Error {
        error.context(format!("command {}", self.program.steps[step as usize].command()))
    }
}

/// How many parts a parallel stage has.
pub(crate) fn parts(shares: &[Share]) -> u64 {
    shares.last().map_or(0, |share| share.end)
}

/// A copy of a list's arguments with the addresses that the table supplies; `None` where it supplies none.
fn patched(program: &Program, bindings: &BindingTable) -> Result<Option<Blocks>> {
    let patches = program.list.patches();
    if patches.is_empty() {
        return Ok(None);
    }
    let addresses: SmallVec<[u64; 16]> = bindings.iter().map(|buffer| buffer.device_address()).collect();
    let mut blocks = program.blocks.clone();
    let bytes = blocks.bytes_mut();
    for patch in patches {
        let address = addresses
            .get(patch.slot as usize)
            .ok_or_else(|| Error::internal(format!("slot {} has no binding", patch.slot)))?
            .wrapping_add(patch.offset);
        let at = patch.at as usize;
        bytes
            .get_mut(at..at + size_of::<u64>())
            .ok_or_else(|| Error::internal("a patch lies outside the list's arguments"))?
            .copy_from_slice(&address.to_ne_bytes());
    }
    Ok(Some(blocks))
}
