// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes that several threads may access at once.

use std::{
    alloc::{Layout, alloc_zeroed},
    fmt,
    ops::Range,
    ptr::{self, NonNull},
    sync::atomic::AtomicU8,
};

use super::shared_bytes;
use crate::words::error::{Error, Result};

/// Bytes at an aligned address that never changes.
pub struct HostMemory(Bytes);

enum Bytes {
    /// A box that is larger than requested, and the range in it that begins at a multiple of the alignment.
    Own(Box<[AtomicU8]>, Range<usize>),
    /// Memory of another owner.
    Foreign(NonNull<[AtomicU8]>),
}

// SAFETY: the maker of foreign memory vouches that any thread may reach it through atomics. The rest is a box.
#[allow(unsafe_code)]
unsafe impl Send for HostMemory {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// `size` bytes of the value `byte`, aligned to `alignment`, which is a power of two. `RESOURCE_EXHAUSTED` where
    /// the host lacks the memory.
    pub fn new(size: u64, alignment: u64, byte: u8) -> Result<Self> {
        let none =
            || Error::resource_exhausted(format!("the host has no {size} bytes aligned to {alignment}"));
        let total =
            size.checked_add(alignment).and_then(|total| usize::try_from(total).ok()).ok_or_else(none)?;
        let allocation = zeros(total).ok_or_else(none)?;
        if byte != 0 {
            shared_bytes::fill(&allocation, &[byte]);
        }
        let start = allocation.as_ptr().addr().wrapping_neg() % alignment as usize;
        Ok(Self(Bytes::Own(allocation, start..start + size as usize)))
    }

    /// `size` bytes from `start` on, of another owner: a variable of a loaded library.
    ///
    /// # Safety
    /// The bytes are valid for reads and writes from any thread as long as this object lives. Meanwhile no reference to
    /// them exists, except to atomics.
    #[allow(unsafe_code)]
    pub unsafe fn foreign(start: NonNull<u8>, size: usize) -> Self {
        start.as_ptr().expose_provenance();
        Self(Bytes::Foreign(NonNull::slice_from_raw_parts(start.cast(), size)))
    }

    /// Memory that holds a copy of `bytes`.
    pub fn of(bytes: &[u8], alignment: u64) -> Result<Self> {
        let memory = Self::new(bytes.len() as u64, alignment, 0)?;
        // SAFETY: the memory has the size of `bytes`, and lets every thread write to it through atomics.
        #[allow(unsafe_code)]
        unsafe {
            shared_bytes::store(memory.start().as_ptr(), bytes);
        }
        Ok(memory)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[AtomicU8] {
        match &self.0 {
            Bytes::Own(allocation, bytes) => &allocation[bytes.clone()],
            // SAFETY: valid while this object lives, as the caller of `foreign` vouches.
            #[allow(unsafe_code)]
            Bytes::Foreign(bytes) => unsafe { bytes.as_ref() },
        }
    }

    /// The first byte. Atomics may be written through a shared pointer.
    pub fn start(&self) -> NonNull<u8> {
        NonNull::from(self.bytes()).cast()
    }

    /// The address for kernels, which make pointers of it.
    pub fn address(&self) -> u64 {
        self.start().as_ptr().expose_provenance() as u64
    }
}

/// `size` bytes of zero, which the system makes at their first use. `None` where the host lacks the memory, and for no bytes.
fn zeros(size: usize) -> Option<Box<[AtomicU8]>> {
    let layout = Layout::array::<AtomicU8>(size).ok().filter(|layout| layout.size() > 0)?;
    // SAFETY: the layout has a size. Zero bytes are values of atomics, and the box frees them with the same layout.
    #[allow(unsafe_code)]
    unsafe {
        let start = NonNull::new(alloc_zeroed(layout))?;
        Some(Box::from_raw(ptr::slice_from_raw_parts_mut(start.as_ptr().cast(), size)))
    }
}

impl fmt::Debug for HostMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostMemory({} bytes)", self.bytes().len())
    }
}
