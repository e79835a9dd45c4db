// SPDX-License-Identifier: MIT OR Apache-2.0
//! A slab for each buffer, of just its size, kept for the next buffer that it fits.

use std::collections::BTreeMap;

use super::{
    frontier::Frontier,
    shelf::Shelf,
    strategy::{Growth, Place, Request, Retired, Strategy, Taken},
};

/// A slab for each range. It wastes nothing, and what runs over the end of a buffer runs over the end of an allocation,
/// where a device that checks sees it; each size that was never asked for before costs an allocation.
#[derive(Debug)]
pub struct Passthrough {
    /// What slabs are aligned to.
    granule: u64,
    /// A slab may be larger than needed by an eighth.
    loose: bool,
    /// Base and size by slab.
    slabs: BTreeMap<u32, (u64, u64)>,
    /// Free slabs by size.
    free: BTreeMap<u64, Shelf<u32>>,
    idle: u64,
}

impl Passthrough {
    /// For slabs whose addresses are multiples of `granule`. With `exact`, a free slab serves only a request of its
    /// very size, else one that wastes at most an eighth.
    pub fn new(granule: u64, exact: bool) -> Self {
        Self { granule, loose: !exact, slabs: BTreeMap::new(), free: BTreeMap::new(), idle: 0 }
    }

    /// The bytes that a slab needs, wherever it begins.
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
        // The largest first: they are the least likely to be asked for again.
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
