// SPDX-License-Identifier: MIT OR Apache-2.0
//! Imports: foreign memory as buffers.
//!
//! Importing bytes that the program gives away is safe, because the buffer then owns them. Importing a bare pointer is
//! `unsafe`, because no check can tell whether the memory exists and for how long. A release callback tells the lender
//! of a pointer when the memory is free again.
#![allow(unsafe_code)]

use std::ptr::NonNull;

use crate::{
    driver::range::Buffer,
    front::device::Device,
    words::{
        buffer_params::{BufferParams, BufferUsage, MemoryType, check_params},
        error::{Error, Result, ResultExt},
        external::{External, Release},
        fork,
        info::Feature,
    },
};

/// Bytes that only a device touches for now. They are kept as a pointer, because moving a box would assert that it is
/// the only access to them.
struct Lent(NonNull<[u8]>);

// SAFETY: this owns the bytes, as the box did.
unsafe impl Send for Lent {}

impl Lent {
    fn new(bytes: Box<[u8]>) -> Self {
        Self(NonNull::from(Box::leak(bytes)))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: the pointer is from a leaked box, and becomes a box again only here.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl Device {
    /// Makes a buffer of bytes that the program gives away. A box or a full vector is not copied; borrowed bytes are
    /// copied, and the copy is imported. The bytes are freed when the last handle is dropped and the last use has
    /// retired.
    ///
    /// The buffer holds the contents of `bytes`, and [`Buffer::map`] reads them back. `UNIMPLEMENTED` where the device
    /// declares the lack of [`Feature::ImportHost`](crate::Feature::ImportHost), `INVALID_ARGUMENT` for no bytes,
    /// `UNAVAILABLE` where the system cannot give the device access to the memory.
    ///
    /// The buffer is not an allocation of the device: [`statistics`](Self::statistics) do not count it, and a dealloca
    /// of it is a barrier.
    pub fn import_host(&self, params: &BufferParams, bytes: impl Into<Box<[u8]>>) -> Result<Buffer> {
        let bytes = Lent::new(bytes.into());
        let pointer = bytes.0.cast();
        let size = bytes.0.len() as u64;
        // SAFETY: the release owns the bytes, a driver keeps the release as long as the device may touch them, and no
        // other pointer to them exists.
        unsafe { self.import_host_pointer(params, pointer, size, move || drop(bytes)) }
    }

    /// Makes a buffer of `size` bytes of host memory at `pointer`. `release` is called on a thread of the callback pool
    /// when the last handle is dropped and the last use has retired. It is not called if this returns an error. Nor is
    /// it called on a lost device, which may write the memory as long as the process runs.
    ///
    /// The errors are those of [`import_host`](Self::import_host), and `ALREADY_EXISTS` where the device notices that a
    /// part of the memory is already imported or pinned. Import memory once, and share ranges of it by
    /// [`Buffer::subspan`].
    ///
    /// # Safety
    /// The memory must be valid for reads and writes until `release` is called. Until then no Rust reference to it may
    /// exist, except to atomics. Semaphores must order other accesses to it; otherwise these read or write undefined
    /// bytes. No byte of it may be imported already or be pinned by another library.
    pub unsafe fn import_host_pointer(
        &self,
        params: &BufferParams,
        pointer: NonNull<u8>,
        size: u64,
        release: impl FnOnce() + Send + 'static,
    ) -> Result<Buffer> {
        if !params.memory_type.contains(MemoryType::HOST_VISIBLE) {
            return Err(Error::invalid_argument(format!(
                "host memory is not {:?}; import it as host memory",
                params.memory_type
            )));
        }
        let memory = External::Host { pointer, size };
        // SAFETY: the caller vouches under the same contract.
        unsafe { self.import(params, memory, Release::new(release)) }
    }

    /// Makes a buffer of `size` bytes at a device address: memory of another library that uses the same device in this
    /// process. `release` is called as for [`import_host_pointer`](Self::import_host_pointer).
    ///
    /// `UNIMPLEMENTED` where the device declares the lack of [`Feature::ImportDevice`](crate::Feature::ImportDevice).
    /// `INVALID_ARGUMENT` where the device can tell that the memory is not its own.
    ///
    /// # Safety
    /// The memory must be allocated on this device until `release` is called. Work of the other library on it must be
    /// complete, or [`Queue::import_timepoint`](crate::Queue::import_timepoint) and
    /// [`Queue::export_timepoint`](crate::Queue::export_timepoint) must order it.
    pub unsafe fn import_device_address(
        &self,
        params: &BufferParams,
        address: u64,
        size: u64,
        release: impl FnOnce() + Send + 'static,
    ) -> Result<Buffer> {
        let mapped = MemoryType::HOST_VISIBLE.0 & params.memory_type.0 != 0;
        if mapped || params.usage.contains(BufferUsage::MAPPING) {
            return Err(Error::invalid_argument(
                "a device address tells the host nothing: import it as device memory, or import the host pointer",
            ));
        }
        // SAFETY: the caller vouches under the same contract.
        unsafe { self.import(params, External::Device { address, size }, Release::new(release)) }
    }

    /// # Safety
    /// As for the methods above.
    unsafe fn import(&self, params: &BufferParams, memory: External, release: Release) -> Result<Buffer> {
        check_params(params)?;
        fork::check()?;
        let feature = match memory {
            External::Host { .. } => Feature::ImportHost,
            External::Device { .. } => Feature::ImportDevice,
        };
        if let Some(lack) = self.info().lacks.iter().find(|lack| lack.feature == feature) {
            return Err(Error::unimplemented(format!("this device imports no such memory: {}", lack.reason)));
        }
        let (address, size) = (memory.address(), memory.size());
        if size == 0 || address == 0 {
            return Err(Error::invalid_argument(format!("{size} bytes at {address:#x}: nothing to import")));
        }
        if address.checked_add(size).is_none() {
            return Err(Error::out_of_range(format!(
                "{size} bytes at {address:#x} are more than an address space has"
            )));
        }
        let alignment = params.min_alignment.max(1);
        if address % alignment != 0 {
            return Err(Error::invalid_argument(format!("{address:#x} is not aligned to {alignment}")));
        }
        let release = self.open.watch_import(params.memory_type, size, release);
        // SAFETY: the caller vouches under the same contract.
        let raw = unsafe { self.open.raw.import(params, memory, release) };
        let raw = raw.context(|| format!("importing {size} bytes at {address:#x}"))?;
        self.open.imported(params.memory_type, size);
        Ok(Buffer::from_driver(raw, *params))
    }
}
