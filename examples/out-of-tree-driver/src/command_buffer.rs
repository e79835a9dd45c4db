// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: lists that are checked once and walked at every submission.

use std::any::Any;

use windlass_hal::{Buffer, Command, CommandList, DispatchCommand, Error, Result, driver, edge::Domain};

use crate::{
    allocator::Memory,
    dispatch::{self, Launch},
    queue::{copy, direct, fill},
};

/// A list that the machine can run.
pub(crate) struct CommandBuffer {
    domain: Domain,
    list: CommandList,
}

impl CommandBuffer {
    pub(crate) fn new(domain: Domain, list: CommandList) -> Result<Self> {
        for (index, command) in list.commands().iter().enumerate() {
            check(command).map_err(|error| error.context(format!("command {index}")))?;
        }
        Ok(Self { domain, list })
    }
}

fn check(command: &Command) -> Result<()> {
    match command {
        Command::Dispatch(dispatch) => direct(&dispatch.workgroup_count).map(drop),
        Command::Barrier
        | Command::Fill { .. }
        | Command::Update { .. }
        | Command::Copy { .. }
        | Command::SignalEvent { .. }
        | Command::ResetEvent { .. }
        | Command::WaitEvents { .. }
        | Command::BeginDebugGroup(_)
        | Command::EndDebugGroup => Ok(()),
        other => Err(Error::unimplemented(format!("the postfix machine does not run {other:?}"))),
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

/// Runs the commands one after the other, which satisfies every barrier and event.
pub(crate) fn run(list: &CommandList, bindings: &[Buffer], memory: &Memory) -> Result<()> {
    for (index, command) in list.commands().iter().enumerate() {
        let done = match command {
            Command::Fill { target, pattern } => {
                target.resolve(bindings).and_then(|target| fill(&target, pattern.bytes()))
            }
            Command::Update { source, target } => {
                let bytes = list.data().get(source.clone()).ok_or_else(|| outside("an update's bytes"))?;
                target.resolve(bindings).and_then(|target| fill(&target, bytes))
            }
            Command::Copy { source, target } => copy(&source.resolve(bindings)?, &target.resolve(bindings)?),
            Command::Dispatch(dispatch) => launch(list, bindings, dispatch, memory),
            _ => Ok(()),
        };
        done.map_err(|error| error.context(format!("command {index}")))?;
    }
    Ok(())
}

fn launch(
    list: &CommandList,
    bindings: &[Buffer],
    dispatch: &DispatchCommand,
    memory: &Memory,
) -> Result<()> {
    dispatch::run(&Launch {
        executable: dispatch.executable.as_ref(),
        function: dispatch.function,
        workgroup_count: direct(&dispatch.workgroup_count)?,
        workgroup_size: dispatch.workgroup_size,
        dynamic_local_memory: dispatch.dynamic_local_memory,
        arguments: &patched(list, bindings, dispatch)?,
        memory,
    })
}

/// A copy of the recorded argument block with the addresses of the binding table. The recording itself must not
/// change, because other submissions of it may be in flight.
fn patched(list: &CommandList, bindings: &[Buffer], dispatch: &DispatchCommand) -> Result<Vec<u8>> {
    let start = dispatch.arguments.start as usize;
    let block = list.arguments().get(start..dispatch.arguments.end as usize);
    let mut block = block.ok_or_else(|| outside("a dispatch's arguments"))?.to_vec();
    let patches = list.patches().get(dispatch.patches.start as usize..dispatch.patches.end as usize);
    for patch in patches.ok_or_else(|| outside("a dispatch's patches"))? {
        let bound = bindings.get(patch.slot as usize).ok_or_else(|| outside("a slot"))?;
        let address = bound.device_address().wrapping_add(patch.offset);
        let place = (patch.at as usize).checked_sub(start).and_then(|at| block.get_mut(at..at + 8));
        place.ok_or_else(|| outside("a patch"))?.copy_from_slice(&address.to_le_bytes());
    }
    Ok(block)
}

/// The error for a list with a range outside its own data, which the front never makes.
fn outside(what: &str) -> Error {
    Error::internal(format!("{what} lies outside the recorded or bound data"))
}
