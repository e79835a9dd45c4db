// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers: ranges of memory that queues work on.

use std::{fmt, sync::Arc};

use crate::{
    driver,
    words::{
        buffer_params::BufferParams,
        error::{Error, Result},
        fork::Kept,
    },
};

/// A range of device memory: a whole allocation or a part of it.
///
/// Clones and subspans share the allocation, which lives until the last handle is gone and the last submission
/// that uses it has ended.
#[derive(Clone)]
pub struct Buffer {
    raw: Kept<Arc<dyn driver::Buffer>>,
    params: BufferParams,
    offset: u64,
    length: u64,
}

impl Buffer {
    /// Wraps what a driver allocated.
    pub fn from_driver(raw: Arc<dyn driver::Buffer>, params: BufferParams) -> Self {
        let length = raw.size();
        Self { raw: raw.into(), params, offset: 0, length }
    }

    /// Bytes in this range.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether the range holds no byte.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Where the range begins in its allocation, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What the allocation was made with.
    pub fn params(&self) -> BufferParams {
        self.params
    }

    /// The address that device code sees.
    pub fn device_address(&self) -> u64 {
        self.raw.device_address().wrapping_add(self.offset)
    }

    /// A part of this range. `OUT_OF_RANGE` where it does not fit.
    pub fn subspan(&self, offset: u64, length: u64) -> Result<Self> {
        match offset.checked_add(length) {
            Some(end) if end <= self.length => {
                Ok(Self { raw: self.raw.clone(), params: self.params, offset: self.offset + offset, length })
            }
            _ => Err(Error::out_of_range(format!(
                "bytes {offset}.. of length {length} do not lie in a buffer of {} bytes",
                self.length
            ))),
        }
    }

    /// The allocation. Of a buffer that a pool placed, [`backing`](Self::backing) gives the driver's own.
    pub fn raw(&self) -> &Arc<dyn driver::Buffer> {
        &self.raw
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({:#x}, {} bytes)", self.device_address(), self.length)
    }
}
