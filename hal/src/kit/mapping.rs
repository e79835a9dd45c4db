// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host access to mapped memory: copies in and out, or a raw pointer, and never a reference.
//!
//! The bytes behind a mapping may be written at any time by a device or by a driver's threads, so no Rust reference to
//! them may exist. They are touched by relaxed atomic accesses of one byte only: accesses of several sizes to the same
//! bytes would race in a way that Rust does not define. Long copies are such accesses too, made by one instruction that
//! copies bytes. A race then yields old or new bytes, as on any GPU. Drivers whose work runs in this process keep the same
//! rule; what a device does to the bytes is outside of Rust's model. The simulated GPU, which is both, argues its words in
//! its `memory::access`: a program whose accesses semaphores order never comes near the question.
#![allow(unsafe_code)]

use std::{ptr::NonNull, sync::Arc};

use crate::{
    driver::{self, range::Buffer},
    kit::host_memory::shared_bytes,
    words::{
        buffer_params::BufferUsage,
        error::{Error, Result},
        fork::Kept,
    },
};

/// A host-visible range of a buffer. See [`Buffer::map`](crate::Buffer::map). Clones show the same bytes.
#[derive(Clone)]
pub struct Mapping {
    /// Keeps the memory behind `start` mapped.
    buffer: Kept<Arc<dyn driver::Buffer>>,
    start: NonNull<u8>,
    length: u64,
}

// SAFETY: the pointer leads to memory of `buffer`, which is Send + Sync and is kept alive here; all accesses
// through it are atomic or left to the caller's own `unsafe`.
unsafe impl Send for Mapping {}
// SAFETY: as above; `&Mapping` offers atomic accesses only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// `base` is what [`driver::Buffer::host_pointer`] promises: valid for the whole buffer while it lives. The
    /// range was checked by the buffer handle that asks.
    pub(crate) fn new(
        buffer: Arc<dyn driver::Buffer>,
        base: driver::HostPointer,
        offset: u64,
        length: u64,
    ) -> Self {
        // SAFETY: offset + length <= buffer.size(), and the pointer is valid for the whole buffer.
        let start = unsafe { base.as_non_null().add(offset as usize) };
        Self { buffer: buffer.into(), start, length }
    }

    /// Bytes in the mapping.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether the mapping holds no byte.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The first byte, for the caller's own unsafe code. Valid while this mapping lives.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The device address of the first byte of the buffer behind it.
    pub fn device_address(&self) -> u64 {
        self.buffer.device_address()
    }

    /// Copies bytes out, from `offset` on. `OUT_OF_RANGE` where they do not lie in the mapping.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let start = self.check(offset, bytes.len())?;
        // SAFETY: `check` proved start..start+len to lie in the mapping.
        unsafe { shared_bytes::load(start, bytes) };
        Ok(())
    }

    /// Copies bytes in, from `offset` on. `OUT_OF_RANGE` where they do not lie in the mapping.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let start = self.check(offset, bytes.len())?;
        // SAFETY: `check` proved start..start+len to lie in the mapping.
        unsafe { shared_bytes::store(start, bytes) };
        Ok(())
    }

    /// All bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length as usize];
        // SAFETY: the whole mapping.
        unsafe { shared_bytes::load(self.start.as_ptr(), &mut bytes) };
        bytes
    }

    fn check(&self, offset: u64, length: usize) -> Result<*mut u8> {
        match offset.checked_add(length as u64) {
            // SAFETY: offset <= self.length, and the mapping's bytes are one allocation.
            Some(end) if end <= self.length => Ok(unsafe { self.start.as_ptr().add(offset as usize) }),
            _ => Err(Error::out_of_range(format!(
                "bytes {offset}.. of length {length} do not lie in a mapping of {} bytes",
                self.length
            ))),
        }
    }
}

impl Buffer {
    /// Access for the host to the bytes of a mappable buffer. What a queue does to them meanwhile is ordered only
    /// by semaphores.
    pub fn map(&self) -> Result<Mapping> {
        if !self.params().usage.contains(BufferUsage::MAPPING) {
            return Err(Error::failed_precondition(
                "the buffer was not allocated for mapping; allocate host memory with usage MAPPING, or let \
                 a queue download it",
            ));
        }
        let pointer = self.raw().host_pointer().ok_or_else(|| {
            Error::unavailable("the device's memory cannot be mapped; let a queue update and download it")
        })?;
        Ok(Mapping::new(Arc::clone(self.raw()), pointer, self.offset(), self.len()))
    }

    /// The bytes where the host can reach them, whatever the buffer may be used for: for this crate, not for callers.
    pub(crate) fn host_view(&self) -> Option<Mapping> {
        let pointer = self.raw().host_pointer()?;
        Some(Mapping::new(Arc::clone(self.raw()), pointer, self.offset(), self.len()))
    }
}

impl std::fmt::Debug for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mapping({:p}, {} bytes)", self.start, self.length)
    }
}
