// SPDX-License-Identifier: MIT OR Apache-2.0
//! An allocation of HIP memory.

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use windlass_hal::{
    driver::{self, HostPointer},
    edge::{Domain, Edge},
};

use crate::{
    allocator::{Block, Place},
    device::Inner,
};

/// A block of memory, on loan from the device's allocator. Holding the block keeps HIP from freeing it, also after
/// it went back to be reused: a handle that outlives its dealloca is a mistake, not a dangling pointer.
pub(crate) struct Buffer {
    /// Declared before the device, to be let go before it: the device frees what nobody else holds.
    block: Arc<Block>,
    device: Arc<Inner>,
    /// Where the buffer begins in its block: more than HIP's own alignment was asked for.
    offset: u64,
    /// Bytes that were asked for; the block may have more.
    size: u64,
    /// The last use of the memory before this buffer got it, if the device has to wait for that.
    pub(crate) birth: Option<Edge>,
    /// The block went back in the order of a queue; the handle remains.
    released: AtomicBool,
}

impl Buffer {
    pub(crate) fn new(
        device: Arc<Inner>,
        block: Arc<Block>,
        offset: u64,
        size: u64,
        birth: Option<Edge>,
    ) -> Self {
        Self { device, block, offset, size, birth, released: AtomicBool::new(false) }
    }

    /// The GPU whose own memory it is, by its number within the device.
    pub(crate) fn gpu(&self) -> Option<usize> {
        match self.block.place {
            Place::Device { gpu, .. } => Some(gpu),
            Place::Host(_) => None,
        }
    }

    /// Gives the block back, to be reused by whoever is ordered behind `death`. Only the first call counts.
    pub(crate) fn release(&self, death: Option<(u32, u64)>) {
        if !self.released.swap(true, Ordering::AcqRel) {
            self.device.allocator.put_back(&self.device, self.block.clone(), self.size, death);
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // Submissions hold their buffers: with the last handle gone, nothing in flight uses the memory, but perhaps its
        // last user before, if the alloca that was to wait for that never ran.
        self.release(self.birth.as_ref().map(|birth| (birth.lane, birth.epoch)));
    }
}

// SAFETY: size, address and pointer are those of `block`, which this object keeps and which HIP frees only when nobody
// holds it; none of them changes.
unsafe impl driver::Buffer for Buffer {
    fn domain(&self) -> Domain {
        self.device.domain
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.block.address() + self.offset
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        match self.block.place {
            // SAFETY: behind `offset` the block has at least `size` bytes of pinned memory, which HIP keeps as long as
            // this buffer holds the block; the driver holds no reference into it.
            Place::Host(memory) => Some(unsafe { HostPointer::new(memory.host.add(self.offset as usize)) }),
            Place::Device { .. } => None,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
