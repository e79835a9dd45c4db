// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers: one piece of memory, as it was taken from the heap.

use std::{any::Any, sync::Arc};

use windlass_hal::{
    driver::{self, HostPointer},
    edge::Domain,
};

/// A slab. A driver with memory of its own keeps address and size here, and gives the memory back when this is dropped:
/// on whatever thread that happens, without a wait for the device.
pub(crate) struct Buffer(Arc<dyn driver::RawBuffer>);

impl Buffer {
    pub(crate) fn new(memory: Arc<dyn driver::RawBuffer>) -> Self {
        Self(memory)
    }
}

// SAFETY: size, address and pointer are those of the one allocation that this object holds and never replaces.
#[allow(unsafe_code)]
unsafe impl driver::RawBuffer for Buffer {
    /// Answers the domain of the device that the memory was allocated on, by which fronts refuse foreign buffers.
    fn domain(&self) -> Domain {
        self.0.domain()
    }

    /// Answers how many bytes the allocation has, which never changes.
    fn size(&self) -> u64 {
        self.0.size()
    }

    /// Answers the address that kernels see, which never changes and which no other live buffer's range overlaps.
    fn device_address(&self) -> u64 {
        self.0.device_address()
    }

    /// Answers a pointer through which the host reads and writes all of the allocation while this object lives, or
    /// nothing where the host cannot map it.
    fn host_pointer(&self) -> Option<HostPointer> {
        self.0.host_pointer()
    }

    /// Answers the object by which this driver finds its own memory again; here that of `host_memory`, whose transfers
    /// do the work, in a driver of your own `self`.
    fn as_any(&self) -> &dyn Any {
        self.0.as_any()
    }
}
