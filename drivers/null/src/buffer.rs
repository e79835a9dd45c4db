// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers: host memory that several threads may touch at once.
//!
//! Two operations without an edge between them may run at the same time on the same bytes. A program that does so
//! gets old or new bytes, and no undefined behaviour: the memory is a slice of atomics.

use std::{
    any::Any,
    ops::Range,
    ptr::NonNull,
    sync::{Arc, atomic::AtomicU8},
};

use windlass_hal::{
    BufferRef, Error, HostImport, MemoryType, Result,
    driver::{self, HostPointer},
    edge::Domain,
};

use crate::allocator::Budget;

/// The alignment of allocations in bytes.
pub(crate) const ALIGNMENT: u64 = 256;

/// What fresh memory holds, so that reading it before writing it does not look right by accident.
const POISON: u8 = 0xcd;

/// A slab: memory that buffers are placed in.
pub(crate) struct Buffer {
    domain: Domain,
    /// More than was asked for, so that `bytes` can begin at a multiple of the alignment.
    memory: Box<[AtomicU8]>,
    bytes: Range<usize>,
    budget: Arc<Budget>,
    memory_type: MemoryType,
}

impl Buffer {
    /// Takes `size` bytes from the host.
    pub(crate) fn new(
        domain: Domain,
        budget: Arc<Budget>,
        memory_type: MemoryType,
        size: u64,
    ) -> Result<Self> {
        budget.take(memory_type, size)?;
        let (memory, bytes) = fresh(size).inspect_err(|_| budget.give_back(memory_type, size))?;
        Ok(Self { domain, memory, bytes, budget, memory_type })
    }

    fn bytes(&self) -> &[AtomicU8] {
        &self.memory[self.bytes.clone()]
    }
}

/// Memory with room for `size` aligned bytes, and where in it they lie.
fn fresh(size: u64) -> Result<(Box<[AtomicU8]>, Range<usize>)> {
    let none = || Error::resource_exhausted(format!("the host has no {size} bytes"));
    let total = size.checked_add(ALIGNMENT).and_then(|total| usize::try_from(total).ok()).ok_or_else(none)?;
    let mut memory = Vec::new();
    memory.try_reserve_exact(total).map_err(|_| none())?;
    memory.resize_with(total, || AtomicU8::new(POISON));
    let memory = memory.into_boxed_slice();
    let start = memory.as_ptr().addr().wrapping_neg() % ALIGNMENT as usize;
    Ok((memory, start..start + size as usize))
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.budget.give_back(self.memory_type, self.bytes.len() as u64);
    }
}

// SAFETY: size, address and pointer are those of the boxed slice that this object owns and never replaces.
#[allow(unsafe_code)]
unsafe impl driver::Buffer for Buffer {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn device_address(&self) -> u64 {
        self.bytes().as_ptr().expose_provenance() as u64
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        let start = NonNull::from(self.bytes()).cast();
        // SAFETY: the slice is `size` bytes long, lives as long as the buffer, and is never moved; atomics may be
        // written through a shared pointer, and only references to atomics exist.
        Some(unsafe { HostPointer::new(start) })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The bytes that a range of this driver's memory names.
pub(crate) fn bytes_of(range: &windlass_hal::Buffer) -> Result<&[AtomicU8]> {
    let (raw, start) = range.backing();
    let any = raw.as_any();
    let bytes = match any.downcast_ref::<Buffer>() {
        Some(slab) => slab.bytes(),
        None => any
            .downcast_ref::<HostImport>()
            .ok_or_else(|| Error::internal(format!("{range:?} is no buffer of the null device")))?
            .bytes(),
    };
    let start = start as usize;
    bytes
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
