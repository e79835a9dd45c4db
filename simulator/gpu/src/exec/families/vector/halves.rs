// SPDX-License-Identifier: MIT OR Apache-2.0
//! Half precision. Sums, products, quotients and roots are exact enough in single precision that rounding again gives
//! the correctly rounded half; fused operations take a detour through doubles.

use crate::exec::operands::element::{B16, F16, Half};
use crate::exec::operands::operation::vector;
use crate::exec::values::angle::{cos_revolutions, sin_revolutions};
use crate::exec::values::extremum::*;
use crate::exec::values::float::*;
use crate::exec::values::half::{f16_to_f32, f32_to_f16, f64_to_f16, sum_to_odd};

vector! {
    v_add_f16(a: F16, b: F16) -> F16 F16(a.0 + b.0);
    v_sub_f16(a: F16, b: F16) -> F16 F16(a.0 - b.0);
    v_subrev_f16(a: F16, b: F16) -> F16 F16(b.0 - a.0);
    v_mul_f16(a: F16, b: F16) -> F16 F16(a.0 * b.0);
    v_fma_f16 | v_fma_legacy_f16 | v_fmamk_f16 | v_fmaak_f16(a: F16, b: F16, c: F16) -> Half fused(a, b, c);
    v_fmac_f16(a: F16, b: F16, [c: F16]) -> Half fused(a, b, c);
    v_mad_f16 | v_mad_legacy_f16 | v_madmk_f16 | v_madak_f16(a: F16, b: F16, c: F16) -> F16 unfused(a, b, c);
    v_mac_f16(a: F16, b: F16, [c: F16]) -> F16 unfused(a, b, c);
    v_min_f16(a: B16, b: B16) -> B16 B16(min_f16(a.0, b.0));
    v_max_f16(a: B16, b: B16) -> B16 B16(max_f16(a.0, b.0));
    v_min3_f16(a: B16, b: B16, c: B16) -> B16 B16(min_f16(min_f16(a.0, b.0), c.0));
    v_max3_f16(a: B16, b: B16, c: B16) -> B16 B16(max_f16(max_f16(a.0, b.0), c.0));
    v_maxmin_f16(a: B16, b: B16, c: B16) -> B16 B16(min_f16(max_f16(a.0, b.0), c.0));
    v_minmax_f16(a: B16, b: B16, c: B16) -> B16 B16(max_f16(min_f16(a.0, b.0), c.0));
    v_med3_f16(a: B16, b: B16, c: B16) -> B16 B16(med3_f16(a.0, b.0, c.0));
    v_min_num_f16(a: B16, b: B16) -> B16 B16(min_num_f16(a.0, b.0));
    v_max_num_f16(a: B16, b: B16) -> B16 B16(max_num_f16(a.0, b.0));
    v_min3_num_f16(a: B16, b: B16, c: B16) -> B16 B16(min_num_f16(min_num_f16(a.0, b.0), c.0));
    v_max3_num_f16(a: B16, b: B16, c: B16) -> B16 B16(max_num_f16(max_num_f16(a.0, b.0), c.0));
    v_maxmin_num_f16(a: B16, b: B16, c: B16) -> B16 B16(min_num_f16(max_num_f16(a.0, b.0), c.0));
    v_minmax_num_f16(a: B16, b: B16, c: B16) -> B16 B16(max_num_f16(min_num_f16(a.0, b.0), c.0));
    v_med3_num_f16(a: B16, b: B16, c: B16) -> B16 B16(med3_num_f16(a.0, b.0, c.0));
    v_minimum_f16(a: B16, b: B16) -> B16 B16(minimum_f16(a.0, b.0));
    v_maximum_f16(a: B16, b: B16) -> B16 B16(maximum_f16(a.0, b.0));
    v_minimum3_f16(a: B16, b: B16, c: B16) -> B16 B16(minimum_f16(minimum_f16(a.0, b.0), c.0));
    v_maximum3_f16(a: B16, b: B16, c: B16) -> B16 B16(maximum_f16(maximum_f16(a.0, b.0), c.0));
    v_maximumminimum_f16(a: B16, b: B16, c: B16) -> B16 B16(minimum_f16(maximum_f16(a.0, b.0), c.0));
    v_minimummaximum_f16(a: B16, b: B16, c: B16) -> B16 B16(maximum_f16(minimum_f16(a.0, b.0), c.0));
    v_trunc_f16(a: F16) -> F16 F16(a.0.trunc());
    v_ceil_f16(a: F16) -> F16 F16(a.0.ceil());
    v_floor_f16(a: F16) -> F16 F16(a.0.floor());
    v_rndne_f16(a: F16) -> F16 F16(a.0.round_ties_even());
    v_fract_f16(a: F16) -> F16 F16(fract_f16(a.0));
    v_exp_f16(a: F16) -> F16 F16(exp2_f32(a.0));
    v_log_f16(a: F16) -> F16 F16(a.0.log2());
    v_rcp_f16(a: F16) -> F16 F16(1.0 / a.0);
    v_rsq_f16(a: F16) -> F16 F16((1.0 / f64::from(a.0).sqrt()) as f32);
    v_sqrt_f16(a: F16) -> F16 F16(a.0.sqrt());
    v_sin_f16(a: F16) -> F16 F16(sin_revolutions(a.0));
    v_cos_f16(a: F16) -> F16 F16(cos_revolutions(a.0));
    v_ldexp_f16(a: F16, b: i16) -> F16 F16(ldexp_f32(a.0, b.into()));
    v_frexp_exp_i16_f16(a: F16) -> i16 frexp_exponent_f32(a.0) as i16;
    v_frexp_mant_f16(a: F16) -> F16 F16(frexp_mantissa_f32(a.0));
    v_div_fixup_f16 | v_div_fixup_legacy_f16(a: F16, b: F16, c: F16) -> B16 B16(f32_to_f16(div_fixup_f16(a.0, b.0, c.0)) as u16);
}

#[inline(always)]
fn unfused(a: F16, b: F16, c: F16) -> F16 {
    F16(f16_to_f32(f32_to_f16(a.0 * b.0)) + c.0)
}

#[inline(always)]
fn fused(a: F16, b: F16, c: F16) -> Half {
    Half(f64_to_f16(sum_to_odd(f64::from(a.0) * f64::from(b.0), c.0.into())) as u16)
}
