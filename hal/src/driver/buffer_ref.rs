// SPDX-License-Identifier: MIT OR Apache-2.0
//! The range that a recorded command names.

use crate::{
    driver::range::Buffer,
    words::error::{Error, Result},
};

/// The range that a recorded command works on.
#[derive(Clone, Debug)]
pub enum BufferRef {
    /// A range that is known while recording.
    Direct(Buffer),
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

impl BufferRef {
    /// A part of the buffer that the binding table will hold in `slot`. `offset` and `length` are in bytes.
    pub fn slot(slot: u32, offset: u64, length: u64) -> Self {
        Self::Slot { slot, offset, length }
    }

    /// The range itself, with the binding table of a submission. `INTERNAL` for a slot without a binding,
    /// `OUT_OF_RANGE` for a part that does not lie in the bound range.
    pub fn resolve(&self, bindings: &[Buffer]) -> Result<Buffer> {
        match self {
            Self::Direct(range) => Ok(range.clone()),
            Self::Slot { slot, offset, length } => bindings
                .get(*slot as usize)
                .ok_or_else(|| Error::internal(format!("slot {slot} has no binding")))?
                .subspan(*offset, *length),
        }
    }

    /// The length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Direct(buffer) => buffer.len(),
            Self::Slot { length, .. } => *length,
        }
    }

    /// Whether the range is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device address, with the binding table of a submission. The table was checked against
    /// [`CommandList::slots`](crate::CommandList::slots).
    pub fn address(&self, bindings: &[Buffer]) -> u64 {
        match self {
            Self::Direct(buffer) => buffer.device_address(),
            Self::Slot { slot, offset, .. } => {
                bindings.get(*slot as usize).map_or(0, |buffer| buffer.device_address().wrapping_add(*offset))
            }
        }
    }
}

impl From<&Buffer> for BufferRef {
    fn from(buffer: &Buffer) -> Self {
        Self::Direct(buffer.clone())
    }
}

impl From<Buffer> for BufferRef {
    fn from(buffer: Buffer) -> Self {
        Self::Direct(buffer)
    }
}
