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
    /// Prepares the recorded order, the order that is as much its reverse as barriers and events allow, and a random one.
    pub(super) fn new(raw: &dyn driver::RawDevice, list: CommandList, random: &mut Random) -> Result<Self> {
        let mut variants = vec![raw.pass_list(list.clone())?];
        if list.commands().iter().all(is_known) {
            let others = [reordered(&list, |ready| ready - 1), reordered(&list, |ready| random.below(ready))];
            for other in others.into_iter().flatten() {
                variants.push(raw.pass_list(other)?);
            }
        }
        Ok(Self { domain: raw.domain(), list, variants })
    }
}

fn is_work(command: &Command) -> bool {
    matches!(
        command,
        Command::Fill { .. } | Command::Update { .. } | Command::Copy { .. } | Command::Dispatch(_)
    )
}

/// Whether the order of a list with this command is known.
fn is_known(command: &Command) -> bool {
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

/// The work of a list in another order that the list allows, with a barrier wherever that order needs one; `None` where
/// it comes to the recorded order. Of so many commands that could come next, `pick` chooses.
fn reordered(list: &CommandList, mut pick: impl FnMut(usize) -> usize) -> Option<CommandList> {
    let predecessors = list.predecessors();
    let commands = list.commands();
    let mut rest: Vec<usize> = (0..commands.len()).filter(|index| is_work(&commands[*index])).collect();
    let (mut order, mut since_barrier) = (Vec::with_capacity(commands.len()), usize::MAX);
    let mut places = Vec::with_capacity(rest.len());
    while let Some(first) = rest.first().copied() {
        // The numbers never fall: what may come next is a beginning of the rest.
        let ready = rest.partition_point(|index| predecessors[*index] <= first);
        let next = rest.remove(pick(ready));
        if since_barrier < predecessors[next] {
            order.push(Command::Barrier);
            since_barrier = usize::MAX;
        }
        since_barrier = since_barrier.min(next);
        order.push(commands[next].clone());
        places.push(next);
    }
    if places.is_sorted() {
        return None;
    }
    tracing::debug!(target: "windlass::shuffle", order = ?places, "prepare");
    Some(list.clone().edited(|commands, _| *commands = order))
}

/// Puts one of the prepared orders into an operation, as `choice` says.
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
