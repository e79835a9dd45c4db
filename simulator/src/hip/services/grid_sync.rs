// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of barriers across a grid whose workgroups are all in flight, in the form of AMD's device library.

use std::sync::Arc;

use crate::exec::Gws;
use crate::memory::{Block, Memory, MemoryError};
use windlass_simulated_gpu::{GridBarrier, Part};

/// The state's size, and the offset of the number of workgroups. A launch on one device uses nothing else.
const SIZE: u64 = 48;
const WORKGROUPS: u64 = 40;

/// The state of one dispatch.
pub(super) struct GridSync {
    /// The value of the hidden argument.
    pub(super) argument: u64,
    /// The barriers of parts whose device library uses instructions for them.
    pub(super) gws: Arc<Gws>,
    _block: Option<Block>,
}

impl GridSync {
    /// For a grid of this many workgroups.
    pub(super) fn new(memory: &Arc<Memory>, part: &Part, workgroups: u64) -> Result<Self, MemoryError> {
        let count = u32::try_from(workgroups).unwrap_or(u32::MAX);
        // Older device libraries use the instructions on every part.
        let gws = Arc::new(Gws::default());
        gws.with(0, |barrier| barrier.missing = count.saturating_sub(1));
        if part.grid_barrier == GridBarrier::Instructions {
            // The device library asks only whether it is zero: greater numbers are for several devices.
            return Ok(Self { argument: 1, gws, _block: None });
        }
        let block = Block::new(memory, SIZE)?;
        memory.write(block.address(), &[0; SIZE as usize])?;
        memory.write(block.address() + WORKGROUPS, &count.to_le_bytes())?;
        Ok(Self { argument: block.address(), gws, _block: Some(block) })
    }
}
