// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts about the text of instructions that their fields do not show.

use super::super::opcode::Op;
use super::*;

/// The facts of each instruction.
const TEXT_FLAGS: [u8; Op::ALL.len()] = {
    let mut flags = [0; Op::ALL.len()];
    mark(&mut flags, DS, TWO_OFFSETS, HAS_TWO_OFFSETS);
    mark(&mut flags, DS, GWS, IS_GWS);
    mark(&mut flags, VOP3P_GFX900, MIX, IS_MIX);
    mark(&mut flags, VOP3P_SINCE_GFX906, MIX, IS_MIX);
    mark(&mut flags, VOP1_GFX942, NO_DST_SEL, HAS_NO_DST_SEL);
    mark(&mut flags, gfx950::VOP1, NO_DST_SEL, HAS_NO_DST_SEL);
    mark(&mut flags, gfx950::GLOBAL, LDS_DST, IS_NAMED_LDS);
    mark(&mut flags, GLOBAL_GFX942, LDS_DST, IS_NAMED_LDS);
    mark(&mut flags, SCRATCH_GFX942, LDS_DST, IS_NAMED_LDS);
    mark(&mut flags, gfx11::MUBUF, LDS_DST, IS_NAMED_LDS);
    mark(&mut flags, gfx10::DS, TWO_OFFSETS, HAS_TWO_OFFSETS);
    mark(&mut flags, gfx10::DS, GWS, IS_GWS);
    mark(&mut flags, gfx10::VOP3P, MIX, IS_MIX);
    mark(&mut flags, gfx11::DS, TWO_OFFSETS, HAS_TWO_OFFSETS);
    mark(&mut flags, gfx11::DS, GWS, IS_GWS);
    mark(&mut flags, gfx11::VOP1, HALVES, HAS_HALVES);
    mark(&mut flags, gfx12::DS, TWO_OFFSETS, HAS_TWO_OFFSETS);
    flags
};
const HAS_TWO_OFFSETS: u8 = 2;
const IS_GWS: u8 = 4;
const IS_MIX: u8 = 8;
const HAS_NO_DST_SEL: u8 = 16;
const IS_NAMED_LDS: u8 = 32;
const HAS_HALVES: u8 = 64;

/// Sets `mark` for the rows that have all of `wanted`.
const fn mark(flags: &mut [u8; Op::ALL.len()], rows: &[Row], wanted: u64, mark: u8) {
    let mut i = 0;
    while i < rows.len() {
        if rows[i].flags & wanted == wanted {
            flags[rows[i].op as usize] |= mark;
        }
        i += 1;
    }
}

/// Whether a DS instruction has two addresses.
pub(in super::super) fn has_two_offsets(op: Op) -> bool {
    TEXT_FLAGS[op as usize] & HAS_TWO_OFFSETS != 0
}

/// Whether an instruction works on the global wave sync resource.
pub(in super::super) fn is_gws(op: Op) -> bool {
    TEXT_FLAGS[op as usize] & IS_GWS != 0
}

/// Whether the mnemonic of an instruction says that data goes to LDS.
pub(in super::super) fn is_named_lds(op: Op) -> bool {
    TEXT_FLAGS[op as usize] & IS_NAMED_LDS != 0
}

/// Whether the SDWA form of an instruction writes its whole destination.
pub(in super::super) fn has_no_dst_sel(op: Op) -> bool {
    TEXT_FLAGS[op as usize] & HAS_NO_DST_SEL != 0
}

/// Whether a VOP3P instruction mixes precisions.
pub(in super::super) fn is_mix(op: Op) -> bool {
    TEXT_FLAGS[op as usize] & IS_MIX != 0
}

/// Whether the operands of an instruction are halves of registers.
pub(in super::super) fn has_halves(op: Op) -> bool {
    TEXT_FLAGS[op as usize] & HAS_HALVES != 0
}
