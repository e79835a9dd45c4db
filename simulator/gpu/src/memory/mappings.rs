// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reservations of addresses, the memory that is mapped to them, and the access of each device: virtual memory as both
//! front ends offer it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Memory, MemoryError, Physical};

/// Access to a mapping: none.
pub const NO_ACCESS: u32 = 0;
/// Access to a mapping: reading, a bit.
const READ: u32 = 1;
/// Access to a mapping: writing, a bit.
const WRITE: u32 = 2;

/// The reservations of one front end. `P` is what it knows of memory without addresses.
pub struct Mappings<P> {
    memory: Arc<Memory>,
    state: Mutex<MappingsState<P>>,
}

struct MappingsState<P> {
    /// Sizes of reservations, by their first address.
    reserved: BTreeMap<u64, u64>,
    mapped: BTreeMap<u64, Mapping<P>>,
}

struct Mapping<P> {
    size: u64,
    physical: Arc<P>,
    /// Access bits by device.
    access: BTreeMap<usize, u32>,
}

/// Why a call on virtual memory is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingError {
    /// No addresses are left.
    NoAddresses,
    /// The range is no reservation, or not within one.
    NotReserved,
    /// A mapping is in the range.
    Occupied,
    /// The range is not a mapping, or not mapped throughout.
    NotMapped,
    /// The system does not map the memory.
    Failed,
}

impl<P: AsRef<Physical>> Mappings<P> {
    /// No reservations, in the address space of `memory`.
    pub fn new(memory: Arc<Memory>) -> Self {
        let state = MappingsState { reserved: BTreeMap::new(), mapped: BTreeMap::new() };
        Self { memory, state: Mutex::new(state) }
    }

    /// Reserves addresses, aligned to a power of two. Messages about them name `by`.
    ///
    /// # Errors
    /// [`MappingError::NoAddresses`].
    pub fn reserve(&self, size: u64, align: u64, by: Arc<str>) -> Result<u64, MappingError> {
        let base = self.memory.reserve(size, align, by).map_err(|_| MappingError::NoAddresses)?;
        self.lock().reserved.insert(base, size);
        Ok(base)
    }

    /// Releases a reservation.
    ///
    /// # Errors
    /// [`MappingError::NotReserved`] unless it is one, [`MappingError::Occupied`] if it has a mapping.
    pub fn unreserve(&self, base: u64, size: u64) -> Result<(), MappingError> {
        let mut state = self.lock();
        if state.reserved.get(&base) != Some(&size) {
            return Err(MappingError::NotReserved);
        }
        if state.mapped.range(base..base + size).next().is_some() {
            return Err(MappingError::Occupied);
        }
        state.reserved.remove(&base);
        self.memory.unreserve(base, size);
        Ok(())
    }

    /// Maps `size` bytes of memory, from `offset` on, to reserved addresses. No device may use them yet.
    ///
    /// # Errors
    /// [`MappingError::NotReserved`], [`MappingError::Occupied`], [`MappingError::Failed`].
    pub fn map(
        &self,
        base: u64,
        size: u64,
        physical: Arc<P>,
        offset: u64,
        by: Arc<str>,
    ) -> Result<(), MappingError> {
        let mut state = self.lock();
        if !state.is_reserved(base, size) {
            return Err(MappingError::NotReserved);
        }
        let mapped = self.memory.map_physical(base, size, (*physical).as_ref(), offset, by);
        mapped.map_err(|error| match error {
            MemoryError::Invalid { .. } => MappingError::Occupied,
            _ => MappingError::Failed,
        })?;
        state.mapped.insert(base, Mapping { size, physical, access: BTreeMap::new() });
        Ok(())
    }

    /// Ends a mapping. The memory that was mapped.
    ///
    /// # Errors
    /// [`MappingError::NotMapped`] unless it is one.
    pub fn unmap(&self, base: u64, size: u64, by: Arc<str>) -> Result<Arc<P>, MappingError> {
        let mut state = self.lock();
        if state.mapped.get(&base).is_none_or(|mapping| mapping.size != size) {
            return Err(MappingError::NotMapped);
        }
        self.memory.unmap(base, by).map_err(|_| MappingError::NotMapped)?;
        state.mapped.remove(&base).map(|gone| gone.physical).ok_or(MappingError::NotMapped)
    }

    /// Sets the access of devices to the mappings in a range: bits to read (1) and to write (2).
    ///
    /// # Errors
    /// [`MappingError::NotMapped`] if the range is not mapped throughout; nothing has changed then.
    pub fn set_access(&self, base: u64, size: u64, access: &[(usize, u32)]) -> Result<(), MappingError> {
        let end = base.checked_add(size).ok_or(MappingError::NotMapped)?;
        let mut state = self.lock();
        let mappings = state.mapped.range(base..end).map(|(start, mapping)| (*start, start + mapping.size));
        let reached =
            mappings.fold(base, |reached, (start, next)| if start == reached { next } else { reached });
        if reached != end || size == 0 {
            return Err(MappingError::NotMapped);
        }
        for (start, mapping) in state.mapped.range_mut(base..end) {
            mapping.access.extend(access.iter().copied());
            let may = |bit: u32| {
                let having = mapping.access.iter().filter(|(_, bits)| *bits & bit != 0);
                having.fold(0, |mask, (device, _)| mask | 1 << (device & 63))
            };
            self.memory.set_access(*start, may(READ | WRITE), may(WRITE));
        }
        Ok(())
    }

    /// The access of a device at an address; `None` if nothing is mapped there.
    pub fn access(&self, address: u64, device: usize) -> Option<u32> {
        let state = self.lock();
        let mapping = state.at(address)?;
        Some(mapping.access.get(&device).copied().unwrap_or(NO_ACCESS))
    }

    /// The memory that is mapped at an address.
    pub fn physical(&self, address: u64) -> Option<Arc<P>> {
        Some(self.lock().at(address)?.physical.clone())
    }

    /// Ends all mappings of memory for which `condition` holds. Their addresses and sizes.
    pub fn unmap_where(&self, by: &Arc<str>, condition: impl Fn(&P) -> bool) -> Vec<(u64, u64)> {
        let state = self.lock();
        let gone = state.mapped.iter().filter(|(_, mapping)| condition(&mapping.physical));
        let gone: Vec<_> = gone.map(|(base, mapping)| (*base, mapping.size)).collect();
        drop(state);
        gone.into_iter().filter(|(base, size)| self.unmap(*base, *size, by.clone()).is_ok()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, MappingsState<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P> MappingsState<P> {
    fn at(&self, address: u64) -> Option<&Mapping<P>> {
        let (base, mapping) = self.mapped.range(..=address).next_back()?;
        (address - base < mapping.size).then_some(mapping)
    }

    fn is_reserved(&self, base: u64, size: u64) -> bool {
        let Some((start, length)) = self.reserved.range(..=base).next_back() else { return false };
        base.checked_add(size).is_some_and(|end| end <= start + length)
    }
}
