// SPDX-License-Identifier: MIT OR Apache-2.0
//! The range that a recorded command works on, as a reader of a list sees it.

use crate::{
    driver::{buffer_ref::BufferRef, range::Buffer},
    words::error::{Error, Result},
};

/// The range that a recorded command works on: the borrowed form of a [`BufferRef`].
#[derive(Clone, Copy, Debug)]
pub enum RecordedRange<'a> {
    /// A range that was known while recording.
    Direct {
        /// A handle of the allocation. Its own range means nothing here.
        buffer: &'a Buffer,
        /// The offset of the range in the allocation, in bytes.
        offset: u64,
        /// The length of the range in bytes.
        length: u64,
    },
    /// A part of the buffer that the binding table holds in a slot.
    Slot {
        /// The number of the slot.
        slot: u32,
        /// The offset of the part in the bound range, in bytes.
        offset: u64,
        /// The length of the part in bytes.
        length: u64,
    },
}

impl RecordedRange<'_> {
    /// The range itself, with the binding table of a submission. `INTERNAL` for a slot without a binding,
    /// `OUT_OF_RANGE` for a part that does not lie in the allocation or in the bound range.
    pub fn resolve(&self, bindings: &[Buffer]) -> Result<Buffer> {
        match *self {
            Self::Direct { buffer, offset, length } => buffer.of_allocation(offset, length),
            Self::Slot { slot, offset, length } => bindings
                .get(slot as usize)
                .ok_or_else(|| Error::internal(format!("slot {slot} has no binding")))?
                .subspan(offset, length),
        }
    }

    /// The length in bytes.
    pub fn len(&self) -> u64 {
        let (Self::Direct { length, .. } | Self::Slot { length, .. }) = *self;
        length
    }

    /// Whether the range is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device address, with the binding table of a submission. The table was checked against
    /// [`CommandList::slots`](crate::CommandList::slots).
    pub fn address(&self, bindings: &[Buffer]) -> u64 {
        match *self {
            Self::Direct { buffer, offset, .. } => buffer.base().wrapping_add(offset),
            Self::Slot { slot, offset, .. } => {
                bindings.get(slot as usize).map_or(0, |buffer| buffer.device_address().wrapping_add(offset))
            }
        }
    }
}

impl<'a> From<&'a BufferRef> for RecordedRange<'a> {
    fn from(reference: &'a BufferRef) -> Self {
        match reference {
            BufferRef::Direct(buffer) => {
                Self::Direct { buffer, offset: buffer.offset(), length: buffer.len() }
            }
            BufferRef::Slot { slot, offset, length } => {
                Self::Slot { slot: *slot, offset: *offset, length: *length }
            }
        }
    }
}
