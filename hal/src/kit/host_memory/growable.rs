// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host memory that grows in place: addresses that the system reserves without memory, and pages made accessible.
#![allow(unsafe_code)]

use std::{
    collections::HashMap,
    ptr::{self, NonNull},
    sync::{Arc, Mutex, atomic::AtomicU8},
};

use super::budget::{Budget, Claim};
use crate::{
    driver::{RawBuffer as _, accounts::Accounts},
    kit::growable::{AddressSpace, GrownBuffer},
    order::edge::Domain,
    words::{
        buffer_params::MemoryType,
        error::{Error, Result},
        sync::lock_std as lock,
    },
};

/// Memory comes in multiples of this many bytes, a multiple of every system's page.
pub(super) const GRANULARITY: u64 = 64 << 10;

/// Reserved addresses of this process.
pub struct HostSpace {
    domain: Domain,
    budget: Arc<Budget>,
    memory_type: MemoryType,
    /// The whole reservation, which may begin before the aligned part that is in use.
    mapping: Mapping,
    /// The budget of each commit, by its address.
    claims: Mutex<HashMap<u64, Claim>>,
}

impl HostSpace {
    /// Reserves `capacity` bytes, and returns the address of the first, a multiple of `alignment`.
    pub(super) fn reserve(
        domain: Domain,
        budget: Arc<Budget>,
        memory_type: MemoryType,
        capacity: u64,
        alignment: u64,
    ) -> Result<(Self, u64)> {
        let mapping = Mapping::reserve(capacity, alignment)?;
        let address = mapping.address().next_multiple_of(alignment);
        Ok((Self { domain, budget, memory_type, mapping, claims: Mutex::default() }, address))
    }

    fn accounts(&self) -> &Accounts {
        self.budget.accounts()
    }
}

impl AddressSpace for HostSpace {
    fn domain(&self) -> Domain {
        self.domain
    }

    /// The host cannot be lost.
    fn usable(&self) -> Result<()> {
        Ok(())
    }

    fn check_room(&self, size: u64) -> Result<()> {
        Claim::new(&self.budget, self.memory_type, size).map(drop)
    }

    fn commit(&self, address: u64, size: u64) -> Result<()> {
        let claim = Claim::new(&self.budget, self.memory_type, size)?;
        self.mapping.open(address, size)?;
        self.accounts().allocate(self.memory_type, size);
        lock(&self.claims).insert(address, claim);
        Ok(())
    }

    fn decommit(&self, address: u64, size: u64, done: Box<dyn FnOnce() + Send>) {
        self.mapping.close(address, size);
        self.accounts().free(self.memory_type, size);
        let claim = lock(&self.claims).remove(&address);
        drop(claim);
        done();
    }

    /// The mapping ends with this object, which is dropped next.
    fn release(&self, _address: u64, _capacity: u64) {}
}

/// The bytes of a range, as others may change them.
pub(super) fn bytes(buffer: &GrownBuffer<HostSpace>) -> &[AtomicU8] {
    let start = ptr::with_exposed_provenance::<AtomicU8>(buffer.device_address() as usize);
    match NonNull::new(start.cast_mut()) {
        // SAFETY: the buffer keeps its pages, which are readable and writable, and fresh from the system or written
        // before. Only references to atomics exist.
        Some(start) => unsafe { std::slice::from_raw_parts(start.as_ptr(), buffer.size() as usize) },
        None => &[],
    }
}

/// Addresses without access, reserved from the system until this is dropped.
struct Mapping {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: an address and a size. All access to the bytes is through atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn address(&self) -> u64 {
        self.start.as_ptr().expose_provenance() as u64
    }
}

#[cfg(all(unix, not(miri)))]
impl Mapping {
    fn reserve(capacity: u64, alignment: u64) -> Result<Self> {
        let size = capacity.checked_add(alignment).and_then(|size| usize::try_from(size).ok());
        let size = size.filter(|size| isize::try_from(*size).is_ok()).ok_or_else(|| {
            Error::resource_exhausted(format!("{capacity} bytes are more than the address space has"))
        })?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the system's choice.
        let start = unsafe { libc::mmap(ptr::null_mut(), size, libc::PROT_NONE, flags, -1, 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(base) if start != libc::MAP_FAILED => Ok(Self { start: base, size }),
            _ => Err(Error::resource_exhausted(format!(
                "the system reserves no {size} bytes of addresses: {}",
                std::io::Error::last_os_error()
            ))),
        }
    }

    /// Makes pages accessible.
    fn open(&self, address: u64, size: u64) -> Result<()> {
        let start = ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: pages of this mapping, which nothing refers to yet.
        match unsafe { libc::mprotect(start, size as usize, libc::PROT_READ | libc::PROT_WRITE) } {
            0 => Ok(()),
            _ => Err(Error::resource_exhausted(format!(
                "the system gives no {size} bytes of memory: {}",
                std::io::Error::last_os_error()
            ))),
        }
    }

    /// Gives the memory of pages back, and takes the access away.
    fn close(&self, address: u64, size: u64) {
        let start = ptr::with_exposed_provenance_mut(address as usize);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        // SAFETY: pages of this mapping, which nothing refers to any more.
        let closed = unsafe { libc::mmap(start, size as usize, libc::PROT_NONE, flags, -1, 0) };
        if closed == libc::MAP_FAILED {
            let error = std::io::Error::last_os_error();
            tracing::warn!(target: "windlass::memory", %error, size, "memory was not given back to the system");
        }
    }
}

#[cfg(all(unix, not(miri)))]
impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: no piece of the mapping is left, so nothing refers to it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
    }
}

#[cfg(not(all(unix, not(miri))))]
impl Mapping {
    fn reserve(_capacity: u64, _alignment: u64) -> Result<Self> {
        Err(Error::unimplemented("buffers that grow: addresses are reserved on Unix only"))
    }

    fn open(&self, _address: u64, _size: u64) -> Result<()> {
        Err(Error::internal("pages of a mapping that this system cannot make"))
    }

    fn close(&self, _address: u64, _size: u64) {}
}
