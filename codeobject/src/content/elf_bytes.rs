// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of an ELF, as the `object` crate reads them.

use object::ReadRef;

use super::Content;
use super::pieces::Pieces;

/// The most bytes that a reader of ELF headers gets in one piece of a file. Tables of real files are far smaller.
const LONGEST: u64 = 32 << 20;

/// The bytes of an ELF for the readers of the `object` crate. Pieces of a file stay in memory as long as `pieces`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ElfBytes<'p, 'a> {
    pub(crate) content: Content<'a>,
    pub(crate) pieces: &'p Pieces,
}

impl<'p, 'a: 'p> ReadRef<'p> for ElfBytes<'p, 'a> {
    fn len(self) -> Result<u64, ()> {
        Ok(self.content.size())
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'p [u8], ()> {
        match self.content.part(offset, size).ok_or(())? {
            Content::Memory(bytes) => Ok(bytes),
            part if size <= LONGEST => {
                part.load().map(|bytes| self.pieces.keep(bytes.into_owned())).map_err(|_| ())
            }
            Content::File { .. } => Err(()),
        }
    }

    fn read_bytes_at_until(self, range: std::ops::Range<u64>, delimiter: u8) -> Result<&'p [u8], ()> {
        let all = self.read_bytes_at(range.start, range.end.saturating_sub(range.start))?;
        all.iter().position(|byte| *byte == delimiter).and_then(|end| all.get(..end)).ok_or(())
    }
}
