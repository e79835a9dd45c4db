// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reservations of address space, and the placement of allocations in them.
//!
//! An arena is a range of addresses that kernels see, and the bytes behind it. In the device arena the two
//! are apart: the addresses are reserved without access, and the bytes are a second mapping at a constant
//! distance. So a host that follows a device pointer crashes as on hardware. In the host arena the two are
//! the same.
//!
//! An address is not reused soon: placement moves forward through a reservation much larger than the memory,
//! with a gap after each allocation, and returns to the oldest freed ranges only when the reservation is used
//! up.

use super::file::File;
use super::pages::Pages;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Range, RangeInclusive};

/// Every allocation starts on a page of its own.
pub(super) const PAGE: u64 = 4096;
/// Addresses left unused behind every allocation, so that a near miss hits nothing.
const GUARD: u64 = 64 * 1024;
/// The most freed ranges that are kept out of reuse.
const QUARANTINE: usize = 1 << 16;
/// Freed ranges from this size on release their pages at once.
const LARGE: u64 = 1 << 20;
/// The most bytes of smaller freed ranges that keep their pages, so that one system call releases many
/// ranges.
const KEPT: u64 = 8 << 20;

/// A reserved range of addresses with its backing bytes.
pub(super) struct Arena {
    /// The addresses that kernels see; without access if the arena is split.
    visible: Pages,
    /// The bytes; `None` where addresses and bytes are the same.
    shadow: Option<Pages>,
    /// First address never used yet, relative to the start.
    next: u64,
    /// Ranges free for reuse: relative start to relative end.
    holes: BTreeMap<u64, u64>,
    /// Where the unused addresses before a range in use begin, which its alignment has left, by the start of the range.
    gaps: BTreeMap<u64, u64>,
    /// Freed ranges in the order of their freeing.
    quarantine: VecDeque<(u64, u64)>,
    /// The number of the latest freed ranges that may have pages, and the most bytes in them.
    kept: (usize, u64),
}

impl Arena {
    /// Reserves about `size` bytes of addresses; less if the process may not have as much, but at least
    /// `least`.
    pub(super) fn reserve(size: u64, least: u64, split: bool) -> Result<Self, String> {
        let mut size = size.max(least).max(PAGE);
        loop {
            match Self::reserve_exactly(size, split) {
                Ok(arena) => return Ok(arena),
                Err(_) if size / 2 >= least.max(PAGE) => size /= 2,
                Err(reason) => return Err(reason),
            }
        }
    }

    fn reserve_exactly(size: u64, split: bool) -> Result<Self, String> {
        let visible = Pages::reserve(size, !split)?;
        let shadow = if split && Pages::CAN_SPLIT { Some(Pages::reserve(size, true)?) } else { None };
        Ok(Self {
            visible,
            shadow,
            next: 0,
            holes: BTreeMap::new(),
            gaps: BTreeMap::new(),
            quarantine: VecDeque::new(),
            kept: (0, 0),
        })
    }

    /// The distance from an address of this arena to its byte, modulo 2^64.
    pub(super) fn delta(&self) -> u64 {
        self.shadow.as_ref().map_or(0, |shadow| shadow.base().wrapping_sub(self.visible.base()))
    }

    /// The addresses of the reservation.
    pub(super) fn range(&self) -> RangeInclusive<u64> {
        self.visible.base()..=self.visible.base() + (self.visible.len() - 1)
    }

    /// Whether an address belongs to the reservation.
    pub(super) fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.visible.base()) < self.visible.len()
    }

    /// Finds a place for `size` bytes aligned to `align` (a power of two), and returns its address. The bytes
    /// are zero, or those that were there before.
    pub(super) fn place(&mut self, size: u64, align: u64) -> Option<u64> {
        let align = align.max(PAGE);
        let length = size.max(1).checked_next_multiple_of(PAGE)?.checked_add(GUARD)?;
        if let Some(start) = self.aligned(self.next, align)
            && let Some(end) = start.checked_add(length)
            && end <= self.visible.len()
        {
            if start > self.next {
                self.gaps.insert(start, self.next);
            }
            self.next = end;
            return self.visible.base().checked_add(start);
        }
        if let Some(start) = self.take_hole(length, align) {
            return self.visible.base().checked_add(start);
        }
        while let Some(oldest) = self.quarantine.pop_front() {
            self.add_hole(oldest);
        }
        let start = self.take_hole(length, align)?;
        self.visible.base().checked_add(start)
    }

    /// Frees a range of [`Arena::place`], and releases its pages soon. The range stays out of reuse for a
    /// while. Returns the oldest freed range if it becomes reusable by this.
    pub(super) fn release(&mut self, address: u64, size: u64) -> Option<Range<u64>> {
        if size >= LARGE {
            self.clear(address, size);
        } else {
            self.kept.1 += size.max(1).next_multiple_of(PAGE);
        }
        self.release_addresses(address, size)
    }

    /// As [`Arena::release`], for a range without pages.
    pub(super) fn release_addresses(&mut self, address: u64, size: u64) -> Option<Range<u64>> {
        let start = address.wrapping_sub(self.visible.base());
        let length = size.max(1).next_multiple_of(PAGE) + GUARD;
        // With its gap, it joins the range before it once both are free.
        let first = self.gaps.remove(&start).unwrap_or(start);
        self.quarantine.push_back((first, start + length));
        self.kept.0 += 1;
        if self.kept.1 >= KEPT {
            self.give_back();
        }
        if self.quarantine.len() <= QUARANTINE {
            return None;
        }
        let oldest = self.quarantine.pop_front()?;
        self.add_hole(oldest);
        let base = self.visible.base();
        Some(base + oldest.0..base + oldest.1)
    }

    /// Releases the pages of the latest freed ranges, neighbours in one call.
    fn give_back(&mut self) {
        let (count, bytes) = std::mem::take(&mut self.kept);
        if bytes == 0 {
            return;
        }
        let mut ranges: Vec<(u64, u64)> = self.quarantine.iter().rev().take(count).copied().collect();
        ranges.sort_unstable();
        let backing = self.shadow.as_ref().unwrap_or(&self.visible);
        // The guard between neighbours has no pages.
        for run in ranges.chunk_by(|before, after| before.1 == after.0) {
            if let (Some((start, _)), Some((_, end))) = (run.first(), run.last()) {
                backing.clear(*start, end - start);
            }
        }
    }

    /// Makes the bytes of a range hold `poison`, lazily where the range is large.
    pub(super) fn poison(&self, address: u64, size: u64) {
        let backing = self.shadow.as_ref().unwrap_or(&self.visible);
        backing.poison(address.wrapping_sub(self.visible.base()), size.next_multiple_of(PAGE));
    }

    /// Makes the bytes of a range zero and releases their pages.
    pub(super) fn clear(&self, address: u64, size: u64) {
        let backing = self.shadow.as_ref().unwrap_or(&self.visible);
        backing.clear(address.wrapping_sub(self.visible.base()), size.next_multiple_of(PAGE));
    }

    /// Maps a part of a file behind a range.
    pub(super) fn map(&self, address: u64, size: u64, file: &File, at: u64) -> Result<(), String> {
        let backing = self.shadow.as_ref().unwrap_or(&self.visible);
        backing.map(address.wrapping_sub(self.visible.base()), size, file, at)
    }

    fn aligned(&self, start: u64, align: u64) -> Option<u64> {
        let base = self.visible.base();
        Some(base.checked_add(start)?.checked_next_multiple_of(align)? - base)
    }

    fn take_hole(&mut self, length: u64, align: u64) -> Option<u64> {
        let (hole, start, end) = self.holes.iter().find_map(|(&start, &end)| {
            let at = self.aligned(start, align)?;
            (at.checked_add(length)? <= end).then_some((start, at, end))
        })?;
        self.holes.remove(&hole);
        if hole < start {
            self.holes.insert(hole, start);
        }
        if start + length < end {
            self.holes.insert(start + length, end);
        }
        Some(start)
    }

    fn add_hole(&mut self, (mut start, mut end): (u64, u64)) {
        if let Some((&before, &until)) = self.holes.range(..=start).next_back()
            && until == start
        {
            self.holes.remove(&before);
            start = before;
        }
        if let Some(after) = self.holes.remove(&end) {
            end = after;
        }
        self.holes.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_reused_only_when_the_reservation_is_used_up() {
        let mut arena = Arena::reserve(1 << 20, 1 << 20, true).unwrap();
        let first = arena.place(100, 256).unwrap();
        arena.release(first, 100);
        let mut seen = vec![];
        while let Some(address) = arena.place(100, 256) {
            if address == first {
                break;
            }
            seen.push(address);
            assert!(seen.len() < 100, "the reservation never ends");
        }
        assert!(seen.len() > 5, "the freed range came back after {} placements", seen.len());
        assert!(arena.place(100, 256).is_none(), "a live range was handed out twice");
    }

    #[test]
    fn pages_are_not_taken_from_a_range_that_is_reused() {
        let mut arena = Arena::reserve(1 << 20, 1 << 20, false).unwrap();
        let byte = |address: u64| {
            // SAFETY: a byte of a live range; addresses and bytes are the same here.
            unsafe { std::ptr::read_volatile(address as *const u8) }
        };
        let mut live = VecDeque::new();
        for _ in 0..1000 {
            let address = arena.place(60_000, 4096).unwrap();
            arena.poison(address, 60_000);
            live.push_back(address);
            if live.len() > 2 {
                let oldest = live.pop_front().unwrap();
                assert_eq!([byte(oldest), byte(oldest + 59_999)], [super::super::pages::POISON; 2]);
                arena.release(oldest, 60_000);
            }
        }
    }

    #[test]
    fn freed_ranges_of_large_alignment_take_no_memory_each() {
        let mut arena = Arena::reserve(1 << 40, 1 << 40, false).unwrap();
        for _ in 0..QUARANTINE + 1000 {
            let address = arena.place(1 << 21, 1 << 21).unwrap();
            arena.release_addresses(address, 1 << 21);
        }
        assert!(
            arena.quarantine.len() <= QUARANTINE && arena.holes.len() + arena.gaps.len() < 10,
            "{} holes, {} gaps",
            arena.holes.len(),
            arena.gaps.len()
        );
    }

    #[test]
    fn holes_merge() {
        let mut arena = Arena::reserve(1 << 20, 1 << 20, false).unwrap();
        let mut places = vec![];
        while let Some(address) = arena.place(4096, 4096) {
            places.push(address);
        }
        for address in places {
            arena.release(address, 4096);
        }
        assert!(arena.place(900 * 1024, 4096).is_some());
    }
}
