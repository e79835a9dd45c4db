// SPDX-License-Identifier: MIT OR Apache-2.0
//! The formats of GFX10 (RDNA 1 and 2) that differ from those of GFX9 and of GFX11.

mod memory_format;
mod set;

pub(super) use memory_format::memory;
pub use set::{GFX1010, GFX1010_WAVE64, GFX1011, GFX1011_WAVE64, GFX1030, GFX1030_WAVE64};

use super::fields::field;
use super::format::{Classified, row, vop3_row};
use super::inst::Encoding;
use super::set::Tables;

/// The first code of VOP1 in VOP3.
const VOP1_IN_VOP3: u32 = 0x180;

/// The format of an instruction of 64 bits by its first word, and its row. Images, exports and interpolation, which shaders
/// use, are no formats here.
pub(super) fn long_format(tables: &Tables, first: u32) -> Classified {
    let found = match first >> 26 {
        0b11_0011 if field(first, 23, 3) == 0 => (Encoding::Vop3p, row(tables.vop3p, field(first, 16, 7))),
        0b11_0101 => (Encoding::Vop3, vop3_row(tables, field(first, 16, 10), VOP1_IN_VOP3)),
        0b11_0110 => (Encoding::Ds, row(tables.ds, field(first, 18, 8))),
        0b11_0111 => {
            let code = field(first, 18, 7);
            match field(first, 14, 2) {
                0 => (Encoding::Flat, row(tables.flat, code)),
                1 => (Encoding::Scratch, row(tables.scratch, code)),
                2 => (Encoding::Global, row(tables.global, code)),
                _ => return None,
            }
        }
        0b11_1000 => (Encoding::Mubuf, row(tables.mubuf, field(first, 18, 8))),
        // The last bit of the opcode is in the second word.
        0b11_1010 => (Encoding::Mtbuf, row(tables.mtbuf, field(first, 16, 3))),
        0b11_1101 => (Encoding::Smem, row(tables.smem, field(first, 18, 8))),
        _ => return None,
    };
    Some(found)
}
