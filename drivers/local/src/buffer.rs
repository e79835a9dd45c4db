// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers: allocations of host memory.

use std::{
    any::Any,
    sync::{Arc, atomic::AtomicU8},
};

use windlass_hal::{
    BufferRef, Error, HostImport, MemoryType, Result,
    driver::{self, HostPointer},
    edge::Domain,
};

use crate::{allocator::Budget, global::Global, memory::Memory};

/// The alignment of allocations in bytes.
pub(crate) const ALIGNMENT: u64 = 256;

/// What fresh memory holds, so that reading it before writing it does not look right by accident.
const POISON: u8 = 0xcd;

/// A slab: memory that buffers are placed in.
pub(crate) struct Buffer {
    domain: Domain,
    memory: Memory,
    memory_type: MemoryType,
    budget: Arc<Budget>,
}

impl Buffer {
    /// Takes `size` bytes from the budget and from the host.
    pub(crate) fn new(
        domain: Domain,
        budget: Arc<Budget>,
        memory_type: MemoryType,
        size: u64,
    ) -> Result<Self> {
        budget.take(memory_type, size)?;
        let memory =
            Memory::new(size, ALIGNMENT, POISON).inspect_err(|_| budget.give_back(memory_type, size))?;
        Ok(Self { domain, memory, memory_type, budget })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.budget.give_back(self.memory_type, self.memory.bytes().len() as u64);
    }
}

// SAFETY: size, address and pointer are those of the memory that this object owns and never replaces.
unsafe impl driver::Buffer for Buffer {
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
        // SAFETY: the memory is `size` bytes long, lives as long as the buffer, and is never moved; it is a slice of
        // atomics, and only references to atomics exist.
        Some(unsafe { HostPointer::new(self.memory.start()) })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The bytes that a range of this driver's memory names.
pub(crate) fn bytes_of(range: &windlass_hal::Buffer) -> Result<&[AtomicU8]> {
    let (raw, start) = range.backing();
    let any = raw.as_any();
    let bytes = any
        .downcast_ref::<Buffer>()
        .map(|buffer| buffer.memory.bytes())
        .or_else(|| any.downcast_ref::<Global>().map(|global| global.memory().bytes()))
        .or_else(|| any.downcast_ref::<HostImport>().map(HostImport::bytes));
    let start = start as usize;
    bytes
        .ok_or_else(|| Error::internal(format!("{range:?} is no buffer of the local device")))?
        .get(start..start + range.len() as usize)
        .ok_or_else(|| Error::internal(format!("{range:?} lies outside its allocation")))
}

/// The range that a recorded reference names, with the table of the submission at hand.
pub(crate) fn resolve(
    reference: &BufferRef,
    bindings: &[windlass_hal::Buffer],
) -> Result<windlass_hal::Buffer> {
    match reference {
        BufferRef::Direct(range) => Ok(range.clone()),
        BufferRef::Slot { slot, offset, length } => bindings
            .get(*slot as usize)
            .ok_or_else(|| Error::internal(format!("slot {slot} has no binding")))?
            .subspan(*offset, *length),
    }
}
