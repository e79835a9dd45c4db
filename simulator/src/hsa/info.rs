// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of attributes. Each has a type, which the client's memory must fit.

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Info {
    Bool(bool),
    U16(u16),
    U32(u32),
    U64(u64),
    U16s([u16; 3]),
    U32s(Vec<u32>),
    U64s(Vec<u64>),
    Bytes(Vec<u8>),
}

impl Info {
    /// A text in a field of `size` bytes, filled with at least one zero.
    pub(crate) fn text(text: &str, size: usize) -> Self {
        let mut bytes = text.as_bytes().to_vec();
        bytes.truncate(size.saturating_sub(1));
        bytes.resize(size, 0);
        Self::Bytes(bytes)
    }
}
