// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers: host memory that several threads may touch at once.
//!
//! Two operations without an edge between them may run at the same time on the same bytes. A program that does so
//! gets old or new bytes, and no undefined behaviour: the memory is a slice of atomics.

use std::{
    any::Any,
    ops::Range,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
};

use windlass_hal::{
    BufferRef, Error, Result,
    driver::{self, HostPointer},
    edge::Domain,
};

use crate::allocator::Budget;

/// The alignment of allocations in bytes.
pub(crate) const ALIGNMENT: usize = 256;

/// What fresh memory holds, so that reading it before writing it does not look right by accident.
const POISON: u8 = 0xcd;

/// An allocation.
pub(crate) struct Buffer {
    domain: Domain,
    /// More than was asked for, so that `bytes` can begin at a multiple of the alignment.
    memory: Box<[AtomicU8]>,
    bytes: Range<usize>,
    budget: Arc<Budget>,
    /// A dealloca has given the memory back; the bytes stay until the last handle is gone.
    released: AtomicBool,
}

impl Buffer {
    /// Takes `size` bytes from the budget and from the host.
    pub(crate) fn new(domain: Domain, budget: Arc<Budget>, size: u64, alignment: u64) -> Result<Self> {
        budget.take(size)?;
        let memory = fresh(size, alignment.max(ALIGNMENT as u64)).inspect_err(|_| budget.give_back(size))?;
        let (memory, bytes) = memory;
        Ok(Self { domain, memory, bytes, budget, released: AtomicBool::new(false) })
    }

    /// Gives the memory back to the budget, once.
    pub(crate) fn release(&self) {
        if !self.released.swap(true, Ordering::AcqRel) {
            self.budget.give_back(self.bytes.len() as u64);
        }
    }

    fn bytes(&self) -> &[AtomicU8] {
        &self.memory[self.bytes.clone()]
    }
}

/// Memory with room for `size` bytes at a multiple of `alignment`, and where in it they lie.
fn fresh(size: u64, alignment: u64) -> Result<(Box<[AtomicU8]>, Range<usize>)> {
    let none = || Error::resource_exhausted(format!("the host has no {size} bytes aligned to {alignment}"));
    let total = size.checked_add(alignment).and_then(|total| usize::try_from(total).ok()).ok_or_else(none)?;
    let mut memory = Vec::new();
    memory.try_reserve_exact(total).map_err(|_| none())?;
    memory.resize_with(total, || AtomicU8::new(POISON));
    let memory = memory.into_boxed_slice();
    let start = memory.as_ptr().addr().wrapping_neg() % alignment as usize;
    Ok((memory, start..start + size as usize))
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.release();
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
        self.bytes().as_ptr().addr() as u64
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
    let buffer = own(range)?;
    let start = range.offset() as usize;
    buffer
        .bytes()
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

/// This driver's side of a buffer. The front has checked that it is ours.
pub(crate) fn own(range: &windlass_hal::Buffer) -> Result<&Buffer> {
    range
        .raw()
        .as_any()
        .downcast_ref()
        .ok_or_else(|| Error::internal(format!("{range:?} is no buffer of the null device")))
}
