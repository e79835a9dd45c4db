// SPDX-License-Identifier: MIT OR Apache-2.0
//! An allocation of a driver, and its address for the host.

use std::{any::Any, ptr::NonNull};

use crate::order::edge::Domain;

/// A pointer that the host may use. See [`Buffer::host_pointer`].
#[derive(Clone, Copy, Debug)]
pub struct HostPointer(NonNull<u8>);

#[allow(unsafe_code)]
impl HostPointer {
    /// Vouches for a pointer.
    ///
    /// # Safety
    /// It must be valid for reads and writes of [`Buffer::size`] bytes while the buffer lives, and nobody may hold
    /// a Rust reference to these bytes.
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
/// Fronts and drivers believe what this says: [`size`](Self::size), [`device_address`](Self::device_address) and
/// [`host_pointer`](Self::host_pointer) must be those of one allocation that lives as long as the object, and must never
/// change. A wrapper that forwards them must keep what it wraps.
#[allow(unsafe_code)]
pub unsafe trait Buffer: Any + Send + Sync {
    /// The device it belongs to.
    fn domain(&self) -> Domain;

    /// Bytes.
    fn size(&self) -> u64;

    /// The address that device code sees; it never changes.
    fn device_address(&self) -> u64;

    /// Where the host sees it, if it does.
    fn host_pointer(&self) -> Option<HostPointer>;

    /// For the driver, to find its own type again.
    fn as_any(&self) -> &dyn Any;
}
