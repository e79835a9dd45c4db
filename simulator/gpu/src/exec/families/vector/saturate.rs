// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integer instructions with the clamp bit: they saturate.

use super::integer::{differences, low24, signed24, sliding};
use crate::exec::operands::operation::vector;
use crate::isa::Op;

vector! {
    v_add_u32(a: u32, b: u32) -> u32 a.saturating_add(b);
    v_sub_u32(a: u32, b: u32) -> u32 a.saturating_sub(b);
    v_subrev_u32(a: u32, b: u32) -> u32 b.saturating_sub(a);
    v_add_i32(a: i32, b: i32) -> i32 a.saturating_add(b);
    v_sub_i32(a: i32, b: i32) -> i32 a.saturating_sub(b);
    v_add_u16(a: u16, b: u16) -> u16 a.saturating_add(b);
    v_sub_u16(a: u16, b: u16) -> u16 a.saturating_sub(b);
    v_subrev_u16(a: u16, b: u16) -> u16 b.saturating_sub(a);
    v_add_i16(a: i16, b: i16) -> i16 a.saturating_add(b);
    v_sub_i16(a: i16, b: i16) -> i16 a.saturating_sub(b);
    v_mad_u16 | v_mad_legacy_u16(a: u16, b: u16, c: u16) -> u16 {
        (u32::from(a) * u32::from(b)).saturating_add(c.into()).min(0xffff) as u16
    };
    v_mad_i16 | v_mad_legacy_i16(a: i16, b: i16, c: i16) -> i16 {
        (i64::from(a) * i64::from(b) + i64::from(c)).clamp(i16::MIN.into(), i16::MAX.into()) as i16
    };
    v_mad_u32_u24(a: u32, b: u32, c: u32) -> u32 {
        (u64::from(low24(a)) * u64::from(low24(b)) + u64::from(c)).min(u32::MAX.into()) as u32
    };
    v_mad_i32_i24(a: i32, b: i32, c: i32) -> i32 {
        let sum = i64::from(signed24(a)) * i64::from(signed24(b)) + i64::from(c);
        sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32
    };
    v_mad_u32_u16(a: u16, b: u16, c: u32) -> u32 (u32::from(a) * u32::from(b)).saturating_add(c);
    v_mad_i32_i16(a: i16, b: i16, c: i32) -> i32 (i32::from(a) * i32::from(b)).saturating_add(c);
    v_mul_u32_u24(a: u32, b: u32) -> u32 {
        (u64::from(low24(a)) * u64::from(low24(b))).min(u32::MAX.into()) as u32
    };
    v_mul_i32_i24(a: i32, b: i32) -> i32 {
        let product = i64::from(signed24(a)) * i64::from(signed24(b));
        product.clamp(i32::MIN.into(), i32::MAX.into()) as i32
    };
    v_sad_u8(a: u32, b: u32, c: u32) -> u32 differences(a, b, !0).saturating_add(c);
    v_msad_u8(a: u32, b: u32, c: u32) -> u32 differences(a, b, b).saturating_add(c);
    v_sad_hi_u8(a: u32, b: u32, c: u32) -> u32 (differences(a, b, !0) << 16).saturating_add(c);
    v_sad_u16(a: u32, b: u32, c: u32) -> u32 {
        ((a & 0xffff).abs_diff(b & 0xffff) + (a >> 16).abs_diff(b >> 16)).saturating_add(c)
    };
    v_sad_u32(a: u32, b: u32, c: u32) -> u32 a.abs_diff(b).saturating_add(c);
    v_qsad_pk_u16_u8(a: u64, b: u32, c: u64) -> u64 sliding(c, |shift, sum| {
        (differences((a >> shift) as u32, b, !0) + sum).min(0xffff)
    });
    v_mqsad_pk_u16_u8(a: u64, b: u32, c: u64) -> u64 sliding(c, |shift, sum| {
        (differences((a >> shift) as u32, b, b) + sum).min(0xffff)
    });
}

/// Whether the results of an integer instruction always fit, so that the clamp bit changes nothing.
pub(crate) fn always_fits(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        v_cvt_flr_i32_f32
            | v_cvt_i16_f16
            | v_cvt_i32_f32
            | v_cvt_i32_f64
            | v_cvt_i32_i16
            | v_cvt_norm_i16_f16
            | v_cvt_norm_u16_f16
            | v_cvt_pk_bf8_f32
            | v_cvt_pk_bf8_f32_ocp
            | v_cvt_pk_fp8_f32
            | v_cvt_pk_fp8_f32_ocp
            | v_cvt_pk_i16_f32
            | v_cvt_pk_i16_i32
            | v_cvt_pk_u16_f32
            | v_cvt_pk_u16_u32
            | v_cvt_pk_u8_f32
            | v_cvt_pkaccum_u8_f32
            | v_cvt_pknorm_i16_f16
            | v_cvt_pknorm_i16_f32
            | v_cvt_pknorm_u16_f16
            | v_cvt_pknorm_u16_f32
            | v_cvt_rpi_i32_f32
            | v_cvt_sr_bf8_f32
            | v_cvt_sr_bf8_f32_ocp
            | v_cvt_sr_fp8_f32
            | v_cvt_sr_fp8_f32_ocp
            | v_cvt_u16_f16
            | v_cvt_u32_f32
            | v_cvt_u32_f64
            | v_cvt_u32_u16
            | v_frexp_exp_i16_f16
            | v_frexp_exp_i32_f32
            | v_frexp_exp_i32_f64
            | v_max3_i16
            | v_max3_i32
            | v_max3_u16
            | v_max3_u32
            | v_max_i16
            | v_max_i32
            | v_max_u16
            | v_max_u32
            | v_maxmin_i32
            | v_maxmin_u32
            | v_med3_i16
            | v_med3_i32
            | v_med3_u16
            | v_med3_u32
            | v_min3_i16
            | v_min3_i32
            | v_min3_u16
            | v_min3_u32
            | v_min_i16
            | v_min_i32
            | v_min_u16
            | v_min_u32
            | v_minmax_i32
            | v_minmax_u32
            | v_mul_hi_i32_i24
            | v_mul_hi_u32_u24
    )
}

/// Whether the handler of an instruction reads the clamp bit itself.
pub(crate) fn clamps_itself(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        v_add_co_u32
            | v_sub_co_u32
            | v_subrev_co_u32
            | v_addc_co_u32
            | v_subb_co_u32
            | v_subbrev_co_u32
            | v_dot2c_i32_i16
            | v_dot4c_i32_i8
            | v_dot8c_i32_i4
            | v_mqsad_u32_u8
            | v_mad_u64_u32
            | v_mad_i64_i32
    )
}
