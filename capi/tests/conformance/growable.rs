// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that grows in place.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use windlass_hal::{Accounts, BufferParams, MemoryType, Result, driver, edge::Domain};

use crate::{
    api::{self, Handle, api, check},
    bindings::*,
    buffer::{Allocation, params_of},
};

/// Growing memory of the library. The accounts count its pages as long as this object or a buffer keeps them, in the
/// way in which the library does.
pub(crate) struct Grown {
    domain: Domain,
    handle: Handle<windlass_growable_t>,
    accounts: Arc<Accounts>,
    /// The granules that are counted, by their number.
    granules: Mutex<Vec<Weak<Granule>>>,
    held: Mutex<Vec<Arc<Granule>>>,
}

/// A granule that is counted until it is dropped.
struct Granule {
    accounts: Arc<Accounts>,
    size: u64,
}

const KIND: MemoryType = MemoryType::DEVICE_LOCAL;

impl Granule {
    fn new(accounts: &Arc<Accounts>, size: u64) -> Arc<Self> {
        accounts.reserve(KIND, size);
        accounts.allocate(KIND, size);
        Arc::new(Self { accounts: accounts.clone(), size })
    }
}

impl Drop for Granule {
    fn drop(&mut self) {
        self.accounts.free(KIND, self.size);
        self.accounts.unreserve(KIND, self.size);
    }
}

impl Grown {
    pub(crate) fn reserve(
        domain: Domain,
        device: &Handle<windlass_device_t>,
        accounts: Arc<Accounts>,
        params: &BufferParams,
        capacity: u64,
    ) -> Result<Self> {
        let params = params_of(params);
        // SAFETY: the struct states its size.
        let handle = Handle::from(api::growable, |growable| unsafe {
            api().windlass_growable_reserve(device.get(), &params, capacity, growable)
        })?;
        Ok(Self { domain, handle, accounts, granules: Mutex::default(), held: Mutex::default() })
    }

    /// Counts the granules that the library's memory has.
    fn recount(&self) {
        let granule = driver::RawGrowable::granularity(self).max(1);
        let count = (driver::RawGrowable::size(self) / granule) as usize;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mut granules = self.granules.lock().unwrap_or_else(PoisonError::into_inner);
        held.truncate(count);
        while held.len() < count {
            let index = held.len();
            if granules.len() <= index {
                granules.push(Weak::new());
            }
            let kept = granules[index].upgrade().unwrap_or_else(|| Granule::new(&self.accounts, granule));
            granules[index] = Arc::downgrade(&kept);
            held.push(kept);
        }
    }
}

// SAFETY: the addresses and the buffers are those of the library.
unsafe impl driver::RawGrowable for Grown {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn device_address(&self) -> u64 {
        // SAFETY: a handle.
        unsafe { api().windlass_growable_device_address(self.handle.get()) }
    }

    fn capacity(&self) -> u64 {
        // SAFETY: a handle.
        unsafe { api().windlass_growable_capacity(self.handle.get()) }
    }

    fn granularity(&self) -> u64 {
        // SAFETY: a handle.
        unsafe { api().windlass_growable_granularity(self.handle.get()) }
    }

    fn size(&self) -> u64 {
        // SAFETY: a handle.
        unsafe { api().windlass_growable_size(self.handle.get()) }
    }

    fn grow_to(&self, size: u64) -> Result<()> {
        // SAFETY: a handle.
        check(unsafe { api().windlass_growable_grow_to(self.handle.get(), size) })?;
        self.recount();
        Ok(())
    }

    fn shrink_to(&self, size: u64) -> Result<()> {
        // SAFETY: a handle.
        check(unsafe { api().windlass_growable_shrink_to(self.handle.get(), size) })?;
        self.recount();
        Ok(())
    }

    fn buffer(self: Arc<Self>, offset: u64, length: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        // SAFETY: handles and locals.
        let handle = Handle::from(api::buffer, |buffer| unsafe {
            api().windlass_growable_buffer(self.handle.get(), offset, length, buffer)
        })?;
        let granule = driver::RawGrowable::granularity(&*self).max(1);
        let (first, end) = ((offset / granule) as usize, (offset + length).div_ceil(granule) as usize);
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let kept: Vec<_> = held.get(first..end).unwrap_or_default().to_vec();
        drop(held);
        Ok(Arc::new(Allocation::new(self.domain, length, handle)?.freeing(move || drop(kept))))
    }
}
