// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host memory of the caller that kernels and copies can access.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::map::AllocationRecord;
use super::{ALL_DEVICES, AllocationInfo, AllocationKind, Memory, MemoryError, arena, host, lock};

impl Memory {
    /// Registers `len` bytes of the caller's host memory, so that kernels and copies can access them. Returns
    /// their address, which is the same as the host's.
    ///
    /// # Safety
    /// The range stays mapped and may be read and written by any thread until [`Memory::unregister_host`]; the caller
    /// treats its bytes as memory that others change at any time. The same holds for all bytes of the aligned dwords in
    /// which it begins and ends: atomics of kernels read them and write them back, as on hardware.
    ///
    /// # Errors
    /// [`MemoryError::Invalid`] for a null pointer, an empty range or one that overlaps an allocation,
    /// [`MemoryError::Unpinnable`] for a range that is not wholly the host's memory.
    pub unsafe fn register_host(
        &self,
        pointer: *mut u8,
        len: u64,
        owner: impl Into<Arc<str>>,
    ) -> Result<u64, MemoryError> {
        let base = pointer as u64;
        if base == 0 || len == 0 || base.checked_add(len).is_none() {
            return Err(MemoryError::Invalid {
                reason: format!("{len} bytes at {base:#x} are not a range of host memory"),
            });
        }
        self.pinnable(base, len)?;
        let mut map = self.write_map();
        if let Some(record) = map.overlapping(base, len) {
            return Err(MemoryError::Invalid {
                reason: format!("{len} bytes at {base:#x} overlap {}", record.info),
            });
        }
        let kind = AllocationKind::Registered;
        let info = AllocationInfo { base, size: len, kind, owner: owner.into(), freed_by: None };
        map.live.insert(
            base,
            AllocationRecord {
                info,
                delta: 0,
                read_only: Arc::default(),
                homes: ALL_DEVICES,
                writers: ALL_DEVICES,
                shadow: None,
            },
        );
        Ok(base)
    }

    /// Replaces registrations by [`Memory::register_host`], which begin at these addresses, by others in one
    /// step: bytes in both stay accessible throughout.
    ///
    /// # Safety
    /// As [`Memory::register_host`], for each range that is added.
    ///
    /// # Errors
    /// As [`Memory::register_host`]; nothing has changed then.
    pub unsafe fn replace_registrations(
        &self,
        gone: &[u64],
        added: &[Range<u64>],
        owner: &Arc<str>,
    ) -> Result<(), MemoryError> {
        let mut map = self.write_map();
        let stranger = |range: &&Range<u64>| {
            map.live
                .range(..range.end)
                .rev()
                .take_while(|(_, record)| record.info.base + record.info.size > range.start)
                .any(|(base, _)| !gone.contains(base))
        };
        if let Some(range) = added.iter().find(stranger) {
            let reason = format!("{:#x} to {:#x} overlap an allocation", range.start, range.end);
            return Err(MemoryError::Invalid { reason });
        }
        for base in gone {
            map.live.remove(base);
        }
        for range in added {
            let (base, size) = (range.start, range.end - range.start);
            let info = AllocationInfo {
                base,
                size,
                kind: AllocationKind::Registered,
                owner: owner.clone(),
                freed_by: None,
            };
            let record = AllocationRecord {
                info,
                delta: 0,
                read_only: Arc::default(),
                homes: ALL_DEVICES,
                writers: ALL_DEVICES,
                shadow: None,
            };
            map.live.insert(base, record);
        }
        self.generation.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// As [`Memory::register_host`], but at an address of its own, which only kernels and copies can use. The
    /// same memory may have several such registrations.
    ///
    /// # Safety
    /// As [`Memory::register_host`].
    ///
    /// # Errors
    /// As [`Memory::register_host`]; [`MemoryError::OutOfMemory`] where no addresses are left.
    pub unsafe fn register_host_apart(
        &self,
        pointer: *mut u8,
        len: u64,
        owner: impl Into<Arc<str>>,
    ) -> Result<u64, MemoryError> {
        let start = pointer as u64;
        if start == 0 || len == 0 || start.checked_add(len).is_none() {
            return Err(MemoryError::Invalid {
                reason: format!("{len} bytes at {start:#x} are not a range of host memory"),
            });
        }
        self.pinnable(start, len)?;
        // The offset in the page stays, as kernels may depend on the alignment.
        let within = start % arena::PAGE;
        let placed = lock(&self.device).place(within + len, arena::PAGE);
        let mut map = self.write_map();
        let Some(placed) = placed else {
            return Err(MemoryError::OutOfMemory { requested: len, used: map.used, capacity: self.capacity });
        };
        let base = placed + within;
        let info = AllocationInfo {
            base,
            size: len,
            kind: AllocationKind::Registered,
            owner: owner.into(),
            freed_by: None,
        };
        let delta = start.wrapping_sub(base);
        let record = AllocationRecord {
            info,
            delta,
            read_only: Arc::default(),
            homes: ALL_DEVICES,
            writers: ALL_DEVICES,
            shadow: None,
        };
        map.forget_freed(base..base + len);
        map.live.insert(base, record);
        Ok(base)
    }

    /// Whether a driver could pin host memory.
    ///
    /// # Errors
    /// [`MemoryError::Unpinnable`].
    pub fn pinnable(&self, start: u64, len: u64) -> Result<(), MemoryError> {
        let device = self.device_range();
        let of_device = start <= *device.end() && *device.start() < start.saturating_add(len);
        if of_device || !host::is_mapped(start, len) {
            return Err(MemoryError::Unpinnable { address: start, len });
        }
        Ok(())
    }

    /// Ends a registration by [`Memory::register_host_apart`], as [`Memory::unregister_host`] does.
    ///
    /// # Errors
    /// As [`Memory::unregister_host`].
    pub fn unregister_host_apart(&self, address: u64) -> Result<(), MemoryError> {
        let record = self.forget(address, None, |kind| kind == AllocationKind::Registered)?;
        let within = address % arena::PAGE;
        let size = within + record.info.size;
        let reusable = lock(&self.device).release_addresses(address - within, size);
        self.forget_freed(reusable);
        Ok(())
    }

    /// Ends a registration by [`Memory::register_host`]. Work in flight must not use the range any more.
    ///
    /// # Errors
    /// [`MemoryError::NotAnAllocation`] unless `address` starts a registered range.
    pub fn unregister_host(&self, address: u64) -> Result<(), MemoryError> {
        self.forget(address, None, |kind| kind == AllocationKind::Registered)?;
        // Later registrations of the same host memory are not uses of freed memory.
        self.write_map().freed.remove(&address);
        Ok(())
    }
}
