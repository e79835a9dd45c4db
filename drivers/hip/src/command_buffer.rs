// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: a recorded list with everything looked up that its replays need.

use std::{any::Any, borrow::Cow, ops::Range, sync::Arc};

use windlass_hal::{
    Buffer, BufferRef, Command, CommandList, DispatchCommand, Error, Pattern, Result, WorkgroupCount, driver,
    edge::Domain, pool::SlabSource,
};

use crate::{
    allocator::Allocator, call::Function, dispatch::functions_of, gpus::Gpus, stream::fill_bytes_anywhere,
    workgroup_count::ReadOrder,
};

/// A prepared command list.
pub(crate) struct CommandBuffer {
    domain: Domain,
    pub(crate) list: CommandList,
    pub(crate) steps: Vec<ReplayStep>,
    /// Each kernel once for every GPU of the device.
    pub(crate) functions: Vec<Function>,
    /// The commands whose workgroup counts are in device memory, in the order of reading.
    pub(crate) indirect: Vec<usize>,
    /// How many of them are read before anything runs. They are the first.
    pub(crate) fixed: usize,
    /// The staged bytes of all updates, and of the fills that HIP may get wrong.
    pub(crate) data: Option<Buffer>,
}

/// One step of a replay. Commands are given by their index in the list.
pub(crate) enum ReplayStep {
    Fill {
        command: usize,
        pattern: Pattern,
        /// The offset of its bytes in [`CommandBuffer::data`], if HIP may get it wrong.
        bytes: Option<u64>,
    },
    Update {
        command: usize,
        /// The offset of its bytes in [`CommandBuffer::data`].
        bytes: u64,
    },
    Copy {
        command: usize,
    },
    Launch(Launch),
    /// Copies these workgroup counts of `indirect` to memory that the host sees.
    FetchCounts(Range<usize>),
    /// The next steps need this many counts: the piece ends here if the host does not know them.
    NeedCounts(usize),
    /// A launch with a count that was fetched.
    LaunchIndirect {
        launch: Launch,
        count: usize,
        command: usize,
    },
    BeginGroup {
        command: usize,
    },
    EndGroup,
}

/// A launch whose kernel is looked up.
pub(crate) struct Launch {
    /// The kernel on the device's first GPU, in [`CommandBuffer::functions`].
    pub(crate) function: usize,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) local_memory: u32,
    pub(crate) arguments: Range<usize>,
    pub(crate) patches: Range<usize>,
}

impl Launch {
    /// Adds its kernel to `functions`.
    fn new(dispatch: &DispatchCommand, functions: &mut Vec<Function>, grid: [u32; 3]) -> Result<Self> {
        let function = functions.len();
        functions.extend_from_slice(functions_of(dispatch.executable.as_ref(), dispatch.function)?);
        Ok(Self {
            function,
            grid,
            block: dispatch.workgroup_size,
            local_memory: dispatch.dynamic_local_memory,
            arguments: dispatch.arguments.start as usize..dispatch.arguments.end as usize,
            patches: dispatch.patches.start as usize..dispatch.patches.end as usize,
        })
    }
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
        let reads = ReadOrder::new(&list);
        let (mut fetched, mut needed) = (0, 0);
        let mut steps = Vec::with_capacity(list.commands().len());
        let mut functions = Vec::new();
        for (command, recorded) in list.commands().iter().enumerate() {
            let due = reads.due(command);
            if due > fetched {
                steps.push(ReplayStep::FetchCounts(fetched..due));
                fetched = due;
            }
            let step = match recorded {
                // A stream runs its work in order.
                Command::Barrier
                | Command::SignalEvent { .. }
                | Command::ResetEvent { .. }
                | Command::WaitEvents { .. } => continue,
                Command::BeginDebugGroup(_) => ReplayStep::BeginGroup { command },
                Command::EndDebugGroup => ReplayStep::EndGroup,
                Command::Fill { pattern, target } => {
                    let bytes = fill_bytes_anywhere(&gpus.hip.quirks, target.len(), *pattern).map(|bytes| {
                        let start = data.len() as u64;
                        data.to_mut().extend(bytes);
                        start
                    });
                    ReplayStep::Fill { command, pattern: *pattern, bytes }
                }
                Command::Update { source, .. } => ReplayStep::Update { command, bytes: source.start as u64 },
                Command::Copy { .. } => ReplayStep::Copy { command },
                Command::Dispatch(dispatch) => match (&dispatch.workgroup_count, reads.position(command)) {
                    (WorkgroupCount::Direct(grid), _) => {
                        ReplayStep::Launch(Launch::new(dispatch, &mut functions, *grid)?)
                    }
                    (_, Some(count)) => {
                        if count >= needed {
                            needed = fetched;
                            steps.push(ReplayStep::NeedCounts(needed));
                        }
                        let launch = Launch::new(dispatch, &mut functions, [0; 3])?;
                        ReplayStep::LaunchIndirect { launch, count, command }
                    }
                    (other, None) => {
                        return Err(Error::unimplemented(format!(
                            "the HIP driver does not know the workgroup count {other:?}"
                        )));
                    }
                },
                other => {
                    return Err(Error::unimplemented(format!(
                        "the HIP driver does not know the command {other:?}"
                    )));
                }
            };
            steps.push(step);
        }
        let data = match &*data {
            [] => None,
            bytes => Some(allocator.stage(device, bytes)?),
        };
        let ReadOrder { fixed, commands: indirect, .. } = reads;
        Ok(Self { domain: gpus.domain, list, steps, functions, indirect, fixed, data })
    }

    /// How many workgroup counts a replay reads from device memory.
    pub(crate) fn counts(&self) -> usize {
        self.indirect.len()
    }

    /// The range that a fill, an update or a copy writes.
    pub(crate) fn target(&self, command: usize) -> Result<&BufferRef> {
        match self.list.commands().get(command) {
            Some(
                Command::Fill { target, .. } | Command::Update { target, .. } | Command::Copy { target, .. },
            ) => Ok(target),
            _ => Err(Error::internal("a prepared command lost its buffer")),
        }
    }

    /// The range that a copy reads.
    pub(crate) fn source(&self, command: usize) -> Result<&BufferRef> {
        match self.list.commands().get(command) {
            Some(Command::Copy { source, .. }) => Ok(source),
            _ => Err(Error::internal("a prepared command lost its buffer")),
        }
    }

    pub(crate) fn dispatch(&self, command: usize) -> Result<&DispatchCommand> {
        match self.list.commands().get(command) {
            Some(Command::Dispatch(dispatch)) => Ok(dispatch),
            _ => Err(Error::internal("a prepared command lost its dispatch")),
        }
    }

    /// The buffer of a workgroup count.
    pub(crate) fn count_buffer(&self, count: usize, bindings: &[Buffer]) -> Result<Buffer> {
        let command = self.indirect.get(count).copied().unwrap_or(usize::MAX);
        self.dispatch(command)?
            .workgroup_count
            .buffer(bindings)
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
