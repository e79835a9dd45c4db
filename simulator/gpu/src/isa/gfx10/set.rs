// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction sets of gfx1030, gfx1010 and gfx1011: one for waves of 32 lanes, and one for waves of 64.

use super::super::opcode::{Mnemonics, Op};
use super::super::set::{
    Accumulation, Family, FlatBit, InstructionSet, ResourceLayout, Style, Tables, mnemonics, spelled, table,
};
use super::super::tables::{Row, gfx10, gfx101, lay_out, lay_out_without};

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
            scaled: &[],
        },
        // Not of this family.
        flat_bit: FlatBit::VectorAddress,
        has_unaddressed_scratch: true,
        accumulation: Accumulation::None,
        has_row_newbcast: false,
        keeps_halves: true,
        resources: ResourceLayout::Gfx10,
        lds_offsets: 0xffff,
        has_gds: true,
        has_images: true,
        style: Style {
            cache: [" glc", " slc", " dlc"],
            mnemonics: mnemonics!(gfx10::SPELLED),
            hardware: HARDWARE,
            has_hold_count: true,
        },
    }
}

/// RDNA 2, waves of 32 lanes: gfx1030 to gfx1036.
pub static GFX1030: InstructionSet = set("gfx1030", 32);

/// RDNA 2, waves of 64 lanes.
pub static GFX1030_WAVE64: InstructionSet = set("gfx1030", 64);

/// A table of lists of rows without the rows of some instructions.
macro_rules! table_without {
    ($lacking:expr, $codes:literal, $($rows:expr),+) => {{
        const TABLE: [Option<&'static Row>; $codes] = lay_out_without($lacking, &[$($rows),+]);
        &TABLE
    }};
}

/// A set of GFX10.1, which lacks some instructions of GFX10.3 and has others.
macro_rules! first_generation {
    ($name:literal, $wave_size:literal, $lacking:expr) => {{
        let set = set($name, $wave_size);
        let tables = Tables {
            smem: table!(256, gfx10::SMEM, gfx101::SMEM),
            vop2: table_without!($lacking, 64, gfx10::VOP2, gfx101::VOP2),
            vop3: table_without!($lacking, 0x400, gfx10::VOP3, gfx101::VOP3),
            vop3p: table_without!($lacking, 128, gfx10::VOP3P),
            global: table_without!($lacking, 128, gfx10::GLOBAL),
            mubuf: table_without!($lacking, 256, gfx10::MUBUF),
            ..set.tables
        };
        let style = Style { has_hold_count: false, ..set.style };
        InstructionSet { tables, style, has_unaddressed_scratch: false, ..set }
    }};
}

/// The instructions that GFX10.1 lacks where it has dot products.
const LACKS_BESIDE_DOT_PRODUCTS: &[Op] = &[
    Op::buffer_atomic_csub_u32,
    Op::global_atomic_csub_u32,
    Op::global_load_addtid_b32,
    Op::global_store_addtid_b32,
    Op::v_fma_dx9_zero_f32,
    Op::v_fmac_dx9_zero_f32,
];

/// RDNA 1, waves of 32 lanes: gfx1010.
pub static GFX1010: InstructionSet = first_generation!("gfx1010", 32, gfx101::LACKS);

/// The same, waves of 64 lanes.
pub static GFX1010_WAVE64: InstructionSet = first_generation!("gfx1010", 64, gfx101::LACKS);

/// RDNA 1 with dot products, waves of 32 lanes: gfx1011, gfx1012.
pub static GFX1011: InstructionSet = first_generation!("gfx1011", 32, LACKS_BESIDE_DOT_PRODUCTS);

/// The same, waves of 64 lanes.
pub static GFX1011_WAVE64: InstructionSet = first_generation!("gfx1011", 64, LACKS_BESIDE_DOT_PRODUCTS);
