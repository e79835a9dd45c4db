// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of a queue as the stream runs them.

use std::sync::atomic::Ordering::Relaxed;

use windlass_hal::{
    Buffer, Error, Operation, Result, WorkgroupCountRef,
    pool::{Frontier, placed},
};

use crate::{
    allocator::Memory,
    buffer::bytes_of,
    command_buffer,
    dispatch::{self, Launch},
};

/// Does the work of one operation, and drops the operation.
pub(crate) fn run(operation: Operation, memory: &Memory) -> Result<()> {
    match operation {
        Operation::Barrier | Operation::Alloca { .. } => Ok(()),
        Operation::Dealloca { buffer } => {
            // All earlier users of the memory ran on this stream, so the next owner has nothing to wait for.
            if let Some(placed) = placed(&buffer) {
                placed.release(Frontier::new());
            }
            Ok(())
        }
        Operation::Fill { target, pattern } => fill(&target, pattern.bytes()),
        Operation::Update { source, target } => fill(&target, &source),
        Operation::Copy { source, target } => copy(&source, &target),
        Operation::Dispatch(dispatch) => dispatch::run(&Launch {
            executable: dispatch.executable.as_ref(),
            function: dispatch.function,
            workgroup_count: direct(dispatch.workgroup_count.as_ref())?,
            workgroup_size: dispatch.workgroup_size,
            dynamic_local_memory: dispatch.dynamic_local_memory,
            arguments: &dispatch.arguments,
            memory,
        }),
        Operation::Execute { command_buffer, bindings } => {
            command_buffer::run(command_buffer.list(), &bindings, memory)
        }
        other => Err(Error::internal(format!("{} was accepted and cannot be run", other.name()))),
    }
}

/// Fills a range with bytes, which repeat if the range is longer.
pub(crate) fn fill(target: &Buffer, bytes: &[u8]) -> Result<()> {
    for (to, from) in bytes_of(target)?.iter().zip(bytes.iter().cycle()) {
        to.store(*from, Relaxed);
    }
    Ok(())
}

/// Copies a range to another range of the same length.
pub(crate) fn copy(source: &Buffer, target: &Buffer) -> Result<()> {
    for (to, from) in bytes_of(target)?.iter().zip(bytes_of(source)?) {
        to.store(from.load(Relaxed), Relaxed);
    }
    Ok(())
}

/// A workgroup count that is not in memory.
pub(crate) fn direct(count: WorkgroupCountRef<'_>) -> Result<[u32; 3]> {
    match count {
        WorkgroupCountRef::Direct(count) => Ok(count),
        _ => Err(Error::unimplemented("the postfix machine reads no workgroup counts from memory")),
    }
}
