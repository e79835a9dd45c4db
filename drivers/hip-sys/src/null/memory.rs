// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null HIP's memory: zeroed host memory under distinct, aligned addresses.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::bindings::{c_int, hipError_t};

/// The kind of memory at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryKind {
    Device,
    Host,
    Managed,
    /// Registered host memory, which the caller owns.
    Registered,
}

#[derive(Debug)]
struct Allocation {
    size: usize,
    kind: MemoryKind,
    device: c_int,
    flags: u32,
    /// The block to return to the system allocator; `None` for registered memory.
    storage: Option<(*mut u8, Layout)>,
}

/// The properties of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) base: usize,
    pub(super) size: usize,
    pub(super) kind: MemoryKind,
    pub(super) device: c_int,
    pub(super) flags: u32,
}

/// All allocations of an instance, by address.
#[derive(Debug)]
pub(super) struct Memory {
    capacity: usize,
    allocations: Mutex<BTreeMap<usize, Allocation>>,
}

// SAFETY: an allocation owns its storage, and the thread that removes it from the map frees it.
unsafe impl Send for Memory {}
// SAFETY: as for Send; the map is behind a mutex.
unsafe impl Sync for Memory {}

/// The alignment of `hipMalloc`.
const ALIGNMENT: usize = 256;

impl Memory {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, allocations: Mutex::new(BTreeMap::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Allocation>> {
        self.allocations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates `size` bytes, which must not be zero, and returns their address.
    pub(super) fn allocate(
        &self,
        size: usize,
        kind: MemoryKind,
        device: c_int,
        flags: u32,
    ) -> Result<usize, hipError_t> {
        const OUT_OF_MEMORY: hipError_t = hipError_t::hipErrorOutOfMemory;
        // Aligned by hand: the system's zeroed memory costs nothing until it is used only at the system's own
        // alignment.
        let padded = size.checked_add(ALIGNMENT).ok_or(OUT_OF_MEMORY)?;
        let layout = Layout::from_size_align(padded, 16).map_err(|_| OUT_OF_MEMORY)?;
        let mut allocations = self.lock();
        if kind == MemoryKind::Device {
            let free = self.capacity.saturating_sub(used(&allocations, device));
            if size > free {
                return Err(OUT_OF_MEMORY);
            }
        }
        // SAFETY: the layout's size includes the padding, so it is not zero.
        let storage = unsafe { std::alloc::alloc_zeroed(layout) };
        if storage.is_null() {
            return Err(OUT_OF_MEMORY);
        }
        // No overflow: the address is at most that of the padding's last byte.
        let address = (storage.expose_provenance() + ALIGNMENT - 1) & !(ALIGNMENT - 1);
        allocations
            .insert(address, Allocation { size, kind, device, flags, storage: Some((storage, layout)) });
        Ok(address)
    }

    /// Records host memory that the caller owns.
    pub(super) fn register(&self, address: usize, size: usize, flags: u32) -> Result<(), hipError_t> {
        let mut allocations = self.lock();
        let before = allocations.range(..address.saturating_add(size)).next_back();
        if before.is_some_and(|(base, known)| *base >= address || address - base < known.size) {
            return Err(hipError_t::hipErrorHostMemoryAlreadyRegistered);
        }
        allocations.insert(
            address,
            Allocation { size, kind: MemoryKind::Registered, device: 0, flags, storage: None },
        );
        Ok(())
    }

    /// Frees the allocation that begins at `address`, if it is of one of these kinds.
    pub(super) fn release(&self, address: usize, kinds: &[MemoryKind]) -> Result<(), hipError_t> {
        let mut allocations = self.lock();
        match allocations.get(&address) {
            Some(allocation) if kinds.contains(&allocation.kind) => {}
            _ => return Err(hipError_t::hipErrorInvalidValue),
        }
        let allocation = allocations.remove(&address);
        drop(allocations);
        free(allocation);
        Ok(())
    }

    /// The allocation that holds `address`.
    pub(super) fn find(&self, address: usize) -> Option<Range> {
        let allocations = self.lock();
        let (base, allocation) = allocations.range(..=address).next_back()?;
        (address - base < allocation.size).then_some(Range {
            base: *base,
            size: allocation.size,
            kind: allocation.kind,
            device: allocation.device,
            flags: allocation.flags,
        })
    }

    /// The free and the total bytes of a device.
    pub(super) fn device_bytes(&self, device: c_int) -> (usize, usize) {
        (self.capacity.saturating_sub(used(&self.lock(), device)), self.capacity)
    }

    /// The number of allocations, and their bytes.
    pub(super) fn live(&self) -> (usize, usize) {
        let allocations = self.lock();
        (allocations.len(), allocations.values().map(|allocation| allocation.size).sum())
    }
}

fn used(allocations: &BTreeMap<usize, Allocation>, device: c_int) -> usize {
    let on_device =
        |allocation: &&Allocation| allocation.kind == MemoryKind::Device && allocation.device == device;
    allocations.values().filter(on_device).map(|allocation| allocation.size).sum()
}

fn free(allocation: Option<Allocation>) {
    if let Some(Allocation { storage: Some((storage, layout)), .. }) = allocation {
        // SAFETY: from alloc_zeroed with this layout, and removed from the map, so freed once.
        unsafe { std::alloc::dealloc(storage, layout) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let allocations = std::mem::take(self.allocations.get_mut().unwrap_or_else(PoisonError::into_inner));
        for (_, allocation) in allocations {
            free(Some(allocation));
        }
    }
}
