// SPDX-License-Identifier: MIT OR Apache-2.0
//! Workgroup counts that only device memory has: when they are read, where the host reads them, and their check.
//!
//! HIP launches no kernel with a count that the host does not know. So the stream copies the count to pinned memory, and
//! the launch follows once the host has read it there.

use windlass_hal::{
    Buffer, BufferParams, Command, CommandList, DispatchCommand, Error, FunctionInfo, IndirectParameters,
    Limits, Position, Result, WorkgroupCountRef,
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
    /// The dispatches that need counts, in the order of reading.
    pub(crate) dispatches: Vec<Position>,
    /// These dispatches in the order of the list, each with its place in the order of reading.
    places: Vec<(Position, usize)>,
    /// How many of their counts no command of the list can write. They are the first.
    pub(crate) fixed: usize,
    /// The places in the list at which a replay reads counts, needs counts that were read, or leaves a group of collective
    /// operations to its channel. They ascend.
    pub(crate) stops: Vec<Stop>,
}

/// A place in a list at which a replay does something beside running commands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    /// The command before which it happens.
    pub(crate) at: Position,
    pub(crate) step: Step,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Copies these workgroup counts of [`ReadOrder::dispatches`] to memory that the host sees.
    FetchCounts(std::ops::Range<usize>),
    /// The next commands need this many counts: the piece ends here if the host does not know them.
    NeedCounts(usize),
    /// The next command is a group of collective operations: the piece ends here, and the channel issues the group.
    Group,
}

/// Whether the count of a dispatch is in memory, and there fixed.
fn is_fixed(command: &Command<'_>) -> Option<bool> {
    match command {
        Command::Dispatch(DispatchCommand {
            workgroup_count: WorkgroupCountRef::Indirect(parameters),
            ..
        }) => Some(matches!(parameters, IndirectParameters::Static(_))),
        _ => None,
    }
}

impl ReadOrder {
    pub(crate) fn new(list: &CommandList) -> Self {
        let mut reads: Vec<_> = (list.positions().zip(list.predecessors()).enumerate())
            .filter_map(|(index, ((position, command), before))| {
                is_fixed(&command).map(|fixed| (if fixed { 0 } else { before }, !fixed, index, position))
            })
            .collect();
        reads.sort_unstable();
        let places = reads.iter().enumerate().map(|(place, (.., position))| (*position, place));
        let mut order = Self {
            fixed: reads.iter().filter(|(_, dynamic, ..)| !dynamic).count(),
            dispatches: reads.iter().map(|(.., position)| *position).collect(),
            places: places.collect(),
            stops: Vec::new(),
        };
        order.places.sort_unstable();
        let (mut fetched, mut needed) = (0, 0);
        for (index, (at, command)) in list.positions().enumerate() {
            let due = reads.partition_point(|(ready, ..)| *ready <= index);
            if due > fetched {
                order.stops.push(Stop { at, step: Step::FetchCounts(fetched..due) });
                fetched = due;
            }
            if order.count(at).is_some_and(|count| count >= needed) {
                needed = fetched;
                order.stops.push(Stop { at, step: Step::NeedCounts(needed) });
            }
            if let Command::Collective { .. } = command {
                order.stops.push(Stop { at, step: Step::Group });
            }
        }
        order
    }

    /// The place of a dispatch in the order of reading.
    pub(crate) fn count(&self, dispatch: Position) -> Option<usize> {
        let place = self.places.binary_search_by_key(&dispatch, |(position, _)| *position).ok()?;
        Some(self.places[place].1)
    }
}
