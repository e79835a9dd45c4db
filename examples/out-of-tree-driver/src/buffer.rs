// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slabs: one piece of memory each, at an address that the host cannot use.

use std::{
    any::Any,
    sync::{Arc, atomic::AtomicU8},
};

use windlass_hal::{
    Error, MemoryType, Result,
    driver::{self, HostPointer},
    edge::Domain,
    host_memory::HostMemory,
};

/// One piece of memory. The driver finds it behind every buffer of its own.
pub(crate) struct Slab {
    domain: Domain,
    memory: Arc<HostMemory>,
    address: u64,
    kind: MemoryType,
    /// Frees the address range. Runs once, when this is dropped.
    free: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Slab {
    pub(crate) fn new(
        domain: Domain,
        memory: Arc<HostMemory>,
        address: u64,
        kind: MemoryType,
        free: impl FnOnce() + Send + Sync + 'static,
    ) -> Self {
        Self { domain, memory, address, kind, free: Some(Box::new(free)) }
    }
}

// SAFETY: size, address and pointer are those of the memory that this object owns and never replaces.
unsafe impl driver::RawBuffer for Slab {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn size(&self) -> u64 {
        self.memory.bytes().len() as u64
    }

    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        let visible = self.kind.contains(MemoryType::HOST_VISIBLE);
        // SAFETY: the memory is `size` bytes long, lives as long as this object and never moves. All references into it
        // are to atomics.
        visible.then(|| unsafe { HostPointer::new(self.memory.start()) })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        if let Some(free) = self.free.take() {
            free();
        }
    }
}

/// The bytes of a range.
pub(crate) fn bytes_of(range: &windlass_hal::Buffer) -> Result<&[AtomicU8]> {
    let (raw, start) = range.backing();
    let slab: Option<&Slab> = raw.as_any().downcast_ref();
    let (start, end) = (start as usize, (start + range.len()) as usize);
    slab.and_then(|slab| slab.memory.bytes().get(start..end))
        .ok_or_else(|| Error::internal(format!("{range:?} is no memory of the postfix machine")))
}
