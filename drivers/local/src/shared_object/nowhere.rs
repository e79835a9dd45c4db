// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stand-in on systems that cannot load shared objects.

use std::{convert::Infallible, ffi::c_void, ptr::NonNull};

use windlass_hal::{Error, Result};

use crate::shared_object::host_code::Part;

/// Whether this system can load shared objects.
pub(crate) const fn is_available() -> bool {
    false
}

/// Loaded objects. There are none.
pub(crate) struct SharedObjects(Infallible);

impl SharedObjects {
    /// Always `UNIMPLEMENTED`.
    ///
    /// # Safety
    /// None is needed.
    pub(crate) unsafe fn load(parts: &[Part<'_>]) -> Result<Self> {
        let bytes: usize = parts.iter().map(|part| part.bytes.len()).sum();
        Err(Error::unimplemented(format!(
            "{bytes} bytes of shared objects: they are loaded on Linux of 64 bits, and not under Miri; here local:// runs \
             libraries of Rust kernels (windlass_local::Library)"
        )))
    }

    pub(crate) fn address_in_process(&self, _name: &str) -> Option<NonNull<c_void>> {
        match self.0 {}
    }

    pub(crate) fn address(&self, _part: usize, _name: &str) -> Option<NonNull<c_void>> {
        match self.0 {}
    }
}
