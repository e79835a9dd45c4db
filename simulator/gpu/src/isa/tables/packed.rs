// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packed, mixed-precision and matrix instructions: VOP3P and MAI.

use super::super::opcode::Op::*;
use super::*;

/// Packed and mixed precision.
pub(in super::super) const VOP3P: &[Row] = &[
    row(0x00, v_pk_mad_i16, PK16, [PK16, PK16, PK16], CLAMP),
    row(0x01, v_pk_mul_lo_u16, PK16, [PK16, PK16], CLAMP),
    row(0x02, v_pk_add_i16, PK16, [PK16, PK16], CLAMP),
    row(0x03, v_pk_sub_i16, PK16, [PK16, PK16], CLAMP),
    row(0x04, v_pk_lshlrev_b16, PK16, [PK16, PK16], CLAMP),
    row(0x05, v_pk_lshrrev_b16, PK16, [PK16, PK16], CLAMP),
    row(0x06, v_pk_ashrrev_i16, PK16, [PK16, PK16], CLAMP),
    row(0x07, v_pk_max_i16, PK16, [PK16, PK16], CLAMP),
    row(0x08, v_pk_min_i16, PK16, [PK16, PK16], CLAMP),
    row(0x09, v_pk_mad_u16, PK16, [PK16, PK16, PK16], CLAMP),
    row(0x0a, v_pk_add_u16, PK16, [PK16, PK16], CLAMP),
    row(0x0b, v_pk_sub_u16, PK16, [PK16, PK16], CLAMP),
    row(0x0c, v_pk_max_u16, PK16, [PK16, PK16], CLAMP),
    row(0x0d, v_pk_min_u16, PK16, [PK16, PK16], CLAMP),
    row(0x0e, v_pk_fma_f16, PKF16, [PKF16, PKF16, PKF16], CLAMP),
    row(0x0f, v_pk_add_f16, PKF16, [PKF16, PKF16], CLAMP),
    row(0x10, v_pk_mul_f16, PKF16, [PKF16, PKF16], CLAMP),
    row(0x11, v_pk_min_f16, PKF16, [PKF16, PKF16], CLAMP),
    row(0x12, v_pk_max_f16, PKF16, [PKF16, PKF16], CLAMP),
];

/// Of gfx900: the product is rounded on its own.
pub(in super::super) const VOP3P_GFX900: &[Row] = &[
    row(0x20, v_mad_mix_f32, F32, [F32, F32, F32], CLAMP | MIX),
    row(0x21, v_mad_mixlo_f16, F16, [F32, F32, F32], CLAMP | MIX),
    row(0x22, v_mad_mixhi_f16, F16, [F32, F32, F32], CLAMP | MIX),
];

/// Since gfx906.
pub(in super::super) const VOP3P_SINCE_GFX906: &[Row] = &[
    row(0x20, v_fma_mix_f32, F32, [F32, F32, F32], CLAMP | MIX),
    row(0x21, v_fma_mixlo_f16, F16, [F32, F32, F32], CLAMP | MIX),
    row(0x22, v_fma_mixhi_f16, F16, [F32, F32, F32], CLAMP | MIX),
    row(0x23, v_dot2_f32_f16, F32, [PKF16, PKF16, F32], CLAMP),
    row(0x26, v_dot2_i32_i16, B32, [PK16, PK16, B32], CLAMP),
    row(0x27, v_dot2_u32_u16, B32, [PK16, PK16, B32], CLAMP),
    row(0x28, v_dot4_i32_i8, B32, [B32, B32, B32], CLAMP),
    row(0x29, v_dot4_u32_u8, B32, [B32, B32, B32], CLAMP),
    row(0x2a, v_dot8_i32_i4, B32, [B32, B32, B32], CLAMP),
    row(0x2b, v_dot8_u32_u4, B32, [B32, B32, B32], CLAMP),
];

/// Since gfx90a.
pub(in super::super) const VOP3P_SINCE_GFX90A: &[Row] = &[
    row(0x30, v_pk_fma_f32, F32.x(2), [F32.x(2), F32.x(2), F32.x(2)], CLAMP),
    row(0x31, v_pk_mul_f32, F32.x(2), [F32.x(2), F32.x(2)], CLAMP),
    row(0x32, v_pk_add_f32, F32.x(2), [F32.x(2), F32.x(2)], CLAMP),
    row(0x33, v_pk_mov_b32, B32.x(2), [B32.x(2), B32.x(2)], CLAMP),
];

/// Matrix instructions and moves of accumulation registers.
pub(in super::super) const MAI: &[Row] = &[
    row(0x40, v_mfma_f32_32x32x1_2b_f32, F32.x(32), [F32, F32, F32.x(32)], PLAIN),
    row(0x41, v_mfma_f32_16x16x1_4b_f32, F32.x(16), [F32, F32, F32.x(16)], PLAIN),
    row(0x42, v_mfma_f32_4x4x1_16b_f32, F32.x(4), [F32, F32, F32.x(4)], PLAIN),
    row(0x44, v_mfma_f32_32x32x2_f32, F32.x(16), [F32, F32, F32.x(16)], PLAIN),
    row(0x45, v_mfma_f32_16x16x4_f32, F32.x(4), [F32, F32, F32.x(4)], PLAIN),
    row(0x50, v_mfma_i32_32x32x4_2b_i8, B32.x(32), [B32, B32, B32.x(32)], PLAIN),
    row(0x51, v_mfma_i32_16x16x4_4b_i8, B32.x(16), [B32, B32, B32.x(16)], PLAIN),
    row(0x52, v_mfma_i32_4x4x4_16b_i8, B32.x(4), [B32, B32, B32.x(4)], PLAIN),
    row(0x58, v_accvgpr_read_b32, B32, [B32], ACC_SRC),
    row(0x59, v_accvgpr_write_b32, B32, [B32], ACC_DST),
];

/// Of gfx942.
pub(in super::super) const MAI_GFX942: &[Row] = &[
    row(0x3e, v_mfma_f32_16x16x8_xf32, F32.x(4), [F32.x(2), F32.x(2), F32.x(4)], PLAIN),
    row(0x3f, v_mfma_f32_32x32x4_xf32, F32.x(16), [F32.x(2), F32.x(2), F32.x(16)], PLAIN),
    row(0x48, v_mfma_f32_32x32x4_2b_f16, F32.x(32), [F16.x(2), F16.x(2), F32.x(32)], PLAIN),
    row(0x49, v_mfma_f32_16x16x4_4b_f16, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x4a, v_mfma_f32_4x4x4_16b_f16, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x4c, v_mfma_f32_32x32x8_f16, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x4d, v_mfma_f32_16x16x16_f16, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x56, v_mfma_i32_32x32x16_i8, B32.x(16), [B64, B64, B32.x(16)], PLAIN),
    row(0x57, v_mfma_i32_16x16x32_i8, B32.x(4), [B64, B64, B32.x(4)], PLAIN),
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
    row(0x70, v_mfma_f32_16x16x32_bf8_bf8, F32.x(4), [B64, B64, F32.x(4)], PLAIN),
    row(0x71, v_mfma_f32_16x16x32_bf8_fp8, F32.x(4), [B64, B64, F32.x(4)], PLAIN),
    row(0x72, v_mfma_f32_16x16x32_fp8_bf8, F32.x(4), [B64, B64, F32.x(4)], PLAIN),
    row(0x73, v_mfma_f32_16x16x32_fp8_fp8, F32.x(4), [B64, B64, F32.x(4)], PLAIN),
    row(0x74, v_mfma_f32_32x32x16_bf8_bf8, F32.x(16), [B64, B64, F32.x(16)], PLAIN),
    row(0x75, v_mfma_f32_32x32x16_bf8_fp8, F32.x(16), [B64, B64, F32.x(16)], PLAIN),
    row(0x76, v_mfma_f32_32x32x16_fp8_bf8, F32.x(16), [B64, B64, F32.x(16)], PLAIN),
    row(0x77, v_mfma_f32_32x32x16_fp8_fp8, F32.x(16), [B64, B64, F32.x(16)], PLAIN),
    row(0x78, v_smfmac_f32_16x16x64_bf8_bf8, F32.x(4), [B64, B32.x(4), B32], SPARSE),
    row(0x79, v_smfmac_f32_16x16x64_bf8_fp8, F32.x(4), [B64, B32.x(4), B32], SPARSE),
    row(0x7a, v_smfmac_f32_16x16x64_fp8_bf8, F32.x(4), [B64, B32.x(4), B32], SPARSE),
    row(0x7b, v_smfmac_f32_16x16x64_fp8_fp8, F32.x(4), [B64, B32.x(4), B32], SPARSE),
    row(0x7c, v_smfmac_f32_32x32x32_bf8_bf8, F32.x(16), [B64, B32.x(4), B32], SPARSE),
    row(0x7d, v_smfmac_f32_32x32x32_bf8_fp8, F32.x(16), [B64, B32.x(4), B32], SPARSE),
    row(0x7e, v_smfmac_f32_32x32x32_fp8_bf8, F32.x(16), [B64, B32.x(4), B32], SPARSE),
    row(0x7f, v_smfmac_f32_32x32x32_fp8_fp8, F32.x(16), [B64, B32.x(4), B32], SPARSE),
];

/// Of gfx908: denormals are kept.
pub(in super::super) const MAI_GFX908: &[Row] = &[
    row(0x48, v_mfma_f32_32x32x4_2b_f16, F32.x(32), [F16.x(2), F16.x(2), F32.x(32)], PLAIN),
    row(0x49, v_mfma_f32_16x16x4_4b_f16, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x4a, v_mfma_f32_4x4x4_16b_f16, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x4c, v_mfma_f32_32x32x8_f16, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x4d, v_mfma_f32_16x16x16_f16, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x68, v_mfma_f32_32x32x2_2b_bf16, F32.x(32), [F16, F16, F32.x(32)], PLAIN),
    row(0x69, v_mfma_f32_16x16x2_4b_bf16, F32.x(16), [F16, F16, F32.x(16)], PLAIN),
    row(0x6b, v_mfma_f32_4x4x2_16b_bf16, F32.x(4), [F16, F16, F32.x(4)], PLAIN),
    row(0x6c, v_mfma_f32_32x32x4_bf16, F32.x(16), [F16, F16, F32.x(16)], PLAIN),
    row(0x6d, v_mfma_f32_16x16x8_bf16, F32.x(4), [F16, F16, F32.x(4)], PLAIN),
];

/// Of gfx908 and gfx90a: products of bytes are smaller.
pub(in super::super) const MAI_UNTIL_GFX90A: &[Row] = &[
    row(0x54, v_mfma_i32_32x32x8i8, B32.x(16), [B32, B32, B32.x(16)], PLAIN),
    row(0x55, v_mfma_i32_16x16x16i8, B32.x(4), [B32, B32, B32.x(4)], PLAIN),
];

/// Of gfx90a: products of halves and of bfloats flush denormals.
pub(in super::super) const MAI_GFX90A: &[Row] = &[
    row(0x48, v_mfma_f32_32x32x4f16, F32.x(32), [F16.x(2), F16.x(2), F32.x(32)], PLAIN),
    row(0x49, v_mfma_f32_16x16x4f16, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x4a, v_mfma_f32_4x4x4f16, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x4c, v_mfma_f32_32x32x8f16, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x4d, v_mfma_f32_16x16x16f16, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x63, v_mfma_f32_32x32x4bf16_1k, F32.x(32), [F16.x(2), F16.x(2), F32.x(32)], PLAIN),
    row(0x64, v_mfma_f32_16x16x4bf16_1k, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x65, v_mfma_f32_4x4x4bf16_1k, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x66, v_mfma_f32_32x32x8bf16_1k, F32.x(16), [F16.x(2), F16.x(2), F32.x(16)], PLAIN),
    row(0x67, v_mfma_f32_16x16x16bf16_1k, F32.x(4), [F16.x(2), F16.x(2), F32.x(4)], PLAIN),
    row(0x68, v_mfma_f32_32x32x2bf16, F32.x(32), [F16, F16, F32.x(32)], PLAIN),
    row(0x69, v_mfma_f32_16x16x2bf16, F32.x(16), [F16, F16, F32.x(16)], PLAIN),
    row(0x6b, v_mfma_f32_4x4x2bf16, F32.x(4), [F16, F16, F32.x(4)], PLAIN),
    row(0x6c, v_mfma_f32_32x32x4bf16, F32.x(16), [F16, F16, F32.x(16)], PLAIN),
    row(0x6d, v_mfma_f32_16x16x8bf16, F32.x(4), [F16, F16, F32.x(4)], PLAIN),
    row(0x6e, v_mfma_f64_16x16x4f64, F64.x(8), [F64, F64, F64.x(8)], PLAIN),
    row(0x6f, v_mfma_f64_4x4x4f64, F64, [F64, F64, F64], PLAIN),
];
