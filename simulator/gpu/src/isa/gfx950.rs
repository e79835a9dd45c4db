// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction set of gfx950: gfx942's without products of short singles, with floats of eight bits in OCP's encodings, and
//! with instructions of its own.

use super::opcode::{Mnemonics, Op};
use super::set::{Accumulation, Family, FlatBit, GFX942, InstructionSet, ResourceLayout, Style, Tables};
use super::set::{mnemonics, spelled, table, tables};
use super::tables::*;

/// Rows of buffers: those of gfx942, of which gfx950 lacks some and has some in another form.
const BUFFERS: [Option<&'static Row>; 128] = {
    let mut table = lay_out_without(gfx950::LACKING, &[MUBUF, MUBUF_SINCE_GFX90A, MUBUF_GFX942]);
    let mut i = 0;
    while i < gfx950::MUBUF.len() {
        let row = &gfx950::MUBUF[i];
        assert!(table[row.code as usize].is_none());
        table[row.code as usize] = Some(row);
        i += 1;
    }
    table
};

/// CDNA4: gfx950.
pub static GFX950: InstructionSet = InstructionSet {
    name: "gfx950",
    family: Family::Gfx9,
    wave_size: 64,
    tables: tables! {
        vop2: table!(64, VOP2, VOP2_SINCE_GFX906, VOP2_SINCE_GFX908, VOP2_SINCE_GFX90A, VOP2_GFX942, gfx950::VOP2),
        vop1: table!(256, VOP1, VOP1_SINCE_GFX90A, gfx950::VOP1),
        vop3: table!(0x380, VOP3, VOP3_SINCE_GFX90A, gfx950::VOP3),
        vop3p: table!(128, VOP3P, VOP3P_SINCE_GFX906, VOP3P_SINCE_GFX90A, gfx950::VOP3P),
        mai: table!(128, MAI, gfx950::MAI),
        ds: table!(256, DS, DS_SINCE_GFX90A, DS_GFX942, gfx950::DS),
        flat: table!(128, FLAT, FLAT_SINCE_GFX90A, FLAT_GFX942),
        global: table!(128, GLOBAL, GLOBAL_SINCE_GFX90A, GLOBAL_GFX942, gfx950::GLOBAL),
        scratch: table!(128, SCRATCH, SCRATCH_GFX942),
        mubuf: &BUFFERS,
        scaled: table!(128, gfx950::SCALED),
    },
    flat_bit: FlatBit::VectorAddress,
    has_unaddressed_scratch: false,
    accumulation: Accumulation::Unified,
    has_row_newbcast: true,
    keeps_halves: false,
    resources: ResourceLayout::Gfx9,
    lds_offsets: 0x3_ffff,
    has_gds: false,
    has_images: false,
    style: Style {
        cache: [" sc0", " nt", " sc1"],
        mnemonics: mnemonics!(SPELLED),
        hardware: GFX942.style.hardware,
        has_hold_count: false,
    },
};

/// Floats of eight bits are those of the OCP.
const SPELLED: &[(Op, &str)] = &[
    (Op::v_cvt_f32_fp8_ocp, "v_cvt_f32_fp8"),
    (Op::v_cvt_f32_bf8_ocp, "v_cvt_f32_bf8"),
    (Op::v_cvt_pk_f32_fp8_ocp, "v_cvt_pk_f32_fp8"),
    (Op::v_cvt_pk_f32_bf8_ocp, "v_cvt_pk_f32_bf8"),
    (Op::v_cvt_pk_fp8_f32_bounded, "v_cvt_pk_fp8_f32"),
    (Op::v_cvt_pk_bf8_f32_bounded, "v_cvt_pk_bf8_f32"),
    (Op::v_cvt_sr_fp8_f32_bounded, "v_cvt_sr_fp8_f32"),
    (Op::v_cvt_sr_bf8_f32_bounded, "v_cvt_sr_bf8_f32"),
    (Op::v_mfma_f32_16x16x32_bf8_bf8_ocp, "v_mfma_f32_16x16x32_bf8_bf8"),
    (Op::v_mfma_f32_16x16x32_bf8_fp8_ocp, "v_mfma_f32_16x16x32_bf8_fp8"),
    (Op::v_mfma_f32_16x16x32_fp8_bf8_ocp, "v_mfma_f32_16x16x32_fp8_bf8"),
    (Op::v_mfma_f32_16x16x32_fp8_fp8_ocp, "v_mfma_f32_16x16x32_fp8_fp8"),
    (Op::v_mfma_f32_32x32x16_bf8_bf8_ocp, "v_mfma_f32_32x32x16_bf8_bf8"),
    (Op::v_mfma_f32_32x32x16_bf8_fp8_ocp, "v_mfma_f32_32x32x16_bf8_fp8"),
    (Op::v_mfma_f32_32x32x16_fp8_bf8_ocp, "v_mfma_f32_32x32x16_fp8_bf8"),
    (Op::v_mfma_f32_32x32x16_fp8_fp8_ocp, "v_mfma_f32_32x32x16_fp8_fp8"),
    (Op::v_smfmac_f32_16x16x64_bf8_bf8_ocp, "v_smfmac_f32_16x16x64_bf8_bf8"),
    (Op::v_smfmac_f32_16x16x64_bf8_fp8_ocp, "v_smfmac_f32_16x16x64_bf8_fp8"),
    (Op::v_smfmac_f32_16x16x64_fp8_bf8_ocp, "v_smfmac_f32_16x16x64_fp8_bf8"),
    (Op::v_smfmac_f32_16x16x64_fp8_fp8_ocp, "v_smfmac_f32_16x16x64_fp8_fp8"),
    (Op::v_smfmac_f32_32x32x32_bf8_bf8_ocp, "v_smfmac_f32_32x32x32_bf8_bf8"),
    (Op::v_smfmac_f32_32x32x32_bf8_fp8_ocp, "v_smfmac_f32_32x32x32_bf8_fp8"),
    (Op::v_smfmac_f32_32x32x32_fp8_bf8_ocp, "v_smfmac_f32_32x32x32_fp8_bf8"),
    (Op::v_smfmac_f32_32x32x32_fp8_fp8_ocp, "v_smfmac_f32_32x32x32_fp8_fp8"),
];
