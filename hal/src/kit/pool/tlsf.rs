// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two-level segregated fit: ranges of any size in slabs, in constant time.
//!
//! Free ranges are listed by size class: a power of two, then one of 32 steps up to the next. Two bitmaps mark the
//! lists that are not empty, so two bit scans find the first list whose ranges all fit. Requests are rounded up to a
//! step (by 1/32 at most), so that a freed range serves the next request of its size. Neighbours in a slab are linked,
//! so a freed range is joined with free neighbours.
//!
//! Unlike in other allocators, a free range has a [`Frontier`], and joined ranges have the frontiers of both. Joining
//! settled memory with memory in flight would make the settled part wait. Joining ranges of two queues would make one
//! queue wait for the other. So two ranges are joined at once only if both are settled, or if the same lanes used both
//! last. The other neighbours are joined when needed, before a slab is added.
//!
//! The ranges that were freed last are in no list yet. Programs free and allocate the same sizes over and over, and such
//! a range serves the next request of its size as it is.

use std::fmt;

use ::slab::Slab;

use super::{
    frontier::Frontier,
    strategy::{Growth, Place, Rank, Reach, Request, Retired, Strategy, Taken},
};

/// Steps between two powers of two.
const STEPS: u64 = 1 << STEP_BITS;
const STEP_BITS: u32 = 5;
/// The number of powers of two of a count of granules. Counts below `STEPS` share one.
const POWERS: usize = (u64::BITS - STEP_BITS + 1) as usize;
/// No block.
const NONE: u32 = u32::MAX;
/// The most ranges that one search looks at, so that it takes constant time. The oldest ranges come first, which are
/// the most likely to have settled.
const LOOKS: usize = 8;
/// The most ranges that are free and in no list.
const RECENT: usize = 4;

/// Ranges of any size and alignment, in slabs that are added when needed.
pub struct Tlsf {
    /// All offsets and sizes are multiples of this many bytes.
    granule: u64,
    /// Bytes of a slab, unless a request needs more.
    slab_size: u64,
    blocks: Slab<Block>,
    /// The blocks that were freed last, the newest at the end.
    recent: Vec<(u32, Frontier)>,
    /// By the numbers of the slabs.
    spans: Vec<Option<Span>>,
    /// The powers of two that have a list which is not empty.
    powers: u64,
    /// For each power of two, the steps whose list is not empty.
    steps: [u32; POWERS],
    /// The first and the last block of each list.
    lists: Box<[[(u32, u32); STEPS as usize]; POWERS]>,
    idle: u64,
}

/// A slab.
#[derive(Debug)]
struct Span {
    base: u64,
    size: u64,
    /// Its first block.
    first: u32,
    /// The number of blocks in use.
    used: u32,
}

/// A range of a slab, in granules.
#[derive(Debug)]
struct Block {
    slab: u32,
    start: u64,
    count: u64,
    /// The neighbours in the slab.
    before: u32,
    after: u32,
    free: Option<Free>,
}

/// The list entry of a free block.
#[derive(Debug)]
struct Free {
    /// The neighbours in the list.
    previous: u32,
    next: u32,
    death: Frontier,
}

/// The class of blocks with this many granules.
fn class_of(count: u64) -> (usize, usize) {
    match count.checked_ilog2() {
        Some(power) if power >= STEP_BITS => {
            let shift = power - STEP_BITS;
            (shift as usize + 1, ((count >> shift) - STEPS) as usize)
        }
        _ => (0, count as usize),
    }
}

/// The least count of a class that is not below `count`.
fn round_up(count: u64) -> Option<u64> {
    match count.checked_ilog2() {
        Some(power) if power > STEP_BITS => count.checked_next_multiple_of(1 << (power - STEP_BITS)),
        _ => Some(count),
    }
}

/// Whether neighbours may be joined.
#[derive(Clone, Copy)]
enum Join {
    /// Only if no request waits longer for the result.
    Kindly,
    /// In any case.
    All,
}

impl Tlsf {
    /// For slabs of `slab_size` bytes. The addresses of slabs and all offsets in them are multiples of `granule`, a
    /// power of two.
    pub fn new(granule: u64, slab_size: u64) -> Self {
        let granule = granule.max(1);
        Self {
            granule,
            slab_size: slab_size.max(granule),
            blocks: Slab::new(),
            recent: Vec::with_capacity(RECENT + 1),
            spans: Vec::new(),
            powers: 0,
            steps: [0; POWERS],
            lists: Box::new([[(NONE, NONE); STEPS as usize]; POWERS]),
            idle: 0,
        }
    }

    /// The granules of a request, without and with room to align it anywhere.
    fn counts(&self, request: &Request) -> Option<(u64, u64)> {
        let count = round_up(request.size.max(1).div_ceil(self.granule))?;
        let slack = request.alignment.max(1).div_ceil(self.granule) - 1;
        Some((count, round_up(count.checked_add(slack)?)?))
    }

    fn block(&self, index: u32) -> Option<&Block> {
        self.blocks.get(index as usize)
    }

    fn block_mut(&mut self, index: u32) -> Option<&mut Block> {
        self.blocks.get_mut(index as usize)
    }

    fn span_mut(&mut self, slab: u32) -> Option<&mut Span> {
        self.spans.get_mut(slab as usize)?.as_mut()
    }

    fn insert(&mut self, block: Block) -> u32 {
        // The index fits, because there are fewer than 2^32 - 1 blocks.
        self.blocks.insert(block) as u32
    }

    // Lists.

    fn link(&mut self, index: u32, death: Frontier) {
        let Some(block) = self.block(index) else { return };
        let (power, step) = class_of(block.count);
        let (first, last) = self.lists[power][step];
        // Settled blocks go to the front, where searches begin. Other blocks go to the end.
        let to_front = death.is_empty();
        let (previous, next) = if to_front { (NONE, first) } else { (last, NONE) };
        if let Some(block) = self.block_mut(index) {
            block.free = Some(Free { previous, next, death });
        }
        self.connect((power, step), previous, index);
        self.connect((power, step), index, next);
        self.powers |= 1 << power;
        self.steps[power] |= 1 << step;
    }

    /// Makes two blocks neighbours in a list. `NONE` stands for the ends of the list.
    fn connect(&mut self, (power, step): (usize, usize), left: u32, right: u32) {
        match self.block_mut(left).and_then(|block| block.free.as_mut()) {
            Some(free) => free.next = right,
            None => self.lists[power][step].0 = right,
        }
        match self.block_mut(right).and_then(|block| block.free.as_mut()) {
            Some(free) => free.previous = left,
            None => self.lists[power][step].1 = left,
        }
    }

    /// Takes a free block out of its list.
    fn unlink(&mut self, index: u32) -> Frontier {
        let Some(block) = self.block_mut(index) else { return Frontier::new() };
        let (power, step) = class_of(block.count);
        let Some(Free { previous, next, death }) = block.free.take() else { return Frontier::new() };
        self.connect((power, step), previous, next);
        if self.lists[power][step].0 == NONE {
            self.steps[power] &= !(1 << step);
            if self.steps[power] == 0 {
                self.powers &= !(1 << power);
            }
        }
        death
    }

    /// The first class, at or above this one, whose list is not empty.
    fn class_from(&self, power: usize, step: usize) -> Option<(usize, usize)> {
        let here = self.steps.get(power)? & u32::MAX.checked_shl(step as u32).unwrap_or(0);
        if here != 0 {
            return Some((power, here.trailing_zeros() as usize));
        }
        let above = self.powers & u64::MAX.checked_shl(power as u32 + 1).unwrap_or(0);
        let power = (above != 0).then(|| above.trailing_zeros() as usize)?;
        Some((power, self.steps[power].trailing_zeros() as usize))
    }

    // Search.

    /// The granules to skip for an aligned range of `count` granules in a block. `None` if it does not fit.
    fn fit(&self, index: u32, count: u64, alignment: u64) -> Option<u64> {
        let block = self.block(index)?;
        let base = self.spans.get(block.slab as usize)?.as_ref()?.base;
        let address = base + block.start * self.granule;
        let pad = (address.checked_next_multiple_of(alignment.max(1))? - address) / self.granule;
        (pad.checked_add(count)? <= block.count).then_some(pad)
    }

    /// The best of the first blocks that fit, beginning at the class of `from`. With `only`, looks at no other class.
    fn search(
        &mut self,
        from: u64,
        only: bool,
        looks: usize,
        (count, request): (u64, &Request),
        retired: Retired<'_>,
    ) -> Option<(Rank, u32)> {
        let mut best: Option<(Rank, u32)> = None;
        let mut looked = 0;
        let (power, step) = class_of(from);
        let mut class = self.class_from(power, step).filter(|found| !only || *found == (power, step));
        while let Some((power, step)) = class {
            let mut index = self.lists[power][step].0;
            while index != NONE && looked < looks {
                looked += 1;
                let fits = self.fit(index, count, request.alignment).is_some();
                let Some(free) = self.block_mut(index).and_then(|block| block.free.as_mut()) else { break };
                free.death.remove_retired(retired);
                let rank = request.reach.rank(&free.death).filter(|_| fits);
                let next = free.next;
                if let Some(rank) = rank.filter(|rank| best.is_none_or(|(best, _)| *rank < best)) {
                    best = Some((rank, index));
                    if rank == Rank::Settled {
                        return best;
                    }
                }
                index = next;
            }
            class = if only || looked >= looks { None } else { self.class_from(power, step + 1) };
        }
        best
    }

    fn find(&mut self, request: &Request, looks: usize, retired: Retired<'_>) -> Option<Taken> {
        let (count, with_slack) = self.counts(request)?;
        // A block of the class itself may fit, if its address is aligned well. Blocks of the class with slack always
        // fit.
        let well = if with_slack > count {
            self.search(count, true, looks, (count, request), retired)
        } else {
            None
        };
        let best = match well {
            Some((Rank::Settled, _)) => well,
            _ => {
                self.search(with_slack, false, looks, (count, request), retired).into_iter().chain(well).min()
            }
        };
        let (_, index) = best?;
        Some(self.carve(index, count, request.alignment))
    }

    /// The newest recent block that is as large as the request and aligned for it, if no other one could serve sooner.
    fn take_recent(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken> {
        if self.recent.is_empty() {
            return None;
        }
        let (count, _) = self.counts(request)?;
        let index = self.recent.iter().rposition(|(index, _)| {
            self.block(*index).is_some_and(|block| block.count == count)
                && self.fit(*index, count, request.alignment) == Some(0)
        })?;
        let death = &mut self.recent[index].1;
        if !death.is_empty() {
            death.remove_retired(retired);
        }
        if request.reach.rank(death).is_none_or(|rank| rank == Rank::Wait) {
            return None;
        }
        let (block, death) = self.recent.remove(index);
        Some(self.hold(block, death))
    }

    /// Lists recent blocks, and joins them with their neighbours, until `keep` are left.
    fn settle_recent(&mut self, keep: usize, retired: Retired<'_>) {
        while self.recent.len() > keep {
            let (index, mut death) = self.recent.remove(0);
            death.remove_retired(retired);
            let Some(block) = self.block(index) else { continue };
            let (before, after) = (block.before, block.after);
            self.link(index, death);
            self.drop_retired(before, retired);
            self.drop_retired(after, retired);
            self.join_after(index, Join::Kindly);
            if before != NONE {
                self.join_after(before, Join::Kindly);
            }
        }
    }

    /// Cuts an aligned range out of a free block that has room for it.
    fn carve(&mut self, index: u32, count: u64, alignment: u64) -> Taken {
        let pad = self.fit(index, count, alignment).unwrap_or(0);
        let death = self.unlink(index);
        if pad > 0 {
            let front = self.cut(index, pad);
            self.link(front, death.clone());
        }
        let rest = self.block(index).map_or(0, |block| block.count - count);
        if rest > 0 {
            let front = self.cut(index, count);
            self.link(index, death.clone());
            return self.hold(front, death);
        }
        self.hold(index, death)
    }

    /// Cuts the first granules off a block that is in no list. They become a block of their own.
    fn cut(&mut self, index: u32, count: u64) -> u32 {
        let Some(block) = self.block_mut(index) else { return NONE };
        let (slab, start, before) = (block.slab, block.start, block.before);
        block.start += count;
        block.count -= count;
        let front = self.insert(Block { slab, start, count, before, after: index, free: None });
        if let Some(block) = self.block_mut(index) {
            block.before = front;
        }
        match self.block_mut(before) {
            Some(before) => before.after = front,
            None => {
                if let Some(span) = self.span_mut(slab) {
                    span.first = front;
                }
            }
        }
        front
    }

    /// Puts a block that is in no list to use.
    fn hold(&mut self, index: u32, death: Frontier) -> Taken {
        let granule = self.granule;
        let (slab, offset, held) = self
            .block(index)
            .map_or((0, 0, 0), |block| (block.slab, block.start * granule, block.count * granule));
        let mut emptied = 0;
        if let Some(span) = self.span_mut(slab) {
            if span.used == 0 {
                emptied = span.size;
            }
            span.used += 1;
        }
        self.idle -= emptied;
        Taken { place: Place { slab, offset, held, block: index }, death }
    }

    // Joins.

    /// Joins a free block with the free block after it, if `join` allows. Returns whether it did.
    fn join_after(&mut self, index: u32, join: Join) -> bool {
        let Some(block) = self.block(index) else { return false };
        let Some(after) = self.block(block.after) else { return false };
        let (Some(left), Some(right)) = (&block.free, &after.free) else { return false };
        if matches!(join, Join::Kindly) && !left.death.same_lanes(&right.death) {
            return false;
        }
        let right = block.after;
        let mut death = self.unlink(index);
        death.merge(&self.unlink(right));
        let gone = self.blocks.remove(right as usize);
        if let Some(block) = self.block_mut(index) {
            block.count += gone.count;
            block.after = gone.after;
        }
        if let Some(after) = self.block_mut(gone.after) {
            after.before = index;
        }
        self.link(index, death);
        true
    }

    /// Removes retired points from the frontier of a block. A block that has settled moves to the front of its list.
    fn drop_retired(&mut self, index: u32, retired: Retired<'_>) {
        let Some(free) = self.block_mut(index).and_then(|block| block.free.as_mut()) else { return };
        if !free.death.is_empty() && free.death.remove_retired(retired) {
            let death = self.unlink(index);
            self.link(index, death);
        }
    }

    /// Joins all free neighbours that `join` allows.
    fn join_all(&mut self, join: Join, retired: Retired<'_>) {
        let free: Vec<u32> = self
            .blocks
            .iter()
            .filter(|(_, block)| block.free.is_some())
            .map(|(index, _)| index as u32)
            .collect();
        free.iter().for_each(|index| self.drop_retired(*index, retired));
        for index in free {
            while self.join_after(index, join) {}
        }
    }

    /// Takes out a slab whose blocks are all free and settled. Returns whether they were.
    fn remove(&mut self, slab: u32, retired: Retired<'_>) -> bool {
        let Some(span) = self.spans.get(slab as usize).and_then(Option::as_ref) else { return false };
        if span.used > 0 {
            return false;
        }
        let mut indices = Vec::new();
        let mut index = span.first;
        while let Some(block) = self.block(index) {
            indices.push(index);
            index = block.after;
        }
        indices.iter().for_each(|index| self.drop_retired(*index, retired));
        let settled = |index: &u32| {
            self.block(*index).and_then(|block| block.free.as_ref()).is_some_and(|free| free.death.is_empty())
        };
        if !indices.iter().all(settled) {
            return false;
        }
        for index in indices {
            self.unlink(index);
            self.blocks.remove(index as usize);
        }
        if let Some(span) = self.spans[slab as usize].take() {
            self.idle -= span.size;
        }
        true
    }
}

impl Strategy for Tlsf {
    fn add(&mut self, slab: u32, base: u64, size: u64) {
        let count = size / self.granule;
        let first = self.insert(Block { slab, start: 0, count, before: NONE, after: NONE, free: None });
        if self.spans.len() <= slab as usize {
            self.spans.resize_with(slab as usize + 1, || None);
        }
        self.spans[slab as usize] = Some(Span { base, size, first, used: 0 });
        self.idle += size;
        self.link(first, Frontier::new());
    }

    fn take(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken> {
        if let Some(taken) = self.take_recent(request, retired) {
            return Some(taken);
        }
        self.find(request, LOOKS, retired).or_else(|| {
            if self.recent.is_empty() {
                return None;
            }
            self.settle_recent(0, retired);
            self.find(request, LOOKS, retired)
        })
    }

    fn take_thoroughly(&mut self, request: &Request, retired: Retired<'_>) -> Option<Taken> {
        self.settle_recent(0, retired);
        self.join_all(Join::Kindly, retired);
        let kindly = self.find(request, usize::MAX, retired);
        if kindly.is_some() || !matches!(request.reach, Reach::Ordered(_)) {
            return kindly;
        }
        self.join_all(Join::All, retired);
        self.find(request, usize::MAX, retired)
    }

    fn put(&mut self, place: Place, death: Frontier, retired: Retired<'_>) {
        if self.block(place.block).is_none() {
            return;
        }
        self.recent.push((place.block, death));
        self.settle_recent(RECENT, retired);
        let mut emptied = 0;
        if let Some(span) = self.span_mut(place.slab) {
            span.used -= 1;
            if span.used == 0 {
                emptied = span.size;
            }
        }
        self.idle += emptied;
    }

    fn growth(&self, request: &Request) -> Option<Growth> {
        let (_, count) = self.counts(request)?;
        let least = count.checked_mul(self.granule)?;
        Some(Growth { least, best: least.max(self.slab_size) })
    }

    fn reclaim(&mut self, keep: u64, retired: Retired<'_>) -> Vec<u32> {
        let mut taken = Vec::new();
        if self.idle <= keep {
            return taken;
        }
        self.settle_recent(0, retired);
        for slab in 0..self.spans.len() as u32 {
            if self.idle <= keep {
                break;
            }
            if self.remove(slab, retired) {
                taken.push(slab);
            }
        }
        taken
    }

    fn idle(&self) -> u64 {
        self.idle
    }
}

impl fmt::Debug for Tlsf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free = self.blocks.iter().filter(|(_, block)| block.free.is_some()).count();
        f.debug_struct("Tlsf")
            .field("slabs", &self.spans.iter().flatten().count())
            .field("used", &(self.blocks.len() - free - self.recent.len()))
            .field("free", &(free + self.recent.len()))
            .finish_non_exhaustive()
    }
}
