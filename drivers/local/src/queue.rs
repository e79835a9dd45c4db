// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of a queue as they run: at once on one thread, or as work in parts that threads share.

use smallvec::SmallVec;
use windlass_hal::{
    Dispatch, Error, Limits, Operation, Result,
    pool::{Frontier, placed},
};

use crate::{
    block::Blocks,
    cut::Cut,
    dispatch::{self, Launch},
    replay::{self, Replay, Share},
    transfer::Transfer,
    workgroup_count,
};

/// Work in numbered parts.
#[allow(clippy::large_enum_variant, reason = "it moves once, into the batch that threads share")]
pub(crate) enum Work {
    Dispatch { submitted: Dispatch, blocks: Blocks, workgroup_count: [u32; 3], cut: Cut },
    Transfer { transfer: Transfer<'static>, cut: Cut },
    Stage { replay: Replay, shares: SmallVec<[Share; 4]> },
}

/// Runs an operation that one thread runs best. Returns the work of any other.
pub(crate) fn run(operation: Operation, threads: usize, limits: &Limits) -> Result<Option<Work>> {
    let operation = match Transfer::submitted(operation) {
        Err(operation) => operation,
        Ok(transfer) => {
            let cut = Cut::bytes(transfer.len(), threads);
            if cut.parts() <= 1 {
                return transfer.run(0..transfer.len()).map(|()| None);
            }
            return Ok(Some(Work::Transfer { transfer, cut }));
        }
    };
    match operation {
        // `reserve` has allocated the memory.
        Operation::Barrier | Operation::Alloca { .. } => Ok(None),
        Operation::Dealloca { buffer } => {
            // All earlier users of the memory are done, so the next owner has nothing to wait for.
            if let Some(placed) = placed(&buffer) {
                placed.release(Frontier::new());
            }
            Ok(None)
        }
        Operation::Dispatch(submitted) => {
            let (function, size) =
                ((submitted.executable.as_ref(), submitted.function), submitted.workgroup_size);
            let count = &submitted.workgroup_count;
            let Some(workgroup_count) = workgroup_count::resolve(count, &[], function, size, limits)? else {
                return Ok(None);
            };
            let blocks = Blocks::copy_of(&submitted.arguments);
            let cut = Cut::grid(workgroup_count, threads);
            if cut.parts() <= 1 {
                return dispatch::run(&launch(&submitted, &blocks, workgroup_count), cut.range(0))
                    .map(|()| None);
            }
            Ok(Some(Work::Dispatch { submitted, blocks, workgroup_count, cut }))
        }
        other => Err(Error::internal(format!("{} was accepted and cannot be run", other.name()))),
    }
}

impl Work {
    pub(crate) fn parts(&self) -> u64 {
        match self {
            Self::Dispatch { cut, .. } | Self::Transfer { cut, .. } => cut.parts(),
            Self::Stage { shares, .. } => replay::parts(shares),
        }
    }

    pub(crate) fn run_part(&self, part: u64) -> Result<()> {
        match self {
            Self::Dispatch { submitted, blocks, workgroup_count, cut } => {
                dispatch::run(&launch(submitted, blocks, *workgroup_count), cut.range(part))
            }
            Self::Transfer { transfer, cut } => transfer.run(cut.range(part)),
            Self::Stage { replay, shares } => replay.part(shares, part),
        }
    }

    /// The name for messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Dispatch { .. } => "queue_dispatch",
            Self::Transfer { .. } => "a transfer",
            Self::Stage { .. } => "queue_execute",
        }
    }
}

fn launch<'a>(submitted: &'a Dispatch, blocks: &'a Blocks, workgroup_count: [u32; 3]) -> Launch<'a> {
    Launch {
        executable: submitted.executable.as_ref(),
        function: submitted.function,
        workgroup_count,
        workgroup_size: submitted.workgroup_size,
        dynamic_local_memory: submitted.dynamic_local_memory,
        arguments: &blocks.bytes()[..submitted.arguments.len()],
    }
}
