// SPDX-License-Identifier: MIT OR Apache-2.0
//! Defects of versions of AMD's library that programs must avoid. AMD's library then hangs or writes out of bounds; the
//! simulator reports a fault that names the defect.

use super::code::Code;
use super::failure::Failure;
use crate::packet::Fill;

/// Bytes of a word in which AMD's library fills memory.
const WORD: u64 = 8;

/// HIP 5 subtracts the bytes up to the end of the first word from the length of a fill, even if the fill is shorter.
pub(crate) fn check_fill(hip: (u32, u32), fill: &Fill) -> Result<(), Failure> {
    let Some((address, length)) = fill.range() else { return Ok(()) };
    let into_word = address % WORD;
    if hip >= (6, 0) || into_word == 0 || into_word + length >= WORD {
        return Ok(());
    }
    let report = format!(
        "a fill on a stream went wrong: its {length} bytes at {address:#x} end before the word of {WORD} does that they \
         begin within. AMD's HIP 5 fills without end there, past the allocation; HIP 6 does not. Write such bytes by a copy"
    );
    Err(Failure::new(Code::ILLEGAL_ADDRESS, report))
}
