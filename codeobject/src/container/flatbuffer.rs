// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of a flatbuffer, read from untrusted bytes. `None` means that an offset leads outside of the buffer.

use crate::bytes::{array, range, u16_at, u32_at};

/// A table: optional fields by number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'b> {
    buffer: &'b [u8],
    at: u64,
}

/// A list of elements of one size, or a string.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vector<'b> {
    buffer: &'b [u8],
    /// The root table of a buffer.
    pub(crate) start: u64,
    pub(crate) count: u32,
}

impl<'b> Table<'b> {
    pub(crate) fn root(buffer: &'b [u8]) -> Option<Table<'b>> {
        Some(Table { buffer, at: follow(buffer, 0)? })
    }

    /// The position of a field; `Some(None)` if the table omits the field.
    fn field(self, index: u64) -> Option<Option<u64>> {
        let back = u32_at(self.buffer, self.at)?.cast_signed();
        let directory = self.at.checked_add_signed(i64::from(back).checked_neg()?)?;
        let size = u64::from(u16_at(self.buffer, directory)?);
        let slot = 4 + 2 * index;
        if slot + 2 > size {
            return Some(None);
        }
        match u16_at(self.buffer, directory.checked_add(slot)?)? {
            0 => Some(None),
            offset => Some(Some(self.at.checked_add(offset.into())?)),
        }
    }

    /// A number; 0 if the field is omitted.
    pub(crate) fn number(self, index: u64) -> Option<u32> {
        self.field(index)?.map_or(Some(0), |at| u32_at(self.buffer, at))
    }

    /// Three numbers in a row.
    pub(crate) fn numbers(self, index: u64) -> Option<Option<[u32; 3]>> {
        let Some(at) = self.field(index)? else { return Some(None) };
        let bytes: [u8; 12] = array(self.buffer, at)?;
        Some(Some([0, 4, 8].map(|at| u32_at(&bytes, at).unwrap_or_default())))
    }

    /// A list or string; empty if the field is omitted.
    pub(crate) fn vector(self, index: u64) -> Option<Vector<'b>> {
        let Some(at) = self.field(index)? else {
            return Some(Vector { buffer: self.buffer, start: 0, count: 0 });
        };
        let at = follow(self.buffer, at)?;
        Some(Vector { buffer: self.buffer, start: at.checked_add(4)?, count: u32_at(self.buffer, at)? })
    }
}

impl<'b> Vector<'b> {
    /// The bytes of all elements, each of this size.
    pub(crate) fn bytes(self, size: u64) -> Option<&'b [u8]> {
        range(self.buffer, self.start, u64::from(self.count).checked_mul(size)?)
    }

    /// The tables of a list of tables.
    pub(crate) fn tables(self) -> impl Iterator<Item = Option<Table<'b>>> {
        (0..u64::from(self.count)).map(move |index| {
            let at = follow(self.buffer, self.start.checked_add(4 * index)?)?;
            Some(Table { buffer: self.buffer, at })
        })
    }
}

/// The target of the offset at `position`.
fn follow(buffer: &[u8], position: u64) -> Option<u64> {
    position.checked_add(u32_at(buffer, position)?.into())
}
