// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slabs: one piece of memory each, taken from the heap.

use std::{any::Any, sync::Arc};

use windlass_hal::{
    Location,
    driver::{self, HostPointer},
    edge::Domain,
};

/// A slab. A driver with memory of its own keeps the address and size here, and frees the memory when this is
/// dropped. That may happen on any thread and must not wait for the device.
pub(crate) struct Buffer(Arc<dyn driver::RawBuffer>);

impl Buffer {
    pub(crate) fn new(memory: Arc<dyn driver::RawBuffer>) -> Self {
        Self(memory)
    }
}

// SAFETY: size, address and pointer are those of the one allocation that this object owns and never replaces.
#[allow(unsafe_code)]
unsafe impl driver::RawBuffer for Buffer {
    /// Returns the domain of the device that owns the memory, by which fronts refuse foreign buffers.
    fn domain(&self) -> Domain {
        self.0.domain()
    }

    /// Returns the size of the allocation in bytes, which never changes.
    fn size(&self) -> u64 {
        self.0.size()
    }

    /// Returns the address that kernels see, which never changes and which no other live buffer's range overlaps.
    fn device_address(&self) -> u64 {
        self.0.device_address()
    }

    /// Returns a pointer through which the host reads and writes the whole allocation while this object lives, or
    /// `None` if the host cannot map the memory.
    fn host_pointer(&self) -> Option<HostPointer> {
        self.0.host_pointer()
    }

    /// Returns the place of the memory for other libraries of the process, or `None`.
    fn location(&self) -> Option<Location> {
        self.0.location()
    }

    /// Returns whether a dealloca that was issued has given the memory back, which only the buffers of pools tell.
    fn is_released(&self) -> bool {
        self.0.is_released()
    }

    /// Returns the object by which this driver finds its own memory again; here that is the memory of `host_memory`,
    /// whose transfers do the work, and in a driver of your own it is `self`.
    fn as_any(&self) -> &dyn Any {
        self.0.as_any()
    }
}
