// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction sets of gfx1100 and gfx1150: one for waves of 32 lanes, and one for waves of 64.

use super::super::opcode::Mnemonics;
use super::super::set::{
    Accumulation, Family, FlatBit, InstructionSet, ResourceLayout, Style, Tables, mnemonics, spelled, table,
};
use super::super::tables::{Row, gfx11, gfx115, lay_out};

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
    "",
    "",
    "PERF_SNAPSHOT_PC_LO",
    "PERF_SNAPSHOT_PC_HI",
    "FLAT_SCR_LO",
    "FLAT_SCR_HI",
    "",
    "HW_ID1",
    "HW_ID2",
    "",
    "",
    "PERF_SNAPSHOT_DATA",
    "",
    "SHADER_CYCLES",
];

const fn set(name: &'static str, wave_size: u32) -> InstructionSet {
    InstructionSet {
        name,
        family: Family::Gfx11,
        wave_size,
        tables: Tables {
            sop2: table!(128, gfx11::SOP2),
            sopk: table!(32, gfx11::SOPK),
            sop1: table!(256, gfx11::SOP1),
            sopc: table!(128, gfx11::SOPC),
            sopp: table!(128, gfx11::SOPP),
            smem: table!(256, gfx11::SMEM),
            vop2: table!(64, gfx11::VOP2),
            vop1: table!(256, gfx11::VOP1),
            vopc: table!(256, gfx11::VOPC),
            vop3: table!(0x400, gfx11::VOP3),
            vop3p: table!(128, gfx11::VOP3P),
            mai: &[],
            ds: table!(256, gfx11::DS),
            flat: table!(128, gfx11::FLAT),
            global: table!(128, gfx11::GLOBAL),
            scratch: table!(128, gfx11::SCRATCH),
            mubuf: table!(256, gfx11::MUBUF),
            mtbuf: table!(16, gfx11::MTBUF),
            // Waves of 64 lanes have none.
            vopd: if wave_size == 32 { table!(32, gfx11::VOPD) } else { &[] },
            scaled: &[],
        },
        // Not of this family.
        flat_bit: FlatBit::VectorAddress,
        has_unaddressed_scratch: false,
        accumulation: Accumulation::None,
        has_row_newbcast: false,
        keeps_halves: true,
        resources: ResourceLayout::Gfx11,
        lds_offsets: 0xffff,
        has_gds: true,
        has_images: true,
        style: Style {
            cache: [" glc", " slc", " dlc"],
            mnemonics: mnemonics!(gfx11::SPELLED),
            hardware: HARDWARE,
            has_hold_count: true,
        },
    }
}

/// The set with what GFX11.5 adds: scalar floats.
const fn with_scalar_floats(set: InstructionSet) -> InstructionSet {
    let tables = Tables {
        sop2: table!(128, gfx11::SOP2, gfx115::SOP2),
        sop1: table!(256, gfx11::SOP1, gfx115::SOP1),
        sopc: table!(128, gfx11::SOPC, gfx115::SOPC),
        sopp: table!(128, gfx11::SOPP, gfx115::SOPP),
        ..set.tables
    };
    InstructionSet { tables, ..set }
}

/// RDNA 3, waves of 32 lanes: gfx1100, gfx1101, gfx1102, gfx1103.
pub static GFX1100: InstructionSet = set("gfx1100", 32);

/// RDNA 3, waves of 64 lanes.
pub static GFX1100_WAVE64: InstructionSet = set("gfx1100", 64);

/// RDNA 3.5, waves of 32 lanes: gfx1150, gfx1151, gfx1152.
pub static GFX1150: InstructionSet = with_scalar_floats(set("gfx1150", 32));

/// RDNA 3.5, waves of 64 lanes.
pub static GFX1150_WAVE64: InstructionSet = with_scalar_floats(set("gfx1150", 64));
