// SPDX-License-Identifier: MIT OR Apache-2.0
//! Angles: sines and cosines of revolutions, and the bits of 2/pi for the reduction of large arguments.

use crate::exec::values::float::ldexp_f64;

/// Bits of 2/pi after the point, the highest first.
const TWO_OVER_PI: [u64; 20] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
];

/// `v_trig_preop_f64`: 53 bits of 2/pi, scaled to their place. `part` selects the bits. For a large argument,
/// bits that would only add whole turns are omitted.
pub(crate) fn two_over_pi_part(value: f64, part: u32) -> f64 {
    let exponent = (value.to_bits() >> 52 & 0x7ff) as u32;
    let shift = (part & 31) * 53 + exponent.saturating_sub(1077);
    // The manual has 1201 bits; behind them are zeros.
    let bit = |at: u32| if at < 1201 { TWO_OVER_PI[at as usize / 64] >> (63 - at % 64) & 1 } else { 0 };
    let bits = (shift..shift + 53).fold(0, |bits, at| bits << 1 | bit(at));
    let power = -53 - shift as i32 + if exponent >= 1968 { 128 } else { 0 };
    ldexp_f64(bits as f64, power)
}

/// The sine of a number of revolutions in [-0.5, 0.5].
fn sine(turns: f64) -> f64 {
    // The half turn nearest to zero has the same sine; the difference is exact.
    let turns = if turns.abs() > 0.25 { 0.5f64.copysign(turns) - turns } else { turns };
    (turns * std::f64::consts::TAU).sin()
}

/// Sine of a number of revolutions.
pub(crate) fn sin_revolutions(value: f32) -> f32 {
    let turns = f64::from(value);
    sine(turns - turns.round()) as f32
}

/// Cosine of a number of revolutions.
pub(crate) fn cos_revolutions(value: f32) -> f32 {
    let turns = f64::from(value);
    sine(0.25 - (turns - turns.round()).abs()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_sum_up_to_two_over_pi() {
        let sum: f64 = (0..3).rev().map(|part| two_over_pi_part(1.0, part)).sum();
        assert_eq!(sum, std::f64::consts::FRAC_2_PI);
        // The second part starts where the first one ends.
        assert!(two_over_pi_part(1.0, 1) < 2f64.powi(-53) && two_over_pi_part(1.0, 1) > 2f64.powi(-60));
        // Whole turns of a large argument are left out.
        let large = two_over_pi_part(2f64.powi(1000), 0);
        assert!(large < 2f64.powi(128 - 946) && large > 0.0);
    }

    #[test]
    fn quarters_are_exact() {
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1e9].map(sin_revolutions), [0.0, 1.0, 0.0, -1.0, 0.0]);
        assert_eq!([0.0, 0.25, 0.5, 0.75].map(cos_revolutions), [1.0, 0.0, -1.0, 0.0]);
        assert!(sin_revolutions(f32::INFINITY).is_nan());
    }
}
