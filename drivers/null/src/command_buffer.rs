// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: recorded lists, walked at every submission.

use std::any::Any;

use windlass_hal::{Buffer, Command, CommandList, Error, Result, driver, edge::Domain, host_memory};

/// A prepared list. A driver for hardware would build its packets or its graph here, once.
pub(crate) struct CommandBuffer {
    domain: Domain,
    list: CommandList,
}

impl CommandBuffer {
    pub(crate) fn new(domain: Domain, list: CommandList) -> Result<Self> {
        match list.commands().find(|command| !is_known(command)) {
            None => Ok(Self { domain, list }),
            Some(command) => Err(Error::unimplemented(format!(
                "the null device does not run {command:?} in a command buffer"
            ))),
        }
    }
}

fn is_known(command: &Command<'_>) -> bool {
    matches!(
        command,
        Command::Barrier
            | Command::Fill { .. }
            | Command::Update { .. }
            | Command::Copy { .. }
            | Command::SignalEvent { .. }
            | Command::ResetEvent { .. }
            | Command::WaitEvents { .. }
            | Command::BeginDebugGroup(_)
            | Command::EndDebugGroup
    )
}

// SAFETY: `list` is the list that is replayed, and never changes.
unsafe impl driver::RawCommandBuffer for CommandBuffer {
    /// Returns the domain of the device that prepared the list, by which fronts refuse foreign command buffers.
    fn domain(&self) -> Domain {
        self.domain
    }

    /// Returns the list exactly as it was recorded, because fronts check binding tables against its slots.
    fn list(&self) -> &CommandList {
        &self.list
    }

    /// Returns `self`, so that `submit` finds this type again behind the trait object.
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Runs the commands one after the other, which satisfies every barrier and event. A driver that runs commands at the
/// same time gets the commands that each of them waits for from `CommandList::predecessors`.
pub(crate) fn run(list: &CommandList, bindings: &[Buffer]) -> Result<()> {
    for command in list.commands() {
        match command {
            Command::Fill { target, pattern } => {
                host_memory::fill(&target.resolve(bindings)?, pattern)?;
            }
            Command::Update { source, target, .. } => {
                host_memory::update(source, &target.resolve(bindings)?)?;
            }
            Command::Copy { source, target } => {
                host_memory::copy(&source.resolve(bindings)?, &target.resolve(bindings)?)?;
            }
            _ => {}
        }
    }
    Ok(())
}
