// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of gfx950. Floats of eight bits are in OCP's encodings, those of gfx942 are not.

use super::super::opcode::Op::{self, *};
use super::*;

/// Instructions of GFX9 that gfx950 lacks, or has in another form.
pub(in super::super) const LACKING: &[Op] =
    &[buffer_load_dwordx3, buffer_load_dwordx4, buffer_store_lds_dword, buffer_wbinvl1, buffer_wbinvl1_vol];

/// One source.
pub(in super::super) const VOP1: &[Row] = &[
    row(0x38, v_mov_b64, B64, [B64], PLAIN),
    row(0x54, v_cvt_f32_fp8_ocp, F32, [B32], FLOAT | NO_DST_SEL),
    row(0x55, v_cvt_f32_bf8_ocp, F32, [B32], FLOAT | NO_DST_SEL),
    row(0x56, v_cvt_pk_f32_fp8_ocp, F32.x(2), [B32], FLOAT | NO_DST_SEL),
    row(0x57, v_cvt_pk_f32_bf8_ocp, F32.x(2), [B32], FLOAT | NO_DST_SEL),
    row(0x58, v_prng_b32, B32, [B32], PLAIN),
    row(0x59, v_permlane16_swap_b32, B32, [B32], VECTOR_SRC | NO_SDWA | NO_DPP | OP_SEL),
    row(0x5a, v_permlane32_swap_b32, B32, [B32], VECTOR_SRC | NO_SDWA | NO_DPP | OP_SEL),
    row(0x5b, v_cvt_f32_bf16, F32, [BF16], FLOAT),
];

/// Two sources.
pub(in super::super) const VOP2: &[Row] = &[row(0x16, v_dot2c_f32_bf16, F32, [BF16, BF16], FLOAT | NO_SDWA)];

/// The 64-bit form alone.
pub(in super::super) const VOP3: &[Row] = &[
    row(0x208, v_lshl_add_u64, B64, [B64, B32, B64], PLAIN),
    row(0x233, v_bitop3_b16, I16, [I16, I16, I16], OP_SEL | TRUTH_TABLE),
    row(0x234, v_bitop3_b32, B32, [B32, B32, B32], TRUTH_TABLE),
    row(0x235, v_cvt_scalef32_pk_fp8_f32, B32, [F32, F32, F32], OP_SEL),
    row(0x236, v_cvt_scalef32_pk_bf8_f32, B32, [F32, F32, F32], OP_SEL),
    row(0x237, v_cvt_scalef32_sr_fp8_f32, B32, [F32, B32, F32], OP_SEL),
    row(0x238, v_cvt_scalef32_sr_bf8_f32, B32, [F32, B32, F32], OP_SEL),
    row(0x239, v_cvt_scalef32_pk_f32_fp8, F32.x(2), [B32, F32], OP_SEL),
    row(0x23a, v_cvt_scalef32_pk_f32_bf8, F32.x(2), [B32, F32], OP_SEL),
    row(0x23b, v_cvt_scalef32_f32_fp8, F32, [B32, F32], OP_SEL),
    row(0x23c, v_cvt_scalef32_f32_bf8, F32, [B32, F32], OP_SEL),
    row(0x23d, v_cvt_scalef32_pk_fp4_f32, B32, [F32, F32, F32], OP_SEL),
    row(0x23e, v_cvt_scalef32_sr_pk_fp4_f32, B32, [F32.x(2), B32, F32], OP_SEL),
    row(0x23f, v_cvt_scalef32_pk_f32_fp4, F32.x(2), [B32, F32], OP_SEL),
    row(0x240, v_cvt_scalef32_pk_fp8_f16, B32, [PKF16, F32], OP_SEL),
    row(0x241, v_cvt_scalef32_pk_bf8_f16, B32, [PKF16, F32], OP_SEL),
    row(0x242, v_cvt_scalef32_sr_fp8_f16, B32, [F16, B32, F32], OP_SEL),
    row(0x243, v_cvt_scalef32_sr_bf8_f16, B32, [F16, B32, F32], OP_SEL),
    row(0x244, v_cvt_scalef32_pk_fp8_bf16, B32, [PKBF16, F32], OP_SEL),
    row(0x245, v_cvt_scalef32_pk_bf8_bf16, B32, [PKBF16, F32], OP_SEL),
    row(0x246, v_cvt_scalef32_sr_fp8_bf16, B32, [BF16, B32, F32], OP_SEL),
    row(0x247, v_cvt_scalef32_sr_bf8_bf16, B32, [BF16, B32, F32], OP_SEL),
    row(0x248, v_cvt_scalef32_pk_f16_fp8, B32, [B32, F32], OP_SEL),
    row(0x249, v_cvt_scalef32_pk_f16_bf8, B32, [B32, F32], OP_SEL),
    row(0x24a, v_cvt_scalef32_f16_fp8, B32, [B32, F32], OP_SEL),
    row(0x24b, v_cvt_scalef32_f16_bf8, B32, [B32, F32], OP_SEL),
    row(0x24c, v_cvt_scalef32_pk_fp4_f16, B32, [PKF16, F32], OP_SEL),
    row(0x24d, v_cvt_scalef32_pk_fp4_bf16, B32, [PKBF16, F32], OP_SEL),
    row(0x24e, v_cvt_scalef32_sr_pk_fp4_f16, B32, [PKF16, B32, F32], OP_SEL),
    row(0x24f, v_cvt_scalef32_sr_pk_fp4_bf16, B32, [PKBF16, B32, F32], OP_SEL),
    row(0x250, v_cvt_scalef32_pk_f16_fp4, B32, [B32, F32], OP_SEL),
    row(0x251, v_cvt_scalef32_pk_bf16_fp4, B32, [B32, F32], OP_SEL),
    row(0x252, v_cvt_scalef32_2xpk16_fp6_f32, B32.x(6), [B32.x(16), B32.x(16), B32], PLAIN),
    row(0x253, v_cvt_scalef32_2xpk16_bf6_f32, B32.x(6), [B32.x(16), B32.x(16), B32], PLAIN),
    row(0x254, v_cvt_scalef32_sr_pk32_fp6_f32, B32.x(6), [B32.x(32), B32, B32], PLAIN),
    row(0x255, v_cvt_scalef32_sr_pk32_bf6_f32, B32.x(6), [B32.x(32), B32, B32], PLAIN),
    row(0x256, v_cvt_scalef32_pk32_f32_fp6, B32.x(32), [B32.x(6), B32], PLAIN),
    row(0x257, v_cvt_scalef32_pk32_f32_bf6, B32.x(32), [B32.x(6), B32], PLAIN),
    row(0x258, v_cvt_scalef32_pk32_fp6_f16, B32.x(6), [B32.x(16), B32], PLAIN),
    row(0x259, v_cvt_scalef32_pk32_fp6_bf16, B32.x(6), [B32.x(16), B32], PLAIN),
    row(0x25a, v_cvt_scalef32_pk32_bf6_f16, B32.x(6), [B32.x(16), B32], PLAIN),
    row(0x25b, v_cvt_scalef32_pk32_bf6_bf16, B32.x(6), [B32.x(16), B32], PLAIN),
    row(0x25c, v_cvt_scalef32_sr_pk32_fp6_f16, B32.x(6), [B32.x(16), B32, B32], PLAIN),
    row(0x25d, v_cvt_scalef32_sr_pk32_fp6_bf16, B32.x(6), [B32.x(16), B32, B32], PLAIN),
    row(0x25e, v_cvt_scalef32_sr_pk32_bf6_f16, B32.x(6), [B32.x(16), B32, B32], PLAIN),
    row(0x25f, v_cvt_scalef32_sr_pk32_bf6_bf16, B32.x(6), [B32.x(16), B32, B32], PLAIN),
    row(0x260, v_cvt_scalef32_pk32_f16_fp6, B32.x(16), [B32.x(6), B32], PLAIN),
    row(0x261, v_cvt_scalef32_pk32_bf16_fp6, B32.x(16), [B32.x(6), B32], PLAIN),
    row(0x262, v_cvt_scalef32_pk32_f16_bf6, B32.x(16), [B32.x(6), B32], PLAIN),
    row(0x263, v_cvt_scalef32_pk32_bf16_bf6, B32.x(16), [B32.x(6), B32], PLAIN),
    row(0x265, v_ashr_pk_i8_i32, B32, [B32, B32, B32], OP_SEL),
    row(0x266, v_ashr_pk_u8_i32, B32, [B32, B32, B32], OP_SEL),
    row(0x267, v_cvt_pk_f16_f32, B32, [F32, F32], FLOAT),
    row(0x268, v_cvt_pk_bf16_f32, B32, [F32, F32], FLOAT),
    row(0x269, v_cvt_scalef32_pk_bf16_fp8, B32, [B32, F32], OP_SEL),
    row(0x26a, v_cvt_scalef32_pk_bf16_bf8, B32, [B32, F32], OP_SEL),
    row(0x2a2, v_cvt_pk_fp8_f32_bounded, B32, [F32, F32], OP_SEL),
    row(0x2a3, v_cvt_pk_bf8_f32_bounded, B32, [F32, F32], OP_SEL),
    row(0x2a4, v_cvt_sr_fp8_f32_bounded, B32, [F32, B32], OP_SEL),
    row(0x2a5, v_cvt_sr_bf8_f32_bounded, B32, [F32, B32], OP_SEL),
    row(0x2a6, v_cvt_sr_f16_f32, B32, [F32, B32], OP_SEL),
    row(0x2a7, v_cvt_sr_bf16_f32, B32, [F32, B32], OP_SEL),
    row(0x2a8, v_minimum3_f32, F32, [F32, F32, F32], FLOAT),
    row(0x2a9, v_maximum3_f32, F32, [F32, F32, F32], FLOAT),
];

/// Packed, and the scales of the matrix product that follows.
pub(in super::super) const VOP3P: &[Row] = &[
    row(0x1a, v_dot2_f32_bf16, F32, [PKBF16, PKBF16, F32], CLAMP),
    row(0x1b, v_pk_minimum3_f16, PKF16, [PKF16, PKF16, PKF16], CLAMP),
    row(0x1c, v_pk_maximum3_f16, PKF16, [PKF16, PKF16, PKF16], CLAMP),
    row(0x2c, v_mfma_ld_scale_b32, N, [B32, B32], PLAIN),
];

/// Matrix instructions.
pub(in super::super) const MAI: &[Row] = &[
    row(0x2d, v_mfma_f32_16x16x128_f8f6f4, F32.x(4), [B32.x(8), B32.x(8), F32.x(4)], NARROW),
    row(0x2e, v_mfma_f32_32x32x64_f8f6f4, F32.x(16), [B32.x(8), B32.x(8), F32.x(16)], NARROW),
    row(0x35, v_mfma_f32_16x16x32_bf16, F32.x(4), [F16.x(4), F16.x(4), F32.x(4)], PLAIN),
    row(0x36, v_mfma_i32_16x16x64_i8, B32.x(4), [B32.x(4), B32.x(4), B32.x(4)], PLAIN),
    row(0x37, v_mfma_f32_32x32x16_bf16, F32.x(16), [F16.x(4), F16.x(4), F32.x(16)], PLAIN),
    row(0x38, v_mfma_i32_32x32x32_i8, B32.x(16), [B32.x(4), B32.x(4), B32.x(16)], PLAIN),
    row(0x39, v_smfmac_f32_16x16x64_bf16, F32.x(4), [F16.x(4), F16.x(8), B32], SPARSE),
    row(0x3a, v_smfmac_i32_16x16x128_i8, B32.x(4), [B32.x(4), B32.x(8), B32], SPARSE),
    row(0x3b, v_smfmac_f32_16x16x128_bf8_bf8, F32.x(4), [B32.x(4), B32.x(8), B32], SPARSE),
    row(0x3c, v_smfmac_f32_16x16x128_bf8_fp8, F32.x(4), [B32.x(4), B32.x(8), B32], SPARSE),
    row(0x3d, v_smfmac_f32_16x16x128_fp8_bf8, F32.x(4), [B32.x(4), B32.x(8), B32], SPARSE),
    row(0x43, v_smfmac_f32_16x16x128_fp8_fp8, F32.x(4), [B32.x(4), B32.x(8), B32], SPARSE),
    row(0x46, v_smfmac_f32_32x32x32_bf16, F32.x(16), [F16.x(4), F16.x(8), B32], SPARSE),
    row(0x47, v_smfmac_i32_32x32x64_i8, B32.x(16), [B32.x(4), B32.x(8), B32], SPARSE),
    row(0x48, v_mfma_f32_32x32x4_2b_f16, F32.x(32), [F16.x(2), F16.x(2), F32.x(32)], PLAIN),
    row(0x49, v_mfma_f32_16x16x4_4b_f16, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x4a, v_mfma_f32_4x4x4_16b_f16, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x4b, v_smfmac_f32_32x32x64_bf8_bf8, F32.x(16), [B32.x(4), B32.x(8), B32], SPARSE),
    row(0x4c, v_mfma_f32_32x32x8_f16, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x4d, v_mfma_f32_16x16x16_f16, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x4e, v_smfmac_f32_32x32x64_bf8_fp8, F32.x(16), [B32.x(4), B32.x(8), B32], SPARSE),
    row(0x4f, v_smfmac_f32_32x32x64_fp8_bf8, F32.x(16), [B32.x(4), B32.x(8), B32], SPARSE),
    row(0x53, v_smfmac_f32_32x32x64_fp8_fp8, F32.x(16), [B32.x(4), B32.x(8), B32], SPARSE),
    row(0x54, v_mfma_f32_16x16x32_f16, F32.x(4), [F16.x(4), F16.x(4), F32.x(4)], PLAIN),
    row(0x55, v_mfma_f32_32x32x16_f16, F32.x(16), [F16.x(4), F16.x(4), F32.x(16)], PLAIN),
    row(0x56, v_mfma_i32_32x32x16_i8, B32.x(16), [B64, B64, B32.x(16)], PLAIN),
    row(0x57, v_mfma_i32_16x16x32_i8, B32.x(4), [B64, B64, B32.x(4)], PLAIN),
    row(0x5a, v_smfmac_f32_16x16x64_f16, F32.x(4), [F16.x(4), F16.x(8), B32], SPARSE),
    row(0x5b, v_smfmac_f32_32x32x32_f16, F32.x(16), [F16.x(4), F16.x(8), B32], SPARSE),
    row(0x5d, v_mfma_f32_32x32x4_2b_bf16, F32.x(32), [F16.x(2), F16.x(2), F32.x(32)], PLAIN),
    row(0x5e, v_mfma_f32_16x16x4_4b_bf16, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x5f, v_mfma_f32_4x4x4_16b_bf16, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x60, v_mfma_f32_32x32x8_bf16, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x61, v_mfma_f32_16x16x16_bf16, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x62, v_smfmac_f32_16x16x32_f16, F32.x(4), [F16.x(2), F16.x(4), B32], SPARSE),
    row(0x64, v_smfmac_f32_32x32x16_f16, F32.x(16), [F16.x(2), F16.x(4), B32], SPARSE),
    row(0x66, v_smfmac_f32_16x16x32_bf16, F32.x(4), [F16.x(2), F16.x(4), B32], SPARSE),
    row(0x68, v_smfmac_f32_32x32x16_bf16, F32.x(16), [F16.x(2), F16.x(4), B32], SPARSE),
    row(0x6a, v_smfmac_i32_16x16x64_i8, B32.x(4), [B64, B32.x(4), B32], SPARSE),
    row(0x6c, v_smfmac_i32_32x32x32_i8, B32.x(16), [B64, B32.x(4), B32], SPARSE),
    row(0x6e, v_mfma_f64_16x16x4_f64, F64.x(8), [F64, F64, F64.x(8)], PLAIN),
    row(0x6f, v_mfma_f64_4x4x4_4b_f64, F64, [F64, F64, F64], PLAIN),
    row(0x70, v_mfma_f32_16x16x32_bf8_bf8_ocp, F32.x(4), [B64, B64, F32.x(4)], PLAIN),
    row(0x71, v_mfma_f32_16x16x32_bf8_fp8_ocp, F32.x(4), [B64, B64, F32.x(4)], PLAIN),
    row(0x72, v_mfma_f32_16x16x32_fp8_bf8_ocp, F32.x(4), [B64, B64, F32.x(4)], PLAIN),
    row(0x73, v_mfma_f32_16x16x32_fp8_fp8_ocp, F32.x(4), [B64, B64, F32.x(4)], PLAIN),
    row(0x74, v_mfma_f32_32x32x16_bf8_bf8_ocp, F32.x(16), [B64, B64, F32.x(16)], PLAIN),
    row(0x75, v_mfma_f32_32x32x16_bf8_fp8_ocp, F32.x(16), [B64, B64, F32.x(16)], PLAIN),
    row(0x76, v_mfma_f32_32x32x16_fp8_bf8_ocp, F32.x(16), [B64, B64, F32.x(16)], PLAIN),
    row(0x77, v_mfma_f32_32x32x16_fp8_fp8_ocp, F32.x(16), [B64, B64, F32.x(16)], PLAIN),
    row(0x78, v_smfmac_f32_16x16x64_bf8_bf8_ocp, F32.x(4), [B64, B32.x(4), B32], SPARSE),
    row(0x79, v_smfmac_f32_16x16x64_bf8_fp8_ocp, F32.x(4), [B64, B32.x(4), B32], SPARSE),
    row(0x7a, v_smfmac_f32_16x16x64_fp8_bf8_ocp, F32.x(4), [B64, B32.x(4), B32], SPARSE),
    row(0x7b, v_smfmac_f32_16x16x64_fp8_fp8_ocp, F32.x(4), [B64, B32.x(4), B32], SPARSE),
    row(0x7c, v_smfmac_f32_32x32x32_bf8_bf8_ocp, F32.x(16), [B64, B32.x(4), B32], SPARSE),
    row(0x7d, v_smfmac_f32_32x32x32_bf8_fp8_ocp, F32.x(16), [B64, B32.x(4), B32], SPARSE),
    row(0x7e, v_smfmac_f32_32x32x32_fp8_bf8_ocp, F32.x(16), [B64, B32.x(4), B32], SPARSE),
    row(0x7f, v_smfmac_f32_32x32x32_fp8_fp8_ocp, F32.x(16), [B64, B32.x(4), B32], SPARSE),
];

/// Matrix products whose factors have scales.
pub(in super::super) const SCALED: &[Row] = &[
    row(0x2d, v_mfma_scale_f32_16x16x128_f8f6f4, F32.x(4), [B32.x(8), B32.x(8), F32.x(4)], NARROW),
    row(0x2e, v_mfma_scale_f32_32x32x64_f8f6f4, F32.x(16), [B32.x(8), B32.x(8), F32.x(16)], NARROW),
];

/// LDS.
pub(in super::super) const DS: &[Row] = &[
    row(0xe0, ds_read_b64_tr_b4, B64, [B32], PLAIN),
    row(0xe1, ds_read_b96_tr_b6, B32.x(3), [B32], PLAIN),
    row(0xe2, ds_read_b64_tr_b8, B64, [B32], PLAIN),
    row(0xe3, ds_read_b64_tr_b16, B64, [B32], PLAIN),
];

/// Global memory.
pub(in super::super) const GLOBAL: &[Row] =
    &[row(0x7d, global_load_lds_dwordx4, N, [], LDS_DST), row(0x7e, global_load_lds_dwordx3, N, [], LDS_DST)];

/// Untyped buffers.
pub(in super::super) const MUBUF: &[Row] = &[
    row(0x16, buffer_load_dwordx3, B32.x(3), [], MAY_LDS),
    row(0x17, buffer_load_dwordx4, B32.x(4), [], MAY_LDS),
    row(0x52, buffer_atomic_pk_add_bf16, B32, [B32], ATOMIC),
];
