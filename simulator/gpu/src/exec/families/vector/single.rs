// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single precision.

use crate::exec::operands::element::{Chosen, Single};
use crate::exec::operands::operation::vector;
use crate::exec::values::angle::{cos_revolutions, sin_revolutions};
use crate::exec::values::extremum::*;
use crate::exec::values::float::*;

vector! {
    #[usual] v_add_f32(a: f32, b: f32) -> f32 a + b;
    #[usual] v_sub_f32(a: f32, b: f32) -> f32 a - b;
    #[usual] v_subrev_f32(a: f32, b: f32) -> f32 b - a;
    #[usual] v_mul_f32(a: f32, b: f32) -> f32 a * b;
    v_fma_dx9_zero_f32(a: f32, b: f32, c: f32) -> f32 if (a == 0.0) | (b == 0.0) { c } else { a.mul_add(b, c) };
    v_fmac_dx9_zero_f32(a: f32, b: f32, [c: f32]) -> f32 if (a == 0.0) | (b == 0.0) { c } else { a.mul_add(b, c) };
    v_mul_legacy_f32(a: f32, b: f32) -> f32 if (a == 0.0) | (b == 0.0) { 0.0 } else { a * b };
    v_mullit_f32(a: f32, b: f32, c: f32) -> f32 lit(a, b, c);
    #[usual] v_fma_f32 | v_fmamk_f32 | v_fmaak_f32(a: f32, b: f32, c: f32) -> f32 a.mul_add(b, c);
    #[usual] v_fmac_f32(a: f32, b: f32, [c: f32]) -> f32 a.mul_add(b, c);
    v_mad_f32 | v_madmk_f32 | v_madak_f32(a: f32, b: f32, c: f32) -> f32 unfused(a, b, c);
    v_mac_f32(a: f32, b: f32, [c: f32]) -> f32 unfused(a, b, c);
    v_mac_legacy_f32(a: f32, b: f32, [c: f32]) -> f32 unfused_legacy(a, b, c);
    v_mad_legacy_f32(a: f32, b: f32, c: f32) -> f32 unfused_legacy(a, b, c);
    #[usual] v_min_f32(a: f32, b: f32) -> Single Chosen(min_f32(a, b));
    #[usual] v_max_f32(a: f32, b: f32) -> Single Chosen(max_f32(a, b));
    v_min3_f32(a: f32, b: f32, c: f32) -> Single Chosen(min_f32(min_f32(a, b), c));
    v_max3_f32(a: f32, b: f32, c: f32) -> Single Chosen(max_f32(max_f32(a, b), c));
    v_maxmin_f32(a: f32, b: f32, c: f32) -> Single Chosen(min_f32(max_f32(a, b), c));
    v_minmax_f32(a: f32, b: f32, c: f32) -> Single Chosen(max_f32(min_f32(a, b), c));
    v_med3_f32(a: f32, b: f32, c: f32) -> Single Chosen(med3_f32(a, b, c));
    #[usual] v_min_num_f32(a: f32, b: f32) -> Single Chosen(min_num_f32(a, b));
    #[usual] v_max_num_f32(a: f32, b: f32) -> Single Chosen(max_num_f32(a, b));
    v_min3_num_f32(a: f32, b: f32, c: f32) -> Single Chosen(min_num_f32(min_num_f32(a, b), c));
    v_max3_num_f32(a: f32, b: f32, c: f32) -> Single Chosen(max_num_f32(max_num_f32(a, b), c));
    v_maxmin_num_f32(a: f32, b: f32, c: f32) -> Single Chosen(min_num_f32(max_num_f32(a, b), c));
    v_minmax_num_f32(a: f32, b: f32, c: f32) -> Single Chosen(max_num_f32(min_num_f32(a, b), c));
    v_med3_num_f32(a: f32, b: f32, c: f32) -> Single Chosen(med3_num_f32(a, b, c));
    v_minimum_f32(a: f32, b: f32) -> Single Chosen(minimum_f32(a, b));
    v_maximum_f32(a: f32, b: f32) -> Single Chosen(maximum_f32(a, b));
    v_minimum3_f32(a: f32, b: f32, c: f32) -> Single Chosen(minimum_f32(minimum_f32(a, b), c));
    v_maximum3_f32(a: f32, b: f32, c: f32) -> Single Chosen(maximum_f32(maximum_f32(a, b), c));
    v_maximumminimum_f32(a: f32, b: f32, c: f32) -> Single Chosen(minimum_f32(maximum_f32(a, b), c));
    v_minimummaximum_f32(a: f32, b: f32, c: f32) -> Single Chosen(maximum_f32(minimum_f32(a, b), c));
    v_trunc_f32(a: f32) -> f32 a.trunc();
    v_ceil_f32(a: f32) -> f32 a.ceil();
    v_floor_f32(a: f32) -> f32 a.floor();
    v_rndne_f32(a: f32) -> f32 a.round_ties_even();
    v_fract_f32(a: f32) -> f32 fract_f32(a);
    v_exp_f32 | v_exp_legacy_f32(a: f32) -> f32 exp2_f32(a);
    v_log_f32 | v_log_legacy_f32(a: f32) -> f32 a.log2();
    v_rcp_f32 | v_rcp_iflag_f32(a: f32) -> f32 1.0 / a;
    v_rsq_f32(a: f32) -> f32 (1.0 / f64::from(a).sqrt()) as f32;
    v_sqrt_f32(a: f32) -> f32 a.sqrt();
    v_sin_f32(a: f32) -> f32 sin_revolutions(a);
    v_cos_f32(a: f32) -> f32 cos_revolutions(a);
    v_cubeid_f32(a: f32, b: f32, c: f32) -> Single Chosen(cube(a, b, c).0);
    v_cubesc_f32(a: f32, b: f32, c: f32) -> Single Chosen(cube(a, b, c).1);
    v_cubetc_f32(a: f32, b: f32, c: f32) -> Single Chosen(cube(a, b, c).2);
    v_cubema_f32(a: f32, b: f32, c: f32) -> f32 2.0 * cube(a, b, c).3;
    v_ldexp_f32(a: f32, b: i32) -> f32 ldexp_f32(a, b);
    v_frexp_exp_i32_f32(a: f32) -> i32 frexp_exponent_f32(a);
    v_frexp_mant_f32(a: f32) -> f32 frexp_mantissa_f32(a);
    v_div_fixup_f32(a: f32, b: f32, c: f32) -> Single Chosen(div_fixup_f32(a, b, c));
}

/// A product for lighting: the least number where the second factor or the third source forbids light. Zero times anything is zero.
#[inline(always)]
fn lit(a: f32, b: f32, c: f32) -> f32 {
    if is_dark(b, c) {
        f32::MIN
    } else if (a == 0.0) | (b == 0.0) {
        0.0
    } else {
        a * b
    }
}

/// The same, but zero times anything is zero.
#[inline(always)]
fn unfused_legacy(a: f32, b: f32, c: f32) -> f32 {
    let (a, b) = (normal(a), normal(b));
    let product = if (a == 0.0) | (b == 0.0) { 0.0 } else { normal(a * b) };
    normal(product + normal(c))
}

/// The face of a cube that a direction points to: its number, the two coordinates on it, and the major axis.
#[inline(always)]
fn cube(x: f32, y: f32, z: f32) -> (f32, f32, f32, f32) {
    let negative = |value: f32| value < 0.0;
    if (z.abs() >= x.abs()) & (z.abs() >= y.abs()) {
        (if negative(z) { 5.0 } else { 4.0 }, if negative(z) { -x } else { x }, -y, z)
    } else if y.abs() >= x.abs() {
        (if negative(y) { 3.0 } else { 2.0 }, x, if negative(y) { -z } else { z }, y)
    } else {
        (if negative(x) { 1.0 } else { 0.0 }, if negative(x) { z } else { -z }, -y, x)
    }
}
