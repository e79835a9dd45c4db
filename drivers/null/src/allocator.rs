// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory in large pieces, in which pools place buffers.

use std::sync::Arc;

use windlass_hal::{
    Accounts, BufferParams, Result, Statistics, driver,
    edge::Domain,
    growable::Growable,
    host_memory::{HostHeap, HostSpace},
    pool::{SlabRequest, SlabSource},
};

use crate::buffer::Buffer;

/// The memory of one device. Clones are handles of the same memory. It holds no [`Device`](crate::device::Device),
/// because buffers and pools may outlive the device.
#[derive(Clone)]
pub(crate) struct Heap(HostHeap);

impl Heap {
    pub(crate) fn new(domain: Domain, total: u64) -> Self {
        Self(HostHeap::new(domain, total, "release buffers, or open null://?memory=BYTES"))
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.0.statistics()
    }

    pub(crate) fn free_and_total(&self) -> (u64, u64) {
        self.0.free_and_total()
    }

    /// Memory that grows. A driver with memory of its own makes a [`Growable`] over an
    /// [`AddressSpace`](windlass_hal::growable::AddressSpace) of its own.
    pub(crate) fn reserve_growable(
        &self,
        params: &BufferParams,
        capacity: u64,
    ) -> Result<Growable<HostSpace>> {
        self.0.reserve_growable(params, capacity)
    }
}

impl SlabSource for Heap {
    /// Returns fresh memory at a multiple of `Limits::allocation_alignment`, or `RESOURCE_EXHAUSTED` with the free
    /// bytes, and neither waits for work nor runs wakers, because a pool calls it under its lock.
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::RawBuffer>> {
        Ok(Arc::new(Buffer::new(self.0.allocate_slab(request)?)))
    }

    /// Returns at once, and without calling back, whether the work up to an epoch of a lane can no longer touch
    /// memory; here work is done when it is issued, and there are no lanes.
    fn has_retired(&self, _lane: u32, _epoch: u64) -> bool {
        true
    }

    /// Retires finished work if no other thread is doing so, and never waits; here no work is ever left to retire.
    fn poll(&self) {}

    /// Returns the device's error from the moment the device is lost, so that its memory is never used again; the
    /// host cannot be lost.
    fn usable(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the accounts that count all slabs and buffers of this device, for as long as any of them lives.
    fn accounts(&self) -> &Accounts {
        self.0.accounts()
    }
}
