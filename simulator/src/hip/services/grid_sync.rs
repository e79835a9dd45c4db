// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of barriers across a grid whose workgroups are all in flight, in the form of AMD's device library. Several
//! devices may share a grid.

use std::sync::Arc;

use crate::exec::Gws;
use crate::memory::{Block, Memory, MemoryError};
use windlass_simulated_gpu::{self as gpu, GridBarrier};

/// The state's size.
const SIZE: usize = 48;
/// The offset of the number of workgroups. A launch on one device uses nothing else.
const WORKGROUPS: usize = 40;
/// For several devices: the address of the state that they share, the number of this part, the number of parts, and the
/// work-items of the parts before it and of all.
const SHARED: usize = 0;
const NUMBER: usize = 8;
const PARTS: usize = 12;
const BEFORE: usize = 16;
const ALL: usize = 24;

/// A grid that several devices share: their barrier, and the work-items of each part.
#[derive(Debug)]
pub(crate) struct Parts {
    barrier: Block,
    sizes: Vec<u64>,
}

/// The part of such a grid that one device runs.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    grid: Arc<Parts>,
    number: usize,
}

impl Parts {
    /// A grid of parts with these numbers of work-items.
    ///
    /// # Errors
    /// [`MemoryError`] if there is no memory for the barrier.
    pub(crate) fn new(memory: &Arc<Memory>, sizes: &[u64]) -> Result<Arc<Self>, MemoryError> {
        const BARRIER: u64 = 8;
        let barrier = Block::new(memory, BARRIER)?;
        memory.write(barrier.address(), &[0; BARRIER as usize])?;
        Ok(Arc::new(Self { barrier, sizes: sizes.to_vec() }))
    }
}

impl Part {
    /// Every part of a grid.
    pub(crate) fn all(grid: &Arc<Parts>) -> Vec<Self> {
        (0..grid.sizes.len()).map(|number| Self { grid: grid.clone(), number }).collect()
    }

    /// Writes what the device library wants to know of it.
    fn describe(&self, state: &mut [u8; SIZE]) {
        let sum = |sizes: &[u64]| sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size));
        let sizes = &self.grid.sizes;
        let (number, count) = (self.number as u32, sizes.len() as u32);
        put(state, SHARED, &self.grid.barrier.address().to_le_bytes());
        put(state, NUMBER, &number.to_le_bytes());
        put(state, PARTS, &count.to_le_bytes());
        put(state, BEFORE, &sum(sizes.get(..self.number).unwrap_or_default()).to_le_bytes());
        put(state, ALL, &sum(sizes).to_le_bytes());
    }
}

fn put(state: &mut [u8; SIZE], at: usize, bytes: &[u8]) {
    for (to, from) in state.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}

/// The state of one dispatch.
pub(super) struct GridSync {
    /// The value of the hidden argument.
    pub(super) argument: u64,
    /// The barriers of parts whose device library uses instructions for them.
    pub(super) gws: Arc<Gws>,
    _block: Option<Block>,
    _part: Option<Part>,
}

impl GridSync {
    /// For a grid of this many workgroups on one device. `has_state` tells whether the runtime gives every grid its state, as
    /// AMD's does since HIP 6, or only on parts whose device library needs it.
    pub(super) fn new(
        memory: &Arc<Memory>,
        gpu: &gpu::Part,
        workgroups: u64,
        part: Option<Part>,
        has_state: bool,
    ) -> Result<Self, MemoryError> {
        let count = u32::try_from(workgroups).unwrap_or(u32::MAX);
        // Older device libraries use the instructions on every part.
        let gws = Arc::new(Gws::default());
        gws.with(0, |barrier| barrier.missing = count.saturating_sub(1));
        if part.is_none() && !has_state && gpu.grid_barrier == GridBarrier::Instructions {
            // Older device libraries ask only whether it is zero: greater numbers are for several devices.
            return Ok(Self { argument: 1, gws, _block: None, _part: None });
        }
        let mut state = [0; SIZE];
        put(&mut state, WORKGROUPS, &count.to_le_bytes());
        if let Some(part) = &part {
            part.describe(&mut state);
        }
        let block = Block::new(memory, SIZE as u64)?;
        memory.write(block.address(), &state)?;
        Ok(Self { argument: block.address(), gws, _block: Some(block), _part: part })
    }
}
