// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual memory: reserved addresses, memory without addresses, and mappings of one to the other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::handles::{HandleKind, Handles};
use crate::memory::Memory;

use super::abi::VmemHandle;
use super::agent::Which;
use super::holding::Holdings;
use super::pool::Pool;
use super::status::{Outcome, Status};

/// Sizes and offsets are multiples of this.
pub(crate) const GRANULE: u64 = 4096;

/// The virtual memory of a runtime.
pub(crate) struct VirtualMemory {
    memory: Arc<Memory>,
    handles: Handles<Physical>,
    state: Mutex<MappingsState>,
}

#[derive(Default)]
struct MappingsState {
    /// Sizes of reservations, by their first address.
    reserved: BTreeMap<u64, u64>,
    mapped: BTreeMap<u64, Mapping>,
}

/// Memory without addresses for clients. It is freed with its handle and its last mapping.
pub(crate) struct Physical {
    pub(crate) pool: Pool,
    size: u64,
    /// Its address, which no kernel may use.
    base: u64,
    holdings: Arc<Holdings>,
}

struct Mapping {
    size: u64,
    physical: Arc<Physical>,
    /// `hsa_access_permission_t` by agent.
    access: BTreeMap<u64, u32>,
}

impl Drop for Physical {
    fn drop(&mut self) {
        // Only the handle has its address, so it has no watchers.
        if let Err(status) = self.holdings.free(self.base, "hsa_amd_vmem_handle_release".into()) {
            tracing::error!(target: "windlass::sim", ?status, "memory without addresses was not freed");
        }
    }
}

impl VirtualMemory {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, handles: Handles::new(HandleKind::VmemHandle, 0), state: Mutex::default() }
    }

    /// Reserves addresses, aligned to a power of two of at least a page, or to a page for 0. Requests for
    /// certain addresses are ignored, as HSA allows.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an invalid size or alignment, `OUT_OF_RESOURCES`.
    pub(crate) fn reserve(&self, size: u64, align: u64) -> Outcome<u64> {
        let align = if align == 0 { GRANULE } else { align };
        if size == 0 || !size.is_multiple_of(GRANULE) || !align.is_power_of_two() || align < GRANULE {
            return Err(Status::INVALID_ARGUMENT);
        }
        let base = self.memory.reserve(size, align).map_err(|_| Status::OUT_OF_RESOURCES)?;
        self.lock().reserved.insert(base, size);
        Ok(base)
    }

    /// Releases a reservation.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` unless it is one, `RESOURCE_FREE` if it has a mapping.
    pub(crate) fn unreserve(&self, base: u64, size: u64) -> Outcome<()> {
        let mut state = self.lock();
        if state.reserved.get(&base) != Some(&size) {
            return Err(Status::INVALID_ALLOCATION);
        }
        if state.mapped.range(base..base + size).next().is_some() {
            return Err(Status::RESOURCE_FREE);
        }
        state.reserved.remove(&base);
        self.memory.unreserve(base, size);
        Ok(())
    }

    /// Memory of a pool without addresses.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an invalid size, and as [`Holdings::allocate`].
    pub(crate) fn create(
        &self,
        holdings: &Arc<Holdings>,
        pool: Pool,
        size: u64,
        by: Arc<str>,
    ) -> Outcome<VmemHandle> {
        if size == 0 || !size.is_multiple_of(GRANULE) {
            return Err(Status::INVALID_ARGUMENT);
        }
        let base = holdings.allocate(pool, size, by)?;
        // Kernels access it only by its mappings.
        self.memory.set_homes(base, 0);
        let physical = Physical { pool, size, base, holdings: holdings.clone() };
        self.handle(Arc::new(physical))
    }

    /// # Errors
    /// `INVALID_ALLOCATION`.
    pub(crate) fn release(&self, handle: VmemHandle) -> Outcome<()> {
        self.handles.remove(handle.handle).map(drop).ok_or(Status::INVALID_ALLOCATION)
    }

    /// # Errors
    /// `INVALID_ALLOCATION`.
    pub(crate) fn physical(&self, handle: VmemHandle) -> Outcome<Arc<Physical>> {
        self.handles.get(handle.handle).ok_or(Status::INVALID_ALLOCATION)
    }

    /// Another handle of the memory that is mapped at an address.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if nothing is mapped there.
    pub(crate) fn retain(&self, address: u64) -> Outcome<VmemHandle> {
        let physical = {
            let state = self.lock();
            let (_, mapping) = state.at(address).ok_or(Status::INVALID_ALLOCATION)?;
            mapping.physical.clone()
        };
        self.handle(physical)
    }

    /// Maps all of the memory of a handle to reserved addresses.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for addresses that are not reserved or have a mapping, and for a part of the memory;
    /// `INVALID_ALLOCATION` for an invalid handle.
    pub(crate) fn map(
        &self,
        base: u64,
        size: u64,
        offset: u64,
        handle: VmemHandle,
        by: Arc<str>,
    ) -> Outcome<()> {
        let physical = self.physical(handle)?;
        let fits = size > 0
            && size.is_multiple_of(GRANULE)
            && offset.checked_add(size).is_some_and(|end| end <= physical.size);
        let mut state = self.lock();
        if !fits
            || !base.is_multiple_of(GRANULE)
            || !offset.is_multiple_of(GRANULE)
            || !state.is_reserved(base, size)
        {
            return Err(Status::INVALID_ARGUMENT);
        }
        let mapped = self.memory.map_to(base, size, physical.base + offset, by);
        mapped.map_err(|_| Status::INVALID_ARGUMENT)?;
        state.mapped.insert(base, Mapping { size, physical, access: BTreeMap::new() });
        Ok(())
    }

    /// Ends a mapping.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` unless it is one.
    pub(crate) fn unmap(&self, base: u64, size: u64, by: Arc<str>) -> Outcome<()> {
        let mut state = self.lock();
        if state.mapped.get(&base).is_none_or(|mapping| mapping.size != size) {
            return Err(Status::INVALID_ALLOCATION);
        }
        self.memory.unmap(base, by).map_err(|_| Status::INVALID_ALLOCATION)?;
        let gone = state.mapped.remove(&base);
        drop(state);
        drop(gone);
        Ok(())
    }

    /// Sets the access of agents to the mappings in a range: none (0), read (1), write (2) or both (3).
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if the range is not mapped throughout, `INVALID_ARGUMENT` for another number and if the host is
    /// to access the memory.
    pub(crate) fn set_access(&self, base: u64, size: u64, access: &[(Which, u32)]) -> Outcome<()> {
        let end = base.checked_add(size).ok_or(Status::INVALID_ARGUMENT)?;
        let mut state = self.lock();
        let mappings = state.mapped.range(base..end).map(|(start, mapping)| (*start, start + mapping.size));
        let reached =
            mappings.fold(base, |reached, (start, next)| if start == reached { next } else { reached });
        if reached != end || size == 0 {
            return Err(Status::INVALID_ALLOCATION);
        }
        for (agent, permissions) in access {
            if *permissions > 3 {
                return Err(Status::INVALID_ARGUMENT);
            }
            if *agent == Which::Cpu && *permissions != 0 {
                tracing::error!(
                    target: "windlass::sim",
                    "hsa_amd_vmem_set_access: the simulated HSA does not map virtual memory for the host"
                );
                return Err(Status::INVALID_ARGUMENT);
            }
        }
        for (start, mapping) in state.mapped.range_mut(base..end) {
            for (agent, permissions) in access {
                mapping.access.insert(agent.handle().handle, *permissions);
            }
            let may = |agent: Which, bits: u32| {
                mapping.access.get(&agent.handle().handle).is_some_and(|permissions| permissions & bits != 0)
            };
            let gpus = (0..64).map(Which::Gpu);
            let homes = gpus
                .clone()
                .filter(|gpu| may(*gpu, 3))
                .fold(0, |homes, gpu| homes | 1 << gpu.gpu().unwrap_or(0));
            let writable = gpus.clone().any(|gpu| may(gpu, 2));
            self.memory.set_access(*start, homes, writable);
        }
        Ok(())
    }

    /// The access of an agent at an address.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if nothing is mapped there.
    pub(crate) fn access(&self, address: u64, agent: Which) -> Outcome<u32> {
        let state = self.lock();
        let (_, mapping) = state.at(address).ok_or(Status::INVALID_ALLOCATION)?;
        Ok(mapping.access.get(&agent.handle().handle).copied().unwrap_or(0))
    }

    fn handle(&self, physical: Arc<Physical>) -> Outcome<VmemHandle> {
        let handle = self.handles.insert(physical).ok_or(Status::OUT_OF_RESOURCES)?;
        Ok(VmemHandle { handle: handle.get() })
    }

    fn lock(&self) -> MutexGuard<'_, MappingsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MappingsState {
    fn at(&self, address: u64) -> Option<(u64, &Mapping)> {
        let (base, mapping) = self.mapped.range(..=address).next_back()?;
        (address - base < mapping.size).then_some((*base, mapping))
    }

    fn is_reserved(&self, base: u64, size: u64) -> bool {
        let Some((start, length)) = self.reserved.range(..=base).next_back() else { return false };
        base.checked_add(size).is_some_and(|end| end <= start + length)
    }
}
