// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: lists that are checked once and walked at every submission.

use std::any::Any;

use windlass_hal::{
    Buffer, Command, CommandList, DispatchCommand, Error, PatchedBlock, Result, driver, edge::Domain,
};

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
        for (index, command) in list.commands().enumerate() {
            check(&command).map_err(|error| error.context(format!("command {index}")))?;
        }
        Ok(Self { domain, list })
    }
}

fn check(command: &Command<'_>) -> Result<()> {
    match command {
        Command::Dispatch(dispatch) => direct(dispatch.workgroup_count).map(drop),
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
    // The recording itself must not change, because other submissions of it may be in flight. So the addresses of the
    // binding table go into a copy of each argument block.
    let mut block = PatchedBlock::default();
    block.bind(bindings.iter().map(Buffer::device_address));
    for (index, command) in list.commands().enumerate() {
        let done = match command {
            Command::Fill { target, pattern } => {
                target.resolve(bindings).and_then(|target| fill(&target, pattern.bytes()))
            }
            Command::Update { source, target, .. } => {
                target.resolve(bindings).and_then(|target| fill(&target, source))
            }
            Command::Copy { source, target } => copy(&source.resolve(bindings)?, &target.resolve(bindings)?),
            Command::Dispatch(dispatch) => launch(&dispatch, &mut block, memory),
            _ => Ok(()),
        };
        done.map_err(|error| error.context(format!("command {index}")))?;
    }
    Ok(())
}

fn launch(dispatch: &DispatchCommand<'_>, block: &mut PatchedBlock, memory: &Memory) -> Result<()> {
    dispatch::run(&Launch {
        executable: dispatch.executable().as_ref(),
        function: dispatch.function(),
        workgroup_count: direct(dispatch.workgroup_count)?,
        workgroup_size: dispatch.workgroup_size,
        dynamic_local_memory: dispatch.dynamic_local_memory,
        arguments: block.fill(dispatch.arguments, dispatch.patches),
        memory,
    })
}
