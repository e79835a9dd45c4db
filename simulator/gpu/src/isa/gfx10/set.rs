// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction sets of gfx1030: one for waves of 32 lanes, and one for waves of 64.

use super::super::opcode::Mnemonics;
use super::super::set::{
    Accumulation, Family, FlatBit, InstructionSet, ResourceLayout, Style, Tables, mnemonics, spelled, table,
};
use super::super::tables::{Row, gfx10, lay_out};

/// The hardware registers.
const HARDWARE: &[&str] = &[
    "",
    "MODE",
    "STATUS",
    "TRAPSTS",
    "",
    "GPR_ALLOC",
    "LDS_ALLOC",
    "IB_STS",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "SH_MEM_BASES",
    "TBA_LO",
    "TBA_HI",
    "TMA_LO",
    "TMA_HI",
    "FLAT_SCR_LO",
    "FLAT_SCR_HI",
    "",
    "HW_ID1",
    "HW_ID2",
    "POPS_PACKER",
    "",
    "",
    "",
    "SHADER_CYCLES",
];

const fn set(name: &'static str, wave_size: u32) -> InstructionSet {
    InstructionSet {
        name,
        family: Family::Gfx10,
        wave_size,
        tables: Tables {
            sop2: table!(128, gfx10::SOP2),
            sopk: table!(32, gfx10::SOPK),
            sop1: table!(256, gfx10::SOP1),
            sopc: table!(128, gfx10::SOPC),
            sopp: table!(128, gfx10::SOPP),
            smem: table!(256, gfx10::SMEM),
            vop2: table!(64, gfx10::VOP2),
            vop1: table!(256, gfx10::VOP1),
            vopc: table!(256, gfx10::VOPC),
            vop3: table!(0x400, gfx10::VOP3),
            vop3p: table!(128, gfx10::VOP3P),
            mai: &[],
            ds: table!(256, gfx10::DS),
            flat: table!(128, gfx10::FLAT),
            global: table!(128, gfx10::GLOBAL),
            scratch: table!(128, gfx10::SCRATCH),
            mubuf: table!(256, gfx10::MUBUF),
            mtbuf: table!(16, gfx10::MTBUF),
            vopd: &[],
        },
        // Not of this family.
        flat_bit: FlatBit::VectorAddress,
        accumulation: Accumulation::None,
        has_row_newbcast: false,
        keeps_halves: true,
        resources: ResourceLayout::Gfx10,
        has_gds: true,
        has_images: true,
        style: Style {
            cache: [" glc", " slc", " dlc"],
            mnemonics: mnemonics!(gfx10::SPELLED),
            hardware: HARDWARE,
        },
    }
}

/// RDNA 2, waves of 32 lanes: gfx1030 to gfx1036.
pub static GFX1030: InstructionSet = set("gfx1030", 32);

/// RDNA 2, waves of 64 lanes.
pub static GFX1030_WAVE64: InstructionSet = set("gfx1030", 64);
