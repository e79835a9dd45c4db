// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual memory: reserved addresses, memory without addresses, and mappings of one to the other.

use std::sync::Arc;

use crate::handles::{HandleKind, Handles};
use crate::memory::mappings::{MappingError, Mappings, NO_ACCESS};
use crate::memory::{self, Memory};

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
    mappings: Mappings<Physical>,
}

/// Memory without addresses for clients. It is freed with its handle and its last mapping.
pub(crate) struct Physical {
    pub(crate) pool: Pool,
    bytes: memory::Physical,
    /// The address of an allocation that counts against the pool's memory, which nothing else uses.
    base: u64,
    holdings: Arc<Holdings>,
}

impl AsRef<memory::Physical> for Physical {
    fn as_ref(&self) -> &memory::Physical {
        &self.bytes
    }
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
        let handles = Handles::new(HandleKind::VmemHandle, 0);
        Self { handles, mappings: Mappings::new(memory.clone()), memory }
    }

    /// Reserves addresses, aligned to a power of two of at least a page, or to a page for 0. Requests for
    /// certain addresses are ignored, as HSA allows.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an invalid size or alignment, `OUT_OF_RESOURCES`.
    pub(crate) fn reserve(&self, size: u64, align: u64, by: Arc<str>) -> Outcome<u64> {
        let align = if align == 0 { GRANULE } else { align };
        if size == 0 || !size.is_multiple_of(GRANULE) || !align.is_power_of_two() || align < GRANULE {
            return Err(Status::INVALID_ARGUMENT);
        }
        self.mappings.reserve(size, align, by).map_err(|_| Status::OUT_OF_RESOURCES)
    }

    /// Releases a reservation.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` unless it is one, `RESOURCE_FREE` if it has a mapping.
    pub(crate) fn unreserve(&self, base: u64, size: u64) -> Outcome<()> {
        self.mappings.unreserve(base, size).map_err(|error| match error {
            MappingError::Occupied => Status::RESOURCE_FREE,
            _ => Status::INVALID_ALLOCATION,
        })
    }

    /// Memory of a pool without addresses.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an invalid size, `OUT_OF_RESOURCES`, and as [`Holdings::allocate`].
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
        let base = holdings.allocate(pool, size, by.clone())?;
        // Kernels access it only by its mappings.
        self.memory.set_homes(base, 0);
        match self.memory.physical(size) {
            Ok(bytes) => self.handle(Arc::new(Physical { pool, bytes, base, holdings: holdings.clone() })),
            Err(error) => {
                tracing::error!(target: "windlass::sim", %error, "no memory without addresses");
                holdings.free(base, by)?;
                Err(Status::OUT_OF_RESOURCES)
            }
        }
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
        self.handle(self.mappings.physical(address).ok_or(Status::INVALID_ALLOCATION)?)
    }

    /// Maps memory of a handle to reserved addresses.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for addresses that are not reserved or have a mapping, and for bytes that the memory lacks;
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
        let fits = size > 0 && [base, size, offset].iter().all(|number| number.is_multiple_of(GRANULE));
        if !fits {
            return Err(Status::INVALID_ARGUMENT);
        }
        self.mappings.map(base, size, physical, offset, by).map_err(|_| Status::INVALID_ARGUMENT)
    }

    /// Ends a mapping.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` unless it is one.
    pub(crate) fn unmap(&self, base: u64, size: u64, by: Arc<str>) -> Outcome<()> {
        self.mappings.unmap(base, size, by).map(drop).map_err(|_| Status::INVALID_ALLOCATION)
    }

    /// Sets the access of agents to the mappings in a range: none (0), read (1), write (2) or both (3).
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if the range is not mapped throughout, `INVALID_ARGUMENT` for another number and if the host is
    /// to access the memory.
    pub(crate) fn set_access(&self, base: u64, size: u64, access: &[(Which, u32)]) -> Outcome<()> {
        let mut of_gpus = Vec::new();
        for (agent, permissions) in access {
            match agent.gpu() {
                _ if *permissions > 3 => return Err(Status::INVALID_ARGUMENT),
                Some(gpu) => of_gpus.push((gpu, *permissions)),
                None if *permissions != NO_ACCESS => {
                    tracing::error!(
                        target: "windlass::sim",
                        "hsa_amd_vmem_set_access: the simulated HSA does not map virtual memory for the host"
                    );
                    return Err(Status::INVALID_ARGUMENT);
                }
                None => {}
            }
        }
        let set = self.mappings.set_access(base, size, &of_gpus);
        set.map_err(|_| Status::INVALID_ALLOCATION)
    }

    /// The access of an agent at an address.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` if nothing is mapped there.
    pub(crate) fn access(&self, address: u64, agent: Which) -> Outcome<u32> {
        let access = self.mappings.access(address, agent.gpu().unwrap_or(usize::MAX));
        access.ok_or(Status::INVALID_ALLOCATION)
    }

    fn handle(&self, physical: Arc<Physical>) -> Outcome<VmemHandle> {
        let handle = self.handles.insert(physical).ok_or(Status::OUT_OF_RESOURCES)?;
        Ok(VmemHandle { handle: handle.get() })
    }
}
