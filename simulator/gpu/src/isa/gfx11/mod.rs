// SPDX-License-Identifier: MIT OR Apache-2.0
//! The formats of GFX11 (RDNA 3 and 3.5) that differ from those of GFX9.
//!
//! - `set`: the instruction sets.
//! - `memory_format`, `dual_format`: one function for each format.
//! - `text`: constants with fields.

mod dual_format;
mod memory_format;
mod set;
pub(super) mod text;

pub(super) use dual_format::vopd;
pub(super) use memory_format::{ds, memory};
pub use set::{GFX1100, GFX1100_WAVE64, GFX1150, GFX1150_WAVE64};

use super::fields::field;
use super::format::{Classified, row, vop3_row};
use super::inst::Encoding;
use super::set::Tables;

/// The first code of VOP1 in VOP3.
const VOP1_IN_VOP3: u32 = 0x180;

/// The format of an instruction of 64 bits by its first word, and its row. Images, exports, interpolation and LDSDIR,
/// which shaders use, are no formats here.
pub(super) fn long_format(tables: &Tables, first: u32) -> Classified {
    let found = match first >> 26 {
        0b11_0010 => (Encoding::Vopd, row(tables.vopd, field(first, 22, 4))),
        0b11_0011 if field(first, 23, 3) == 0 => (Encoding::Vop3p, row(tables.vop3p, field(first, 16, 7))),
        0b11_0101 => (Encoding::Vop3, vop3_row(tables, field(first, 16, 10), VOP1_IN_VOP3)),
        0b11_0110 => (Encoding::Ds, row(tables.ds, field(first, 18, 8))),
        0b11_0111 => {
            let code = field(first, 18, 7);
            match field(first, 16, 2) {
                0 => (Encoding::Flat, row(tables.flat, code)),
                1 => (Encoding::Scratch, row(tables.scratch, code)),
                2 => (Encoding::Global, row(tables.global, code)),
                _ => return None,
            }
        }
        0b11_1000 => (Encoding::Mubuf, row(tables.mubuf, field(first, 18, 8))),
        0b11_1010 => (Encoding::Mtbuf, row(tables.mtbuf, field(first, 15, 4))),
        0b11_1101 => (Encoding::Smem, row(tables.smem, field(first, 18, 8))),
        _ => return None,
    };
    Some(found)
}
