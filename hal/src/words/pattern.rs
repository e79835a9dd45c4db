// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pattern of a fill.

/// A fill pattern of one, two or four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    bytes: [u8; 4],
    size: u8,
}

impl Pattern {
    /// The bytes to repeat: one, two or four.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.size as usize]
    }

    /// The pattern as a little-endian number.
    pub fn value(&self) -> u32 {
        u32::from_le_bytes(self.bytes)
    }
}

macro_rules! patterns {
    ($($type:ty),*) => {$(
        impl From<$type> for Pattern {
            fn from(value: $type) -> Self {
                let mut bytes = [0; 4];
                let value = value.to_le_bytes();
                bytes[..value.len()].copy_from_slice(&value);
                Self { bytes, size: value.len() as u8 }
            }
        }
    )*};
}

patterns!(u8, i8, u16, i16, u32, i32, f32);
