// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays: the steps of a command buffer, enqueued in a stream.

use windlass_hal::{Buffer, Command, Error, Patch, Result, driver};

use crate::{
    command_buffer::{CommandBuffer, Launch, ReplayStep},
    dispatch::function_info,
    stream::Stream,
    submission::{NewPiece, Resume},
    workgroup_count::{self, Counts},
};

/// Memory for a replay, which its queue keeps and reuses.
#[derive(Default)]
pub(crate) struct Scratch {
    /// One argument block.
    block: Vec<u8>,
    /// The addresses of the binding table.
    slots: Vec<u64>,
}

/// Enqueues the steps of a command buffer, up to the end or to a workgroup count that the host has to read first. Returns
/// where the next piece begins, if one is needed.
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

impl CommandBuffer {
    fn enqueue(
        &self,
        piece: &NewPiece<'_>,
        bindings: &[Buffer],
        scratch: &mut Scratch,
    ) -> Result<Option<Resume>> {
        let NewPiece {
            stream,
            limits,
            start: Resume { step: start, mut known },
            waits_completed,
            ref counts,
        } = *piece;
        scratch.slots.clear();
        scratch.slots.extend(bindings.iter().map(Buffer::device_address));
        if waits_completed && start == 0 && self.copy_fixed_on_host(bindings, counts)? {
            known = self.fixed;
        }
        for (index, step) in self.steps.iter().enumerate().skip(start) {
            match step {
                ReplayStep::Launch(launch) => self.launch(stream, launch, launch.grid, scratch)?,
                ReplayStep::FetchCounts(range) => {
                    for count in range.clone().filter(|count| *count >= known) {
                        let source = self.count_buffer(count, bindings)?.device_address();
                        stream.copy(counts.address(count)?, source, workgroup_count::SIZE)?;
                    }
                }
                ReplayStep::NeedCounts(needed) if *needed > known => {
                    return Ok(Some(Resume { step: index + 1, known: *needed }));
                }
                ReplayStep::NeedCounts(_) => {}
                ReplayStep::LaunchIndirect { launch, count, command } => {
                    let grid = counts.get(*count)?;
                    let dispatch = self.dispatch(*command)?;
                    let info = function_info(dispatch.executable.as_ref(), dispatch.function)?;
                    let context = || format!("command {command}, count {grid:?}");
                    if let Some(grid) = workgroup_count::checked(grid, info, launch.block, limits, context)? {
                        self.launch(stream, launch, grid, scratch)?;
                    }
                }
                ReplayStep::BeginGroup { command } => {
                    if let Some(Command::BeginDebugGroup(group)) = self.list.commands().get(*command) {
                        tracing::trace!(target: "windlass::hip", %group, color = ?group.color, "debug group begins");
                    }
                }
                ReplayStep::EndGroup => tracing::trace!(target: "windlass::hip", "debug group ends"),
                ReplayStep::Fill { command, pattern, bytes } => {
                    let target = self.target(*command)?;
                    let staged = bytes.zip(self.data.as_ref());
                    let staged = staged.map(|(offset, data)| data.device_address() + offset);
                    stream.fill(target.address(bindings), target.len(), *pattern, staged)?;
                }
                ReplayStep::Update { command, bytes } => {
                    let target = self.target(*command)?;
                    let data = self.data.as_ref().map_or(0, Buffer::device_address);
                    stream.copy(target.address(bindings), data + bytes, target.len())?;
                }
                ReplayStep::Copy { command } => {
                    let (source, target) = (self.source(*command)?, self.target(*command)?);
                    stream.copy(target.address(bindings), source.address(bindings), target.len())?;
                }
            }
        }
        Ok(None)
    }

    /// Copies the fixed workgroup counts on the host. `false` if the host cannot see all of them.
    fn copy_fixed_on_host(&self, bindings: &[Buffer], counts: &Counts<'_>) -> Result<bool> {
        for count in 0..self.fixed {
            if !counts.copy_on_host(count, &self.count_buffer(count, bindings)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Launches with the recorded arguments, or with a copy of them that has the addresses of the binding table.
    #[inline]
    fn launch(
        &self,
        stream: Stream<'_>,
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
        let function = self.functions[launch.function + stream.gpu.index];
        stream.launch(function, grid, launch.block, launch.local_memory, arguments)
    }
}

/// Writes the address of a slot into an argument block, which begins at `start` of the list's arguments.
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
