// SPDX-License-Identifier: MIT OR Apache-2.0
//! The size that an ELF declares.

use crate::bytes::{array, range, u16_at, u32_at, u64_at};
use crate::words::magic::Format;

/// The number of bytes that a loader touches if it trusts an ELF's headers: the least length that holds its header,
/// program headers, segments, section headers and sections. `None` if the bytes are no 64-bit little-endian ELF, end
/// within a header, or claim more than fits into 64 bits.
///
/// HIP takes a code object by its address without a length, so an image whose declared size exceeds its real one must
/// never reach HIP.
///
/// ```
/// assert_eq!(windlass_codeobject::declared_size(b"not an ELF"), None);
/// ```
pub fn declared_size(elf: &[u8]) -> Option<u64> {
    if Format::of(elf) != Some(Format::Elf) {
        return None;
    }
    let tables = Tables::of(elf)?;
    let read = |at: u64, out: &mut [u8]| {
        out.copy_from_slice(range(elf, at, out.len() as u64).ok_or(())?);
        Ok::<(), ()>(())
    };
    if tables.end > elf.len() as u64 {
        // The tables are cut short. Their contents could only add to the size.
        return Some(tables.end);
    }
    tables.declared_size(read).ok().flatten()
}

/// The tables of segments and sections that an ELF header names.
pub(crate) struct Tables {
    segments: Table,
    sections: Table,
    /// The end of the header and of both tables.
    pub(crate) end: u64,
}

impl Tables {
    /// The tables of a 64-bit little-endian ELF, by its first 64 bytes.
    pub(crate) fn of(head: &[u8]) -> Option<Tables> {
        let head: [u8; 64] = array(head, 0)?;
        let table = |at, entry, count| {
            let (entry, count) = (u16_at(&head, entry)?.into(), u16_at(&head, count)?.into());
            Some(Table { at: u64_at(&head, at)?, entry, count })
        };
        let (segments, sections) = (table(32, 54, 56)?, table(40, 58, 60)?);
        let end = segments.end()?.max(sections.end()?).max(head.len() as u64);
        Some(Tables { segments, sections, end })
    }

    /// The [`declared_size`] of the ELF. `read` fills its second argument with the bytes from an offset on, and gets only
    /// ranges within the tables. `Ok(None)` if the headers contradict themselves.
    ///
    /// # Errors
    /// The error of `read`.
    pub(crate) fn declared_size<E>(
        &self,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Option<u64>, E> {
        const NO_BITS: u32 = 8;
        let mut end = Some(self.end);
        let mut reach = |header: &[u8; HEAD], offset| {
            let content = u64_at(header, offset).and_then(|start| start.checked_add(u64_at(header, 32)?));
            end = end.and_then(|end| Some(end.max(content?)));
        };
        for at in self.segments.entries() {
            let Some(at) = at else { return Ok(None) };
            let mut segment = [0; HEAD];
            read(at, &mut segment)?;
            reach(&segment, 8);
        }
        for at in self.sections.entries() {
            let Some(at) = at else { return Ok(None) };
            let mut section = [0; HEAD];
            read(at, &mut section)?;
            if u32_at(&section, 4) != Some(NO_BITS) {
                reach(&section, 24);
            }
        }
        Ok(end)
    }
}

/// The first bytes of a segment's or a section's header, which state its type, offset and size.
const HEAD: usize = 40;

/// A table of headers.
struct Table {
    at: u64,
    entry: u64,
    count: u64,
}

impl Table {
    /// The end of the table; 0 if it is empty.
    fn end(&self) -> Option<u64> {
        if self.count == 0 { Some(0) } else { self.at.checked_add(self.entry.checked_mul(self.count)?) }
    }

    /// The offsets of the headers; `None` for a header that is too short.
    fn entries(&self) -> impl Iterator<Item = Option<u64>> {
        let (at, size) = (self.at, self.entry);
        (0..self.count)
            .map(move |index| at.checked_add(index.checked_mul(size)?).filter(|_| size >= HEAD as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR_ADD: &[u8] =
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../cts/kernels/bundles/vector_add.gfx942.co"));

    fn changed(at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut elf = VECTOR_ADD.to_vec();
        elf[at..at + bytes.len()].copy_from_slice(bytes);
        elf
    }

    #[test]
    fn a_whole_file_declares_no_more_than_it_has() {
        assert!(declared_size(VECTOR_ADD).is_some_and(|size| size <= VECTOR_ADD.len() as u64));
    }

    #[test]
    fn lies_are_seen() {
        let sections = u64::from_le_bytes(VECTOR_ADD[40..48].try_into().unwrap()) as usize;
        let programs = u64::from_le_bytes(VECTOR_ADD[32..40].try_into().unwrap()) as usize;
        for (what, elf) in [
            ("section count", changed(60, &[0xff, 0xff])),
            ("section offset", changed(40, &(1_u64 << 20).to_le_bytes())),
            ("section size", changed(sections + 3 * 64 + 32, &(1_u64 << 24).to_le_bytes())),
            ("segment size", changed(programs + 56 + 32, &(1_u64 << 24).to_le_bytes())),
            ("segment that wraps", changed(programs + 56 + 32, &u64::MAX.to_le_bytes())),
        ] {
            assert!(declared_size(&elf).is_none_or(|size| size > elf.len() as u64), "{what}");
        }
        assert!(
            declared_size(&VECTOR_ADD[..VECTOR_ADD.len() / 2])
                .is_none_or(|size| size > VECTOR_ADD.len() as u64 / 2)
        );
    }
}
