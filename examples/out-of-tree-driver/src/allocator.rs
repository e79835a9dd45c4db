// SPDX-License-Identifier: MIT OR Apache-2.0
//! The address space: slabs at addresses that the host cannot use, buffers, and the lookup of an address.

use std::{
    any::Any,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, atomic::AtomicU8},
};

use windlass_hal::{
    Accounts, Error, MemoryType, Result, Statistics,
    driver::{self, HostPointer},
    edge::Domain,
    host_memory::HostMemory,
    pool::{SlabRequest, SlabSource},
};

/// The memory of one device. Clones are handles of the same.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Shared>);

struct Shared {
    domain: Domain,
    total: u64,
    map: Mutex<Map>,
    accounts: Accounts,
}

/// What is where. Addresses are never used again, so that a stale one leads nowhere.
struct Map {
    next: u64,
    taken: u64,
    slabs: BTreeMap<u64, Weak<HostMemory>>,
}

/// What fresh memory holds, so that reading it before writing it does not look right by accident.
const POISON: u8 = 0xcd;
/// Nothing lies below, where small numbers that were taken for addresses lead.
const FIRST_ADDRESS: u64 = 1 << 32;
/// Addresses between two slabs that belong to neither.
const GAP: u64 = 4096;

impl Memory {
    /// The alignment of slabs in bytes.
    pub(crate) const ALIGNMENT: u64 = 256;

    pub(crate) fn new(domain: Domain, total: u64) -> Self {
        let map = Mutex::new(Map { next: FIRST_ADDRESS, taken: 0, slabs: BTreeMap::new() });
        Self(Arc::new(Shared { domain, total, map, accounts: Accounts::default() }))
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.0.accounts.statistics()
    }

    /// The slab that an address is in, with the address of its first byte.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, Arc<HostMemory>)> {
        let map = self.0.lock();
        let (start, memory) = map.slabs.range(..=address).next_back()?;
        let memory = memory.upgrade()?;
        (address - start < memory.bytes().len() as u64).then_some((*start, memory))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Map> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SlabSource for Memory {
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::RawBuffer>> {
        let (size, kind) = (request.size, request.params.memory_type);
        let mut map = self.0.lock();
        let free = self.0.total - map.taken;
        if size > free {
            return Err(Error::resource_exhausted(format!(
                "{size} bytes of a machine with {free} free of {}; release buffers, or open postfix://?memory=BYTES",
                self.0.total
            )));
        }
        let memory = Arc::new(HostMemory::new(size, Self::ALIGNMENT, POISON)?);
        let address = map.next;
        map.next = (address + size + GAP).next_multiple_of(Self::ALIGNMENT);
        map.taken += size;
        map.slabs.insert(address, Arc::downgrade(&memory));
        drop(map);
        self.0.accounts.reserve(kind, size);
        Ok(Arc::new(Slab { shared: self.0.clone(), memory, address, kind }))
    }

    /// Memory goes back when the stream comes to the dealloca, with nothing left to wait for.
    fn has_retired(&self, _lane: u32, _epoch: u64) -> bool {
        true
    }

    fn poll(&self) {}

    fn usable(&self) -> Result<()> {
        Ok(())
    }

    fn accounts(&self) -> &Accounts {
        &self.0.accounts
    }
}

/// One piece of memory: what the driver finds behind every buffer of its own.
pub(crate) struct Slab {
    shared: Arc<Shared>,
    memory: Arc<HostMemory>,
    address: u64,
    kind: MemoryType,
}

// SAFETY: size, address and pointer are those of the memory that this object owns and never replaces.
unsafe impl driver::RawBuffer for Slab {
    fn domain(&self) -> Domain {
        self.shared.domain
    }

    fn size(&self) -> u64 {
        self.memory.bytes().len() as u64
    }

    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        let visible = self.kind.contains(MemoryType::HOST_VISIBLE);
        // SAFETY: the memory is `size` bytes long, lives as long as this object and is never moved; only references to
        // atomics lead to it.
        visible.then(|| unsafe { HostPointer::new(self.memory.start()) })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        let size = self.memory.bytes().len() as u64;
        let mut map = self.shared.lock();
        map.slabs.remove(&self.address);
        map.taken -= size;
        drop(map);
        self.shared.accounts.unreserve(self.kind, size);
    }
}

/// The bytes of a range.
pub(crate) fn bytes_of(range: &windlass_hal::Buffer) -> Result<&[AtomicU8]> {
    let (raw, start) = range.backing();
    let slab: Option<&Slab> = raw.as_any().downcast_ref();
    let (start, end) = (start as usize, (start + range.len()) as usize);
    slab.and_then(|slab| slab.memory.bytes().get(start..end))
        .ok_or_else(|| Error::internal(format!("{range:?} is no memory of the postfix machine")))
}
