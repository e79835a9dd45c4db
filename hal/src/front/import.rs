// SPDX-License-Identifier: MIT OR Apache-2.0
//! Imports: memory that somebody else allocated, as buffers.
//!
//! Memory that a program owns can be lent safely: the buffer then owns it. A bare pointer is another matter: no check
//! can tell whether the memory is there and stays there, so importing one is `unsafe`, for the reason that loading code
//! is. Whoever lends a pointer learns by a release callback when the memory is theirs again.
#![allow(unsafe_code)]

use std::ptr::NonNull;

use crate::{
    driver::range::Buffer,
    front::device::Device,
    words::{
        buffer_params::{BufferParams, BufferUsage, MemoryType, check_params},
        error::{Error, Result, ResultExt},
        external::{External, Release},
        info::Feature,
    },
};

/// Bytes that only a device touches for now. They are reached by the pointer alone: moving a box would assert that
/// nobody else has it.
struct Lent(NonNull<[u8]>);

// SAFETY: owns the bytes, as the box did that it was.
unsafe impl Send for Lent {}

impl Lent {
    fn new(bytes: Box<[u8]>) -> Self {
        Self(NonNull::from(Box::leak(bytes)))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: of a leaked box, and made a box again only here.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl Device {
    /// Makes a buffer of bytes that the program owns: without a copy of a box or a full vector, and without telling when
    /// they are free again. They are freed once the last handle is gone and the last use has retired. Borrowed bytes are
    /// copied, and the copy is imported.
    ///
    /// The contents are those of `bytes`. [`Buffer::map`] reads them back. `UNIMPLEMENTED` where the device declares to
    /// lack [`Feature::ImportHost`](crate::Feature::ImportHost), `INVALID_ARGUMENT` for no bytes, `UNAVAILABLE` where the
    /// system cannot make the memory the device's.
    ///
    /// It is no allocation of the device: [`statistics`](Self::statistics) do not count it, and a dealloca of it is a barrier.
    pub fn import_host(&self, params: &BufferParams, bytes: impl Into<Box<[u8]>>) -> Result<Buffer> {
        let bytes = Lent::new(bytes.into());
        let pointer = bytes.0.cast();
        let size = bytes.0.len() as u64;
        // SAFETY: the bytes are owned by the release, which a driver keeps as long as the device may touch them, and nobody
        // else has a pointer to them.
        unsafe { self.import_host_pointer(params, pointer, size, move || drop(bytes)) }
    }

    /// Makes a buffer of `size` bytes of host memory at `pointer`. `release` is called on a thread of the callback pool,
    /// once the last handle is gone and the last use has retired; not where this returns an error, and not on a device
    /// that is lost, which may write the memory as long as the process runs.
    ///
    /// The errors are those of [`import_host`](Self::import_host), and `ALREADY_EXISTS` where the device sees
    /// that some of the memory is imported or pinned already: import memory once, and share ranges of it by
    /// [`Buffer::subspan`].
    ///
    /// # Safety
    /// The memory must be valid for reads and writes until `release` is called, and nobody may hold a Rust reference to
    /// it from here to there, but to atomics. Whoever else touches it is ordered by semaphores, or reads and writes undefined
    /// bytes. No byte of it may be imported already, or be pinned by another library.
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
        // SAFETY: the same contract, passed on.
        unsafe { self.import(params, memory, Release::new(release)) }
    }

    /// Makes a buffer of `size` bytes at an address that the device sees: memory of another library that uses the same
    /// device in this process. `release` is called as [`import_host_pointer`](Self::import_host_pointer) says.
    ///
    /// `UNIMPLEMENTED` where the device declares to lack [`Feature::ImportDevice`](crate::Feature::ImportDevice),
    /// `INVALID_ARGUMENT` for what the device does not know as its memory, as far as it can tell.
    ///
    /// # Safety
    /// The memory must be allocated on this device, and stay so until `release` is called. What the other library still
    /// does to it must be complete, or ordered behind by whoever signals for it: this library's semaphores know nothing
    /// of another's streams.
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
        // SAFETY: the same contract, passed on.
        unsafe { self.import(params, External::Device { address, size }, Release::new(release)) }
    }

    /// # Safety
    /// As the methods above say.
    unsafe fn import(&self, params: &BufferParams, memory: External, release: Release) -> Result<Buffer> {
        check_params(params)?;
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
        // SAFETY: the caller's promise, passed on.
        let raw = unsafe { self.raw().import(params, memory, release) };
        let raw = raw.context(|| format!("importing {size} bytes at {address:#x}"))?;
        Ok(Buffer::from_driver(raw, *params))
    }
}
