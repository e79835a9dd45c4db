// SPDX-License-Identifier: MIT OR Apache-2.0
//! The formats of GFX12 (RDNA 4) that differ from those of GFX11.
//!
//! - `set`: the instruction sets.
//! - `memory_format`: one function for each format.
//! - `text`: scope and temporal hint.

mod memory_format;
mod set;
pub(super) mod text;

pub(super) use memory_format::memory;
pub use set::{GFX1201, GFX1201_WAVE64};

use super::fields::{bit, field};
use super::format::{Classified, row, vop3_row};
use super::inst::Encoding;
use super::set::Tables;

/// The first code of VOP1 in VOP3.
const VOP1_IN_VOP3: u32 = 0x180;

/// The format of an instruction of 64 or 96 bits by its first word, and its row. Images, exports, interpolation and VDSDIR,
/// which shaders use, are no formats here.
pub(super) fn long_format(tables: &Tables, first: u32) -> Classified {
    let found = match first >> 26 {
        0b11_0001 if bit(first, 21) => (Encoding::Mtbuf, row(tables.mtbuf, field(first, 14, 7))),
        0b11_0001 => (Encoding::Mubuf, row(tables.mubuf, field(first, 14, 7))),
        0b11_0010 => (Encoding::Vopd, row(tables.vopd, field(first, 22, 4))),
        0b11_0011 if field(first, 23, 3) == 0 => (Encoding::Vop3p, row(tables.vop3p, field(first, 16, 7))),
        0b11_0101 => (Encoding::Vop3, vop3_row(tables, field(first, 16, 10), VOP1_IN_VOP3)),
        0b11_0110 => (Encoding::Ds, row(tables.ds, field(first, 18, 8))),
        0b11_1011 => {
            let code = field(first, 14, 8);
            match field(first, 24, 2) {
                0 => (Encoding::Flat, row(tables.flat, code)),
                1 => (Encoding::Scratch, row(tables.scratch, code)),
                2 => (Encoding::Global, row(tables.global, code)),
                _ => return None,
            }
        }
        0b11_1101 => (Encoding::Smem, row(tables.smem, field(first, 13, 6))),
        _ => return None,
    };
    Some(found)
}
