// SPDX-License-Identifier: MIT OR Apache-2.0
//! The address space: slabs at addresses that the host cannot use, and the lookup of an address.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use windlass_hal::{
    Accounts, Error, MemoryType, Result, Statistics, driver,
    edge::Domain,
    host_memory::HostMemory,
    pool::{SlabRequest, SlabSource},
};

use crate::buffer::Slab;

/// The memory of one device. Clones are handles of the same memory.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Shared>);

struct Shared {
    domain: Domain,
    total: u64,
    map: Mutex<Map>,
    accounts: Accounts,
}

/// The slabs by address. Addresses are never reused, so a stale address finds no slab.
struct Map {
    next: u64,
    taken: u64,
    slabs: BTreeMap<u64, Weak<HostMemory>>,
}

/// The content of fresh memory, so that a read before the first write does not look right by accident.
const POISON: u8 = 0xcd;
/// The lowest address. Small numbers that a program mistakes for addresses lie below.
const FIRST_ADDRESS: u64 = 1 << 32;
/// The bytes between two slabs that belong to neither.
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

    /// The slab that contains an address, with the address of its first byte.
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

    fn free(&self, address: u64, kind: MemoryType, size: u64) {
        let mut map = self.lock();
        map.slabs.remove(&address);
        map.taken -= size;
        drop(map);
        self.accounts.unreserve(kind, size);
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
        let shared = self.0.clone();
        Ok(Arc::new(Slab::new(self.0.domain, memory, address, kind, move || {
            shared.free(address, kind, size)
        })))
    }

    /// The stream has run all users of the memory when it reaches the dealloca, so no release has to wait.
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
