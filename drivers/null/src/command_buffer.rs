// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: the recorded list as it is, walked at every submission.

use std::any::Any;

use windlass_hal::{Buffer, Command, CommandList, Error, Result, driver, edge::Domain, host_memory};

/// A prepared list. A driver for hardware would build its packets or its graph here, once.
pub(crate) struct CommandBuffer {
    domain: Domain,
    list: CommandList,
}

impl CommandBuffer {
    pub(crate) fn new(domain: Domain, list: CommandList) -> Result<Self> {
        match list.commands().iter().find(|command| !is_known(command)) {
            None => Ok(Self { domain, list }),
            Some(command) => Err(Error::unimplemented(format!(
                "the null device does not run {command:?} in a command buffer"
            ))),
        }
    }
}

fn is_known(command: &Command) -> bool {
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
    /// Answers the domain of the device that prepared the list, by which fronts refuse foreign command buffers.
    fn domain(&self) -> Domain {
        self.domain
    }

    /// Gives the list as it was recorded, unchanged, because fronts check binding tables against its slots.
    fn list(&self) -> &CommandList {
        &self.list
    }

    /// Answers `self`, so that `submit` finds this type again behind the trait object.
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Runs the commands one after the other: stricter than barriers and events ask for, and so always right. A driver that
/// runs commands side by side learns from `CommandList::predecessors` what each of them has to wait for.
pub(crate) fn run(list: &CommandList, bindings: &[Buffer]) -> Result<()> {
    for command in list.commands() {
        match command {
            Command::Fill { target, pattern } => {
                host_memory::fill(&target.resolve(bindings)?, *pattern)?;
            }
            Command::Update { source, target } => {
                let source = list
                    .data()
                    .get(source.clone())
                    .ok_or_else(|| Error::internal("an update's bytes lie outside the list's data"))?;
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
