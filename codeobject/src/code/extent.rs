// SPDX-License-Identifier: MIT OR Apache-2.0
//! The size that an ELF declares.

use crate::bytes::{array, range, u16_at, u32_at, u64_at};
use crate::container::magic::Format;

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
    const NO_BITS: u32 = 8;
    if Format::of(elf) != Some(Format::Elf) {
        return None;
    }
    let header: [u8; 64] = array(elf, 0)?;
    let mut end = 64;
    let table = |at, entry, count| {
        let (entry, count) = (u16_at(&header, entry)?.into(), u16_at(&header, count)?.into());
        Some(Table { at: u64_at(&header, at)?, entry, count })
    };
    let (programs, sections) = (table(32, 54, 56)?, table(40, 58, 60)?);
    end = end.max(programs.end()?).max(sections.end()?);
    if end > elf.len() as u64 {
        // The tables are cut short. Their contents could only add to the size.
        return Some(end);
    }
    for program in programs.entries(elf) {
        end = end.max(u64_at(program, 8)?.checked_add(u64_at(program, 32)?)?);
    }
    for section in sections.entries(elf) {
        if u32_at(section, 4)? != NO_BITS {
            end = end.max(u64_at(section, 24)?.checked_add(u64_at(section, 32)?)?);
        }
    }
    Some(end)
}

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

    /// The entries that lie in the file.
    fn entries<'a>(&self, elf: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let (at, size) = (self.at, self.entry);
        (0..self.count).filter_map(move |index| range(elf, at.checked_add(index.checked_mul(size)?)?, size))
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
