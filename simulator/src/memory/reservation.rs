// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reserved addresses, and memory of allocations that is mapped to them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::map::AllocationRecord;
use super::{AllocationInfo, AllocationKind, Memory, MemoryError, lock};

impl Memory {
    /// Reserves addresses, aligned to a power of two. Nothing is mapped to them yet.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] where no range of this size is left.
    pub(crate) fn reserve(&self, size: u64, align: u64) -> Result<u64, MemoryError> {
        let placed = lock(&self.device).place(size, align);
        placed.ok_or_else(|| {
            let used = self.read_map().used;
            MemoryError::OutOfMemory { requested: size, used, capacity: self.capacity }
        })
    }

    /// Releases reserved addresses. Nothing may be mapped to them.
    pub(crate) fn unreserve(&self, base: u64, size: u64) {
        let reusable = lock(&self.device).release_addresses(base, size);
        self.forget_freed(reusable);
    }

    /// Maps `size` bytes of an allocation, from `target` on, to reserved addresses. No kernel may use them
    /// yet; see [`Memory::set_homes`]. The allocation must outlive the mapping.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless the bytes lie in one allocation, [`MemoryError::Invalid`] where the addresses
    /// are mapped already.
    pub(crate) fn map_to(
        &self,
        base: u64,
        size: u64,
        target: u64,
        owner: impl Into<Arc<str>>,
    ) -> Result<(), MemoryError> {
        let mut map = self.write_map();
        if let Some(record) = map.overlapping(base, size) {
            let reason = format!("{size} bytes at {base:#x} overlap {}", record.info);
            return Err(MemoryError::Invalid { reason });
        }
        let Some(delta) =
            map.at_or_before(target).filter(|record| record.holds(target, size)).map(|record| record.delta)
        else {
            return Err(MemoryError::OutOfBounds { address: target, len: size, place: map.place(target) });
        };
        let delta = target.wrapping_add(delta).wrapping_sub(base);
        let info =
            AllocationInfo { base, size, kind: AllocationKind::Mapped, owner: owner.into(), freed_by: None };
        map.live.insert(
            base,
            AllocationRecord { info, delta, read_only: Arc::default(), homes: 0, shadow: None },
        );
        Ok(())
    }

    /// Ends the mapping by [`Memory::map_to`] that begins at `base`.
    ///
    /// # Errors
    /// [`MemoryError::NotAnAllocation`] where none begins there.
    pub(crate) fn unmap(&self, base: u64, by: Arc<str>) -> Result<(), MemoryError> {
        self.forget(base, Some(by), |kind| kind == AllocationKind::Mapped).map(drop)
    }

    /// Sets which kernels may read a mapping, and whether they may write it.
    pub(crate) fn set_access(&self, base: u64, homes: u64, writable: bool) {
        let mut map = self.write_map();
        let Some(record) = map.live.get_mut(&base) else { return };
        let whole: Range<u64> = base..base + record.info.size;
        record.homes = homes;
        record.read_only = if writable { Arc::default() } else { Arc::from([whole]) };
        self.generation.fetch_add(1, Ordering::Release);
    }
}
