// SPDX-License-Identifier: MIT OR Apache-2.0
//! The map of allocations: live and freed ones, the ranges that are read-only for kernels, and the place of a
//! stray address.

use super::allocation::{AllocationInfo, AllocationKind};
use super::place::Place;
use super::shadow::Shadow;
use super::window::{Grants, MemoryUse};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The facts about a live allocation.
#[derive(Clone)]
pub(super) struct AllocationRecord {
    pub(super) info: AllocationInfo,
    /// The distance from an address to its byte in the host's memory.
    pub(super) delta: u64,
    /// Addresses that are read-only for kernels.
    pub(super) read_only: Arc<[Range<u64>]>,
    /// A mask of the devices that may use it; only its own device, if peer access opens a device's whole
    /// memory.
    pub(super) homes: u64,
    /// A mask of those among them that may write it.
    pub(super) writers: u64,
    /// The bytes that were written, if they are tracked.
    pub(super) shadow: Option<Arc<Shadow>>,
}

impl AllocationRecord {
    /// Whether a kernel of this reach may use it. Peer access does not open mappings.
    pub(super) fn is_reached(&self, reach: Grants, usage: MemoryUse) -> bool {
        let devices = if self.info.kind == AllocationKind::Mapped { reach.own } else { reach.peers };
        let open = if usage == MemoryUse::Write { self.homes & self.writers } else { self.homes };
        open & devices != 0
    }

    pub(super) fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.info.base) < self.info.size
    }

    pub(super) fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.info.base);
        offset <= self.info.size && len <= self.info.size - offset
    }

    /// The part of a range of whole dwords that lies in the record, if each dword has a byte in it.
    pub(super) fn holds_dwords_of(&self, address: u64, len: u64) -> Option<Range<u64>> {
        let (base, end) = (self.info.base, self.info.base + self.info.size);
        let whole = address.is_multiple_of(4) && len.is_multiple_of(4) && self.info.size > 0;
        let last = address.checked_add(len)?;
        let inside = whole && base & !3 <= address && last <= end.checked_next_multiple_of(4)?;
        inside.then(|| address.max(base)..last.min(end))
    }

    /// The largest range of the record around these bytes in which kernels may write everything.
    pub(super) fn writable(&self, address: u64, len: u64) -> Option<Range<u64>> {
        let (end, read_only) = (address + len, &self.read_only);
        let before = read_only.iter().map(|range| range.end).filter(|before| *before <= address).max();
        let after = read_only.iter().map(|range| range.start).filter(|after| *after >= end).min();
        let around = before.unwrap_or(self.info.base)..after.unwrap_or(self.info.base + self.info.size);
        let free = read_only.iter().all(|range| range.end <= around.start || range.start >= around.end);
        free.then_some(around)
    }
}

/// The allocations of one memory.
#[derive(Default)]
pub(super) struct Map {
    pub(super) live: BTreeMap<u64, AllocationRecord>,
    pub(super) freed: BTreeMap<u64, AllocationInfo>,
    /// Allocations that may come back at their addresses. They are among the freed ones too.
    pub(super) retired: BTreeMap<u64, AllocationRecord>,
    /// Reserved addresses, which may have mappings.
    pub(super) reserved: BTreeMap<u64, AllocationInfo>,
    /// Bytes that count against the capacity.
    pub(super) used: u64,
}

impl Map {
    /// The live allocation that starts at or before an address.
    pub(super) fn at_or_before(&self, address: u64) -> Option<&AllocationRecord> {
        self.live.range(..=address).next_back().map(|(_, record)| record)
    }

    /// The live allocations that hold a range: one, or mappings without a gap. `None` if a part of it is in none.
    pub(super) fn holding(&self, address: u64, len: u64) -> Option<Vec<&AllocationRecord>> {
        let first = self.at_or_before(address).filter(|record| record.contains(address))?;
        let (mut found, end) = (vec![first], address.checked_add(len)?);
        let mut reached = first.info.base + first.info.size;
        while reached < end {
            let next = self.live.get(&reached).filter(|next| {
                next.info.kind == AllocationKind::Mapped
                    && first.info.kind == AllocationKind::Mapped
                    && next.delta == first.delta
            })?;
            reached += next.info.size;
            found.push(next);
        }
        Some(found)
    }

    pub(super) fn overlapping(&self, base: u64, size: u64) -> Option<&AllocationRecord> {
        let last = base.saturating_add(size.saturating_sub(1));
        self.at_or_before(last).filter(|record| record.info.base >= base || record.contains(base))
    }

    /// Forgets freed allocations that overlap a range.
    pub(super) fn forget_freed(&mut self, range: Range<u64>) {
        let before = self.freed.range(..range.end).rev();
        let stale: Vec<u64> = before
            .take_while(|(_, info)| info.base + info.size.max(1) > range.start)
            .map(|(&key, _)| key)
            .collect();
        for key in stale {
            self.freed.remove(&key);
        }
    }

    /// The place of an address, for messages.
    pub(super) fn place(&self, address: u64) -> Place {
        let before = self.at_or_before(address);
        if let Some(record) = before.filter(|record| record.contains(address)) {
            return Place::Inside(record.info.clone(), address - record.info.base);
        }
        if let Some((_, info)) = self.freed.range(..=address).next_back()
            && address - info.base < info.size
        {
            return Place::Freed(info.clone(), address - info.base);
        }
        if let Some((_, info)) = self.reserved.range(..=address).next_back()
            && address - info.base < info.size
        {
            return Place::Unmapped(info.clone(), address - info.base);
        }
        // Code and arguments lie between the client's allocations, but a kernel's stray address is near a
        // client's.
        let place = self.nearest(address, AllocationKind::is_clients);
        place.or_else(|| self.nearest(address, |_| true)).unwrap_or(Place::Nowhere)
    }

    /// The registered memory that has this address on the host, and another one for kernels.
    pub(super) fn host_side(&self, address: u64) -> Option<Place> {
        let apart =
            |record: &&AllocationRecord| record.info.kind == AllocationKind::Registered && record.delta != 0;
        let into =
            |record: &AllocationRecord| address.wrapping_sub(record.info.base.wrapping_add(record.delta));
        let mut records = self.live.values().filter(apart);
        let record = records.find(|record| into(record) < record.info.size)?;
        Some(Place::HostSide(record.info.clone(), into(record)))
    }

    /// The place of an address outside of all allocations, relative to the nearest allocation of the wanted
    /// kinds.
    fn nearest(&self, address: u64, wanted: impl Fn(AllocationKind) -> bool) -> Option<Place> {
        /// An allocation farther away than this would only mislead in a message.
        const NEAR: u64 = 64 << 20;
        let past = |record: &AllocationRecord| address - record.info.base - record.info.size;
        let before = self.live.range(..address).rev().map(|(_, record)| record);
        let before = before.take_while(|record| past(record) <= NEAR).find(|record| wanted(record.info.kind));
        let ahead = self.live.range(address..).map(|(base, record)| (base - address, &record.info));
        let ahead = ahead.take_while(|(distance, _)| *distance <= NEAR).find(|(_, info)| wanted(info.kind));
        match (before, ahead) {
            (Some(record), ahead) if ahead.is_none_or(|(distance, _)| past(record) <= distance) => {
                Some(Place::Past(record.info.clone(), past(record)))
            }
            (_, Some((distance, info))) => Some(Place::Before(info.clone(), distance)),
            (_, None) => None,
        }
    }
}
