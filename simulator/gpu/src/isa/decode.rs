// SPDX-License-Identifier: MIT OR Apache-2.0
//! The decoder: finds the format and the row of an instruction, and reads its fields.

use super::error::DecodeError;
use super::fields::{Fields, Invalid, field};
use super::format::{Classified, row, vop3_row};
use super::inst::{Encoding, Inst};
use super::set::{Family, InstructionSet, Tables};
use super::{gfx10, gfx11, gfx12, memory_format, scalar_format, scaled_format, vector_format};

impl InstructionSet {
    /// Every set of RDNA. A GPU has one for each size of its waves.
    pub const RDNA: [&'static InstructionSet; 12] = [
        &gfx11::GFX1100,
        &gfx11::GFX1100_WAVE64,
        &gfx11::GFX1150,
        &gfx11::GFX1150_WAVE64,
        &gfx10::GFX1030,
        &gfx10::GFX1030_WAVE64,
        &gfx10::GFX1010,
        &gfx10::GFX1010_WAVE64,
        &gfx10::GFX1011,
        &gfx10::GFX1011_WAVE64,
        &gfx12::GFX1201,
        &gfx12::GFX1201_WAVE64,
    ];

    /// Decodes the instruction at the start of `words`. [`Inst::size`] is its length.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Truncated`] if the instruction continues after `words`, [`DecodeError::Unknown`] unless
    /// `words` start with an instruction of the set. Fields that the instruction does not use are ignored.
    pub fn decode(&'static self, words: &[u32]) -> Result<Inst, DecodeError> {
        let Some(&first) = words.first() else {
            return Err(DecodeError::Truncated { have: 0, need: 1 });
        };
        let unknown = |encoding| DecodeError::Unknown {
            set: self,
            words: [first, words.get(1).copied().unwrap_or(0)],
            encoding,
        };
        let (encoding, row) = match classify(self, first) {
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
            Encoding::Flat | Encoding::Global | Encoding::Scratch | Encoding::Mubuf | Encoding::Mtbuf
                if self.family == Family::Gfx12 =>
            {
                3
            }
            _ => 2,
        };
        if let Some(product) = scaled_format::product(self, row.op, words) {
            return scaled_format::decode(self, words, product);
        }
        let mut fields = Fields::new(self, words, base_words, encoding, row)?;
        let done = match encoding {
            Encoding::Sop2 => scalar_format::sop2(&mut fields),
            Encoding::Sopk => scalar_format::sopk(&mut fields),
            Encoding::Sop1 => scalar_format::sop1(&mut fields),
            Encoding::Sopc => scalar_format::sopc(&mut fields),
            Encoding::Sopp => scalar_format::sopp(&mut fields),
            Encoding::Vop2 => vector_format::vop2(&mut fields),
            Encoding::Vop1 => vector_format::vop1(&mut fields),
            Encoding::Vopc => vector_format::vopc(&mut fields),
            Encoding::Vop3 => vector_format::vop3(&mut fields),
            Encoding::Vop3p => vector_format::vop3p(&mut fields),
            Encoding::Mai => vector_format::mai(&mut fields),
            Encoding::Vopd => gfx11::vopd(&mut fields),
            _ => match self.family {
                Family::Gfx9 => memory(&mut fields),
                Family::Gfx10 => gfx10::memory(&mut fields),
                Family::Gfx11 => gfx11::memory(&mut fields),
                Family::Gfx12 => gfx12::memory(&mut fields),
            },
        };
        fields.finish(done)
    }

    /// The instructions of `bytes`, one after another, with their byte offsets.
    ///
    /// After an unknown instruction the next word is tried. A truncated instruction ends the sequence, and so
    /// does a rest of fewer than four bytes.
    pub fn decode_program(&'static self, bytes: &[u8]) -> Instructions {
        let words = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        Instructions { set: self, words, next: 0 }
    }
}

/// Iterator of [`InstructionSet::decode_program`].
#[derive(Debug)]
pub struct Instructions {
    set: &'static InstructionSet,
    words: Vec<u32>,
    next: usize,
}

impl Iterator for Instructions {
    type Item = (u64, Result<Inst, DecodeError>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.words.get(self.next..).filter(|rest| !rest.is_empty())?;
        let offset = self.next as u64 * 4;
        let result = self.set.decode(rest);
        self.next += match &result {
            Ok(inst) => usize::from(inst.size) / 4,
            Err(DecodeError::Truncated { .. }) => rest.len(),
            Err(DecodeError::Unknown { .. }) => 1,
        };
        Some((offset, result))
    }
}

/// Reads the fields of a memory instruction of GFX9.
fn memory(f: &mut Fields<'_>) -> Result<(), Invalid> {
    match f.inst.encoding {
        Encoding::Smem => scalar_format::smem(f),
        Encoding::Ds => memory_format::ds(f),
        Encoding::Mubuf | Encoding::Mtbuf => memory_format::buffer(f),
        _ => memory_format::flat(f),
    }
}

/// The format of an instruction by its first word, and its row; `None` if no format starts like that.
fn classify(set: &InstructionSet, first: u32) -> Classified {
    let tables = &set.tables;
    let found = match first >> 26 {
        _ if first >> 31 == 0 => match field(first, 25, 7) {
            0x3f => (Encoding::Vop1, row(tables.vop1, field(first, 9, 8))),
            0x3e => (Encoding::Vopc, row(tables.vopc, field(first, 17, 8))),
            code => (Encoding::Vop2, row(tables.vop2, code)),
        },
        _ if first >> 30 == 0b10 => match field(first, 23, 9) {
            0b1_0111_1101 => (Encoding::Sop1, row(tables.sop1, field(first, 8, 8))),
            0b1_0111_1110 => (Encoding::Sopc, row(tables.sopc, field(first, 16, 7))),
            0b1_0111_1111 => (Encoding::Sopp, row(tables.sopp, field(first, 16, 7))),
            _ if first >> 28 == 0b1011 => (Encoding::Sopk, row(tables.sopk, field(first, 23, 5))),
            _ => (Encoding::Sop2, row(tables.sop2, field(first, 23, 7))),
        },
        _ => {
            return match set.family {
                Family::Gfx9 => long_format(tables, first),
                Family::Gfx10 => gfx10::long_format(tables, first),
                Family::Gfx11 => gfx11::long_format(tables, first),
                Family::Gfx12 => gfx12::long_format(tables, first),
            };
        }
    };
    Some(found)
}

/// The 64-bit formats of GFX9.
fn long_format(tables: &Tables, first: u32) -> Classified {
    let found = match first >> 26 {
        0b11_0000 => (Encoding::Smem, row(tables.smem, field(first, 18, 8))),
        0b11_0100 => match field(first, 16, 10) {
            code @ 0x380.. => {
                let code = code & 0x7f;
                match row(tables.mai, code) {
                    None if code < 0x3e => (Encoding::Vop3p, row(tables.vop3p, code)),
                    matrix => (Encoding::Mai, matrix),
                }
            }
            code => (Encoding::Vop3, vop3_row(tables, code, VOP1_IN_VOP3)),
        },
        0b11_0110 => (Encoding::Ds, row(tables.ds, field(first, 17, 8))),
        0b11_0111 => {
            let code = field(first, 18, 7);
            match field(first, 14, 2) {
                0 => (Encoding::Flat, row(tables.flat, code)),
                1 => (Encoding::Scratch, row(tables.scratch, code)),
                2 => (Encoding::Global, row(tables.global, code)),
                _ => return None,
            }
        }
        0b11_1000 => (Encoding::Mubuf, row(tables.mubuf, field(first, 18, 7))),
        0b11_1010 => (Encoding::Mtbuf, row(tables.mtbuf, field(first, 15, 4))),
        _ => return None,
    };
    Some(found)
}

/// The first code of VOP1 in VOP3 of GFX9.
const VOP1_IN_VOP3: u32 = 0x140;
