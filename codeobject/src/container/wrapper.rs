// SPDX-License-Identifier: MIT OR Apache-2.0
//! The wrappers in a host program (`.hipFatBinSegment`), which find its bundles without section headers.
//!
//! A wrapper is `HIPF`, a version, and the address of a bundle. A relocatable program often has the address in the
//! relocation that writes it, and not in the wrapper.

use object::LittleEndian;
use object::elf::{FileHeader64, ProgramHeader64};
use object::read::elf::{FileHeader, ProgramHeader};

use crate::bytes::{range, u32_at, u64_at};
use crate::content::elf_bytes::ElfBytes;
use crate::content::pieces::Pieces;
use crate::content::{CHUNK, Content};
use crate::error::Error;
use crate::words::magic::Format;

pub(crate) const WRAPPER_VERSION: u32 = 1;
const WRAPPER_SIZE: u64 = 24;
const POINTER: u64 = 8;
/// Limits. Real programs have fewer than a dozen segments, and one wrapper for each source file.
const MAX_SEGMENTS: usize = 64;
const MAX_WRAPPERS: usize = 65_536;
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PF_X: u32 = 1;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const RELA_SIZE: usize = 24;
/// The relocations that are read at a time.
const ROWS: usize = CHUNK / RELA_SIZE;
/// The most bytes of the dynamic section that are read. Linkers write a few dozen rows of 16 bytes.
const LONGEST_DYNAMIC: usize = 1 << 20;
/// A wrapper that begins in one chunk of a file may end in the next.
const OVERLAP: usize = WRAPPER_SIZE as usize - 8;
/// The relocation types of x86-64 and of AArch64 that write an address within the program itself.
const RELATIVE: [u64; 2] = [8, 1027];

/// A part of a program in the file and in memory.
#[derive(Debug, Clone, Copy)]
struct Segment {
    kind: u32,
    executable: bool,
    offset: u64,
    address: u64,
    size: u64,
}

/// The offsets in the file of the bundles to which the wrappers of a host ELF point, without duplicates.
pub(crate) fn bundles(elf: Content<'_>) -> Result<Vec<u64>, Error> {
    let segments = segments(elf);
    let mut wrappers = wrappers(elf, &segments)?;
    relocate(elf, &segments, &mut wrappers)?;
    let mut bundles: Vec<u64> =
        wrappers.iter().filter_map(|wrapper| place(&segments, wrapper.target)).collect();
    bundles.sort_unstable();
    bundles.dedup();
    Ok(bundles)
}

fn segments(content: Content<'_>) -> Vec<Segment> {
    let pieces = Pieces::default();
    let elf = ElfBytes { content, pieces: &pieces };
    let Ok(header) = FileHeader64::<LittleEndian>::parse(elf) else { return Vec::new() };
    let headers = header.program_headers(LittleEndian, elf).unwrap_or_default();
    let segment = |header: &ProgramHeader64<LittleEndian>| Segment {
        kind: header.p_type(LittleEndian).0,
        executable: header.p_flags(LittleEndian).0 & PF_X != 0,
        offset: header.p_offset(LittleEndian),
        address: header.p_vaddr(LittleEndian),
        size: header.p_filesz(LittleEndian),
    };
    let known = |segment: &Segment| matches!(segment.kind, PT_LOAD | PT_DYNAMIC);
    headers.iter().map(segment).filter(known).take(MAX_SEGMENTS).collect()
}

struct Wrapper {
    /// The address of the wrapper's pointer.
    pointer: u64,
    /// The address that the pointer holds.
    target: u64,
}

/// The wrappers in the data segments, ordered by address. A program that is not relocatable has them in read-only
/// data.
fn wrappers(elf: Content<'_>, segments: &[Segment]) -> Result<Vec<Wrapper>, Error> {
    let magic = Format::HostWrapper.magic();
    let mut found = Vec::new();
    let is_data = |segment: &&Segment| segment.kind == PT_LOAD && !segment.executable;
    let mut data: Vec<&Segment> = segments.iter().filter(is_data).collect();
    data.sort_by_key(|segment| segment.offset);
    // Headers may claim the same bytes many times. Search each byte once.
    let mut searched: u64 = 0;
    for segment in data {
        let content = elf.part(segment.offset, segment.size).unwrap_or(Content::EMPTY);
        // A wrapper may begin within the searched bytes and end behind them.
        let first = searched.saturating_sub(WRAPPER_SIZE - 1).saturating_sub(segment.offset);
        let unaligned = segment.address.wrapping_add(first) % 8;
        let first = first.saturating_add((8 - unaligned) % 8);
        searched = searched.max(segment.offset.saturating_add(content.size()));
        content.search(first, OVERLAP, |start, bytes| {
            let mut position = 0;
            while let Some(wrapper) = range(bytes, position, WRAPPER_SIZE) {
                if wrapper.starts_with(magic)
                    && u32_at(wrapper, 4) == Some(WRAPPER_VERSION)
                    && found.len() < MAX_WRAPPERS
                {
                    let address = segment.address.wrapping_add(start).wrapping_add(position);
                    found.push(Wrapper {
                        pointer: address.wrapping_add(POINTER),
                        target: u64_at(wrapper, POINTER).unwrap_or_default(),
                    });
                }
                position += 8;
            }
            None::<()>
        })?;
    }
    found.sort_by_key(|wrapper| wrapper.pointer);
    Ok(found)
}

/// Applies the relocations to the pointers, as a loader would.
fn relocate(elf: Content<'_>, segments: &[Segment], wrappers: &mut [Wrapper]) -> Result<(), Error> {
    let table = relocations(elf, segments)?;
    let mut start = 0;
    while start < table.size() {
        let rows = table.from(start).head(ROWS * RELA_SIZE)?;
        for rela in rows.chunks_exact(RELA_SIZE) {
            let field = |at| u64_at(rela, at).unwrap_or_default();
            if !RELATIVE.contains(&(field(8) & 0xffff_ffff)) {
                continue;
            }
            if let Ok(index) = wrappers.binary_search_by_key(&field(0), |wrapper| wrapper.pointer) {
                wrappers[index].target = field(16);
            }
        }
        start += rows.len() as u64;
    }
    Ok(())
}

/// The table of relocations that the dynamic segment names.
fn relocations<'a>(elf: Content<'a>, segments: &[Segment]) -> Result<Content<'a>, Error> {
    let Some(dynamic) = segments.iter().find(|segment| segment.kind == PT_DYNAMIC) else {
        return Ok(Content::EMPTY);
    };
    let (mut address, mut size) = (0, 0);
    let dynamic = elf.part(dynamic.offset, dynamic.size).unwrap_or(Content::EMPTY);
    for pair in dynamic.head(LONGEST_DYNAMIC)?.chunks_exact(16) {
        match u64_at(pair, 0) {
            Some(DT_RELA) => address = u64_at(pair, 8).unwrap_or_default(),
            Some(DT_RELASZ) => size = u64_at(pair, 8).unwrap_or_default(),
            Some(0) => break,
            _ => {}
        }
    }
    let table = place(segments, address).and_then(|offset| elf.part(offset, size));
    Ok(table.unwrap_or(Content::EMPTY))
}

/// The offset in the file of an address in memory.
fn place(segments: &[Segment], address: u64) -> Option<u64> {
    let inside = |segment: &&Segment| {
        segment.kind == PT_LOAD && address.checked_sub(segment.address).is_some_and(|at| at < segment.size)
    };
    let segment = segments.iter().find(inside)?;
    segment.offset.checked_add(address - segment.address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(offset: u64, size: u64) -> Segment {
        Segment { kind: PT_LOAD, executable: false, offset, address: 0x1000 + offset, size }
    }

    #[test]
    fn bytes_that_many_segments_claim_are_searched_once() {
        let mut elf = vec![0; 128];
        for at in [24, 64] {
            elf[at..at + 8].copy_from_slice(b"FPIH\x01\0\0\0");
        }
        let pointers = |segments: &[Segment]| -> Vec<u64> {
            wrappers(Content::Memory(&elf), segments).unwrap().iter().map(|wrapper| wrapper.pointer).collect()
        };
        assert_eq!(pointers(&vec![segment(0, 128); 64]), [0x1020, 0x1048]);
        // One segment ends inside a wrapper that the next one holds whole, and the last lies inside another wrapper.
        assert_eq!(pointers(&[segment(16, 112), segment(0, 40), segment(32, 8)]), [0x1020, 0x1048]);
        assert_eq!(pointers(&[segment(0, 40)]), []);
    }
}
