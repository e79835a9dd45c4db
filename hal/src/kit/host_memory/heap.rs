// SPDX-License-Identifier: MIT OR Apache-2.0
//! The budget of host memory of a device, and slabs from it for pools.

use std::sync::Arc;

use super::{
    budget::{Budget, Claim},
    buffer::HostBuffer,
    growable::{GRANULARITY, HostSpace},
    memory::HostMemory,
};
use crate::{
    driver::{
        self,
        accounts::{Accounts, Statistics},
        allocator::{SlabRequest, SlabSource},
    },
    kit::growable::Growable,
    order::edge::Domain,
    words::{
        buffer_params::BufferParams,
        error::{Error, Result},
    },
};

/// The value of fresh bytes, so that a read before the first write is conspicuous.
const POISON: u8 = 0xcd;

/// The memory of one device. Clones are handles of the same memory.
#[derive(Clone, Debug)]
pub struct HostHeap {
    domain: Domain,
    budget: Arc<Budget>,
}

impl HostHeap {
    /// The alignment of slabs in bytes.
    pub const ALIGNMENT: u64 = 256;

    /// A heap of at most `total` bytes. `advice` ends the error message when they are used up, and says how to get
    /// more.
    pub fn new(domain: Domain, total: u64, advice: &'static str) -> Self {
        Self { domain, budget: Arc::new(Budget::new(total, advice)) }
    }

    /// Whether this system can reserve addresses for memory that grows.
    pub const CAN_GROW: bool = cfg!(all(unix, not(miri)));

    /// Reserves `capacity` bytes of addresses, rounded up to whole granules, for memory of the budget that grows.
    /// `RESOURCE_EXHAUSTED` if the system has no such addresses, `UNIMPLEMENTED` unless [`CAN_GROW`](Self::CAN_GROW).
    pub fn reserve_growable(&self, params: &BufferParams, capacity: u64) -> Result<Growable<HostSpace>> {
        let too_large = || Error::resource_exhausted(format!("{capacity} bytes of addresses"));
        let capacity = capacity.checked_next_multiple_of(GRANULARITY).ok_or_else(too_large)?;
        let alignment = params.min_alignment.max(GRANULARITY);
        let (domain, budget) = (self.domain, self.budget.clone());
        let (space, address) = HostSpace::reserve(domain, budget, params.memory_type, capacity, alignment)?;
        Ok(Growable::new(space, address, capacity, GRANULARITY))
    }

    /// The bytes of the budget that nothing has taken, and all of them.
    pub fn free_and_total(&self) -> (u64, u64) {
        self.budget.free_and_total()
    }

    /// The present use of memory.
    pub fn statistics(&self) -> Statistics {
        self.budget.accounts().statistics()
    }
}

impl SlabSource for HostHeap {
    /// Allocates fresh memory. `RESOURCE_EXHAUSTED` names the free bytes.
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::RawBuffer>> {
        let claim = Claim::new(&self.budget, request.params.memory_type, request.size)?;
        let memory = Arc::new(HostMemory::new(request.size, Self::ALIGNMENT, POISON)?);
        Ok(Arc::new(HostBuffer::new(self.domain, memory).host_visible().keeping(claim)))
    }

    /// Work is done when it is issued, so there are no lanes.
    fn has_retired(&self, _lane: u32, _epoch: u64) -> bool {
        true
    }

    fn poll(&self) {}

    /// The host cannot be lost.
    fn usable(&self) -> Result<()> {
        Ok(())
    }

    fn accounts(&self) -> &Accounts {
        self.budget.accounts()
    }
}
