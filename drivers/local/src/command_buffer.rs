// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: the recorded list as it is, walked at every submission.

use std::{any::Any, collections::HashMap};

use windlass_hal::{
    Buffer, Command, CommandList, DispatchCommand, Error, IndirectParameters, Limits, Result, WorkgroupCount,
    driver, edge::Domain, host_memory,
};

use crate::{
    dispatch::{self, Launch},
    workgroup_count,
};

/// A prepared list.
pub(crate) struct CommandBuffer {
    domain: Domain,
    list: CommandList,
}

impl CommandBuffer {
    pub(crate) fn new(domain: Domain, list: CommandList) -> Result<Self> {
        match list.commands().iter().find(|command| !is_known(command)) {
            None => Ok(Self { domain, list }),
            Some(command) => Err(Error::unimplemented(format!(
                "the local device does not run {command:?} in a command buffer"
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
            | Command::Dispatch(_)
            | Command::SignalEvent { .. }
            | Command::ResetEvent { .. }
            | Command::WaitEvents { .. }
            | Command::BeginDebugGroup(_)
            | Command::EndDebugGroup
    )
}

impl driver::CommandBuffer for CommandBuffer {
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

/// Runs the commands one after the other: stricter than barriers and events ask for, and so always right. The first that
/// fails ends the run.
pub(crate) fn run(list: &CommandList, bindings: &[Buffer], limits: &Limits) -> Result<()> {
    let fixed = fixed_counts(list, bindings)?;
    for (index, command) in list.commands().iter().enumerate() {
        let run = match command {
            Command::Dispatch(command) => {
                dispatch(list, bindings, command, fixed.get(&index).copied(), limits)
            }
            command => transfer(list, bindings, command),
        };
        run.map_err(|error| error.context(format!("command {index}")))?;
    }
    Ok(())
}

/// The workgroup counts that are read before any command runs, by command.
fn fixed_counts(list: &CommandList, bindings: &[Buffer]) -> Result<HashMap<usize, [u32; 3]>> {
    let commands = list.commands().iter().enumerate();
    let counts = commands.filter_map(|(index, command)| match command {
        Command::Dispatch(DispatchCommand { workgroup_count, .. }) => match workgroup_count {
            WorkgroupCount::Indirect(parameters) if matches!(**parameters, IndirectParameters::Static(_)) => {
                Some((index, workgroup_count))
            }
            _ => None,
        },
        _ => None,
    });
    counts.map(|(index, count)| Ok((index, workgroup_count::read(count, bindings)?))).collect()
}

fn dispatch(
    list: &CommandList,
    bindings: &[Buffer],
    command: &DispatchCommand,
    fixed: Option<[u32; 3]>,
    limits: &Limits,
) -> Result<()> {
    let (function, size) = ((command.executable.as_ref(), command.function), command.workgroup_size);
    let count = match fixed {
        Some(count) => workgroup_count::checked(count, function, size, limits)?,
        None => workgroup_count::resolve(&command.workgroup_count, bindings, function, size, limits)?,
    };
    let Some(workgroup_count) = count else { return Ok(()) };
    dispatch::run(&Launch {
        executable: command.executable.as_ref(),
        function: command.function,
        workgroup_count,
        workgroup_size: command.workgroup_size,
        dynamic_local_memory: command.dynamic_local_memory,
        arguments: &arguments(list, bindings, command)?,
    })
}

fn transfer(list: &CommandList, bindings: &[Buffer], command: &Command) -> Result<()> {
    match command {
        Command::Fill { target, pattern } => host_memory::fill(&target.resolve(bindings)?, *pattern),
        Command::Update { source, target } => {
            let source = list
                .data()
                .get(source.clone())
                .ok_or_else(|| Error::internal("an update's bytes lie outside the list's data"))?;
            host_memory::update(source, &target.resolve(bindings)?)
        }
        Command::Copy { source, target } => {
            host_memory::copy(&source.resolve(bindings)?, &target.resolve(bindings)?)
        }
        _ => Ok(()),
    }
}

/// A copy of a recorded argument block with the addresses that the table supplies.
fn arguments(list: &CommandList, bindings: &[Buffer], command: &DispatchCommand) -> Result<Vec<u8>> {
    let outside = || Error::internal("a dispatch's arguments lie outside the list's");
    let (start, end) = (command.arguments.start as usize, command.arguments.end as usize);
    let mut block = list.arguments().get(start..end).ok_or_else(outside)?.to_vec();
    let patches = command.patches.start as usize..command.patches.end as usize;
    for patch in list.patches().get(patches).ok_or_else(outside)? {
        let bound = bindings
            .get(patch.slot as usize)
            .ok_or_else(|| Error::internal(format!("slot {} has no binding", patch.slot)))?;
        let address = bound.device_address().wrapping_add(patch.offset);
        let at = (patch.at as usize).checked_sub(start).ok_or_else(outside)?;
        block.get_mut(at..at + 8).ok_or_else(outside)?.copy_from_slice(&address.to_le_bytes());
    }
    Ok(block)
}
