// SPDX-License-Identifier: MIT OR Apache-2.0
//! The allocations of a driver.

use std::{any::Any, ptr::NonNull};

use crate::{order::edge::Domain, words::location::Location};

/// A pointer through which the host may reach an allocation. See [`RawBuffer::host_pointer`].
#[derive(Clone, Copy, Debug)]
pub struct HostPointer(NonNull<u8>);

#[allow(unsafe_code)]
impl HostPointer {
    /// Wraps a pointer.
    ///
    /// # Safety
    /// The pointer must be valid for reads and writes of [`RawBuffer::size`] bytes while the buffer lives. No Rust
    /// reference to these bytes may exist, except to atomics.
    pub unsafe fn new(pointer: NonNull<u8>) -> Self {
        Self(pointer)
    }

    pub(crate) fn as_non_null(self) -> NonNull<u8> {
        self.0
    }
}

/// An allocation.
///
/// # Safety
/// Fronts and drivers rely on [`size`](Self::size), [`device_address`](Self::device_address) and
/// [`host_pointer`](Self::host_pointer). All three must describe one allocation that lives as long as the object, and
/// must never change. A wrapper that forwards these calls must keep the wrapped buffer.
#[allow(unsafe_code)]
pub unsafe trait RawBuffer: Any + Send + Sync {
    /// The device that owns the allocation.
    fn domain(&self) -> Domain;

    /// The size in bytes.
    fn size(&self) -> u64;

    /// The address for device code. It never changes.
    fn device_address(&self) -> u64;

    /// The pointer for the host; `None` where the host cannot map the memory.
    fn host_pointer(&self) -> Option<HostPointer>;

    /// The place of the allocation for other libraries of this process; `None` where they cannot find it. It never
    /// changes.
    fn location(&self) -> Option<Location> {
        None
    }

    /// Whether a dealloca that was issued has given the memory back. Fronts then refuse new uses of the buffer. The
    /// buffers of the kit's pools tell; a driver with buffers of its own may.
    fn is_released(&self) -> bool {
        false
    }

    /// Lets the driver find its own type again.
    fn as_any(&self) -> &dyn Any;
}
