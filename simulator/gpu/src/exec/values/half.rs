// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversions of half precision and bfloat16, without branches so that loops over lanes use wide vectors.

use crate::exec::values::row::{LANES, Row};
#[cfg(target_arch = "x86_64")]
use crate::exec::values::wide::has_wide_vectors;

/// Widens the half in the low 16 bits. A signalling NaN comes out quiet.
#[inline(always)]
pub(crate) fn f16_to_f32(bits: u32) -> f32 {
    let magnitude = bits & 0x7fff;
    // Moves the exponent from bias 15 to 127; denormals are normalised by the multiplication.
    let scaled = f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000);
    let special = 0x7f80_0000 | magnitude << 13 | if magnitude > 0x7c00 { 0x0040_0000 } else { 0 };
    let value = if magnitude >= 0x7c00 { special } else { scaled.to_bits() };
    f32::from_bits(value | (bits & 0x8000) << 16)
}

/// Widens one half of every lane: the high one, or the low one.
#[inline(always)]
pub(crate) fn widen_row(row: &Row, high: bool, values: &mut [f32; LANES]) {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { widen_row_f16c(row, high, values) };
    }
    for lane in 0..LANES {
        values[lane] = f16_to_f32(if high { row[lane] >> 16 } else { row[lane] & 0xffff });
    }
}

/// As [`widen_row`], by the processor's own conversion, which gives the same bits.
///
/// # Safety
/// The processor has AVX2 and F16C.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c")]
unsafe fn widen_row_f16c(row: &Row, high: bool, values: &mut [f32; LANES]) {
    use std::arch::x86_64::*;
    for (from, to) in row.as_chunks::<8>().0.iter().zip(values.as_chunks_mut::<8>().0) {
        // SAFETY: eight lanes of 32 bits are read, and as many written.
        unsafe {
            let lanes = _mm256_loadu_si256(from.as_ptr().cast());
            let halves = if high {
                _mm256_srli_epi32::<16>(lanes)
            } else {
                _mm256_and_si256(lanes, _mm256_set1_epi32(0xffff))
            };
            let (low, top) = (_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
            let packed = _mm_packus_epi32(low, top);
            _mm256_storeu_ps(to.as_mut_ptr(), _mm256_cvtph_ps(packed));
        }
    }
}

/// Rounds to half precision, to nearest even, in the low 16 bits.
#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u32 {
    let bits = value.to_bits();
    let sign = bits >> 16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Normal results: round the 13 bits that fall off, and move the exponent.
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_add(0xfff + odd).wrapping_sub(112 << 23) >> 13;
    // Denormal results: the addition of a number whose last place is that of the smallest half aligns and
    // rounds.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let finite = if magnitude < 0x3880_0000 { denormal } else { normal };
    let infinite = if magnitude > 0x7f80_0000 { 0x7e00 | magnitude >> 13 & 0x3ff } else { 0x7c00 };
    // 65520 is the least magnitude that rounds to infinity.
    sign | if magnitude >= 0x477f_f000 { infinite } else { finite }
}

/// Rounds to half precision, toward zero, in the low 16 bits.
#[inline(always)]
pub(crate) fn f32_to_f16_toward_zero(value: f32) -> u32 {
    let bits = value.to_bits();
    let sign = bits >> 16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let normal = magnitude.wrapping_sub(112 << 23) >> 13;
    let denormal = (f32::from_bits(magnitude) * 16_777_216.0) as u32;
    let finite = if magnitude < 0x3880_0000 { denormal } else { normal };
    let beyond = if magnitude >= 0x7f80_0000 { f32_to_f16(f32::from_bits(magnitude)) } else { 0x7bff };
    sign | if magnitude >= 0x4780_0000 { beyond } else { finite }
}

/// Widens the bfloat16 in the low 16 bits.
#[inline(always)]
pub(crate) fn bf16_to_f32(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// Rounds to bfloat16, to nearest even, in the low 16 bits.
#[inline(always)]
pub(crate) fn f32_to_bf16(value: f32) -> u32 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    if value.is_nan() { bits >> 16 | 0x40 } else { rounded }
}

/// The f64 that rounds to half precision as the exact sum `product + addend` does. Its last bit is odd if the
/// sum was not exact, so that a second rounding cannot hit a false tie.
#[inline(always)]
pub(crate) fn sum_to_odd(product: f64, addend: f64) -> f64 {
    let sum = product + addend;
    let part = sum - product;
    let error = (product - (sum - part)) + (addend - part);
    if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // Toward the error: away from zero if it has the sum's sign.
    let bits = sum.to_bits();
    f64::from_bits(if (error > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 })
}

/// Rounds a double to half precision in one step, to nearest even, in the low 16 bits.
#[inline(always)]
pub(crate) fn f64_to_f16(value: f64) -> u32 {
    // Rounding to odd in single precision keeps the information for the second rounding.
    let near = value as f32;
    let exact = f64::from(near) == value || value.is_nan() || near.is_infinite();
    let bits = near.to_bits();
    let odd = if exact || bits & 1 == 1 {
        bits
    } else if f64::from(near).abs() < value.abs() {
        bits + 1
    } else {
        bits.wrapping_sub(1)
    };
    f32_to_f16(f32::from_bits(odd))
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    #[test]
    fn halves_widen_exactly() {
        for bits in 0..=u16::MAX {
            let expected = f16::from_bits(bits).to_f32();
            let got = f16_to_f32(bits.into());
            assert!(
                got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
                "{bits:#x}: {got} and {expected}"
            );
        }
    }

    #[test]
    fn rows_widen_as_lanes_do() {
        for start in (0..=u16::MAX).step_by(LANES) {
            let row: Row = std::array::from_fn(|lane| {
                let low = u32::from(start) + lane as u32;
                low | (low ^ 0xffff) << 16
            });
            for high in [false, true] {
                let mut values = [0.0; LANES];
                widen_row(&row, high, &mut values);
                for (lane, value) in values.iter().enumerate() {
                    let expected = f16_to_f32(row[lane] >> if high { 16 } else { 0 } & 0xffff);
                    assert_eq!(value.to_bits(), expected.to_bits(), "{:#x}", row[lane]);
                }
            }
        }
    }

    #[test]
    fn singles_round_to_nearest_even() {
        let mut bits = 0u32;
        loop {
            let value = f32::from_bits(bits);
            let (got, expected) = (f32_to_f16(value) as u16, f16::from_f32(value).to_bits());
            assert!(
                got == expected || value.is_nan() && f16::from_bits(got).is_nan(),
                "{value:e}: {got:#x} {expected:#x}"
            );
            let (got, expected) = (f32_to_bf16(value) as u16, bf16::from_f32(value).to_bits());
            assert!(
                got == expected || value.is_nan() && bf16::from_bits(got).is_nan(),
                "{value:e}: {got:#x} {expected:#x}"
            );
            match bits.checked_add(8191) {
                Some(next) => bits = next,
                None => break,
            }
        }
        for (value, expected) in [
            (65519.996f32, 0x7bff),
            (65520.0, 0x7c00),
            (5.960_464_5e-8, 1),
            (2.980_232_2e-8, 0),
            (2.980_232_6e-8, 1),
        ] {
            assert_eq!(f32_to_f16(value), expected, "{value}");
            assert_eq!(f32_to_f16(-value), expected | 0x8000, "-{value}");
        }
    }

    #[test]
    fn singles_round_toward_zero() {
        for (value, expected) in [
            (1.0f32, 0x3c00),
            (1.999_9, 0x3fff),
            (65535.0, 0x7bff),
            (1e30, 0x7bff),
            (f32::INFINITY, 0x7c00),
            (5.9e-8, 0),
            (6.0e-8, 1),
            (6.1e-5, 0x3ff),
        ] {
            assert_eq!(f32_to_f16_toward_zero(value), expected, "{value}");
            assert_eq!(f32_to_f16_toward_zero(-value), expected | 0x8000, "-{value}");
        }
        assert!(f32_to_f16_toward_zero(f32::NAN) > 0x7c00);
    }

    #[test]
    fn doubles_round_once() {
        // Just above a tie of halves, by less than single precision resolves.
        let tie = 1.0 + 1.0 / 2048.0;
        assert_eq!(f64_to_f16(tie), 0x3c00);
        assert_eq!(f64_to_f16(tie + 1e-15), 0x3c01);
        assert_eq!(f64_to_f16(sum_to_odd(tie, 1e-20)), 0x3c01);
        assert_eq!(f64_to_f16(sum_to_odd(tie, -1e-20)), 0x3c00);
    }
}
