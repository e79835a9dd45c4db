// SPDX-License-Identifier: MIT OR Apache-2.0
//! Floats of eight bits in the encodings of gfx942 (FNUZ): no infinities, no negative zero; the code of
//! negative zero is the only NaN. And in those of the Open Compute Project (OCP), which GFX12 has: FP8 has two NaNs and no
//! infinities, BF8 is like a half.

/// Widens a float with four bits of exponent and three of mantissa (FP8, E4M3).
#[inline(always)]
pub fn fp8_to_f32(bits: u32) -> f32 {
    widened(bits, 3, 8)
}

/// Widens a float with five bits of exponent and two of mantissa (BF8, E5M2).
#[inline(always)]
pub fn bf8_to_f32(bits: u32) -> f32 {
    widened(bits, 2, 16)
}

/// Rounds to FP8, to nearest even. Overflow gives the NaN, or the greatest number if it `saturates`.
#[inline(always)]
pub fn f32_to_fp8(value: f32, saturates: bool) -> u32 {
    narrowed(value, 3, 8, saturates)
}

/// Rounds to BF8, to nearest even. Overflow gives the NaN, or the greatest number if it `saturates`.
#[inline(always)]
pub fn f32_to_bf8(value: f32, saturates: bool) -> u32 {
    narrowed(value, 2, 16, saturates)
}

/// Widens an FP8 of the OCP.
#[inline(always)]
pub fn fp8_ocp_to_f32(bits: u32) -> f32 {
    if bits & 0x7f == 0x7f { signed_nan(bits) } else { finite(bits, 3, 7) }
}

/// Widens a BF8 of the OCP: the high byte of a half.
#[inline(always)]
pub fn bf8_ocp_to_f32(bits: u32) -> f32 {
    match bits & 0x7f {
        0x7c => f32::INFINITY.copysign(finite(bits & 0x80, 2, 15)),
        0x7d.. => signed_nan(bits),
        _ => finite(bits, 2, 15),
    }
}

/// Rounds to an FP8 of the OCP, to nearest even. Overflow gives a NaN, or the greatest number if it `saturates`.
#[inline(always)]
pub fn f32_to_fp8_ocp(value: f32, saturates: bool) -> u32 {
    let sign = value.to_bits() >> 24 & 0x80;
    if value.is_nan() || value.is_infinite() {
        return sign | 0x7f;
    }
    let code = magnitude(value, 3, 7);
    sign | if code > 0x7e { if saturates { 0x7e } else { 0x7f } } else { code }
}

/// Rounds to a BF8 of the OCP, to nearest even. Overflow gives an infinity, or the greatest number if it `saturates`.
#[inline(always)]
pub fn f32_to_bf8_ocp(value: f32, saturates: bool) -> u32 {
    let sign = value.to_bits() >> 24 & 0x80;
    if value.is_nan() {
        return sign | 0x7e;
    }
    if value.is_infinite() {
        return sign | 0x7c;
    }
    let code = magnitude(value, 2, 15);
    sign | if code > 0x7b { if saturates { 0x7b } else { 0x7c } } else { code }
}

/// The same as [`f32_to_fp8_ocp`], but for an infinity, which becomes the greatest number if it `saturates`.
#[inline(always)]
pub fn f32_to_fp8_bounded(value: f32, saturates: bool) -> u32 {
    let code = f32_to_fp8_ocp(value, saturates);
    if saturates && value.is_infinite() { code & 0x80 | 0x7e } else { code }
}

/// The same as [`f32_to_bf8_ocp`], but for an infinity, which becomes the greatest number if it `saturates`.
#[inline(always)]
pub fn f32_to_bf8_bounded(value: f32, saturates: bool) -> u32 {
    let code = f32_to_bf8_ocp(value, saturates);
    if saturates && value.is_infinite() { code & 0x80 | 0x7b } else { code }
}

#[inline(always)]
fn signed_nan(bits: u32) -> f32 {
    f32::from_bits(0x7fc0_0000 | (bits & 0x80) << 24)
}

#[inline(always)]
fn widened(bits: u32, mantissa: u32, bias: u32) -> f32 {
    if bits == 0x80 { f32::NAN } else { finite(bits, mantissa, bias) }
}

/// The number of a code that is a number.
#[inline(always)]
fn finite(bits: u32, mantissa: u32, bias: u32) -> f32 {
    let magnitude = bits & 0x7f;
    let (exponent, fraction) = (magnitude >> mantissa, magnitude & ((1 << mantissa) - 1));
    // A denormal is a multiple of the last place of the least normal number.
    let denormal = fraction as f32 * f32::from_bits((128 - bias - mantissa) << 23);
    let normal = f32::from_bits((exponent + 127 - bias) << 23 | fraction << (23 - mantissa));
    let value = if exponent == 0 { denormal } else { normal };
    f32::from_bits(value.to_bits() | (bits & 0x80) << 24)
}

#[inline(always)]
fn narrowed(value: f32, mantissa: u32, bias: u32, saturates: bool) -> u32 {
    if value.is_nan() || value.is_infinite() {
        return 0x80;
    }
    let code = magnitude(value, mantissa, bias);
    if code > 0x7f && !saturates {
        return 0x80;
    }
    match (code.min(0x7f), value.is_sign_negative()) {
        (0, _) => 0,
        (code, true) => code | 0x80,
        (code, false) => code,
    }
}

/// The code of a number without its sign, rounded to nearest even. It may be larger than every code.
#[inline(always)]
fn magnitude(value: f32, mantissa: u32, bias: u32) -> u32 {
    let magnitude = value.abs();
    let least_normal = f32::from_bits((128 - bias) << 23);
    if magnitude < least_normal {
        return (magnitude * f32::from_bits((126 + bias + mantissa) << 23)).round_ties_even() as u32;
    }
    let bits = magnitude.to_bits();
    let drop = 23 - mantissa;
    let rounded = bits + ((1 << (drop - 1)) - 1) + (bits >> drop & 1);
    (rounded >> drop) - ((127 - bias) << mantissa)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_codes() {
        assert_eq!([0x40, 0xc4, 0x7f, 0x01, 0x00].map(fp8_to_f32), [1.0, -1.5, 240.0, 2f32.powi(-10), 0.0]);
        assert_eq!([0x40, 0x7f, 0x01].map(bf8_to_f32), [1.0, 57344.0, 2f32.powi(-17)]);
        assert!(fp8_to_f32(0x80).is_nan() && bf8_to_f32(0x80).is_nan());
    }

    #[test]
    fn every_code_survives_a_round_trip() {
        for bits in (0..256).filter(|&bits| bits != 0x80) {
            assert_eq!(f32_to_fp8(fp8_to_f32(bits), false), bits, "{bits:#x}");
            assert_eq!(f32_to_bf8(bf8_to_f32(bits), false), bits, "{bits:#x}");
        }
        for (value, code) in
            [(1.0625, 0x40), (1.1875, 0x42), (1e9, 0x7f), (-1e9, 0xff), (2f32.powi(-11), 0), (f32::NAN, 0x80)]
        {
            assert_eq!(f32_to_fp8(value, true), code, "{value}");
        }
        assert_eq!([247.0, 248.0, -1e9].map(|value| f32_to_fp8(value, false)), [0x7f, 0x80, 0x80]);
    }

    #[test]
    fn codes_of_the_ocp() {
        assert_eq!(
            [0x38, 0xbc, 0x7e, 0x01, 0x80].map(fp8_ocp_to_f32),
            [1.0, -1.5, 448.0, 2f32.powi(-9), 0.0]
        );
        assert_eq!(
            [0x3c, 0x7b, 0x01, 0x7c].map(bf8_ocp_to_f32),
            [1.0, 57344.0, 2f32.powi(-16), f32::INFINITY]
        );
        assert!([0x7f, 0xff].map(fp8_ocp_to_f32).iter().all(|value| value.is_nan()));
        assert_eq!(bf8_ocp_to_f32(0xfc), f32::NEG_INFINITY);
        for bits in (0..256).filter(|bits| bits & 0x7f != 0x7f) {
            assert_eq!(f32_to_fp8_ocp(fp8_ocp_to_f32(bits), false), bits, "{bits:#x}");
        }
        for bits in (0..256u32).filter(|bits| bits & 0x7f <= 0x7c) {
            assert_eq!(f32_to_bf8_ocp(bf8_ocp_to_f32(bits), false), bits, "{bits:#x}");
            // It is the high byte of a half.
            assert_eq!(bf8_ocp_to_f32(bits), crate::exec::values::half::f16_to_f32(bits << 8), "{bits:#x}");
        }
        assert_eq!(
            [463.9, 464.0, 465.0, -1e9].map(|value| f32_to_fp8_ocp(value, false)),
            [0x7e, 0x7e, 0x7f, 0xff]
        );
        assert_eq!([465.0, -1e9].map(|value| f32_to_fp8_ocp(value, true)), [0x7e, 0xfe]);
        assert_eq!([61439.0, 61440.0, -1e9].map(|value| f32_to_bf8_ocp(value, false)), [0x7b, 0x7c, 0xfc]);
        assert_eq!(f32_to_bf8_ocp(61440.0, true), 0x7b);
        assert_eq!([f32_to_fp8_ocp(f32::INFINITY, false), f32_to_bf8_ocp(f32::NAN, false)], [0x7f, 0x7e]);
    }
}
