// SPDX-License-Identifier: MIT OR Apache-2.0
//! The slabs of pools: allocations of the library, and the accounts of them.

use std::sync::Arc;

use windlass_hal::{
    Accounts, BufferUsage, Result, driver,
    edge::Domain,
    pool::{SlabRequest, SlabSource},
};

use crate::{
    api::{Handle, api, check},
    bindings::*,
    buffer::Allocation,
};

/// The memory of a device.
pub(crate) struct Memory {
    pub(crate) domain: Domain,
    pub(crate) device: Arc<Handle<windlass_device_t>>,
    pub(crate) accounts: Arc<Accounts>,
}

impl SlabSource for Memory {
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::RawBuffer>> {
        let (size, kind) = (request.size, request.params.memory_type);
        // A slab serves buffers of any use.
        let params =
            request.params.with_usage(request.params.usage | BufferUsage::DISPATCH_INDIRECT_PARAMETERS);
        let slab = Allocation::allocate(self.domain, &self.device, &params, size)?;
        self.accounts.reserve(kind, size);
        let accounts = self.accounts.clone();
        Ok(Arc::new(slab.freeing(move || accounts.unreserve(kind, size))))
    }

    /// The library's queues have done all users of the memory when a dealloca is settled.
    fn has_retired(&self, _lane: u32, _epoch: u64) -> bool {
        true
    }

    fn poll(&self) {
        // SAFETY: a handle.
        let _ = check(unsafe { api().windlass_device_poll(self.device.get()) });
    }

    fn usable(&self) -> Result<()> {
        Ok(())
    }

    fn accounts(&self) -> &Accounts {
        &self.accounts
    }
}
