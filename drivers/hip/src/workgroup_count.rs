// SPDX-License-Identifier: MIT OR Apache-2.0
//! Workgroup counts that only device memory has: when they are read, where the host reads them, and their check.
//!
//! HIP launches no kernel with a count that the host does not know. So the stream copies the count to pinned memory, and
//! the launch follows once the host has read it there.

use std::collections::HashMap;

use windlass_hal::{
    Buffer, BufferParams, Command, CommandList, DispatchCommand, Error, FunctionInfo, IndirectParameters,
    Limits, Result, WorkgroupCount,
};

/// Bytes of a workgroup count in memory.
pub(crate) const SIZE: u64 = 12;

/// The counts of one submission, in pinned memory that the submission owns: one command buffer may be in flight many times.
#[derive(Clone, Copy)]
pub(crate) struct Counts<'a>(pub(crate) Option<&'a Buffer>);

impl Counts<'_> {
    fn memory(&self) -> Result<&Buffer> {
        self.0.ok_or_else(|| Error::internal("an indirect dispatch without memory for its count"))
    }

    /// The address that the device copies a count to.
    pub(crate) fn address(&self, index: usize) -> Result<u64> {
        Ok(self.memory()?.device_address() + SIZE * index as u64)
    }

    /// A count that was copied.
    pub(crate) fn get(&self, index: usize) -> Result<[u32; 3]> {
        let mut bytes = [0; SIZE as usize];
        self.memory()?.map()?.read(SIZE * index as u64, &mut bytes)?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Ok([word(0), word(4), word(8)])
    }

    /// Copies a count on the host, which saves a piece. `false` if the host cannot see the buffer of the count.
    pub(crate) fn copy_on_host(&self, index: usize, count: &Buffer) -> Result<bool> {
        if count.raw().host_pointer().is_none() {
            return Ok(false);
        }
        // Not the caller's buffer, whose usage may forbid mapping.
        let whole = Buffer::from_driver(count.raw().clone(), BufferParams::host());
        let mut bytes = [0; SIZE as usize];
        whole.subspan(count.offset(), SIZE)?.map()?.read(0, &mut bytes)?;
        self.memory()?.map()?.write(SIZE * index as u64, &bytes)?;
        Ok(true)
    }
}

/// The count, or `None` if it launches nothing. `OUT_OF_RANGE`, with `context`, if the device cannot take it.
pub(crate) fn checked(
    grid: [u32; 3],
    function: &FunctionInfo,
    block: [u32; 3],
    limits: &Limits,
    context: impl FnOnce() -> String,
) -> Result<Option<[u32; 3]>> {
    if grid.contains(&0) {
        return Ok(None);
    }
    limits.check_workgroups(function, grid, block).map_err(|error| error.context(context()))?;
    Ok(Some(grid))
}

/// The order in which the counts of a command list are read. Each is read as soon as everything that may write it has been
/// enqueued, so that one trip to the host serves all counts that are known by then.
#[derive(Default)]
pub(crate) struct ReadOrder {
    /// The commands that need counts, in the order of reading.
    pub(crate) commands: Vec<usize>,
    /// For each of them, the command before which its count is read.
    ready: Vec<usize>,
    /// The position of each command in that order.
    positions: HashMap<usize, usize>,
    /// How many counts no command of the list can write. They are the first.
    pub(crate) fixed: usize,
}

impl ReadOrder {
    pub(crate) fn new(list: &CommandList) -> Self {
        let is_fixed = |command: &Command| match command {
            Command::Dispatch(DispatchCommand {
                workgroup_count: WorkgroupCount::Indirect(parameters),
                ..
            }) => Some(matches!(**parameters, IndirectParameters::Static(_))),
            _ => None,
        };
        if !list.commands().iter().any(|command| is_fixed(command).is_some()) {
            return Self::default();
        }
        let mut reads: Vec<_> = (list.commands().iter().zip(list.predecessors()).enumerate())
            .filter_map(|(index, (command, before))| {
                is_fixed(command).map(|fixed| (if fixed { 0 } else { before }, !fixed, index))
            })
            .collect();
        reads.sort_unstable();
        Self {
            fixed: reads.iter().filter(|(_, dynamic, _)| !dynamic).count(),
            ready: reads.iter().map(|(ready, _, _)| *ready).collect(),
            positions: reads.iter().enumerate().map(|(at, (_, _, index))| (*index, at)).collect(),
            commands: reads.into_iter().map(|(_, _, index)| index).collect(),
        }
    }

    /// How many counts are read before command `index`.
    pub(crate) fn due(&self, index: usize) -> usize {
        self.ready.partition_point(|ready| *ready <= index)
    }

    /// The position of the count of command `index`.
    pub(crate) fn position(&self, index: usize) -> Option<usize> {
        self.positions.get(&index).copied()
    }
}
