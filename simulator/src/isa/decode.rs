// SPDX-License-Identifier: MIT OR Apache-2.0
//! From words to instructions: which format, which row, and the fields of each format.

use std::fmt;

use super::fields::{Fields, field};
use super::inst::{Encoding, Inst};
use super::tables::{self, Row};
use super::{memory_format, scalar_format, vector_format};

/// Why bytes are no instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// The bytes end inside the instruction.
    Truncated {
        /// The words there were.
        have: usize,
        /// The words the instruction needs at least.
        need: usize,
    },
    /// No gfx942 instruction is encoded like this.
    Unknown {
        /// The first words, 0 where there are none.
        words: [u32; 2],
        /// The format, where its bits are those of one.
        encoding: Option<Encoding>,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Truncated { have, need } => {
                write!(f, "the code ends inside an instruction: it has {have} words of at least {need}")
            }
            DecodeError::Unknown { words, encoding: Some(encoding) } => {
                write!(
                    f,
                    "no gfx942 instruction of format {encoding:?} is encoded {:#010x} {:#010x}",
                    words[0], words[1]
                )
            }
            DecodeError::Unknown { words, encoding: None } => {
                write!(f, "no format of gfx942 starts with {:#010x}", words[0])
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// Decodes the instruction at the start of `words`; [`Inst::size`] says how many of them it took.
///
/// # Errors
///
/// [`DecodeError::Truncated`] if the instruction goes on after `words`, [`DecodeError::Unknown`] if it is none. Fields
/// that the instruction does not use are ignored.
pub fn decode(words: &[u32]) -> Result<Inst, DecodeError> {
    let Some(&first) = words.first() else {
        return Err(DecodeError::Truncated { have: 0, need: 1 });
    };
    let unknown =
        |encoding| DecodeError::Unknown { words: [first, words.get(1).copied().unwrap_or(0)], encoding };
    let (encoding, row) = match classify(first) {
        Some(found) => found,
        None => return Err(unknown(None)),
    };
    let row = row.ok_or_else(|| unknown(Some(encoding)))?;
    let base_words = match encoding {
        Encoding::Sop1
        | Encoding::Sop2
        | Encoding::Sopc
        | Encoding::Sopk
        | Encoding::Sopp
        | Encoding::Vop1
        | Encoding::Vop2
        | Encoding::Vopc => 1,
        _ => 2,
    };
    let mut fields = Fields::new(words, base_words, encoding, row)?;
    let done = match encoding {
        Encoding::Sop2 => scalar_format::sop2(&mut fields),
        Encoding::Sopk => scalar_format::sopk(&mut fields),
        Encoding::Sop1 => scalar_format::sop1(&mut fields),
        Encoding::Sopc => scalar_format::sopc(&mut fields),
        Encoding::Sopp => scalar_format::sopp(&mut fields),
        Encoding::Smem => scalar_format::smem(&mut fields),
        Encoding::Vop2 => vector_format::vop2(&mut fields),
        Encoding::Vop1 => vector_format::vop1(&mut fields),
        Encoding::Vopc => vector_format::vopc(&mut fields),
        Encoding::Vop3 => vector_format::vop3(&mut fields),
        Encoding::Vop3p => vector_format::vop3p(&mut fields),
        Encoding::Mai => vector_format::mai(&mut fields),
        Encoding::Ds => memory_format::ds(&mut fields),
        Encoding::Flat | Encoding::Global | Encoding::Scratch => memory_format::flat(&mut fields),
        Encoding::Mubuf | Encoding::Mtbuf => memory_format::buffer(&mut fields),
    };
    fields.finish(done)
}

/// The instructions of `bytes`, one after another, with their byte offsets.
///
/// After an unknown instruction the next word is tried; a truncated one ends the sequence, and so does a tail of fewer
/// than four bytes.
pub fn decode_program(bytes: &[u8]) -> Program {
    let words =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    Program { words, next: 0 }
}

/// Iterator of [`decode_program`].
#[derive(Debug)]
pub struct Program {
    words: Vec<u32>,
    next: usize,
}

impl Iterator for Program {
    type Item = (u64, Result<Inst, DecodeError>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.words.get(self.next..).filter(|rest| !rest.is_empty())?;
        let offset = self.next as u64 * 4;
        let result = decode(rest);
        self.next += match &result {
            Ok(inst) => usize::from(inst.size) / 4,
            Err(DecodeError::Truncated { .. }) => rest.len(),
            Err(DecodeError::Unknown { .. }) => 1,
        };
        Some((offset, result))
    }
}

/// One format's rows with the place of each opcode.
macro_rules! table {
    ($rows:expr, $codes:literal, $code:expr) => {{
        static INDEX: [u16; $codes] = tables::index($rows);
        let place = INDEX.get($code as usize).copied().unwrap_or(0);
        $rows.get(usize::from(place).wrapping_sub(1))
    }};
}

/// The format of an instruction by its first word, and its row. None if there is no such format.
fn classify(first: u32) -> Option<(Encoding, Option<&'static Row>)> {
    let found = match first >> 26 {
        _ if first >> 31 == 0 => match field(first, 25, 7) {
            0x3f => (Encoding::Vop1, vop1_row(field(first, 9, 8))),
            0x3e => (Encoding::Vopc, vopc_row(field(first, 17, 8))),
            code => (Encoding::Vop2, vop2_row(code)),
        },
        _ if first >> 30 == 0b10 => match field(first, 23, 9) {
            0b1_0111_1101 => (Encoding::Sop1, table!(tables::SOP1, 256, field(first, 8, 8))),
            0b1_0111_1110 => (Encoding::Sopc, table!(tables::SOPC, 128, field(first, 16, 7))),
            0b1_0111_1111 => (Encoding::Sopp, table!(tables::SOPP, 128, field(first, 16, 7))),
            _ if first >> 28 == 0b1011 => (Encoding::Sopk, table!(tables::SOPK, 32, field(first, 23, 5))),
            _ => (Encoding::Sop2, table!(tables::SOP2, 128, field(first, 23, 7))),
        },
        0b11_0000 => (Encoding::Smem, table!(tables::SMEM, 256, field(first, 18, 8))),
        0b11_0100 => match field(first, 16, 10) {
            code @ 0x380.. => match code & 0x7f {
                code @ 0x3e.. => (Encoding::Mai, table!(tables::MAI, 128, code)),
                code => (Encoding::Vop3p, table!(tables::VOP3P, 128, code)),
            },
            code => (Encoding::Vop3, vop3_row(code)),
        },
        0b11_0110 => (Encoding::Ds, table!(tables::DS, 256, field(first, 17, 8))),
        0b11_0111 => {
            let code = field(first, 18, 7);
            match field(first, 14, 2) {
                0 => (Encoding::Flat, table!(tables::FLAT, 128, code)),
                1 => (Encoding::Scratch, table!(tables::SCRATCH, 128, code)),
                2 => (Encoding::Global, table!(tables::GLOBAL, 128, code)),
                _ => return None,
            }
        }
        0b11_1000 => (Encoding::Mubuf, table!(tables::MUBUF, 128, field(first, 18, 7))),
        0b11_1010 => (Encoding::Mtbuf, table!(tables::MTBUF, 16, field(first, 15, 4))),
        _ => return None,
    };
    Some(found)
}

fn vop1_row(code: u32) -> Option<&'static Row> {
    table!(tables::VOP1, 256, code)
}

fn vop2_row(code: u32) -> Option<&'static Row> {
    table!(tables::VOP2, 64, code)
}

fn vopc_row(code: u32) -> Option<&'static Row> {
    table!(tables::VOPC, 256, code)
}

/// The 64-bit form holds every other vector format at a base of its own.
fn vop3_row(code: u32) -> Option<&'static Row> {
    let promoted = match code {
        0x000..0x100 => vopc_row(code),
        0x100..0x140 => vop2_row(code - 0x100),
        0x140..0x1c0 => vop1_row(code - 0x140),
        _ => return table!(tables::VOP3, 0x380, code),
    };
    promoted.filter(|row| !row.has(tables::NO_E64))
}
