// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers over host memory.

use std::{
    any::Any,
    fmt,
    sync::{Arc, atomic::AtomicU8},
};

use super::memory::HostMemory;
use crate::{
    driver::{self, HostPointer, range::Buffer},
    kit::host_memory::import::HostImport,
    order::edge::Domain,
    words::{
        error::{Error, Result},
        location::Location,
    },
};

/// Host memory as an allocation of a device: a slab of a [`HostHeap`](super::HostHeap), or a variable of an executable.
pub struct HostBuffer {
    domain: Domain,
    memory: Arc<HostMemory>,
    host_visible: bool,
    _owner: Option<Box<dyn Any + Send + Sync>>,
}

impl HostBuffer {
    /// A buffer that the host cannot map.
    pub fn new(domain: Domain, memory: Arc<HostMemory>) -> Self {
        Self { domain, memory, host_visible: false, _owner: None }
    }

    /// Lets the host map the buffer.
    pub fn host_visible(self) -> Self {
        Self { host_visible: true, ..self }
    }

    /// Keeps an object alive as long as the buffer.
    pub fn keeping(self, owner: impl Any + Send + Sync) -> Self {
        Self { _owner: Some(Box::new(owner)), ..self }
    }
}

// SAFETY: size, address and pointer are those of the memory that this object owns and never replaces.
#[allow(unsafe_code)]
unsafe impl driver::RawBuffer for HostBuffer {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn size(&self) -> u64 {
        self.memory.bytes().len() as u64
    }

    fn device_address(&self) -> u64 {
        self.memory.address()
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        // SAFETY: the memory is `size` bytes long, lives as long as the buffer and never moves. It is a slice of
        // atomics, and only references to atomics exist.
        self.host_visible.then(|| unsafe { HostPointer::new(self.memory.start()) })
    }

    fn location(&self) -> Option<Location> {
        Some(Location::Host)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl fmt::Debug for HostBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBuffer({:?})", self.memory)
    }
}

/// The bytes of a range of a [`HostBuffer`] or a [`HostImport`]. `INTERNAL` for other buffers, and for a range outside
/// of its allocation.
pub fn bytes_of(range: &Buffer) -> Result<&[AtomicU8]> {
    let (raw, start) = range.backing();
    let any = raw.as_any();
    let bytes = any
        .downcast_ref::<HostBuffer>()
        .map(|buffer| buffer.memory.bytes())
        .or_else(|| any.downcast_ref::<HostImport>().map(HostImport::bytes));
    let start = start as usize;
    bytes
        .ok_or_else(|| Error::internal(format!("{range:?} is not a buffer over host memory")))?
        .get(start..start + range.len() as usize)
        .ok_or_else(|| Error::internal(format!("{range:?} lies outside its allocation")))
}
