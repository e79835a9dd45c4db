// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: a recorded list with everything looked up that its replays need. The commands stay in the list.

use std::{any::Any, borrow::Cow, sync::Arc};

use smallvec::SmallVec;
use windlass_hal::{
    Buffer, Command, CommandList, DispatchCommand, Error, Position, Result, WorkgroupCountRef, driver,
    edge::Domain, pool::SlabSource,
};

use crate::{
    allocator::Allocator,
    call::Function,
    channel,
    dispatch::functions_of,
    gpus::Gpus,
    group::SubmittedGroup,
    rccl,
    stream::fill_bytes_anywhere,
    workgroup_count::{ReadOrder, Step},
};

/// A prepared command list.
pub(crate) struct CommandBuffer {
    domain: Domain,
    pub(crate) list: CommandList,
    /// The slots that a binding table has at least.
    pub(crate) slots: usize,
    /// The list's functions on each GPU of the device, GPU by GPU.
    functions: SmallVec<[Function; 4]>,
    /// When a replay reads the workgroup counts in device memory.
    pub(crate) reads: ReadOrder,
    /// Whether the first command is a group of collective operations.
    pub(crate) begins_with_group: bool,
    /// The fills that HIP may get wrong, each with the offset of its bytes in `data`.
    staged_fills: Vec<(Position, u64)>,
    /// The staged bytes of all updates, and of these fills.
    pub(crate) data: Option<Buffer>,
    /// The staged zeros for targets of collective operations that receive from nobody, if HIP may get such fills wrong.
    zeros: Option<Buffer>,
}

impl CommandBuffer {
    /// Looks everything up. The staged bytes come from `allocator`, and keep `device` open.
    pub(crate) fn prepare(
        gpus: &Gpus,
        allocator: &Allocator,
        device: Arc<dyn SlabSource>,
        list: CommandList,
    ) -> Result<Self> {
        let mut data = Cow::Borrowed(list.data());
        let mut staged_fills = Vec::new();
        // The longest bytes of zeros serve all groups of collective operations.
        let mut zeros: SmallVec<[u8; 8]> = SmallVec::new();
        let mut has_stops = false;
        let mut commands = list.in_order(Position::START..Position::END);
        loop {
            while commands.next_launch().or_else(|| commands.next_patched()).is_some() {}
            let Some((position, command)) = commands.next() else { break };
            match command {
                // A stream runs its work in order.
                Command::Barrier
                | Command::SignalEvent { .. }
                | Command::ResetEvent { .. }
                | Command::WaitEvents { .. }
                | Command::BeginDebugGroup(_)
                | Command::EndDebugGroup
                | Command::Update { .. }
                | Command::Copy { .. } => {}
                Command::Dispatch(DispatchCommand {
                    workgroup_count: WorkgroupCountRef::Indirect(_),
                    ..
                }) => has_stops = true,
                Command::Collective { channel, operations } => {
                    has_stops = true;
                    channel::of(channel)?;
                    operations.iter().try_for_each(rccl::check_known)?;
                    for target in operations.iter().filter_map(rccl::zeroed) {
                        let bytes = fill_bytes_anywhere(&gpus.hip.quirks, target.len(), rccl::zero());
                        zeros = bytes.filter(|bytes| bytes.len() > zeros.len()).unwrap_or(zeros);
                    }
                }
                Command::Fill { pattern, target } => {
                    if let Some(bytes) = fill_bytes_anywhere(&gpus.hip.quirks, target.len(), pattern) {
                        staged_fills.push((position, data.len() as u64));
                        data.to_mut().extend(bytes);
                    }
                }
                other => {
                    return Err(Error::unimplemented(format!(
                        "the HIP driver does not know the command {other:?}"
                    )));
                }
            }
        }
        let mut functions = SmallVec::with_capacity(list.functions().len() * gpus.len());
        for gpu in 0..gpus.len() {
            for function in list.functions() {
                functions.push(functions_of(function.executable.as_ref(), function.index)?[gpu]);
            }
        }
        let (zeros_at, zeros_length) = (data.len() as u64, zeros.len() as u64);
        if !zeros.is_empty() {
            data.to_mut().extend(zeros);
        }
        let data = match &*data {
            [] => None,
            bytes => Some(allocator.stage(device, bytes)?),
        };
        let zeros = match &data {
            Some(data) if zeros_length > 0 => Some(data.subspan(zeros_at, zeros_length)?),
            _ => None,
        };
        let reads = if has_stops { ReadOrder::new(&list) } else { ReadOrder::default() };
        let begins_with_group = reads.stops.first().is_some_and(|stop| {
            stop.step == Step::Group && list.positions().next().is_some_and(|(first, _)| stop.at == first)
        });
        let slots = list.slots().iter().rposition(|slot| slot.used).map_or(0, |last| last + 1);
        Ok(Self {
            domain: gpus.domain,
            list,
            slots,
            functions,
            reads,
            begins_with_group,
            staged_fills,
            data,
            zeros,
        })
    }

    /// How many workgroup counts a replay reads from device memory.
    pub(crate) fn counts(&self) -> usize {
        self.reads.dispatches.len()
    }

    /// The list's functions on a GPU.
    pub(crate) fn functions_on(&self, gpu: usize) -> &[Function] {
        let number = self.list.functions().len();
        self.functions.get(gpu * number..(gpu + 1) * number).unwrap_or_default()
    }

    /// The address of the staged bytes of a fill, if HIP may get the fill wrong.
    pub(crate) fn staged_fill(&self, fill: Position) -> Option<u64> {
        let place = self.staged_fills.binary_search_by_key(&fill, |(position, _)| *position).ok()?;
        Some(self.data.as_ref()?.device_address() + self.staged_fills[place].1)
    }

    /// The group of collective operations that follows the first `passed` stops directly, if there is one.
    pub(crate) fn group_behind(&self, passed: usize, bindings: &[Buffer]) -> Result<Option<SubmittedGroup>> {
        let last = passed.checked_sub(1).and_then(|last| self.reads.stops.get(last));
        let Some(stop) = last.filter(|stop| stop.step == Step::Group) else { return Ok(None) };
        match self.list.at(stop.at) {
            Some(Command::Collective { channel, operations }) => {
                let operations = operations.iter().map(|operation| operation.resolve(bindings));
                let operations: Vec<_> = operations.collect::<Result<_>>()?;
                Ok(Some(SubmittedGroup::new(channel.clone(), operations, self.zeros.clone())))
            }
            _ => Err(Error::internal("a group outside its list")),
        }
    }

    /// The buffer of a workgroup count.
    pub(crate) fn count_buffer(&self, count: usize, bindings: &[Buffer]) -> Result<Buffer> {
        let dispatch = self.reads.dispatches.get(count).and_then(|position| self.list.at(*position));
        match dispatch {
            Some(Command::Dispatch(dispatch)) => dispatch.workgroup_count.buffer(bindings),
            _ => None,
        }
        .ok_or_else(|| Error::internal("a count outside its buffer"))
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
