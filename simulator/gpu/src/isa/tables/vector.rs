// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vector instructions with a 32-bit form: VOP2, VOP1.

use super::super::opcode::Op::*;
use super::*;

/// Two sources; `0x100 +` the code in VOP3.
pub(in super::super) const VOP2: &[Row] = &[
    row(0x00, v_cndmask_b32, B32, [F32, F32, B64], CARRY_IN),
    row(0x01, v_add_f32, F32, [F32, F32], FLOAT),
    row(0x02, v_sub_f32, F32, [F32, F32], FLOAT),
    row(0x03, v_subrev_f32, F32, [F32, F32], FLOAT),
    row(0x05, v_mul_f32, F32, [F32, F32], FLOAT),
    row(0x06, v_mul_i32_i24, B32, [B32, B32], CLAMP),
    row(0x07, v_mul_hi_i32_i24, B32, [B32, B32], PLAIN),
    row(0x08, v_mul_u32_u24, B32, [B32, B32], CLAMP),
    row(0x09, v_mul_hi_u32_u24, B32, [B32, B32], PLAIN),
    row(0x0a, v_min_f32, F32, [F32, F32], FLOAT),
    row(0x0b, v_max_f32, F32, [F32, F32], FLOAT),
    row(0x0c, v_min_i32, B32, [B32, B32], PLAIN),
    row(0x0d, v_max_i32, B32, [B32, B32], PLAIN),
    row(0x0e, v_min_u32, B32, [B32, B32], PLAIN),
    row(0x0f, v_max_u32, B32, [B32, B32], PLAIN),
    row(0x10, v_lshrrev_b32, B32, [B32, B32], PLAIN),
    row(0x11, v_ashrrev_i32, B32, [B32, B32], PLAIN),
    row(0x12, v_lshlrev_b32, B32, [B32, B32], PLAIN),
    row(0x13, v_and_b32, B32, [B32, B32], PLAIN),
    row(0x14, v_or_b32, B32, [B32, B32], PLAIN),
    row(0x15, v_xor_b32, B32, [B32, B32], PLAIN),
    row(0x19, v_add_co_u32, B32, [B32, B32], CARRY_OUT | CLAMP),
    row(0x1a, v_sub_co_u32, B32, [B32, B32], CARRY_OUT | CLAMP),
    row(0x1b, v_subrev_co_u32, B32, [B32, B32], CARRY_OUT | CLAMP),
    row(0x1c, v_addc_co_u32, B32, [B32, B32, B64], CARRY_OUT | CARRY_IN | CLAMP),
    row(0x1d, v_subb_co_u32, B32, [B32, B32, B64], CARRY_OUT | CARRY_IN | CLAMP),
    row(0x1e, v_subbrev_co_u32, B32, [B32, B32, B64], CARRY_OUT | CARRY_IN | CLAMP),
    row(0x1f, v_add_f16, F16, [F16, F16], FLOAT),
    row(0x20, v_sub_f16, F16, [F16, F16], FLOAT),
    row(0x21, v_subrev_f16, F16, [F16, F16], FLOAT),
    row(0x22, v_mul_f16, F16, [F16, F16], FLOAT),
    row(0x23, v_mac_f16, F16, [F16, F16], FLOAT | NO_SDWA),
    row(0x24, v_madmk_f16, F16, [F16, F16, F16], NO_E64 | MADMK | NO_SDWA | NO_DPP),
    row(0x25, v_madak_f16, F16, [F16, F16, F16], NO_E64 | MADAK | NO_SDWA | NO_DPP),
    row(0x26, v_add_u16, I16, [I16, I16], CLAMP),
    row(0x27, v_sub_u16, I16, [I16, I16], CLAMP),
    row(0x28, v_subrev_u16, I16, [I16, I16], CLAMP),
    row(0x29, v_mul_lo_u16, I16, [I16, I16], PLAIN),
    row(0x2a, v_lshlrev_b16, I16, [I16, I16], PLAIN),
    row(0x2b, v_lshrrev_b16, I16, [I16, I16], PLAIN),
    row(0x2c, v_ashrrev_i16, I16, [I16, I16], PLAIN),
    row(0x2d, v_max_f16, F16, [F16, F16], FLOAT),
    row(0x2e, v_min_f16, F16, [F16, F16], FLOAT),
    row(0x2f, v_max_u16, I16, [I16, I16], PLAIN),
    row(0x30, v_max_i16, I16, [I16, I16], PLAIN),
    row(0x31, v_min_u16, I16, [I16, I16], PLAIN),
    row(0x32, v_min_i16, I16, [I16, I16], PLAIN),
    row(0x33, v_ldexp_f16, F16, [F16, B32], FLOAT),
    row(0x34, v_add_u32, B32, [B32, B32], CLAMP),
    row(0x35, v_sub_u32, B32, [B32, B32], CLAMP),
    row(0x36, v_subrev_u32, B32, [B32, B32], CLAMP),
];

/// Since gfx906.
pub(in super::super) const VOP2_SINCE_GFX906: &[Row] =
    &[row(0x3b, v_fmac_f32, F32, [F32, F32], FLOAT | NO_SDWA), row(0x3d, v_xnor_b32, B32, [B32, B32], PLAIN)];

/// Since gfx908.
pub(in super::super) const VOP2_SINCE_GFX908: &[Row] = &[
    row(0x37, v_dot2c_f32_f16, F32, [F16, F16], FLOAT | NO_SDWA),
    row(0x38, v_dot2c_i32_i16, B32, [PK16, PK16], CLAMP | NO_SDWA),
    row(0x39, v_dot4c_i32_i8, B32, [B32, B32], CLAMP | NO_SDWA),
    row(0x3a, v_dot8c_i32_i4, B32, [B32, B32], CLAMP | NO_SDWA),
    row(0x3c, v_pk_fmac_f16, PKF16, [PKF16, PKF16], NO_E64 | NO_SDWA | NO_DPP),
];

/// Since gfx90a.
pub(in super::super) const VOP2_SINCE_GFX90A: &[Row] = &[row(0x04, v_fmac_f64, F64, [F64, F64], FLOAT)];

/// Until gfx908.
pub(in super::super) const VOP2_UNTIL_GFX908: &[Row] = &[row(0x04, v_mul_legacy_f32, F32, [F32, F32], FLOAT)];

/// Of gfx942: multiply and add, rounded once.
pub(in super::super) const VOP2_GFX942: &[Row] = &[
    row(0x17, v_fmamk_f32, F32, [F32, F32, F32], NO_E64 | MADMK | NO_SDWA | NO_DPP),
    row(0x18, v_fmaak_f32, F32, [F32, F32, F32], NO_E64 | MADAK | NO_SDWA | NO_DPP),
];

/// Until gfx90a: the product is rounded on its own.
pub(in super::super) const VOP2_UNTIL_GFX90A: &[Row] = &[
    row(0x16, v_mac_f32, F32, [F32, F32], FLOAT | NO_SDWA),
    row(0x17, v_madmk_f32, F32, [F32, F32, F32], NO_E64 | MADMK | NO_SDWA | NO_DPP),
    row(0x18, v_madak_f32, F32, [F32, F32, F32], NO_E64 | MADAK | NO_SDWA | NO_DPP),
];

/// One source; `0x140 +` the code in VOP3.
pub(in super::super) const VOP1: &[Row] = &[
    row(0x00, v_nop, N, [], NO_SDWA | NO_DPP),
    row(0x01, v_mov_b32, B32, [B32], PLAIN),
    row(0x02, v_readfirstlane_b32, B32, [B32], SCALAR_DST | VECTOR_SRC | NO_E64 | NO_SDWA | NO_DPP),
    row(0x03, v_cvt_i32_f64, B32, [F64], FLOAT),
    row(0x04, v_cvt_f64_i32, F64, [B32], FLOAT),
    row(0x05, v_cvt_f32_i32, F32, [B32], FLOAT),
    row(0x06, v_cvt_f32_u32, F32, [B32], FLOAT),
    row(0x07, v_cvt_u32_f32, B32, [F32], FLOAT),
    row(0x08, v_cvt_i32_f32, B32, [F32], FLOAT),
    row(0x0a, v_cvt_f16_f32, F16, [F32], FLOAT),
    row(0x0b, v_cvt_f32_f16, F32, [F16], FLOAT),
    row(0x0c, v_cvt_rpi_i32_f32, B32, [F32], CLAMP),
    row(0x0d, v_cvt_flr_i32_f32, B32, [F32], CLAMP),
    row(0x0e, v_cvt_off_f32_i4, F32, [B32], FLOAT),
    row(0x0f, v_cvt_f32_f64, F32, [F64], FLOAT),
    row(0x10, v_cvt_f64_f32, F64, [F32], FLOAT),
    row(0x11, v_cvt_f32_ubyte0, F32, [B32], FLOAT),
    row(0x12, v_cvt_f32_ubyte1, F32, [B32], FLOAT),
    row(0x13, v_cvt_f32_ubyte2, F32, [B32], FLOAT),
    row(0x14, v_cvt_f32_ubyte3, F32, [B32], FLOAT),
    row(0x15, v_cvt_u32_f64, B32, [F64], FLOAT),
    row(0x16, v_cvt_f64_u32, F64, [B32], FLOAT),
    row(0x17, v_trunc_f64, F64, [F64], FLOAT),
    row(0x18, v_ceil_f64, F64, [F64], FLOAT),
    row(0x19, v_rndne_f64, F64, [F64], FLOAT),
    row(0x1a, v_floor_f64, F64, [F64], FLOAT),
    row(0x1b, v_fract_f32, F32, [F32], FLOAT),
    row(0x1c, v_trunc_f32, F32, [F32], FLOAT),
    row(0x1d, v_ceil_f32, F32, [F32], FLOAT),
    row(0x1e, v_rndne_f32, F32, [F32], FLOAT),
    row(0x1f, v_floor_f32, F32, [F32], FLOAT),
    row(0x20, v_exp_f32, F32, [F32], FLOAT),
    row(0x21, v_log_f32, F32, [F32], FLOAT),
    row(0x22, v_rcp_f32, F32, [F32], FLOAT),
    row(0x23, v_rcp_iflag_f32, F32, [F32], FLOAT),
    row(0x24, v_rsq_f32, F32, [F32], FLOAT),
    row(0x25, v_rcp_f64, F64, [F64], FLOAT),
    row(0x26, v_rsq_f64, F64, [F64], FLOAT),
    row(0x27, v_sqrt_f32, F32, [F32], FLOAT),
    row(0x28, v_sqrt_f64, F64, [F64], FLOAT),
    row(0x29, v_sin_f32, F32, [F32], FLOAT),
    row(0x2a, v_cos_f32, F32, [F32], FLOAT),
    row(0x2b, v_not_b32, B32, [B32], PLAIN),
    row(0x2c, v_bfrev_b32, B32, [B32], PLAIN),
    row(0x2d, v_ffbh_u32, B32, [B32], PLAIN),
    row(0x2e, v_ffbl_b32, B32, [B32], PLAIN),
    row(0x2f, v_ffbh_i32, B32, [B32], PLAIN),
    row(0x30, v_frexp_exp_i32_f64, B32, [F64], FLOAT),
    row(0x31, v_frexp_mant_f64, F64, [F64], FLOAT),
    row(0x32, v_fract_f64, F64, [F64], FLOAT),
    row(0x33, v_frexp_exp_i32_f32, B32, [F32], CLAMP),
    row(0x34, v_frexp_mant_f32, F32, [F32], FLOAT),
    row(0x35, v_clrexcp, N, [], NO_SDWA | NO_DPP),
    row(0x37, v_screen_partition_4se_b32, B32, [B32], PLAIN),
    row(0x39, v_cvt_f16_u16, F16, [I16], FLOAT),
    row(0x3a, v_cvt_f16_i16, F16, [I16], FLOAT),
    row(0x3b, v_cvt_u16_f16, I16, [F16], FLOAT),
    row(0x3c, v_cvt_i16_f16, I16, [F16], FLOAT),
    row(0x3d, v_rcp_f16, F16, [F16], FLOAT),
    row(0x3e, v_sqrt_f16, F16, [F16], FLOAT),
    row(0x3f, v_rsq_f16, F16, [F16], FLOAT),
    row(0x40, v_log_f16, F16, [F16], FLOAT),
    row(0x41, v_exp_f16, F16, [F16], FLOAT),
    row(0x42, v_frexp_mant_f16, F16, [F16], FLOAT),
    row(0x43, v_frexp_exp_i16_f16, I16, [F16], FLOAT),
    row(0x44, v_floor_f16, F16, [F16], FLOAT),
    row(0x45, v_ceil_f16, F16, [F16], FLOAT),
    row(0x46, v_trunc_f16, F16, [F16], FLOAT),
    row(0x47, v_rndne_f16, F16, [F16], FLOAT),
    row(0x48, v_fract_f16, F16, [F16], FLOAT),
    row(0x49, v_sin_f16, F16, [F16], FLOAT),
    row(0x4a, v_cos_f16, F16, [F16], FLOAT),
    row(0x4b, v_exp_legacy_f32, F32, [F32], FLOAT),
    row(0x4c, v_log_legacy_f32, F32, [F32], FLOAT),
    row(0x4d, v_cvt_norm_i16_f16, I16, [F16], FLOAT),
    row(0x4e, v_cvt_norm_u16_f16, I16, [F16], FLOAT),
    row(0x4f, v_sat_pk_u8_i16, I16, [B32], PLAIN),
    row(0x51, v_swap_b32, B32, [B32], VECTOR_SRC | NO_E64 | NO_SDWA | NO_DPP),
];

/// Since gfx90a.
pub(in super::super) const VOP1_SINCE_GFX90A: &[Row] =
    &[row(0x52, v_accvgpr_mov_b32, B32, [B32], ACC | NO_E64 | NO_SDWA | NO_DPP)];

/// Of gfx942.
pub(in super::super) const VOP1_GFX942: &[Row] = &[
    row(0x38, v_mov_b64, B64, [B64], PLAIN),
    row(0x54, v_cvt_f32_fp8, F32, [B32], FLOAT | NO_DST_SEL),
    row(0x55, v_cvt_f32_bf8, F32, [B32], FLOAT | NO_DST_SEL),
    row(0x56, v_cvt_pk_f32_fp8, F32.x(2), [B32], FLOAT | NO_DST_SEL),
    row(0x57, v_cvt_pk_f32_bf8, F32.x(2), [B32], FLOAT | NO_DST_SEL),
];
