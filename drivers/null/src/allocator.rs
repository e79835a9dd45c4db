// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory in large pieces: what pools place buffers in.

use std::sync::Arc;

use windlass_hal::{
    Accounts, Result, Statistics, driver,
    edge::Domain,
    host_memory::HostHeap,
    pool::{SlabRequest, SlabSource},
};

use crate::buffer::Buffer;

/// The memory of one device. Clones are handles of the same. It knows no [`Device`](crate::device::Device): buffers and
/// pools may outlive that.
#[derive(Clone)]
pub(crate) struct Heap(HostHeap);

impl Heap {
    pub(crate) fn new(domain: Domain, total: u64) -> Self {
        Self(HostHeap::new(domain, total, "release buffers, or open null://?memory=BYTES"))
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.0.statistics()
    }
}

impl SlabSource for Heap {
    /// Gives fresh memory at a multiple of `Limits::allocation_alignment`, or `RESOURCE_EXHAUSTED` with what is free,
    /// and neither waits for work nor runs wakers, because a pool calls it under its lock.
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::RawBuffer>> {
        Ok(Arc::new(Buffer::new(self.0.allocate_slab(request)?)))
    }

    /// Answers at once, and without calling back, whether the work up to an epoch of a lane can no longer touch memory;
    /// here work is done when it is issued, and there are no lanes.
    fn has_retired(&self, _lane: u32, _epoch: u64) -> bool {
        true
    }

    /// Retires what has finished if no other thread is doing so, and never waits; here nothing is ever left to retire.
    fn poll(&self) {}

    /// Answers the device's error once the device is lost, from then on always, so that its memory is never used again;
    /// the host cannot be lost.
    fn usable(&self) -> Result<()> {
        Ok(())
    }

    /// Answers the one place in which slabs and buffers of this device are counted, for as long as any of them lives.
    fn accounts(&self) -> &Accounts {
        self.0.accounts()
    }
}
