// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's memory: where slabs come from, and how much of it there is.
//!
//! `windlass_hal::pool` places buffers in slabs, reuses what was released, and counts. What is left for a driver is to
//! allocate a slab, here, and to let go of it, in `buffer.rs`.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use windlass_hal::{
    Accounts, Error, MemoryType, Result, driver,
    edge::Domain,
    pool::{SlabRequest, SlabSource},
};

use crate::buffer::Buffer;

/// The memory of one device.
#[derive(Debug)]
pub(crate) struct Heap {
    domain: Domain,
    pub(crate) budget: Arc<Budget>,
}

/// How much memory there is, and what it is used for.
#[derive(Debug)]
pub(crate) struct Budget {
    total: u64,
    taken: AtomicU64,
    pub(crate) accounts: Accounts,
}

impl Heap {
    pub(crate) fn new(domain: Domain, total: u64) -> Self {
        let budget = Budget { total, taken: AtomicU64::new(0), accounts: Accounts::default() };
        Self { domain, budget: Arc::new(budget) }
    }
}

impl Budget {
    /// Counts a slab in, or says what is free.
    pub(crate) fn take(&self, memory_type: MemoryType, size: u64) -> Result<()> {
        let fits = |taken: u64| taken.checked_add(size).filter(|taken| *taken <= self.total);
        self.taken.fetch_update(Relaxed, Relaxed, fits).map_err(|taken| {
            Error::resource_exhausted(format!(
                "{size} bytes of a device with {} free of {}; release buffers, or open null://?memory=BYTES",
                self.total - taken,
                self.total
            ))
        })?;
        self.accounts.reserve(memory_type, size);
        Ok(())
    }

    /// Counts a slab out.
    pub(crate) fn give_back(&self, memory_type: MemoryType, size: u64) {
        self.taken.fetch_sub(size, Relaxed);
        self.accounts.unreserve(memory_type, size);
    }
}

impl SlabSource for Heap {
    /// Fresh memory, or what is free.
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::Buffer>> {
        let (memory_type, size) = (request.params.memory_type, request.size);
        Ok(Arc::new(Buffer::new(self.domain, self.budget.clone(), memory_type, size)?))
    }

    /// Work is done when it is issued: there are no lanes to ask for.
    fn has_retired(&self, _lane: u32, _epoch: u64) -> bool {
        true
    }

    fn poll(&self) {}

    /// This device cannot be lost.
    fn usable(&self) -> Result<()> {
        Ok(())
    }

    fn accounts(&self) -> &Accounts {
        &self.budget.accounts
    }
}
