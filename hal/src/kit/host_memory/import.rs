// SPDX-License-Identifier: MIT OR Apache-2.0
//! Imported memory of a device that works in host memory.
#![allow(unsafe_code)]

use std::{any::Any, fmt, ptr::NonNull, sync::atomic::AtomicU8};

use crate::{
    driver::{self, HostPointer},
    order::{callback_pool, edge::Domain},
    words::{
        error::{Error, Result},
        external::{External, Release},
        location::Location,
    },
};

/// An imported buffer of a device whose addresses are pointers of this process.
pub struct HostImport {
    domain: Domain,
    start: NonNull<u8>,
    size: u64,
    release: Option<Release>,
}

// SAFETY: the pointer leads to memory that is valid on any thread until `release` runs. It is accessed through atomics
// only.
unsafe impl Send for HostImport {}
// SAFETY: as above.
unsafe impl Sync for HostImport {}

impl HostImport {
    /// Takes the memory. `INVALID_ARGUMENT` for address 0.
    ///
    /// # Safety
    /// As for [`driver::RawDevice::import`]. A device address must be one that was exposed as a pointer.
    pub unsafe fn new(domain: Domain, memory: External, release: Release) -> Result<Self> {
        let (start, size) = match memory {
            External::Host { pointer, size } => {
                pointer.as_ptr().expose_provenance();
                (Some(pointer), size)
            }
            External::Device { address, size } => {
                (NonNull::new(std::ptr::with_exposed_provenance_mut(address as usize)), size)
            }
        };
        let start = start.ok_or_else(|| Error::invalid_argument("an import at address 0"))?;
        Ok(Self { domain, start, size, release: Some(release) })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[AtomicU8] {
        // SAFETY: valid until `release` runs, which is after this object is dropped. Only references to atomics exist.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.size as usize) }
    }
}

impl Drop for HostImport {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            callback_pool::spawn(Box::new(move || release.run()));
        }
    }
}

// SAFETY: size, address and pointer are those of the memory that this object holds until it is dropped.
unsafe impl driver::RawBuffer for HostImport {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.start.as_ptr().addr() as u64
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        // SAFETY: valid for `size` bytes while this object lives, and accessed through atomics only.
        Some(unsafe { HostPointer::new(self.start) })
    }

    fn location(&self) -> Option<Location> {
        Some(Location::Host)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl fmt::Debug for HostImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostImport({:p}, {} bytes)", self.start, self.size)
    }
}
