// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers that a pool has placed in a slab.
#![allow(unsafe_code)]

use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{frontier::Frontier, slabs::Slabs, strategy::Place};
use crate::{
    driver::{self, HostPointer, allocator::SlabSource, range::Buffer},
    order::edge::Domain,
    words::location::Location,
};

/// Memory on loan from [`Slabs`]. It keeps its slab allocated, even after its own memory was released. So access
/// through a handle after its dealloca is a mistake of the program, and not a dangling pointer.
pub struct Placed {
    /// Declared before `source`, so that it is dropped first.
    pub(super) slab: Arc<dyn driver::RawBuffer>,
    pub(super) place: Place,
    /// The requested bytes.
    pub(super) size: u64,
    pub(super) birth: Frontier,
    /// Whether the memory was released in the order of a queue.
    pub(super) released: AtomicBool,
    pub(super) slabs: Arc<Slabs>,
    pub(super) source: Arc<dyn SlabSource>,
}

impl Placed {
    /// The last use of the memory before it became this buffer's, without the points that had retired then. Both the
    /// alloca and the dealloca of the buffer wait for it.
    pub fn birth(&self) -> &Frontier {
        &self.birth
    }

    /// The slab: an allocation of the driver.
    pub fn slab(&self) -> &Arc<dyn driver::RawBuffer> {
        &self.slab
    }

    /// The offset of the buffer in the slab, in bytes.
    pub fn offset(&self) -> u64 {
        self.place.offset
    }

    /// Releases the memory. Work behind `death` may reuse it. Only the first call counts.
    pub fn release(&self, death: Frontier) {
        if !self.released.swap(true, Ordering::AcqRel) {
            self.slabs.release(self.source.as_ref(), self.place, self.size, death);
        }
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        // Submissions hold their buffers, so no work of this buffer is in flight here. But if its alloca never ran, the
        // previous use of the memory may still be in flight.
        let birth = std::mem::take(&mut self.birth);
        self.release(birth);
    }
}

// SAFETY: a part of the slab, which this object keeps. The place lies in the slab and does not change.
unsafe impl driver::RawBuffer for Placed {
    fn domain(&self) -> Domain {
        self.slab.domain()
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.slab.device_address() + self.place.offset
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        let start = self.slab.host_pointer()?.as_non_null();
        // SAFETY: from the offset on, the slab has at least `size` bytes. Its pointer is valid for all of them while
        // this object keeps the slab. Its promise about references covers these bytes.
        Some(unsafe { HostPointer::new(start.add(self.place.offset as usize)) })
    }

    fn location(&self) -> Option<Location> {
        self.slab.location()
    }

    fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed")
            .field("place", &self.place)
            .field("size", &self.size)
            .field("birth", &self.birth)
            .finish_non_exhaustive()
    }
}

/// The placement of a buffer; `None` for memory that is not from a pool.
pub fn placed(buffer: &Buffer) -> Option<&Placed> {
    buffer.raw().as_any().downcast_ref()
}

impl Buffer {
    /// The allocation of the driver behind this range, and where the range begins in it, in bytes.
    pub fn backing(&self) -> (&Arc<dyn driver::RawBuffer>, u64) {
        match placed(self) {
            Some(placed) => (placed.slab(), placed.offset() + self.offset()),
            None => (self.raw(), self.offset()),
        }
    }
}
