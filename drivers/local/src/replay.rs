// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays: one submission of a command buffer, as it runs.

use std::{ops::Range, sync::Arc};

use smallvec::SmallVec;
use windlass_hal::{BindingTable, Command, DispatchCommand, Error, Limits, Patch, Position, Result, driver};

use crate::{
    block::Blocks,
    command_buffer::{Call, CommandBuffer, Program, Stage, Step},
    cut::Cut,
    dispatch::{self, Launch},
    transfer::Transfer,
    workgroup_count,
};

/// A submitted list with the buffers of its slots.
pub(crate) struct Replay {
    program: Arc<Program>,
    bindings: BindingTable,
    /// The argument blocks with the addresses of the binding table. `None` if the list uses no slot in them.
    patched: Option<Blocks>,
    /// The workgroup counts that are read when the list begins, in the order of [`Program::fixed_counts`].
    fixed: Vec<[u32; 3]>,
    /// The next stage.
    stage: usize,
}

/// The next stage of a replay.
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
    /// The end of this step's parts in the numbering of the stage's parts.
    end: u64,
}

impl Replay {
    /// Patches a copy of the arguments, and reads the workgroup counts that must be read when the list begins.
    pub(crate) fn begin(
        command_buffer: &dyn driver::RawCommandBuffer,
        bindings: BindingTable,
    ) -> Result<Self> {
        let own: Option<&CommandBuffer> = command_buffer.as_any().downcast_ref();
        let own = own.ok_or_else(|| Error::internal("the command buffer is none of the local device"))?;
        let program = own.program().clone();
        let patched = patched(&program, &bindings)?;
        let read = |command: &Position| match program.list.at(*command) {
            Some(Command::Dispatch(dispatch)) => workgroup_count::read(dispatch.workgroup_count, &bindings),
            _ => Err(Error::internal("a workgroup count without a dispatch")),
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

    /// Runs steps one after the other, up to the first that fails.
    pub(crate) fn serial(&self, steps: Range<u32>, limits: &Limits) -> Result<()> {
        let blocks = self.blocks().bytes().as_ptr();
        for (step, index) in self.program.steps[steps.start as usize..steps.end as usize].iter().zip(steps) {
            match step {
                Step::Call(call) => {
                    // SAFETY: the list's executable keeps the code loaded, and the loading caller vouches for the
                    // code. The block lies in the list's arguments, of which `blocks` is a copy. Both live until the
                    // call returns.
                    let status =
                        unsafe { (call.kernel)(blocks.add(call.arguments as usize).cast(), &call.record) };
                    if status != 0 {
                        return Err(self.returned(index, status));
                    }
                }
                step => self.whole(step, limits).map_err(|error| self.at(index, error))?,
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
        let step = &self.program.steps[share.step as usize];
        let run = match self.work(step) {
            Ok(Work::Dispatch(dispatch, arguments)) => self
                .launch(&dispatch, arguments, share.workgroup_count)
                .and_then(|launch| dispatch::run(&launch, range)),
            Ok(Work::Transfer(transfer)) => transfer.run(range),
            Err(error) => Err(error),
        };
        run.map_err(|error| self.at(share.step, error))
    }

    /// The parts of a step, and the workgroup count of a dispatch.
    fn cut(&self, step: u32, threads: usize, limits: &Limits) -> Result<(Cut, [u32; 3])> {
        let step = &self.program.steps[step as usize];
        match self.work(step)? {
            Work::Dispatch(dispatch, _) => {
                let count = self.count(&dispatch, step.command(), limits)?.unwrap_or_default();
                Ok((Cut::grid(count, threads), count))
            }
            Work::Transfer(transfer) => Ok((Cut::bytes(transfer.len(), threads), [0; 3])),
        }
    }

    /// Runs a step from its beginning to its end.
    fn whole(&self, step: &Step, limits: &Limits) -> Result<()> {
        match self.work(step)? {
            Work::Dispatch(dispatch, arguments) => match self.count(&dispatch, step.command(), limits)? {
                None => Ok(()),
                Some(count) => {
                    dispatch::run(&self.launch(&dispatch, arguments, count)?, 0..dispatch::workgroups(count))
                }
            },
            Work::Transfer(transfer) => transfer.run(0..transfer.len()),
        }
    }

    /// The command of a step.
    fn work(&self, step: &Step) -> Result<Work<'_>> {
        let command = self.program.list.at(step.command());
        let command = command.ok_or_else(|| Error::internal("a prepared step lost its command"))?;
        match (command, step) {
            (
                Command::Dispatch(dispatch),
                Step::Dispatch { arguments, .. } | Step::Call(Call { arguments, .. }),
            ) => Ok(Work::Dispatch(dispatch, *arguments as usize)),
            _ => Transfer::recorded(&command, &self.bindings)?
                .map(Work::Transfer)
                .ok_or_else(|| Error::internal(format!("{command:?} was accepted and cannot be run"))),
        }
    }

    /// The workgroup count of a dispatch as of now. `None` if it has no workgroups.
    fn count(
        &self,
        dispatch: &DispatchCommand<'_>,
        command: Position,
        limits: &Limits,
    ) -> Result<Option<[u32; 3]>> {
        let function = (dispatch.executable().as_ref(), dispatch.function());
        let size = dispatch.workgroup_size;
        let fixed = self.program.fixed_counts.binary_search(&command).ok();
        match fixed.and_then(|place| self.fixed.get(place)) {
            Some(count) => workgroup_count::checked(*count, function, size, limits),
            None => {
                workgroup_count::resolve(dispatch.workgroup_count, &self.bindings, function, size, limits)
            }
        }
    }

    /// `arguments` is the byte at which the argument block begins.
    fn launch<'a>(
        &'a self,
        dispatch: &DispatchCommand<'a>,
        arguments: usize,
        workgroup_count: [u32; 3],
    ) -> Result<Launch<'a>> {
        let block = self.blocks().bytes().get(arguments..arguments + dispatch.arguments.len());
        Ok(Launch {
            executable: dispatch.executable().as_ref(),
            function: dispatch.function(),
            workgroup_count,
            workgroup_size: dispatch.workgroup_size,
            dynamic_local_memory: dispatch.dynamic_local_memory,
            arguments: block
                .ok_or_else(|| Error::internal("a dispatch's arguments lie outside the list's"))?,
        })
    }

    fn blocks(&self) -> &Blocks {
        self.patched.as_ref().unwrap_or(&self.program.blocks)
    }

    #[cold]
    fn returned(&self, step: u32, status: i32) -> Error {
        let command = self.program.list.at(self.program.steps[step as usize].command());
        let name = match &command {
            Some(Command::Dispatch(dispatch)) => {
                dispatch.executable().functions().get(dispatch.function() as usize)
            }
            _ => None,
        };
        let name = name.map(|function| function.name.as_str()).unwrap_or_default();
        self.at(step, dispatch::returned(status).context(format!("running `{name}`, workgroup [0, 0, 0]")))
    }

    #[cold]
    fn at(&self, step: u32, error: Error) -> Error {
        let command = self.program.steps[step as usize].command();
        error.context(format!("command {}", self.program.list.index(command)))
    }
}

/// The command of a step: a dispatch with the byte at which its argument block begins, or a transfer.
enum Work<'a> {
    Dispatch(DispatchCommand<'a>, usize),
    Transfer(Transfer<'a>),
}

/// How many parts a parallel stage has.
pub(crate) fn parts(shares: &[Share]) -> u64 {
    shares.last().map_or(0, |share| share.end)
}

/// A copy of a list's arguments with the addresses of the binding table. `None` if no argument uses a slot.
fn patched(program: &Program, bindings: &BindingTable) -> Result<Option<Blocks>> {
    if program.patches.is_empty() {
        return Ok(None);
    }
    let addresses: SmallVec<[u64; 16]> = bindings.iter().map(|buffer| buffer.device_address()).collect();
    let mut blocks = program.blocks.clone();
    let bytes = blocks.bytes_mut();
    for Patch { at, slot } in &program.patches {
        let address = addresses
            .get(*slot as usize)
            .ok_or_else(|| Error::internal(format!("slot {slot} has no binding")))?;
        let place = bytes.get_mut(*at as usize..).and_then(|rest| rest.first_chunk_mut());
        let place = place.ok_or_else(|| Error::internal("a patch lies outside the list's arguments"))?;
        *place = address.wrapping_add(u64::from_le_bytes(*place)).to_ne_bytes();
    }
    Ok(Some(blocks))
}
