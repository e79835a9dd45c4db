// SPDX-License-Identifier: MIT OR Apache-2.0
//! Passthrough: a slab for each buffer, kept for the next buffer that fits into it.

use std::collections::BTreeMap;

use super::{
    frontier::Frontier,
    shelf::Shelf,
    strategy::{Growth, Place, Request, Retired, Strategy, Taken},
};

/// A slab for each range. It wastes no memory. An access beyond the end of a buffer is beyond the end of an allocation,
/// where a checking device finds it. Each new size costs an allocation.
#[derive(Debug)]
pub struct Passthrough {
    /// The alignment of slabs in bytes.
    granule: u64,
    /// Whether a slab may be larger than needed by an eighth.
    loose: bool,
    /// Base address and size of each slab.
    slabs: BTreeMap<u32, (u64, u64)>,
    /// Free slabs by size.
    free: BTreeMap<u64, Shelf<u32>>,
    idle: u64,
}

impl Passthrough {
    /// For slabs whose addresses are multiples of `granule`. With `exact`, a free slab serves only requests of exactly
    /// its size. Otherwise it may waste an eighth.
    pub fn new(granule: u64, exact: bool) -> Self {
        Self { granule, loose: !exact, slabs: BTreeMap::new(), free: BTreeMap::new(), idle: 0 }
    }

    /// The bytes that a slab needs for the request, wherever it begins.
    fn asked(&self, request: &Request) -> Option<u64> {
        request.size.max(1).checked_add(request.alignment.saturating_sub(self.granule))
    }

    fn place(&mut self, slab: u32, request: &Request, death: Frontier) -> Option<Taken> {
        let (base, size) = *self.slabs.get(&slab)?;
        self.idle -= size;
        let offset = base.next_multiple_of(request.alignment.max(1)) - base;
        Some(Taken { place: Place { slab, offset, held: size, block: 0 }, death })
    }
}

impl Strategy for Passthrough {
    fn add(&mut self, slab: u32, base: u64, size: u64) {
        self.slabs.insert(slab, (base, size));
        self.free.entry(size).or_default().put(slab, Frontier::new());
        self.idle += size;
    }

    fn take(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken> {
        let asked = self.asked(request)?;
        let most = if self.loose { asked.saturating_add(asked / 8) } else { asked };
        let ranked = self.free.range_mut(asked..=most).filter_map(|(size, shelf)| {
            let rank = shelf.best(request.reach, retired)?;
            Some((rank, *size))
        });
        let (_, size) = ranked.min()?;
        let shelf = self.free.get_mut(&size)?;
        let (slab, death) = shelf.take(request.reach, retired)?;
        if shelf.is_empty() {
            self.free.remove(&size);
        }
        self.place(slab, request, death)
    }

    fn take_thoroughly(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken> {
        self.take(request, retired)
    }

    fn put(&mut self, place: Place, death: Frontier, _retired: Retired<'_>) {
        if let Some((_, size)) = self.slabs.get(&place.slab) {
            self.free.entry(*size).or_default().put(place.slab, death);
            self.idle += size;
        }
    }

    fn growth(&self, request: &Request) -> Option<Growth> {
        self.asked(request).map(|bytes| Growth { least: bytes, best: bytes })
    }

    fn reclaim(&mut self, keep: u64, retired: Retired<'_>) -> Vec<u32> {
        let mut taken = Vec::new();
        // The largest slabs go first, because they are the least likely to be reused.
        for (size, shelf) in self.free.iter_mut().rev() {
            while self.idle > keep
                && let Some(slab) = shelf.take_one_settled(retired)
            {
                self.idle -= size;
                self.slabs.remove(&slab);
                taken.push(slab);
            }
        }
        self.free.retain(|_, shelf| !shelf.is_empty());
        taken
    }

    fn idle(&self) -> u64 {
        self.idle
    }
}
