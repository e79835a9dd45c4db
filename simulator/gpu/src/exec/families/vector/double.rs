// SPDX-License-Identifier: MIT OR Apache-2.0
//! Double precision.

use crate::exec::operands::element::{Chosen, Double};
use crate::exec::operands::operation::vector;
use crate::exec::values::angle::two_over_pi_part;
use crate::exec::values::extremum::*;
use crate::exec::values::float::*;

vector! {
    v_add_f64(a: f64, b: f64) -> f64 a + b;
    v_mul_f64(a: f64, b: f64) -> f64 a * b;
    v_fma_f64(a: f64, b: f64, c: f64) -> f64 a.mul_add(b, c);
    v_fmac_f64(a: f64, b: f64, [c: f64]) -> f64 a.mul_add(b, c);
    v_min_f64(a: f64, b: f64) -> Double Chosen(min_f64(a, b));
    v_max_f64(a: f64, b: f64) -> Double Chosen(max_f64(a, b));
    v_min_num_f64(a: f64, b: f64) -> Double Chosen(min_num_f64(a, b));
    v_max_num_f64(a: f64, b: f64) -> Double Chosen(max_num_f64(a, b));
    v_minimum_f64(a: f64, b: f64) -> Double Chosen(minimum_f64(a, b));
    v_maximum_f64(a: f64, b: f64) -> Double Chosen(maximum_f64(a, b));
    v_trunc_f64(a: f64) -> f64 a.trunc();
    v_ceil_f64(a: f64) -> f64 a.ceil();
    v_floor_f64(a: f64) -> f64 a.floor();
    v_rndne_f64(a: f64) -> f64 a.round_ties_even();
    v_fract_f64(a: f64) -> f64 fract_f64(a);
    v_rcp_f64(a: f64) -> f64 1.0 / a;
    v_rsq_f64(a: f64) -> f64 1.0 / a.sqrt();
    v_sqrt_f64(a: f64) -> f64 a.sqrt();
    v_ldexp_f64(a: f64, b: i32) -> f64 ldexp_f64(a, b);
    v_frexp_exp_i32_f64(a: f64) -> i32 frexp_exponent_f64(a);
    v_frexp_mant_f64(a: f64) -> f64 frexp_mantissa_f64(a);
    v_div_fixup_f64(a: f64, b: f64, c: f64) -> Double Chosen(div_fixup_f64(a, b, c));
    v_trig_preop_f64(a: f64, b: u32) -> f64 two_over_pi_part(a, b);
}
