// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks the memory that a loader allocates for the segments, and the notes.

use crate::bytes::{range, u32_at};
use crate::code::layout::Segment;
use crate::error::Error;

/// The addresses from the first segment to the end of the last one. A loader allocates this range and copies the
/// segments into it.
pub(super) struct Memory {
    start: u64,
    end: u64,
}

/// The largest alignment that a loader can be asked for, in bytes.
const MOST_ALIGNED: u64 = 1 << 30;

impl Memory {
    /// ROCr takes the size from the last segment, so segments out of order would be copied past its end.
    pub(super) fn check(segments: &[Segment]) -> Result<Memory, Error> {
        let malformed = |index: usize, offset: u64, problem: &str| {
            Error::malformed(format!("segment {index} of the ELF"), offset, problem)
        };
        let Some(first) = segments.first() else {
            return Err(Error::malformed("the program headers", 0, "they load nothing"));
        };
        let mut end = first.address;
        for (index, segment) in segments.iter().enumerate() {
            let align = segment.alignment;
            if align > 1 && (!align.is_power_of_two() || align > MOST_ALIGNED) {
                let problem = format!(
                    "it is aligned to {align} bytes; an alignment is a power of two up to {MOST_ALIGNED}"
                );
                return Err(malformed(index, segment.offset, &problem));
            }
            if segment.address < end {
                let problem = "it begins before the segment ahead of it ends";
                return Err(malformed(index, segment.offset, problem));
            }
            end = segment
                .address
                .checked_add(segment.memory_size)
                .ok_or_else(|| malformed(index, segment.offset, "its address and size overflow"))?;
        }
        Ok(Memory { start: first.address, end })
    }

    pub(super) fn holds(&self, address: u64, size: u64) -> bool {
        address >= self.start && address.checked_add(size).is_some_and(|end| end <= self.end)
    }

    /// A relocation writes up to eight bytes.
    pub(super) fn check_relocation(&self, offset: u64) -> Result<(), Error> {
        if self.holds(offset, 8) {
            return Ok(());
        }
        Err(Error::malformed("a relocation", offset, "it changes bytes that are in no segment"))
    }
}

/// Checks that notes fill the area exactly, each with its name and its content. Readers add up sizes until they are
/// past the end, and read a header at every position before it.
pub(super) fn check_note_area(elf: &[u8], offset: u64, size: u64) -> Result<(), Error> {
    const HEADER: u64 = 12;
    let what = "the notes of the ELF";
    let area = range(elf, offset, size)
        .ok_or_else(|| Error::truncated(what, offset, size, (elf.len() as u64).saturating_sub(offset)))?;
    let mut position = 0;
    while position < size {
        let at = |field| u32_at(area, position + field).map(u64::from);
        let (Some(name), Some(content), true) = (at(0), at(4), position + HEADER <= size) else {
            return Err(Error::malformed(what, offset + position, "a note's header is cut short"));
        };
        // The last note need not be padded.
        let end = position + HEADER + name.next_multiple_of(4) + content;
        if end > size {
            return Err(Error::malformed(what, offset, "a note is longer than the area that holds it"));
        }
        position = end.next_multiple_of(4);
    }
    Ok(())
}
