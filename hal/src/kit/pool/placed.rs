// SPDX-License-Identifier: MIT OR Apache-2.0
//! A buffer placed in a slab.
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
};

/// Memory on loan from [`Slabs`]. Holding it keeps the slab from being freed, also after the memory went back to be
/// reused: a handle that outlives its dealloca is a mistake, not a dangling pointer.
pub struct Placed {
    /// Declared before the source, to be let go before it.
    pub(super) slab: Arc<dyn driver::Buffer>,
    pub(super) place: Place,
    /// Bytes that were asked for.
    pub(super) size: u64,
    pub(super) birth: Frontier,
    /// The memory went back in the order of a queue; the handle remains.
    pub(super) released: AtomicBool,
    pub(super) slabs: Arc<Slabs>,
    pub(super) source: Arc<dyn SlabSource>,
}

impl Placed {
    /// What the memory was last used for before it became this buffer's, as far as that had not retired then. The alloca
    /// of the buffer waits for it, and so does the dealloca.
    pub fn birth(&self) -> &Frontier {
        &self.birth
    }

    /// What the driver allocated.
    pub fn slab(&self) -> &Arc<dyn driver::Buffer> {
        &self.slab
    }

    /// Where in the slab the buffer begins, in bytes.
    pub fn offset(&self) -> u64 {
        self.place.offset
    }

    /// Gives the memory back, to be reused by whoever is ordered behind `death`. Only the first call counts.
    pub fn release(&self, death: Frontier) {
        if !self.released.swap(true, Ordering::AcqRel) {
            self.slabs.release(self.source.as_ref(), self.place, self.size, death);
        }
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        // Submissions hold their buffers: with the last handle gone, nothing in flight uses the memory, but perhaps its
        // last user before, if the alloca that was to wait for that never ran.
        let birth = std::mem::take(&mut self.birth);
        self.release(birth);
    }
}

// SAFETY: a part of the slab, which this object keeps; the place was found in the slab's size and does not change.
unsafe impl driver::Buffer for Placed {
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
        // SAFETY: behind the offset the slab has at least `size` bytes, and its pointer is valid for all of them as long as
        // this object keeps the slab; what holds for references to the slab's bytes holds for these.
        Some(unsafe { HostPointer::new(start.add(self.place.offset as usize)) })
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

/// The pool's side of a buffer's allocation; `None` for memory that is no pool's.
pub fn placed(buffer: &Buffer) -> Option<&Placed> {
    buffer.raw().as_any().downcast_ref()
}

impl Buffer {
    /// The driver's own allocation behind this range, and where in it the range begins, in bytes.
    pub fn backing(&self) -> (&Arc<dyn driver::Buffer>, u64) {
        match placed(self) {
            Some(placed) => (placed.slab(), placed.offset() + self.offset()),
            None => (self.raw(), self.offset()),
        }
    }
}
