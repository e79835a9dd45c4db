// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers in several legal orders.

use std::{any::Any, sync::Arc};

use windlass_hal::{Command, CommandList, Operation, Result, driver, edge::Domain};

use crate::pass::Pass;

use crate::random::Random;

/// One recording, prepared in several orders.
pub(super) struct CommandBuffer {
    domain: Domain,
    list: CommandList,
    variants: Vec<Arc<dyn driver::RawCommandBuffer>>,
}

impl CommandBuffer {
    /// Prepares the recorded order, the order that is closest to its reverse as far as barriers and events allow, and
    /// a random one.
    pub(super) fn new(raw: &dyn driver::RawDevice, list: CommandList, random: &mut Random) -> Result<Self> {
        let mut variants = vec![raw.pass_list(list.clone())?];
        if list.commands().all(|command| is_known(&command)) {
            let others =
                [reordered(&list, |ready| ready - 1)?, reordered(&list, |ready| random.below(ready))?];
            for other in others.into_iter().flatten() {
                variants.push(raw.pass_list(other)?);
            }
        }
        Ok(Self { domain: raw.domain(), list, variants })
    }
}

fn is_work(command: &Command<'_>) -> bool {
    matches!(
        command,
        Command::Fill { .. } | Command::Update { .. } | Command::Copy { .. } | Command::Dispatch(_)
    )
}

/// Whether this wrapper knows the ordering effect of a command.
fn is_known(command: &Command<'_>) -> bool {
    let order = matches!(
        command,
        Command::Barrier
            | Command::SignalEvent { .. }
            | Command::ResetEvent { .. }
            | Command::WaitEvents { .. }
            | Command::BeginDebugGroup(_)
            | Command::EndDebugGroup
    );
    order || is_work(command)
}

/// The commands of a list in another order that the list allows, with a barrier wherever that order needs one. `None`
/// if it would be the recorded order. `pick` chooses among the given number of possible next commands.
fn reordered(list: &CommandList, mut pick: impl FnMut(usize) -> usize) -> Result<Option<CommandList>> {
    let predecessors = list.predecessors();
    let commands: Vec<_> = list.commands().collect();
    let mut rest: Vec<usize> = (0..commands.len()).filter(|index| is_work(&commands[*index])).collect();
    let (mut order, mut since_barrier) = (Vec::with_capacity(commands.len()), usize::MAX);
    let mut places = Vec::with_capacity(rest.len());
    while let Some(first) = rest.first().copied() {
        // The predecessor counts never fall along the list, so the possible next commands are the first of the rest.
        let ready = rest.partition_point(|index| predecessors[*index] <= first);
        let next = rest.remove(pick(ready));
        if since_barrier < predecessors[next] {
            order.push(Command::Barrier);
            since_barrier = usize::MAX;
        }
        since_barrier = since_barrier.min(next);
        order.push(commands[next]);
        places.push(next);
    }
    if places.is_sorted() {
        return Ok(None);
    }
    tracing::debug!(target: "windlass::shuffle", order = ?places, "prepare");
    list.edited(|_, edited| order.into_iter().try_for_each(|command| edited.push(command))).map(Some)
}

/// Replaces the command buffer of an operation by the prepared order that `choice` selects.
pub(super) fn choose(operation: Operation, choice: usize) -> Operation {
    match operation {
        Operation::Execute { command_buffer, bindings } => {
            let chosen = command_buffer
                .as_any()
                .downcast_ref::<CommandBuffer>()
                .and_then(|buffer| buffer.variants.get(choice % buffer.variants.len().max(1)).cloned());
            Operation::Execute { command_buffer: chosen.unwrap_or(command_buffer), bindings }
        }
        other => other,
    }
}

// SAFETY: `list` is the list that is replayed, and never changes.
unsafe impl driver::RawCommandBuffer for CommandBuffer {
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
