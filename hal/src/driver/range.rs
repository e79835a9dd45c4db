// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers: ranges of allocations, on which operations and commands work.

use std::{fmt, sync::Arc};

use crate::{
    driver,
    words::{
        buffer_params::BufferParams,
        error::{Error, Result},
        fork::Kept,
        location::Location,
    },
};

/// A range of device memory: a whole allocation or a part of one.
///
/// Clones and subspans share the allocation. It lives until the last handle is dropped and the last submission that
/// uses it has ended. Handles may be used and dropped on any thread.
#[derive(Clone)]
pub struct Buffer {
    raw: Kept<Arc<dyn driver::RawBuffer>>,
    params: BufferParams,
    offset: u64,
    length: u64,
    /// The device address of the allocation.
    base: u64,
    /// The address of the allocation's object in the host's memory.
    identity: usize,
}

impl Buffer {
    /// A buffer over a whole allocation of a driver. `params` are those of the allocation.
    pub fn from_driver(raw: Arc<dyn driver::RawBuffer>, params: BufferParams) -> Self {
        let (length, base) = (raw.size(), raw.device_address());
        let identity = Arc::as_ptr(&raw).cast::<()>() as usize;
        Self { raw: raw.into(), params, offset: 0, length, base, identity }
    }

    /// The length in bytes.
    #[inline]
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether the range is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The offset of the range in its allocation, in bytes.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The place of the allocation for other libraries of this process; `None` where they cannot find it.
    pub fn location(&self) -> Option<Location> {
        self.raw.location()
    }

    /// The parameters of the allocation.
    #[inline]
    pub fn params(&self) -> BufferParams {
        self.params
    }

    /// The address of the range for device code.
    #[inline]
    pub fn device_address(&self) -> u64 {
        self.base.wrapping_add(self.offset)
    }

    /// A part of this range; `offset` and `length` are in bytes. `OUT_OF_RANGE` where the part does not lie in the
    /// range.
    pub fn subspan(&self, offset: u64, length: u64) -> Result<Self> {
        match offset.checked_add(length) {
            Some(end) if end <= self.length => {
                Ok(Self { offset: self.offset + offset, length, ..self.clone() })
            }
            _ => Err(Error::out_of_range(format!(
                "bytes {offset}.. of length {length} do not lie in a buffer of {} bytes",
                self.length
            ))),
        }
    }

    /// A number that all handles of the allocation share while one of them lives, and that no other allocation has then.
    #[inline]
    pub(crate) fn identity(&self) -> usize {
        self.identity
    }

    /// The device address of the allocation.
    #[inline]
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// A range of the whole allocation, of which this handle may be a part.
    pub(crate) fn of_allocation(&self, offset: u64, length: u64) -> Result<Self> {
        Self { offset: 0, length: self.raw.size(), ..self.clone() }.subspan(offset, length)
    }

    /// The allocation. For a buffer that a pool placed, [`backing`](Self::backing) returns the allocation of the
    /// driver.
    pub fn raw(&self) -> &Arc<dyn driver::RawBuffer> {
        &self.raw
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({:#x}, {} bytes)", self.device_address(), self.length)
    }
}
