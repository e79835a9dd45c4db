// SPDX-License-Identifier: MIT OR Apache-2.0
//! The range that a recorded command names: a buffer, or a part of a table slot.

use crate::{
    driver::range::Buffer,
    words::error::{Error, Result},
};

/// What a command works on.
#[derive(Clone, Debug)]
pub enum BufferRef {
    /// A range that is known while recording.
    Direct(Buffer),
    /// A part of whatever the binding table holds in a slot.
    Slot {
        /// The slot's number.
        slot: u32,
        /// Where to begin in the bound range, in bytes.
        offset: u64,
        /// Bytes.
        length: u64,
    },
}

impl BufferRef {
    /// A part of whatever the binding table holds in `slot`.
    pub fn slot(slot: u32, offset: u64, length: u64) -> Self {
        Self::Slot { slot, offset, length }
    }

    /// The range that this names, with the table of the submission at hand.
    pub fn resolve(&self, bindings: &[Buffer]) -> Result<Buffer> {
        match self {
            Self::Direct(range) => Ok(range.clone()),
            Self::Slot { slot, offset, length } => bindings
                .get(*slot as usize)
                .ok_or_else(|| Error::internal(format!("slot {slot} has no binding")))?
                .subspan(*offset, *length),
        }
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Direct(buffer) => buffer.len(),
            Self::Slot { length, .. } => *length,
        }
    }

    /// Whether it names no byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device address once the table is known. The table was checked against [`CommandList::slots`].
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
