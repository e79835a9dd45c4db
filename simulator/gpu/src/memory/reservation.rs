// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reserved addresses, and memory that is mapped to them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::map::{AllocationRecord, Map};
use super::{AllocationInfo, AllocationKind, Memory, MemoryError, Physical, lock};

impl Memory {
    /// Reserves addresses, aligned to a power of two. Nothing is mapped to them yet. Messages about them name `owner`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] where no range of this size is left.
    pub fn reserve(&self, size: u64, align: u64, owner: impl Into<Arc<str>>) -> Result<u64, MemoryError> {
        let placed = lock(&self.device).place(size, align);
        let mut map = self.write_map();
        let base = placed.ok_or_else(|| MemoryError::OutOfMemory {
            requested: size,
            used: map.used,
            capacity: self.capacity,
        })?;
        let kind = AllocationKind::Reserved;
        map.forget_freed(base..base + size.max(1));
        map.reserved.insert(base, AllocationInfo { base, size, kind, owner: owner.into(), freed_by: None });
        Ok(base)
    }

    /// Releases reserved addresses. Nothing may be mapped to them.
    pub fn unreserve(&self, base: u64, size: u64) {
        self.write_map().reserved.remove(&base);
        let reusable = lock(&self.device).release_addresses(base, size);
        self.forget_freed(reusable);
    }

    /// Maps `size` bytes of an allocation, from `target` on, to reserved addresses. No kernel may use them
    /// yet; see [`Memory::set_access`]. The allocation must outlive the mapping.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless the bytes lie in one allocation, [`MemoryError::Invalid`] where the addresses
    /// are mapped already.
    pub fn map_to(
        &self,
        base: u64,
        size: u64,
        target: u64,
        owner: impl Into<Arc<str>>,
    ) -> Result<(), MemoryError> {
        let mut map = self.write_map();
        let Some(delta) =
            map.at_or_before(target).filter(|record| record.holds(target, size)).map(|record| record.delta)
        else {
            return Err(MemoryError::OutOfBounds { address: target, len: size, place: map.place(target) });
        };
        check_free(&map, base, size)?;
        enter(&mut map, base, size, target.wrapping_add(delta).wrapping_sub(base), owner.into());
        Ok(())
    }

    /// Maps `size` bytes of memory without addresses, from `offset` on, to reserved addresses. No kernel may use them
    /// yet; see [`Memory::set_access`]. All three numbers are multiples of a page.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] for bytes behind the end of the memory, [`MemoryError::Invalid`] where the addresses are
    /// mapped already, [`MemoryError::Reservation`] if the system does not map them.
    pub fn map_physical(
        &self,
        base: u64,
        size: u64,
        physical: &Physical,
        offset: u64,
        owner: impl Into<Arc<str>>,
    ) -> Result<(), MemoryError> {
        if offset.checked_add(size).is_none_or(|end| end > physical.size) {
            return Err(MemoryError::OutOfBounds { address: base, len: size, place: self.place(base) });
        }
        // In this order, as allocations take the two.
        let arena = lock(&self.device);
        let mut map = self.write_map();
        check_free(&map, base, size)?;
        let mapped = arena.map(base, size, &physical.file, physical.offset + offset);
        mapped.map_err(|reason| MemoryError::Reservation { reason })?;
        enter(&mut map, base, size, arena.delta(), owner.into());
        Ok(())
    }

    /// Ends the mapping that begins at `base`.
    ///
    /// # Errors
    /// [`MemoryError::NotAnAllocation`] where none begins there.
    pub fn unmap(&self, base: u64, by: Arc<str>) -> Result<(), MemoryError> {
        let gone = self.forget(base, Some(by), |kind| kind == AllocationKind::Mapped)?;
        // The addresses of a mapping of an allocation have no pages of their own, and this changes nothing.
        lock(&self.device).clear(base, gone.info.size);
        Ok(())
    }

    /// Restricts the allocation that starts at `base` to kernels that may use the memory of one of these
    /// devices, a bit each. Without it every kernel may.
    pub fn set_homes(&self, base: u64, homes: u64) {
        let mut map = self.write_map();
        let Some(record) = map.live.get_mut(&base) else { return };
        record.homes = homes;
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Sets which devices' kernels may use a mapping, and which of them may write it.
    pub fn set_access(&self, base: u64, homes: u64, writers: u64) {
        let mut map = self.write_map();
        let Some(record) = map.live.get_mut(&base) else { return };
        (record.homes, record.writers) = (homes, writers);
        self.generation.fetch_add(1, Ordering::Release);
    }
}

fn check_free(map: &Map, base: u64, size: u64) -> Result<(), MemoryError> {
    map.overlapping(base, size).map_or(Ok(()), |record| {
        Err(MemoryError::Invalid { reason: format!("{size} bytes at {base:#x} overlap {}", record.info) })
    })
}

/// Enters a mapping that no kernel may use yet.
fn enter(map: &mut Map, base: u64, size: u64, delta: u64, owner: Arc<str>) {
    let info = AllocationInfo { base, size, kind: AllocationKind::Mapped, owner, freed_by: None };
    map.forget_freed(base..base + size.max(1));
    let record =
        AllocationRecord { info, delta, read_only: Arc::default(), homes: 0, writers: 0, shadow: None };
    map.live.insert(base, record);
}
