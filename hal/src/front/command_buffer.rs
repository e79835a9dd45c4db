// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: recorded once, then immutable, in flight any number of times.

use std::{fmt, sync::Arc};

use crate::{
    driver::{
        self,
        binding_table::BindingTable,
        command::Command,
        command_list::{CommandList, Position, SlotRequirement},
        range::Buffer,
    },
    front::group,
    order::edge::Domain,
    words::{
        error::{Error, Result, ResultExt},
        fork::Kept,
    },
};

/// A finished recording. Clones are handles. It may be submitted from any thread to any queue of its device, and may be
/// in flight many times at once.
#[derive(Clone)]
pub struct CommandBuffer {
    pub(crate) raw: Kept<Arc<dyn driver::RawCommandBuffer>>,
}

impl CommandBuffer {
    /// The recorded list.
    pub fn list(&self) -> &CommandList {
        self.raw.list()
    }

    /// Checks that `bindings` satisfy the requirements of all used slots of `list`, which is this command buffer's.
    pub(crate) fn check(&self, list: &CommandList, bindings: &BindingTable) -> Result<()> {
        if list.slots().is_empty() && bindings.is_empty() {
            return Ok(());
        }
        if bindings.len() > list.slots().len() {
            return Err(Error::invalid_argument(format!(
                "{} bindings for a command buffer recorded with {} slots",
                bindings.len(),
                list.slots().len()
            )));
        }
        for (slot, requirement) in list.slots().iter().enumerate().filter(|(_, requirement)| requirement.used)
        {
            let buffer = bindings.get(slot).ok_or_else(|| {
                Error::invalid_argument(format!(
                    "slot {slot} is used by the command buffer and has no binding"
                ))
            })?;
            check_slot(slot, requirement, buffer, self.raw.domain())?;
        }
        for position in list.slot_pairs() {
            self.check_pairs(*position, bindings)?;
        }
        Ok(())
    }

    /// Checks that the ranges of a command lie apart with these bindings.
    fn check_pairs(&self, position: Position, bindings: &BindingTable) -> Result<()> {
        let list = self.list();
        let of = || format!("command {} with these bindings", list.index(position));
        match list.at(position) {
            Some(Command::Copy { source, target }) => {
                let (from, to) = (source.address(bindings), target.address(bindings));
                if from < to.saturating_add(target.len()) && to < from.saturating_add(source.len()) {
                    return Err(Error::invalid_argument(format!(
                        "command {}: with these bindings the copy's source and target overlap",
                        list.index(position)
                    )));
                }
                Ok(())
            }
            Some(Command::Collective { channel, operations }) => {
                operations.iter().try_for_each(|operation| {
                    let (Some(source), Some(target)) = (&operation.source, &operation.target) else {
                        return Ok(());
                    };
                    let [from, to] = [source, target].map(|range| (range.address(bindings), range.len()));
                    group::check_places(operation.kind, channel.rank(), from, to).context(of)
                })
            }
            _ => Ok(()),
        }
    }
}

fn check_slot(slot: usize, requirement: &SlotRequirement, buffer: &Buffer, domain: Domain) -> Result<()> {
    if buffer.raw().domain() != domain {
        return Err(Error::invalid_argument(format!("slot {slot} is bound to a buffer of another device")));
    }
    if buffer.len() < requirement.length {
        return Err(Error::out_of_range(format!(
            "slot {slot} is bound to {} bytes and the command buffer uses {}",
            buffer.len(),
            requirement.length
        )));
    }
    if requirement.alignment > 1 && !buffer.device_address().is_multiple_of(requirement.alignment) {
        return Err(Error::invalid_argument(format!(
            "slot {slot} is bound at {:#x}, which is not a multiple of {} bytes",
            buffer.device_address(),
            requirement.alignment
        )));
    }
    buffer.require(requirement.usage, format_args!("slot {slot}"))
}

impl fmt::Debug for CommandBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}
