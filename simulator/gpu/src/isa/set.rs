// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instruction sets: the rows of each format on a part, and the spelling of its instructions.

use std::fmt;

use super::opcode::{Mnemonics, Op};
use super::operand::OperandType;
use super::tables::*;

/// The instructions of a family of parts: their encodings, and their spelling as LLVM has it.
///
/// ```
/// use windlass_simulated_gpu::isa::{GFX90A, GFX942};
/// // The same words are two instructions.
/// let words = [0xd3e6_0004, 0x0412_0d00];
/// assert_eq!(GFX90A.decode(&words)?.to_string(), "v_mfma_f32_32x32x8bf16_1k v[4:19], v[0:1], v[6:7], v[4:19]");
/// assert_eq!(GFX942.decode(&words)?.to_string(), "v_smfmac_f32_16x16x32_bf16 v[4:7], v[0:1], v[6:9], v4");
/// # Ok::<(), windlass_simulated_gpu::isa::DecodeError>(())
/// ```
pub struct InstructionSet {
    /// The name in messages.
    pub(super) name: &'static str,
    pub(super) family: Family,
    /// The lanes of a wave: 64, or 32. A lane mask has as many bits.
    pub(crate) wave_size: u32,
    pub(super) tables: Tables,
    /// The meaning of bit 13 of FLAT, GLOBAL and SCRATCH in GFX9.
    pub(super) flat_bit: FlatBit,
    /// Whether EXEC_HI in the place of the scalar address of SCRATCH means no address, in GFX10.
    pub(super) has_unaddressed_scratch: bool,
    pub(crate) accumulation: Accumulation,
    /// Whether DPP has `row_newbcast`, also for 64-bit operands.
    pub(super) has_row_newbcast: bool,
    /// Whether a load into half of a register keeps the other half. Registers with ECC are written whole.
    pub(crate) keeps_halves: bool,
    /// The layout of buffer resources.
    pub(crate) resources: ResourceLayout,
    /// The bits of M0 that are an offset in LDS, where loads into LDS begin.
    pub(crate) lds_offsets: u32,
    /// Whether there is a global data share. It is not simulated.
    pub(super) has_gds: bool,
    /// Whether there are image instructions. None of them is decoded.
    pub(super) has_images: bool,
    pub(super) style: Style,
}

/// Parts with the same formats and scalar registers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Vega and CDNA.
    Gfx9,
    /// RDNA 1 and 2.
    Gfx10,
    /// RDNA 3 and 3.5.
    Gfx11,
    /// RDNA 4.
    Gfx12,
}

/// The row of each opcode of a format.
pub(super) type Table = &'static [Option<&'static Row>];

/// A table for each format. The table of VOP3 lacks instructions that other formats have.
pub(super) struct Tables {
    pub(super) sop2: Table,
    pub(super) sopk: Table,
    pub(super) sop1: Table,
    pub(super) sopc: Table,
    pub(super) sopp: Table,
    pub(super) smem: Table,
    pub(super) vop2: Table,
    pub(super) vop1: Table,
    pub(super) vopc: Table,
    pub(super) vop3: Table,
    pub(super) vop3p: Table,
    pub(super) mai: Table,
    pub(super) ds: Table,
    pub(super) flat: Table,
    pub(super) global: Table,
    pub(super) scratch: Table,
    pub(super) mubuf: Table,
    pub(super) mtbuf: Table,
    /// The halves of VOPD. The codes up to 15 are the first half's too.
    pub(super) vopd: Table,
    /// Matrix products after the scales of their factors.
    pub(super) scaled: Table,
}

impl Tables {
    /// Every table.
    const fn all(&self) -> [Table; 20] {
        [
            self.sop2,
            self.sopk,
            self.sop1,
            self.sopc,
            self.sopp,
            self.smem,
            self.vop2,
            self.vop1,
            self.vopc,
            self.vop3,
            self.vop3p,
            self.mai,
            self.ds,
            self.flat,
            self.global,
            self.scratch,
            self.mubuf,
            self.mtbuf,
            self.vopd,
            self.scaled,
        ]
    }
}

/// The meaning of bit 13 of FLAT, GLOBAL and SCRATCH.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FlatBit {
    /// SCRATCH has a vector address, with or without a scalar one.
    VectorAddress,
    /// Data goes to LDS. SCRATCH has a vector address if it has no scalar one.
    Lds,
}

/// The accumulation registers (AGPRs).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accumulation {
    /// There are none.
    None,
    /// They are a file of their own beside the vector registers. Sums of matrix products are always there. Memory
    /// instructions do not reach them.
    Apart,
    /// A wave's vector registers and accumulation registers are parts of one file. Bits of an instruction select between
    /// the two.
    Unified,
}

/// The layout of buffer resources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ResourceLayout {
    /// Two numbers for the format. Instructions with an index count records, others count bytes.
    Gfx9,
    /// One number for the format, and a field that says what is counted.
    Gfx10,
    /// The same, and the size of swizzled elements.
    Gfx11,
}

/// LLVM's spelling where parts differ.
pub(super) struct Style {
    /// The three cache bits, in the order of the text: scope bit 0, non-temporal, scope bit 1.
    pub(super) cache: [&'static str; 3],
    /// The mnemonic of each instruction.
    pub(super) mnemonics: &'static Mnemonics,
    /// Names of hardware registers by number; an empty one if there is none.
    pub(super) hardware: &'static [&'static str],
    /// Whether `s_waitcnt_depctr` has the counter `hold_cnt`.
    pub(super) has_hold_count: bool,
}

impl InstructionSet {
    /// Every set of GFX9, the newest first. Their waves have 64 lanes.
    pub const GFX9: [&'static InstructionSet; 6] =
        [&super::gfx950::GFX950, &GFX942, &GFX90A, &GFX908, &GFX906, &GFX900];

    /// The part that the set is named after.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Lanes of a wave whose code it is, 32 or 64.
    pub fn wave_size(&self) -> u32 {
        self.wave_size
    }

    /// Whether every 16-bit result is written to one half of its register and leaves the other alone. In GFX9 few instructions do
    /// so; others clear the high half.
    pub(crate) fn writes_halves(&self) -> bool {
        self.family != Family::Gfx9
    }

    /// Whether MODE selects the rules for NaN of minima, maxima and clamping. GFX12 has instructions for each rule, clamps NaN to
    /// zero, and scales outputs wherever their denormals are flushed.
    pub(crate) fn has_ieee_mode(&self) -> bool {
        self.family != Family::Gfx12
    }

    /// The lanes among which `ds_permute` and `ds_bpermute` move values, a power of two. A wave may have two such groups.
    pub(crate) fn permuted_lanes(&self) -> usize {
        if self.family == Family::Gfx9 { 64 } else { 32 }
    }

    /// The general scalar registers.
    pub(crate) fn scalar_registers(&self) -> usize {
        if self.family == Family::Gfx9 { 102 } else { 106 }
    }

    /// The name of a hardware register; empty if there is none.
    pub(crate) fn hardware_register(&self, number: u32) -> &'static str {
        self.style.hardware.get(number as usize).copied().unwrap_or("")
    }

    /// Whether the set has an instruction, in any format.
    pub fn has(&self, op: Op) -> bool {
        self.tables.all().iter().any(|table| table.iter().flatten().any(|row| row.op == op))
    }

    /// The row of a vector instruction's 32-bit form.
    pub(super) fn short_form(&self, op: Op) -> Option<&'static Row> {
        let Tables { vop1, vop2, vopc, .. } = self.tables;
        [vop1, vop2, vopc].into_iter().flatten().flatten().find(|row| row.op == op).copied()
    }

    /// Whether the text of a VOP3 instruction has the halves that it selects. LLVM 19 leaves them out of many of GFX11.
    pub(super) fn shows_halves(&self, op: Op) -> bool {
        self.long_form(op).is_some_and(|row| row.has(OP_SEL))
    }

    /// Whether a VOP3 instruction selects a byte.
    pub(super) fn selects_bytes(&self, op: Op) -> bool {
        self.long_form(op).is_some_and(|row| row.has(BYTES))
    }

    /// The row of a VOP3 instruction.
    fn long_form(&self, op: Op) -> Option<&'static Row> {
        let own = self.tables.vop3.iter().flatten().find(|row| row.op == op).copied();
        own.or_else(|| self.short_form(op))
    }

    /// Whether a row of VOP3P or of vector memory has a flag.
    pub(super) fn row_has(&self, op: Op, flag: u64) -> bool {
        let Tables { vop3p, flat, global, scratch, mubuf, .. } = self.tables;
        let rows = [vop3p, flat, global, scratch, mubuf].into_iter().flatten().flatten();
        rows.into_iter().any(|row| row.op == op && row.has(flag))
    }

    /// Whether an instruction is a product of a sparse matrix, whose third source has indices.
    pub(crate) fn is_sparse(&self, op: Op) -> bool {
        self.row_has(op, SPARSE)
    }

    /// The type of a lane mask.
    pub(super) fn mask(&self) -> OperandType {
        if self.wave_size == 64 { MASK } else { SCALAR_OFFSET }
    }

    /// LLVM's mnemonic of an instruction, without the suffix of an encoding.
    pub fn mnemonic(&self, op: Op) -> &'static str {
        self.style.mnemonics[op as usize]
    }
}

impl fmt::Debug for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for InstructionSet {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for InstructionSet {}

/// A table of lists of rows.
macro_rules! table {
    ($codes:literal, $($rows:expr),+) => {{
        const TABLE: [Option<&'static Row>; $codes] = lay_out(&[$($rows),+]);
        &TABLE
    }};
}

pub(super) use table;

/// The mnemonics of [`Op`], but for those that are spelled otherwise.
pub(super) const fn spelled(list: &[(Op, &'static str)]) -> Mnemonics {
    let mut mnemonics = Op::MNEMONICS;
    let mut i = 0;
    while i < list.len() {
        mnemonics[list[i].0 as usize] = list[i].1;
        i += 1;
    }
    mnemonics
}

/// [`spelled`], evaluated once.
macro_rules! mnemonics {
    ($list:expr) => {{
        const MNEMONICS: Mnemonics = spelled($list);
        &MNEMONICS
    }};
}

pub(super) use mnemonics;

/// The tables that differ between parts of GFX9; the others are the same.
macro_rules! tables {
    ($($format:ident: $table:expr,)*) => {
        Tables {
            sop2: table!(128, SOP2),
            sopk: table!(32, SOPK),
            sop1: table!(256, SOP1),
            sopc: table!(128, SOPC),
            sopp: table!(128, SOPP),
            smem: table!(256, SMEM),
            vopc: table!(256, VOPC),
            mtbuf: table!(16, MTBUF),
            vopd: &[],
            $($format: $table,)*
        }
    };
}

pub(super) use tables;

/// The spelling of matrix products until gfx90a.
macro_rules! spelled {
    ($($op:ident: $name:literal,)*) => {
        mnemonics!(&[
            (Op::v_mfma_f32_32x32x1_2b_f32, "v_mfma_f32_32x32x1f32"),
            (Op::v_mfma_f32_16x16x1_4b_f32, "v_mfma_f32_16x16x1f32"),
            (Op::v_mfma_f32_4x4x1_16b_f32, "v_mfma_f32_4x4x1f32"),
            (Op::v_mfma_f32_32x32x2_f32, "v_mfma_f32_32x32x2f32"),
            (Op::v_mfma_f32_16x16x4_f32, "v_mfma_f32_16x16x4f32"),
            (Op::v_mfma_i32_32x32x4_2b_i8, "v_mfma_i32_32x32x4i8"),
            (Op::v_mfma_i32_16x16x4_4b_i8, "v_mfma_i32_16x16x4i8"),
            (Op::v_mfma_i32_4x4x4_16b_i8, "v_mfma_i32_4x4x4i8"),
            $((Op::$op, $name),)*
        ])
    };
}

/// The hardware registers of GFX9 until gfx90a.
const HARDWARE: &[&str] = &[
    "",
    "MODE",
    "STATUS",
    "TRAPSTS",
    "HW_ID",
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
];

/// CDNA3: gfx942.
pub static GFX942: InstructionSet = InstructionSet {
    name: "gfx942",
    family: Family::Gfx9,
    wave_size: 64,
    tables: tables! {
        vop2: table!(64, VOP2, VOP2_SINCE_GFX906, VOP2_SINCE_GFX908, VOP2_SINCE_GFX90A, VOP2_GFX942),
        vop1: table!(256, VOP1, VOP1_SINCE_GFX90A, VOP1_GFX942),
        vop3: table!(0x380, VOP3, VOP3_SINCE_GFX90A, VOP3_GFX942),
        vop3p: table!(128, VOP3P, VOP3P_SINCE_GFX906, VOP3P_SINCE_GFX90A),
        mai: table!(128, MAI, MAI_GFX942),
        ds: table!(256, DS, DS_SINCE_GFX90A, DS_GFX942),
        flat: table!(128, FLAT, FLAT_SINCE_GFX90A, FLAT_GFX942),
        global: table!(128, GLOBAL, GLOBAL_SINCE_GFX90A, GLOBAL_GFX942),
        scratch: table!(128, SCRATCH, SCRATCH_GFX942),
        mubuf: table!(128, MUBUF, MUBUF_SINCE_GFX90A, MUBUF_GFX942),
        scaled: &[],
    },
    flat_bit: FlatBit::VectorAddress,
    has_unaddressed_scratch: false,
    accumulation: Accumulation::Unified,
    has_row_newbcast: true,
    keeps_halves: false,
    resources: ResourceLayout::Gfx9,
    lds_offsets: 0xffff,
    has_gds: false,
    has_images: false,
    style: Style {
        cache: [" sc0", " nt", " sc1"],
        mnemonics: &Op::MNEMONICS,
        hardware: &[
            "",
            "MODE",
            "STATUS",
            "TRAPSTS",
            "HW_ID",
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
            "XCC_ID",
            "SQ_PERF_SNAPSHOT_DATA",
            "SQ_PERF_SNAPSHOT_DATA1",
            "SQ_PERF_SNAPSHOT_PC_LO",
            "SQ_PERF_SNAPSHOT_PC_HI",
        ],
        has_hold_count: false,
    },
};

/// CDNA2: gfx90a.
pub static GFX90A: InstructionSet = InstructionSet {
    name: "gfx90a",
    family: Family::Gfx9,
    wave_size: 64,
    tables: tables! {
        vop2: table!(64, VOP2, VOP2_SINCE_GFX906, VOP2_SINCE_GFX908, VOP2_SINCE_GFX90A, VOP2_UNTIL_GFX90A),
        vop1: table!(256, VOP1, VOP1_SINCE_GFX90A),
        vop3: table!(0x380, VOP3, VOP3_SINCE_GFX90A, VOP3_UNTIL_GFX90A),
        vop3p: table!(128, VOP3P, VOP3P_SINCE_GFX906, VOP3P_SINCE_GFX90A),
        mai: table!(128, MAI, MAI_UNTIL_GFX90A, MAI_GFX90A),
        ds: table!(256, DS, DS_SINCE_GFX90A),
        flat: table!(128, FLAT, FLAT_SINCE_GFX90A),
        global: table!(128, GLOBAL, GLOBAL_SINCE_GFX90A),
        scratch: table!(128, SCRATCH),
        mubuf: table!(128, MUBUF, MUBUF_SINCE_GFX90A, MUBUF_GFX90A),
        scaled: &[],
    },
    flat_bit: FlatBit::Lds,
    has_unaddressed_scratch: false,
    accumulation: Accumulation::Unified,
    has_row_newbcast: true,
    keeps_halves: false,
    resources: ResourceLayout::Gfx9,
    lds_offsets: 0xffff,
    has_gds: false,
    has_images: true,
    style: Style {
        cache: [" glc", " slc", " scc"],
        mnemonics: spelled!(),
        hardware: HARDWARE,
        has_hold_count: false,
    },
};

/// CDNA: gfx908.
pub static GFX908: InstructionSet = InstructionSet {
    name: "gfx908",
    family: Family::Gfx9,
    wave_size: 64,
    tables: tables! {
        vop2: table!(64, VOP2, VOP2_SINCE_GFX906, VOP2_SINCE_GFX908, VOP2_UNTIL_GFX908, VOP2_UNTIL_GFX90A),
        vop1: table!(256, VOP1),
        vop3: table!(0x380, VOP3, VOP3_UNTIL_GFX90A),
        vop3p: table!(128, VOP3P, VOP3P_SINCE_GFX906),
        mai: table!(128, MAI, MAI_UNTIL_GFX90A, MAI_GFX908),
        ds: table!(256, DS),
        flat: table!(128, FLAT),
        global: table!(128, GLOBAL, GLOBAL_GFX908),
        scratch: table!(128, SCRATCH),
        mubuf: table!(128, MUBUF, MUBUF_GFX908),
        scaled: &[],
    },
    flat_bit: FlatBit::Lds,
    has_unaddressed_scratch: false,
    accumulation: Accumulation::Apart,
    has_row_newbcast: false,
    keeps_halves: false,
    resources: ResourceLayout::Gfx9,
    lds_offsets: 0xffff,
    has_gds: true,
    has_images: true,
    style: Style {
        cache: [" glc", " slc", ""],
        mnemonics: spelled! {
            v_mfma_f32_32x32x4_2b_f16: "v_mfma_f32_32x32x4f16",
            v_mfma_f32_16x16x4_4b_f16: "v_mfma_f32_16x16x4f16",
            v_mfma_f32_4x4x4_16b_f16: "v_mfma_f32_4x4x4f16",
            v_mfma_f32_32x32x8_f16: "v_mfma_f32_32x32x8f16",
            v_mfma_f32_16x16x16_f16: "v_mfma_f32_16x16x16f16",
            v_mfma_f32_32x32x2_2b_bf16: "v_mfma_f32_32x32x2bf16",
            v_mfma_f32_16x16x2_4b_bf16: "v_mfma_f32_16x16x2bf16",
            v_mfma_f32_4x4x2_16b_bf16: "v_mfma_f32_4x4x2bf16",
            v_mfma_f32_32x32x4_bf16: "v_mfma_f32_32x32x4bf16",
            v_mfma_f32_16x16x8_bf16: "v_mfma_f32_16x16x8bf16",
        },
        hardware: HARDWARE,
        has_hold_count: false,
    },
};

/// Vega 20: gfx906.
pub static GFX906: InstructionSet = InstructionSet {
    name: "gfx906",
    family: Family::Gfx9,
    wave_size: 64,
    tables: tables! {
        vop2: table!(64, VOP2, VOP2_SINCE_GFX906, VOP2_UNTIL_GFX908, VOP2_UNTIL_GFX90A),
        vop1: table!(256, VOP1),
        vop3: table!(0x380, VOP3, VOP3_UNTIL_GFX90A),
        vop3p: table!(128, VOP3P, VOP3P_SINCE_GFX906),
        mai: &[],
        ds: table!(256, DS),
        flat: table!(128, FLAT),
        global: table!(128, GLOBAL),
        scratch: table!(128, SCRATCH),
        mubuf: table!(128, MUBUF),
        scaled: &[],
    },
    flat_bit: FlatBit::Lds,
    has_unaddressed_scratch: false,
    accumulation: Accumulation::None,
    has_row_newbcast: false,
    keeps_halves: false,
    resources: ResourceLayout::Gfx9,
    lds_offsets: 0xffff,
    has_gds: true,
    has_images: true,
    style: Style {
        cache: [" glc", " slc", ""],
        mnemonics: &Op::MNEMONICS,
        hardware: HARDWARE,
        has_hold_count: false,
    },
};

/// Vega 10: gfx900.
pub static GFX900: InstructionSet = InstructionSet {
    name: "gfx900",
    family: Family::Gfx9,
    wave_size: 64,
    tables: tables! {
        vop2: table!(64, VOP2, VOP2_UNTIL_GFX908, VOP2_UNTIL_GFX90A),
        vop1: table!(256, VOP1),
        vop3: table!(0x380, VOP3, VOP3_UNTIL_GFX90A),
        vop3p: table!(128, VOP3P, VOP3P_GFX900),
        mai: &[],
        ds: table!(256, DS),
        flat: table!(128, FLAT),
        global: table!(128, GLOBAL),
        scratch: table!(128, SCRATCH),
        mubuf: table!(128, MUBUF),
        scaled: &[],
    },
    flat_bit: FlatBit::Lds,
    has_unaddressed_scratch: false,
    accumulation: Accumulation::None,
    has_row_newbcast: false,
    keeps_halves: true,
    resources: ResourceLayout::Gfx9,
    lds_offsets: 0xffff,
    has_gds: true,
    has_images: true,
    style: Style {
        cache: [" glc", " slc", ""],
        mnemonics: &Op::MNEMONICS,
        hardware: HARDWARE,
        has_hold_count: false,
    },
};
