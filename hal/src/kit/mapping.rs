// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host access to mapped memory: copies in and out, or a raw pointer, but never a reference.
//!
//! A device or the threads of a driver may write the bytes of a mapping at any time, so no Rust reference to them may
//! exist. All accesses are relaxed atomics of one byte, because a race between accesses of different sizes is undefined
//! in Rust. Long copies use one instruction that also copies byte by byte. A race then yields old or new bytes, as on a
//! GPU.
//!
//! Drivers whose work runs in this process keep the same rule. Writes by a real device are outside of Rust's memory
//! model. The simulated GPU uses words; its `memory::access` argues why that is sound.
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

/// A range of a buffer that the host can reach. See [`Buffer::map`](crate::Buffer::map). Clones show the same bytes,
/// and may be used on any thread.
#[derive(Clone)]
pub struct Mapping {
    /// Keeps the memory at `start` mapped.
    buffer: Kept<Arc<dyn driver::RawBuffer>>,
    start: NonNull<u8>,
    length: u64,
}

// SAFETY: the pointer leads to memory of `buffer`, which is Send + Sync and is kept alive here. All accesses through it
// are atomic or up to the caller's own `unsafe`.
unsafe impl Send for Mapping {}
// SAFETY: as above. `&Mapping` offers atomic accesses only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// `base` is valid for the whole buffer while the buffer lives, as [`driver::RawBuffer::host_pointer`] promises. The
    /// calling buffer handle has checked the range.
    pub(crate) fn new(
        buffer: Arc<dyn driver::RawBuffer>,
        base: driver::HostPointer,
        offset: u64,
        length: u64,
    ) -> Self {
        // SAFETY: offset + length <= buffer.size(), and the pointer is valid for the whole buffer.
        let start = unsafe { base.as_non_null().add(offset as usize) };
        Self { buffer: buffer.into(), start, length }
    }

    /// The length in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether the mapping is empty.
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

    /// The device address of the first byte of the underlying allocation.
    pub fn device_address(&self) -> u64 {
        self.buffer.device_address()
    }

    /// Copies bytes out of the mapping, beginning at byte `offset`. `OUT_OF_RANGE` where they do not lie in it.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let start = self.check(offset, bytes.len())?;
        // SAFETY: `check` proved that start..start+len lies in the mapping.
        unsafe { shared_bytes::load(start, bytes) };
        Ok(())
    }

    /// Copies bytes into the mapping, beginning at byte `offset`. `OUT_OF_RANGE` where they do not lie in it.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let start = self.check(offset, bytes.len())?;
        // SAFETY: `check` proved that start..start+len lies in the mapping.
        unsafe { shared_bytes::store(start, bytes) };
        Ok(())
    }

    /// A copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length as usize];
        // SAFETY: this is the whole mapping.
        unsafe { shared_bytes::load(self.start.as_ptr(), &mut bytes) };
        bytes
    }

    fn check(&self, offset: u64, length: usize) -> Result<*mut u8> {
        match offset.checked_add(length as u64) {
            // SAFETY: offset <= self.length, and the bytes of the mapping are in one allocation.
            Some(end) if end <= self.length => Ok(unsafe { self.start.as_ptr().add(offset as usize) }),
            _ => Err(Error::out_of_range(format!(
                "bytes {offset}.. of length {length} do not lie in a mapping of {} bytes",
                self.length
            ))),
        }
    }
}

impl Buffer {
    /// Maps the bytes of a mappable buffer for the host. Only semaphores order these accesses against the work of
    /// queues.
    ///
    /// `FAILED_PRECONDITION` where the buffer was not allocated with usage `MAPPING` or was deallocated, `UNAVAILABLE`
    /// where the memory of the device cannot be mapped.
    pub fn map(&self) -> Result<Mapping> {
        if self.raw().is_released() {
            return Err(Error::failed_precondition(
                "the buffer to map was deallocated: its memory may belong to another buffer by now",
            ));
        }
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

    /// The bytes, if the host can reach them. Unlike [`map`](Self::map), this ignores the usage of the buffer.
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
