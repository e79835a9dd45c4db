// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of a queue as they run.

use windlass_hal::{
    Error, Operation, Result, host_memory,
    pool::{Frontier, placed},
};

use crate::command_buffer;

/// Does the work of one operation, and drops the operation.
pub(crate) fn run(operation: Operation) -> Result<()> {
    match operation {
        // `reserve` has allocated the memory.
        Operation::Barrier | Operation::Alloca { .. } => Ok(()),
        Operation::Dealloca { buffer } => {
            // All earlier users of the memory are done, so the next owner has nothing to wait for.
            if let Some(placed) = placed(&buffer) {
                placed.release(Frontier::new());
            }
            Ok(())
        }
        Operation::Fill { target, pattern } => host_memory::fill(&target, pattern),
        Operation::Update { source, target } => host_memory::update(&source, &target),
        Operation::Copy { source, target } => host_memory::copy(&source, &target),
        Operation::Execute { command_buffer, bindings } => {
            command_buffer::run(command_buffer.list(), &bindings)
        }
        other => Err(Error::internal(format!("{} was accepted and cannot be run", other.name()))),
    }
}
