// SPDX-License-Identifier: MIT OR Apache-2.0
//! From ranges of addresses to their bytes: for the host by the map of allocations, for kernels by remembered windows first.

use super::access::Span;
use super::map::AllocationRecord;
use super::window::{Grants, MemoryUse, Window, Windows};
use super::{AllocationKind, Memory, MemoryError};
use std::sync::atomic::Ordering;

impl Memory {
    /// Resolves a range that must lie inside one live allocation.
    pub fn span(&self, address: u64, len: u64) -> Result<Span<'_>, MemoryError> {
        match self.window(address, len, MemoryUse::Read, Grants::ALL) {
            Some((window, _)) => Ok(self.span_of(window.delta, address, len)),
            None => Err(MemoryError::OutOfBounds { address, len, place: self.place(address) }),
        }
    }

    /// Resolves a range for a kernel. Looks in `windows` first, and keeps a new window there. `None` if the
    /// range is not inside one live allocation, or if the kernel is to write read-only bytes.
    #[inline(always)]
    pub(crate) fn span_through(
        &self,
        windows: &mut Windows,
        address: u64,
        len: u64,
        usage: MemoryUse,
    ) -> Option<Span<'_>> {
        let generation = self.generation.load(Ordering::Acquire);
        let delta = match windows.find(address, len, usage, generation) {
            Some(delta) => delta,
            None => self.look_up(windows, address, len, usage)?,
        };
        Some(self.span_of(delta, address, len))
    }

    /// The distance from a range to its bytes, by a window that is then remembered.
    #[cold]
    #[inline(never)]
    fn look_up(&self, windows: &mut Windows, address: u64, len: u64, usage: MemoryUse) -> Option<u64> {
        let (window, generation) = self.window(address, len, usage, windows.reach())?;
        windows.remember(window, usage, generation);
        Some(window.delta)
    }

    /// As [`span_through`](Self::span_through) for whole dwords that each have a byte in the allocation: the
    /// first and the last may extend past it. The bytes outside exist and belong to no other allocation,
    /// because allocations begin on pages of their own.
    #[cold]
    pub(crate) fn span_of_dwords(
        &self,
        windows: &Windows,
        address: u64,
        len: u64,
        usage: MemoryUse,
    ) -> Option<Span<'_>> {
        let map = self.read_map();
        // Registered memory may begin within the first dword.
        let record = map.at_or_before(address | 3);
        let record = record.filter(|record| record.is_reached(windows.reach(), usage))?;
        let held = record.holds_dwords_of(address, len)?;
        if usage == MemoryUse::Write {
            record.writable(held.start, held.end - held.start)?;
        }
        // SAFETY: as in `span_of`; a dword lies on one page with its byte in the allocation.
        Some(unsafe { Span::new(address.wrapping_add(record.delta) as *mut u8, address, len) })
    }

    /// With `bounds=page`: as [`span_through`](Self::span_through) for a range that begins in an allocation or behind it, and
    /// ends in its last page.
    #[cold]
    pub(crate) fn span_of_page(
        &self,
        windows: &Windows,
        address: u64,
        len: u64,
        usage: MemoryUse,
    ) -> Option<Span<'_>> {
        const PAGE: u64 = 4096;
        if !self.page_bounds {
            return None;
        }
        let map = self.read_map();
        let record = map.at_or_before(address).filter(|record| record.is_reached(windows.reach(), usage))?;
        let kind = record.info.kind;
        let placed = matches!(
            kind,
            AllocationKind::Device
                | AllocationKind::FineGrained
                | AllocationKind::HostPinned
                | AllocationKind::Managed
        );
        let end = (record.info.base + record.info.size).checked_next_multiple_of(PAGE)?;
        if !placed || record.info.size == 0 || address.checked_add(len)? > end {
            return None;
        }
        // SAFETY: as in `span_of`; an allocation of these kinds begins on a page of its own, so its last page belongs to no
        // other.
        Some(unsafe { Span::new(address.wrapping_add(record.delta) as *mut u8, address, len) })
    }

    /// The bytes of a range, from the distance of a window around it.
    #[inline(always)]
    fn span_of(&self, delta: u64, address: u64, len: u64) -> Span<'_> {
        // SAFETY: the range lies in an allocation that was live a moment ago. Its pages stay mapped as long
        // as `self` (arena) or, for registered host memory, as long as `register_host`'s caller guarantees.
        unsafe { Span::new(address.wrapping_add(delta) as *mut u8, address, len) }
    }

    /// A window around a range, and the generation in which it was found.
    #[cold]
    fn window(&self, address: u64, len: u64, usage: MemoryUse, reach: Grants) -> Option<(Window, u64)> {
        let map = self.read_map();
        // Read under the lock: a free that happens after this look-up will change it.
        let generation = self.generation.load(Ordering::Acquire);
        let Some(record) = map.at_or_before(address).filter(|record| record.holds(address, len)) else {
            let all = map.holding(address, len)?;
            let (first, reached) =
                (all.first()?, |record: &&&AllocationRecord| record.is_reached(reach, usage));
            let open = all.iter().filter(reached).count() == all.len();
            return open.then_some((Window { base: address, size: len, delta: first.delta }, generation));
        };
        if !record.is_reached(reach, usage) {
            return None;
        }
        let range = match usage {
            MemoryUse::Read => record.info.base..record.info.base + record.info.size,
            MemoryUse::Write => record.writable(address, len)?,
        };
        let window = Window { base: range.start, size: range.end - range.start, delta: record.delta };
        Some((window, generation))
    }
}
