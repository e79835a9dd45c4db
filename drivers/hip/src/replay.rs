// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays: the commands of a list, enqueued in a stream.

use std::sync::Arc;

use windlass_hal::{
    Buffer, Command, DispatchCommand, Error, InOrder, PatchedBlock, Position, Result, WorkgroupCountRef,
    driver,
};

use crate::{
    call::{Function, Launches},
    command_buffer::CommandBuffer,
    dispatch::function_info,
    group::Group,
    submission::{NewPiece, Resume, Submission, Work},
    timing::Marks,
    workgroup_count::{self, Counts, Step},
};

/// Memory for a replay, which its queue keeps and reuses.
#[derive(Default)]
pub(crate) struct Scratch {
    block: PatchedBlock,
    /// Present while a replay is enqueued whose commands are timed.
    pub(crate) marks: Option<Marks>,
}

/// Enqueues the commands of a command buffer, up to the end, to a workgroup count that the host has to read first, or to a
/// group of collective operations.
/// Returns where the next piece begins, if one is needed.
pub(crate) fn enqueue(
    piece: &NewPiece<'_>,
    command_buffer: &dyn driver::RawCommandBuffer,
    bindings: &[Buffer],
    scratch: &mut Scratch,
) -> Result<Option<Resume>> {
    let own = command_buffer
        .as_any()
        .downcast_ref::<CommandBuffer>()
        .ok_or_else(|| Error::internal("a command buffer of another driver reached the HIP driver"))?;
    own.enqueue(piece, bindings, scratch)
}

/// Whether a submission is a command buffer whose list begins with a group of collective operations.
pub(crate) fn begins_with_group(submission: &Submission) -> bool {
    let Work::Execute { command_buffer } = &submission.work else { return false };
    command_buffer.as_any().downcast_ref::<CommandBuffer>().is_some_and(|own| own.begins_with_group)
}

/// Lets the next piece of a submission begin with its group of collective operations, if it does, and returns the channel that
/// issues it.
pub(crate) fn take_group(submission: &mut Submission) -> Result<Option<Arc<dyn driver::RawChannel>>> {
    let (resume, bindings) = (submission.resume, &submission.bindings);
    let Work::Execute { command_buffer } = &submission.work else { return Ok(None) };
    let own = command_buffer.as_any().downcast_ref::<CommandBuffer>();
    let next = own.map_or(Ok(None), |own| own.group_behind(resume.step, bindings))?;
    submission.group = next.map(Box::new);
    Ok(submission.group.as_ref().map(|group| group.channel.clone()))
}

/// Notes the times of the group at which a piece begins, if the commands are timed.
pub(crate) fn mark_group(
    piece: &NewPiece<'_>,
    command_buffer: &dyn driver::RawCommandBuffer,
    group: &Group,
    scratch: &mut Scratch,
) -> Result<()> {
    let Some(marks) = &mut scratch.marks else { return Ok(()) };
    let own = command_buffer.as_any().downcast_ref::<CommandBuffer>();
    let stop = own.and_then(|own| own.reads.stops.get(piece.start.step.checked_sub(1)?));
    marks.add_group(piece.stream, stop.map(|stop| stop.at), group)
}

impl CommandBuffer {
    fn enqueue(
        &self,
        piece: &NewPiece<'_>,
        bindings: &[Buffer],
        scratch: &mut Scratch,
    ) -> Result<Option<Resume>> {
        let Resume { step: passed, mut known } = piece.start;
        if bindings.len() < self.slots {
            return Err(unbound(bindings.len()));
        }
        scratch.block.bind(bindings.iter().map(Buffer::device_address));
        if piece.waits_completed && passed == 0 && self.copy_fixed_on_host(bindings, &piece.counts)? {
            known = self.reads.fixed;
        }
        let stops = &self.reads.stops;
        let mut fetched = known;
        let mut start =
            passed.checked_sub(1).and_then(|last| stops.get(last)).map_or(Position::START, |stop| stop.at);
        for (index, stop) in stops.iter().enumerate().skip(passed) {
            self.run(piece, bindings, scratch, start..stop.at)?;
            start = stop.at;
            match stop.step {
                Step::NeedCounts(needed) if needed > known => {
                    return Ok(Some(Resume { step: index + 1, known: needed }));
                }
                Step::NeedCounts(_) => {}
                Step::Group => return Ok(Some(Resume { step: index + 1, known: fetched })),
                Step::FetchCounts(ref range) => {
                    for count in range.clone().filter(|count| *count >= known) {
                        let source = self.count_buffer(count, bindings)?.device_address();
                        piece.stream.copy(piece.counts.address(count)?, source, workgroup_count::SIZE)?;
                    }
                    fetched = fetched.max(range.end);
                }
            }
        }
        self.run(piece, bindings, scratch, start..Position::END)?;
        Ok(None)
    }

    /// Enqueues the commands of a range.
    fn run(
        &self,
        piece: &NewPiece<'_>,
        bindings: &[Buffer],
        scratch: &mut Scratch,
        range: std::ops::Range<Position>,
    ) -> Result<()> {
        if scratch.marks.is_some() {
            return self.run_marked(piece, bindings, scratch, range);
        }
        let functions = self.functions_on(piece.stream.gpu.index);
        let mut launches = piece.stream.launches();
        let mut commands = self.list.in_order(range);
        loop {
            launch_all(&mut launches, functions, &mut commands)?;
            if launch_patched(&mut launches, functions, &mut commands, scratch)? {
                continue;
            }
            let Some((position, command)) = commands.next() else { return Ok(()) };
            match command {
                Command::Dispatch(dispatch) => self.dispatch(piece, position, &dispatch, scratch)?,
                other => self.transfer(piece, bindings, position, &other)?,
            }
        }
    }

    /// As [`run`](Self::run), with an event behind each command that does work.
    #[cold]
    fn run_marked(
        &self,
        piece: &NewPiece<'_>,
        bindings: &[Buffer],
        scratch: &mut Scratch,
        range: std::ops::Range<Position>,
    ) -> Result<()> {
        for (position, command) in self.list.in_order(range) {
            match command {
                Command::Dispatch(dispatch) => match dispatch.workgroup_count {
                    WorkgroupCountRef::Direct(grid) => self.launch(piece, &dispatch, grid, scratch)?,
                    _ => self.dispatch(piece, position, &dispatch, scratch)?,
                },
                Command::Fill { .. } | Command::Update { .. } | Command::Copy { .. } => {
                    self.transfer(piece, bindings, position, &command)?;
                }
                other => {
                    self.transfer(piece, bindings, position, &other)?;
                    continue;
                }
            }
            if let Some(marks) = &mut scratch.marks {
                marks.add(piece.stream, Some(position))?;
            }
        }
        Ok(())
    }

    /// Enqueues a dispatch whose workgroup count was read.
    fn dispatch(
        &self,
        piece: &NewPiece<'_>,
        position: Position,
        dispatch: &DispatchCommand<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let count = self.reads.count(position);
        let grid = piece.counts.get(count.ok_or_else(|| Error::internal("a count that nobody reads"))?)?;
        let info = function_info(dispatch.executable().as_ref(), dispatch.function())?;
        let context = || format!("command {}, count {grid:?}", self.list.index(position));
        let size = dispatch.workgroup_size;
        let Some(grid) = workgroup_count::checked(grid, info, size, piece.limits, context)? else {
            return Ok(());
        };
        self.launch(piece, dispatch, grid, scratch)
    }

    fn launch(
        &self,
        piece: &NewPiece<'_>,
        dispatch: &DispatchCommand<'_>,
        grid: [u32; 3],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let function = self.functions_on(piece.stream.gpu.index).get(dispatch.number()).ok_or_else(lost)?;
        let arguments = scratch.block.fill(dispatch.arguments, dispatch.patches);
        let (size, local_memory) = (dispatch.workgroup_size, dispatch.dynamic_local_memory);
        piece.stream.launches().launch(*function, grid, size, local_memory, arguments)
    }

    /// Enqueues a command that is no dispatch.
    #[inline(never)]
    fn transfer(
        &self,
        piece: &NewPiece<'_>,
        bindings: &[Buffer],
        position: Position,
        command: &Command<'_>,
    ) -> Result<()> {
        let stream = piece.stream;
        match command {
            Command::Fill { target, pattern } => {
                stream.fill(target.address(bindings), target.len(), *pattern, self.staged_fill(position))
            }
            Command::Update { offset, target, .. } => {
                let data = self.data.as_ref().map_or(0, Buffer::device_address);
                stream.copy(target.address(bindings), data + offset, target.len())
            }
            Command::Copy { source, target } => {
                stream.copy(target.address(bindings), source.address(bindings), target.len())
            }
            Command::BeginDebugGroup(group) => {
                tracing::trace!(target: "windlass::hip", %group, color = ?group.color, "debug group begins");
                Ok(())
            }
            Command::EndDebugGroup => {
                tracing::trace!(target: "windlass::hip", "debug group ends");
                Ok(())
            }
            // `prepare` has refused the commands that it does not know. The others order what a stream orders already.
            _ => Ok(()),
        }
    }

    /// Copies the fixed workgroup counts on the host. `false` if the host cannot see all of them.
    fn copy_fixed_on_host(&self, bindings: &[Buffer], counts: &Counts<'_>) -> Result<bool> {
        for count in 0..self.reads.fixed {
            if !counts.copy_on_host(count, &self.count_buffer(count, bindings)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Enqueues dispatches with complete arguments, up to any other command. A function of its own, so that the loop keeps its
/// values in registers.
#[inline(never)]
fn launch_all(launches: &mut Launches<'_>, functions: &[Function], commands: &mut InOrder<'_>) -> Result<()> {
    let mut own = commands.clone();
    while let Some(launch) = own.next_launch() {
        let Some(function) = functions.get(launch.number()) else { return Err(lost()) };
        launches.launch(
            *function,
            launch.workgroup_count(),
            launch.workgroup_size(),
            launch.dynamic_local_memory(),
            launch.arguments(),
        )?;
    }
    *commands = own;
    Ok(())
}

/// As [`launch_all`], for dispatches whose arguments need addresses from the binding table. Returns whether there were any.
#[inline(never)]
fn launch_patched(
    launches: &mut Launches<'_>,
    functions: &[Function],
    commands: &mut InOrder<'_>,
    scratch: &mut Scratch,
) -> Result<bool> {
    let mut own = commands.clone();
    let mut any = false;
    while let Some(launch) = own.next_patched() {
        let Some(function) = functions.get(launch.number()) else { return Err(lost()) };
        let arguments = launch.patched(&mut scratch.block);
        any = true;
        launches.launch(
            *function,
            launch.workgroup_count(),
            launch.workgroup_size(),
            launch.dynamic_local_memory(),
            arguments,
        )?;
    }
    *commands = own;
    Ok(any)
}

#[cold]
fn lost() -> Error {
    Error::internal("a prepared command lost its function")
}

#[cold]
fn unbound(slot: usize) -> Error {
    Error::internal(format!("slot {slot} has no binding"))
}
