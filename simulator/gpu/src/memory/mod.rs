// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a simulated GPU: an address space with a map of allocations.
//!
//! One [`Memory`] serves all GPUs of one simulator, so that peers reach each other. Every access, by a kernel
//! or by a copy, is checked against the map before a byte is touched; an error names the nearest allocation
//! and its owner. The host cannot access device memory: its addresses are reserved, and the bytes lie
//! elsewhere (see `arena`). Fresh device memory holds the byte `0xCB`; freed memory is not reused soon.
//!
//! All methods may be called from any thread. Bytes that two threads touch at once race as on a GPU: each
//! aligned word is old or new, never torn; no other order is guaranteed.

pub mod access;
mod allocation;
mod arena;
mod block;
mod error;
mod file;
pub(crate) mod groups;
mod host;
pub(crate) mod lanes;
mod map;
pub mod mappings;
mod pages;
mod physical;
mod place;
mod registration;
mod reservation;
mod resolve;
mod retired;
mod shadow;
mod shared;
#[cfg_attr(not(target_os = "linux"), path = "sharing_elsewhere.rs")]
pub mod sharing;
mod window;

pub use allocation::{AllocationInfo, AllocationKind};
pub use block::Block;
pub use error::MemoryError;
pub use physical::Physical;
pub use place::Place;
pub use window::Grants;
pub use window::{ALL_DEVICES, MemoryUse, Windows};

use arena::Arena;
use map::{AllocationRecord, Map};
use shadow::Shadow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// How to set up a [`Memory`].
#[derive(Clone, Debug)]
pub struct MemoryOptions {
    /// The most bytes that allocations of device, fine-grained, managed and code memory take together.
    pub capacity: u64,
    /// Whether fresh device memory is filled with a pattern (`0xCB`).
    pub poison: bool,
    /// Whether written bytes of device memory are tracked, so that reads of other bytes can be reported.
    pub track_writes: bool,
    /// Whether kernels may access the rest of an allocation's last page.
    pub page_bounds: bool,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self { capacity: 16 << 30, poison: true, track_writes: false, page_bounds: false }
    }
}

/// How much memory is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes in live allocations that count against the capacity.
    pub used: u64,
    /// The capacity in bytes.
    pub total: u64,
    /// Live allocations of every kind.
    pub allocations: usize,
}

/// Why a kernel may not use memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// It belongs to this device, whose memory was not opened to the kernel's own.
    Device(u32),
    /// It is a mapping, and the kernel's device has no access to it.
    Mapping,
}

/// The memory of one simulator.
pub struct Memory {
    // Declared before the arenas and so dropped first: no address may resolve once they are unmapped.
    map: RwLock<Map>,
    device: Mutex<Arena>,
    host: Mutex<Arena>,
    /// Memory without addresses.
    store: Mutex<file::Store>,
    /// The files of allocations that other processes may map, by their first address.
    exported: Mutex<BTreeMap<u64, Arc<sharing::SharedFile>>>,
    /// Launch blocks free for reuse.
    blocks: Mutex<Vec<u64>>,
    /// Changes whenever an address may have become invalid, or closed to a kernel; see [`Windows`].
    generation: AtomicU64,
    capacity: u64,
    poison: bool,
    track_writes: bool,
    page_bounds: bool,
}

impl Memory {
    /// Reserves address space for a simulator's memory.
    ///
    /// # Errors
    /// [`MemoryError::Reservation`] if the process cannot reserve as much address space as `options.capacity`.
    pub fn new(options: MemoryOptions) -> Result<Arc<Self>, MemoryError> {
        const ROOM: u64 = 64 << 30;
        let wish = options.capacity.saturating_mul(4).saturating_add(ROOM);
        let least = options.capacity.saturating_add(options.capacity / 8);
        let reserve =
            |split| Arena::reserve(wish, least, split).map_err(|reason| MemoryError::Reservation { reason });
        Ok(Arc::new(Self {
            map: RwLock::default(),
            device: Mutex::new(reserve(true)?),
            host: Mutex::new(reserve(false)?),
            store: Mutex::default(),
            exported: Mutex::default(),
            blocks: Mutex::default(),
            generation: AtomicU64::new(0),
            capacity: options.capacity,
            poison: options.poison,
            track_writes: options.track_writes,
            page_bounds: options.page_bounds,
        }))
    }

    /// Allocates `size` bytes aligned to `align`, a power of two, and to at least 4096. A size of zero gives
    /// an address of its own that must not be accessed. `owner` is named in messages about the allocation.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] past the capacity, [`MemoryError::Invalid`] for an alignment that is not a power
    /// of two and for [`AllocationKind::Registered`] and [`AllocationKind::Mapped`].
    pub fn allocate(
        &self,
        size: u64,
        align: u64,
        kind: AllocationKind,
        owner: impl Into<Arc<str>>,
    ) -> Result<u64, MemoryError> {
        if !align.is_power_of_two() {
            return Err(MemoryError::Invalid { reason: format!("alignment {align} is not a power of two") });
        }
        let arena = match kind {
            AllocationKind::Device | AllocationKind::Code | AllocationKind::Launch => &self.device,
            AllocationKind::HostPinned | AllocationKind::Managed | AllocationKind::FineGrained => &self.host,
            AllocationKind::Registered | AllocationKind::Mapped | AllocationKind::Reserved => {
                return Err(MemoryError::Invalid { reason: "such memory is not allocated".into() });
            }
        };
        let counted = if kind.counts() { size } else { 0 };
        let out_of_memory =
            |used| MemoryError::OutOfMemory { requested: size, used, capacity: self.capacity };
        {
            let mut map = self.write_map();
            match map.used.checked_add(counted) {
                Some(used) if used <= self.capacity => map.used = used,
                _ => return Err(out_of_memory(map.used)),
            }
        }
        let mut guard = lock(arena);
        let Some(base) = guard.place(size, align) else {
            drop(guard);
            let mut map = self.write_map();
            map.used -= counted;
            return Err(out_of_memory(map.used));
        };
        let delta = guard.delta();
        if self.poison
            && matches!(kind, AllocationKind::Device | AllocationKind::Managed | AllocationKind::FineGrained)
        {
            guard.poison(base, size);
        } else if size > 0 {
            guard.clear(base, size);
        }
        let info = AllocationInfo { base, size, kind, owner: owner.into(), freed_by: None };
        // The host writes the other kinds without notice.
        let tracked = self.track_writes && kind == AllocationKind::Device;
        let shadow = tracked.then(|| Arc::new(Shadow::new(size)));
        let mut map = self.write_map();
        map.forget_freed(base..base + size.max(1));
        map.live.insert(
            base,
            AllocationRecord {
                info,
                delta,
                read_only: Arc::default(),
                homes: ALL_DEVICES,
                writers: ALL_DEVICES,
                shadow,
            },
        );
        Ok(base)
    }

    /// Makes parts of the allocation that starts at `base` read-only for kernels. Copies and fills may still
    /// write them.
    ///
    /// # Errors
    /// [`MemoryError::NotAnAllocation`] unless a live allocation starts there.
    pub fn protect(&self, base: u64, read_only: &[Range<u64>]) -> Result<(), MemoryError> {
        let mut map = self.write_map();
        let Some(record) = map.live.get_mut(&base) else {
            return Err(MemoryError::NotAnAllocation { address: base, place: map.place(base) });
        };
        record.read_only = read_only.into();
        self.generation.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Why kernels of this reach may not use the memory at an address, if there is memory. A kernel that may read it and
    /// not write it is no such case.
    pub fn closed(&self, address: u64, reach: Grants) -> Option<Closed> {
        let map = self.read_map();
        let record = map.at_or_before(address).filter(|record| record.contains(address))?;
        match record.info.kind {
            _ if record.is_reached(reach, MemoryUse::Read) => None,
            AllocationKind::Mapped => Some(Closed::Mapping),
            _ => Some(Closed::Device(record.homes.trailing_zeros())),
        }
    }

    /// Whether a range lies in one live allocation, or in mappings without a gap.
    pub fn holds(&self, address: u64, len: u64) -> bool {
        self.read_map().holding(address, len).is_some()
    }

    /// Frees the allocation that starts at `address`. Its addresses are not reused soon.
    ///
    /// # Errors
    /// [`MemoryError::NotAnAllocation`] unless [`Memory::allocate`] returned `address` and it was not freed yet.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        self.free_as(address, None)
    }

    /// As [`Memory::free`]. Messages about later uses name `by`.
    ///
    /// # Errors
    /// As [`Memory::free`].
    pub fn free_as(&self, address: u64, by: Option<Arc<str>>) -> Result<(), MemoryError> {
        let record = self.forget(address, by, |kind| {
            !matches!(kind, AllocationKind::Registered | AllocationKind::Mapped)
        })?;
        let AllocationInfo { base, size, .. } = record.info;
        self.end_export(base, size);
        let reusable = lock(self.arena_of(base)).release(base, size);
        self.forget_freed(reusable);
        Ok(())
    }

    /// Forgets freed allocations whose addresses may be reused.
    fn forget_freed(&self, reusable: Option<Range<u64>>) {
        if let Some(range) = reusable {
            self.write_map().forget_freed(range);
        }
    }

    /// Releases the bytes of all allocations, and keeps their addresses: the host reads zeros there from now
    /// on.
    pub fn forget_contents(&self) {
        // On other systems bytes are released only with their addresses.
        if !pages::Pages::CAN_SPLIT {
            return;
        }
        for arena in [&self.device, &self.host] {
            let arena = lock(arena);
            let range = arena.range();
            arena.clear(*range.start(), range.end() - range.start() + 1);
        }
    }

    /// The live allocation that contains an address.
    pub fn lookup(&self, address: u64) -> Option<AllocationInfo> {
        let map = self.read_map();
        map.at_or_before(address).filter(|record| record.contains(address)).map(|record| record.info.clone())
    }

    /// The place of an address, relative to the nearest allocation.
    pub fn place(&self, address: u64) -> Place {
        /// The most bytes that a struct member or an array element is assumed to lie behind a null pointer.
        const NULL: u64 = 4096;
        let place = self.read_map().place(address);
        let known = matches!(place, Place::Inside(..) | Place::Freed(..));
        if known || self.device_range().contains(&address) || lock(&self.host).contains(address) {
            return place;
        }
        if let Some(place) = self.read_map().host_side(address) {
            return place;
        }
        match host::mapping(address) {
            _ if address < NULL => Place::Null,
            // Registered memory is surrounded by host memory, so the registration is the better name.
            Some(_) if matches!(place, Place::Past(..) | Place::Before(..)) => place,
            Some(name) => Place::Host(name.into()),
            None => place,
        }
    }

    /// The host's address of a byte of an allocation. The host may read it as long as the allocation lives.
    pub fn host_address(&self, address: u64) -> Option<u64> {
        let map = self.read_map();
        let record = map.at_or_before(address).filter(|record| record.contains(address))?;
        Some(address.wrapping_add(record.delta))
    }

    /// How much memory is in use.
    pub fn usage(&self) -> Usage {
        let map = self.read_map();
        Usage { used: map.used, total: self.capacity, allocations: map.live.len() }
    }

    /// Reads device memory.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless the whole range is inside one live allocation; nothing is read then.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        self.span(address, bytes.len() as u64)?.read(bytes);
        Ok(())
    }

    /// Writes device memory.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless the whole range is inside one live allocation; nothing is written then.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.span(address, bytes.len() as u64)?.write(bytes);
        self.note_write(address, bytes.len() as u64);
        Ok(())
    }

    /// Reads device memory into host memory that others may touch at the same time.
    ///
    /// # Safety
    /// `destination` is valid for writes of `len` bytes.
    ///
    /// # Errors
    /// As [`Memory::read`].
    pub unsafe fn read_raw(&self, address: u64, destination: *mut u8, len: u64) -> Result<(), MemoryError> {
        let span = self.span(address, len)?;
        // SAFETY: the caller guarantees the host side.
        unsafe { span.read_raw(destination) };
        Ok(())
    }

    /// Writes device memory from host memory that others may touch at the same time.
    ///
    /// # Safety
    /// `source` is valid for reads of `len` bytes.
    ///
    /// # Errors
    /// As [`Memory::write`].
    pub unsafe fn write_raw(&self, address: u64, source: *const u8, len: u64) -> Result<(), MemoryError> {
        let span = self.span(address, len)?;
        // SAFETY: the caller guarantees the host side.
        unsafe { span.write_raw(source) };
        self.note_write(address, len);
        Ok(())
    }

    /// Fills `len` bytes with a repeated pattern; the last repetition may be cut short.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] as for [`Memory::write`], [`MemoryError::Invalid`] for an empty pattern.
    pub fn fill(&self, address: u64, pattern: &[u8], len: u64) -> Result<(), MemoryError> {
        if pattern.is_empty() {
            return Err(MemoryError::Invalid { reason: "an empty fill pattern".into() });
        }
        self.span(address, len)?.fill(pattern);
        self.note_write(address, len);
        Ok(())
    }

    /// Copies within device memory; ranges that overlap are copied as if through a temporary buffer.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] unless both ranges are inside live allocations; nothing is written then.
    pub fn copy(&self, destination: u64, source: u64, len: u64) -> Result<(), MemoryError> {
        let from = self.span(source, len)?;
        let to = self.span(destination, len)?;
        to.copy_from(&from);
        self.note_copy(destination, source, len);
        Ok(())
    }

    /// Whether written bytes are tracked.
    #[inline]
    pub(crate) fn tracks_writes(&self) -> bool {
        self.track_writes
    }

    /// Notes that bytes were written, if writes are tracked.
    pub fn note_write(&self, address: u64, len: u64) {
        if let Some((shadow, held)) = self.shadow(address, len) {
            shadow.mark(held.start, held.end - held.start);
        }
    }

    /// The first byte of a range that was never written; `None` if writes are not tracked.
    pub(crate) fn first_unwritten(&self, address: u64, len: u64) -> Option<u64> {
        let (shadow, held) = self.shadow(address, len)?;
        Some(address - held.start + shadow.first_unwritten(held.start, held.end - held.start)?)
    }

    fn note_copy(&self, destination: u64, source: u64, len: u64) {
        match (self.shadow(destination, len), self.shadow(source, len)) {
            (Some((to, at)), Some((from, from_at))) => to.copy(at.start, &from, from_at.start, len),
            (Some((to, at)), None) => to.mark(at.start, len),
            (None, _) => {}
        }
    }

    /// The shadow of the allocation that a range begins in, and the offsets of the part of the range that
    /// lies in it.
    fn shadow(&self, address: u64, len: u64) -> Option<(Arc<Shadow>, Range<u64>)> {
        if !self.track_writes {
            return None;
        }
        let map = self.read_map();
        let record = map.at_or_before(address).filter(|record| record.holds(address, 0))?;
        let offset = address - record.info.base;
        Some((record.shadow.clone()?, offset..record.info.size.min(offset.saturating_add(len))))
    }

    fn forget(
        &self,
        address: u64,
        by: Option<Arc<str>>,
        admits: impl Fn(AllocationKind) -> bool,
    ) -> Result<AllocationRecord, MemoryError> {
        let mut map = self.write_map();
        match map.live.get(&address) {
            Some(record) if admits(record.info.kind) => {}
            _ => return Err(MemoryError::NotAnAllocation { address, place: map.place(address) }),
        }
        self.generation.fetch_add(1, Ordering::Release);
        let Some(record) = map.live.remove(&address) else {
            return Err(MemoryError::NotAnAllocation { address, place: Place::Nowhere });
        };
        if record.info.kind.counts() {
            map.used = map.used.saturating_sub(record.info.size);
        }
        map.freed.insert(address, AllocationInfo { freed_by: by, ..record.info.clone() });
        Ok(record)
    }

    fn read_map(&self) -> RwLockReadGuard<'_, Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_map(&self) -> RwLockWriteGuard<'_, Map> {
        self.map.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The addresses that [`AllocationKind::Device`] allocations come from.
    pub fn device_range(&self) -> RangeInclusive<u64> {
        lock(&self.device).range()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
