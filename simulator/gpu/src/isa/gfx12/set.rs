// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction sets of gfx1201: one for waves of 32 lanes, and one for waves of 64.

use super::super::opcode::Mnemonics;
use super::super::set::{
    Accumulation, Family, FlatBit, InstructionSet, ResourceLayout, Style, Tables, mnemonics, spelled, table,
};
use super::super::tables::{Row, gfx12, lay_out};

/// The hardware registers.
const HARDWARE: &[&str] = &[
    "",
    "MODE",
    "STATUS",
    "",
    "STATE_PRIV",
    "GPR_ALLOC",
    "LDS_ALLOC",
    "IB_STS",
    "",
    "",
    "PERF_SNAPSHOT_DATA",
    "PERF_SNAPSHOT_PC_LO",
    "PERF_SNAPSHOT_PC_HI",
    "",
    "",
    "PERF_SNAPSHOT_DATA1",
    "PERF_SNAPSHOT_DATA2",
    "EXCP_FLAG_PRIV",
    "EXCP_FLAG_USER",
    "TRAP_CTRL",
    "SCRATCH_BASE_LO",
    "SCRATCH_BASE_HI",
    "",
    "HW_ID1",
    "HW_ID2",
    "",
    "",
    "",
    "",
    "SHADER_CYCLES_LO",
    "SHADER_CYCLES_HI",
    "DVGPR_ALLOC_LO",
    "DVGPR_ALLOC_HI",
];

const fn set(name: &'static str, wave_size: u32) -> InstructionSet {
    InstructionSet {
        name,
        family: Family::Gfx12,
        wave_size,
        tables: Tables {
            sop2: table!(128, gfx12::SOP2),
            sopk: table!(32, gfx12::SOPK),
            sop1: table!(256, gfx12::SOP1),
            sopc: table!(128, gfx12::SOPC),
            sopp: table!(128, gfx12::SOPP),
            smem: table!(256, gfx12::SMEM),
            vop2: table!(64, gfx12::VOP2),
            vop1: table!(256, gfx12::VOP1),
            vopc: table!(256, gfx12::VOPC),
            vop3: table!(0x400, gfx12::VOP3),
            vop3p: table!(128, gfx12::VOP3P),
            mai: &[],
            ds: table!(256, gfx12::DS),
            flat: table!(256, gfx12::FLAT),
            global: table!(256, gfx12::GLOBAL),
            scratch: table!(256, gfx12::SCRATCH),
            mubuf: table!(128, gfx12::MUBUF),
            mtbuf: table!(16, gfx12::MTBUF),
            // Waves of 64 lanes have none.
            vopd: if wave_size == 32 { table!(32, gfx12::VOPD) } else { &[] },
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
        has_gds: false,
        has_images: true,
        style: Style {
            cache: ["", "", ""],
            mnemonics: mnemonics!(gfx12::SPELLED),
            hardware: HARDWARE,
            has_hold_count: true,
        },
    }
}

/// RDNA 4, waves of 32 lanes: gfx1200, gfx1201.
pub static GFX1201: InstructionSet = set("gfx1201", 32);

/// RDNA 4, waves of 64 lanes.
pub static GFX1201_WAVE64: InstructionSet = set("gfx1201", 64);
