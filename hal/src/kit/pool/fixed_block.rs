// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixed blocks: blocks of one size in one slab.

use super::{
    frontier::Frontier,
    shelf::Shelf,
    strategy::{Growth, Place, Request, Retired, Strategy, Taken},
};

/// A fixed number of blocks of one size. Taking and freeing cost the same however many are in use, and nothing
/// fragments.
///
/// Free blocks lie on a shelf by the lane that used them last, rather than in a bitmap. A bitmap finds a free block,
/// but a queue needs a block that it may use without a wait. A free block has a frontier, which no single atomic word
/// can publish, so the lock of the pool guards the shelf. The lock is held for a few loads and a push or a pop.
#[derive(Debug)]
pub struct FixedBlock {
    /// Bytes from one block to the next.
    block: u64,
    blocks: u32,
    alignment: u64,
    /// The alignment of slabs in bytes.
    granule: u64,
    /// The number of the slab, and the offset of the first aligned address in it.
    slab: Option<(u32, u64)>,
    free: Shelf<u32>,
    used: u32,
}

impl FixedBlock {
    /// `blocks` blocks of at least `block` bytes, aligned to `alignment`, in a slab whose address is a multiple of
    /// `granule`. `None` for zero blocks, and for more bytes than an address space has.
    pub fn new(block: u64, blocks: u32, alignment: u64, granule: u64) -> Option<Self> {
        let alignment = alignment.max(granule).max(1);
        let block = block.max(1).checked_next_multiple_of(alignment)?;
        let new = Self { block, blocks, alignment, granule, slab: None, free: Shelf::default(), used: 0 };
        let bytes = block.checked_mul(u64::from(blocks))?.checked_add(alignment)?;
        (blocks > 0 && i64::try_from(bytes).is_ok()).then_some(new)
    }

    /// Bytes of each block.
    pub fn block(&self) -> u64 {
        self.block
    }

    fn bytes(&self) -> u64 {
        self.block * u64::from(self.blocks) + (self.alignment - self.granule.max(1))
    }

    fn fits(&self, request: &Request) -> bool {
        request.size <= self.block && request.alignment <= self.alignment
    }
}

impl Strategy for FixedBlock {
    fn add(&mut self, slab: u32, base: u64, size: u64) {
        let lead = base.next_multiple_of(self.alignment) - base;
        debug_assert!(lead + self.block * u64::from(self.blocks) <= size);
        self.slab = Some((slab, lead));
        self.free = Shelf::default();
        (0..self.blocks).rev().for_each(|block| self.free.put(block, Frontier::new()));
    }

    fn take(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken> {
        let (slab, lead) = self.slab?;
        if !self.fits(request) {
            return None;
        }
        let (block, death) = self.free.take(request.reach, retired)?;
        self.used += 1;
        let offset = lead + u64::from(block) * self.block;
        Some(Taken { place: Place { slab, offset, held: self.block, block }, death })
    }

    fn take_thoroughly(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken> {
        self.take(request, retired)
    }

    fn put(&mut self, place: Place, death: Frontier, _retired: Retired<'_>) {
        self.used -= 1;
        self.free.put(place.block, death);
    }

    fn growth(&self, request: &Request) -> Option<Growth> {
        let bytes = self.bytes();
        (self.slab.is_none() && self.fits(request)).then_some(Growth { least: bytes, best: bytes })
    }

    fn reclaim(&mut self, keep: u64, retired: Retired<'_>) -> Vec<u32> {
        if self.used > 0 || self.idle() <= keep {
            return Vec::new();
        }
        let settled = self.free.take_settled(retired);
        if settled.len() == self.blocks as usize {
            return self.slab.take().map(|(slab, _)| slab).into_iter().collect();
        }
        settled.into_iter().for_each(|block| self.free.put(block, Frontier::new()));
        Vec::new()
    }

    fn idle(&self) -> u64 {
        if self.slab.is_some() && self.used == 0 { self.bytes() } else { 0 }
    }
}
