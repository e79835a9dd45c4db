// SPDX-License-Identifier: MIT OR Apache-2.0
//! Float operations as the hardware defines them, one lane at a time. The usual operations have no branches,
//! so that loops over lanes use wide vectors.

use crate::exec::values::half::sum_to_odd;

/// The same NaN, quiet.
#[inline(always)]
fn quiet32(value: f32) -> f32 {
    f32::from_bits(value.to_bits() | 0x0040_0000)
}

#[inline(always)]
fn quiet64(value: f64) -> f64 {
    f64::from_bits(value.to_bits() | 0x0008_0000_0000_0000)
}

/// A number, or zero of its sign in place of a denormal.
#[inline(always)]
pub(crate) fn normal(value: f32) -> f32 {
    if value.abs() < f32::MIN_POSITIVE { 0.0f32.copysign(value) } else { value }
}

/// A product rounded on its own, and a sum. Denormals are flushed in every mode.
#[inline(always)]
pub(crate) fn unfused(a: f32, b: f32, c: f32) -> f32 {
    normal(normal(normal(a) * normal(b)) + normal(c))
}

#[inline(always)]
fn is_signalling32(value: f32) -> bool {
    value.is_nan() & (value.to_bits() & 0x0040_0000 == 0)
}

#[inline(always)]
fn is_signalling64(value: f64) -> bool {
    value.is_nan() & (value.to_bits() & 0x0008_0000_0000_0000 == 0)
}

macro_rules! extremum {
    ($name:ident, $float:ty, $less:tt, $negative:literal, $signalling:ident, $quiet:ident, $doc:literal) => {
        #[doc = $doc]
        ///
        /// A number wins over a NaN, the second of two NaNs over the first, a signalling NaN wins over all and comes out
        /// quiet, -0 is less than +0.
        #[inline(always)]
        pub(crate) fn $name(a: $float, b: $float) -> $float {
            let first = (a $less b) | ((a == b) & (a.is_sign_negative() == $negative)) | (b.is_nan() & !a.is_nan());
            let number = if first { a } else { b };
            let value = if $signalling(b) { $quiet(b) } else { number };
            if $signalling(a) { $quiet(a) } else { value }
        }
    };
}

extremum!(min_f32, f32, <, true, is_signalling32, quiet32, "The lesser of two singles.");
extremum!(max_f32, f32, >, false, is_signalling32, quiet32, "The greater of two singles.");
extremum!(min_f64, f64, <, true, is_signalling64, quiet64, "The lesser of two doubles.");
extremum!(max_f64, f64, >, false, is_signalling64, quiet64, "The greater of two doubles.");

/// The middle one of three; the least if any is a NaN.
#[inline(always)]
pub(crate) fn med3_f32(a: f32, b: f32, c: f32) -> f32 {
    let least = min_f32(min_f32(a, b), c);
    let greatest = max_f32(max_f32(a, b), c);
    let middle = if greatest == a {
        max_f32(b, c)
    } else if greatest == b {
        max_f32(a, c)
    } else {
        max_f32(a, b)
    };
    if a.is_nan() | b.is_nan() | c.is_nan() { least } else { middle }
}

/// The bits of a half as an integer of the same order; NaNs are beyond the infinities.
#[inline(always)]
fn key16(bits: u16) -> i16 {
    (bits as i16) ^ ((bits as i16 >> 15) as u16 >> 1) as i16
}

macro_rules! extremum16 {
    ($name:ident, $compare:tt, $doc:literal) => {
        #[doc = $doc]
        /// NaNs and zeros as in single precision.
        #[inline(always)]
        pub(crate) fn $name(a: u16, b: u16) -> u16 {
            let is_nan = |bits: u16| bits & 0x7fff > 0x7c00;
            let is_signalling = |bits: u16| is_nan(bits) & (bits & 0x200 == 0);
            let first = (key16(a) $compare key16(b)) & !is_nan(b) | is_nan(b);
            let number = if first & !is_nan(a) { a } else { b };
            let value = if is_signalling(b) { b | 0x200 } else { number };
            if is_signalling(a) { a | 0x200 } else { value }
        }
    };
}

extremum16!(min_f16, <, "The lesser of two halves.");
extremum16!(max_f16, >, "The greater of two halves.");

/// The middle one of three halves; the least if any is a NaN.
#[inline(always)]
pub(crate) fn med3_f16(a: u16, b: u16, c: u16) -> u16 {
    let is_nan = |bits: u16| bits & 0x7fff > 0x7c00;
    let same = |a: u16, b: u16| (a == b) | ((a | b) & 0x7fff == 0);
    let least = min_f16(min_f16(a, b), c);
    let greatest = max_f16(max_f16(a, b), c);
    let middle = if same(greatest, a) {
        max_f16(b, c)
    } else if same(greatest, b) {
        max_f16(a, c)
    } else {
        max_f16(a, b)
    };
    if is_nan(a) | is_nan(b) | is_nan(c) { least } else { middle }
}

/// Whether a value is in one of the classes of a mask: bits from 0 are signalling NaN, quiet NaN, -infinity, -normal,
/// -denormal, -0, +0, +denormal, +normal, +infinity.
#[inline(always)]
pub(crate) fn is_class(class: Class, mask: u32) -> bool {
    mask >> class.0 & 1 != 0
}

/// The class of a float, as the bit's number in a class mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(u32);

macro_rules! class {
    ($name:ident, $bits:ty, $exponent:expr, $mantissa:expr, $quiet:expr, $sign:expr) => {
        /// The class of a float given by its bits.
        #[inline(always)]
        pub(crate) fn $name(bits: $bits) -> Class {
            let (exponent, mantissa) = (bits & $exponent, bits & $mantissa);
            let magnitude = if exponent == $exponent {
                if mantissa == 0 {
                    3
                } else {
                    return Class(if mantissa & $quiet != 0 { 1 } else { 0 });
                }
            } else if exponent != 0 {
                2
            } else if mantissa != 0 {
                1
            } else {
                0
            };
            Class(if bits & $sign != 0 { 5 - magnitude } else { 6 + magnitude })
        }
    };
}

class!(class_f16, u16, 0x7c00, 0x3ff, 0x200, 0x8000);
class!(class_f32, u32, 0x7f80_0000, 0x7f_ffff, 0x40_0000, 0x8000_0000);
class!(class_f64, u64, 0x7ff0_0000_0000_0000, 0xf_ffff_ffff_ffff, 0x8_0000_0000_0000, 0x8000_0000_0000_0000);

fn exponent32(value: f32) -> i32 {
    (value.to_bits() >> 23 & 0xff) as i32
}

fn exponent64(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32
}

/// A single times a power of two, rounded once.
#[inline(always)]
pub(crate) fn ldexp_f32(value: f32, exponent: i32) -> f32 {
    // A double holds every product without rounding; beyond these exponents the result does not change any
    // more.
    let power = (exponent.clamp(-600, 600) + 1023) as u64;
    (f64::from(value) * f64::from_bits(power << 52)) as f32
}

/// A double times a power of two, rounded once.
pub(crate) fn ldexp_f64(value: f64, exponent: i32) -> f64 {
    const UP: f64 = f64::from_bits(0x7fe0_0000_0000_0000);
    // Small enough to keep every bit of a normal number before the last multiplication.
    const DOWN: f64 = f64::from_bits((1023 - 969) << 52);
    let (mut value, mut left) = (value, exponent.clamp(-2200, 2200));
    while left > 1023 {
        value *= UP;
        left -= 1023;
    }
    while left < -1022 {
        value *= DOWN;
        left += 969;
    }
    value * f64::from_bits(((left + 1023) as u64) << 52)
}

/// The exponent of a single as `frexp` gives it; 0 for zero, infinity and NaN.
pub(crate) fn frexp_exponent_f32(value: f32) -> i32 {
    frexp_exponent_f64(value.into())
}

/// The mantissa of a single in [0.5, 1); zero, infinity and NaN themselves.
pub(crate) fn frexp_mantissa_f32(value: f32) -> f32 {
    frexp_mantissa_f64(value.into()) as f32
}

/// The exponent of a double as `frexp` gives it; 0 for zero, infinity and NaN.
pub(crate) fn frexp_exponent_f64(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    match exponent64(value) {
        0 => exponent64(value * 18_014_398_509_481_984.0) - 1022 - 54,
        exponent => exponent - 1022,
    }
}

/// The mantissa of a double in [0.5, 1); zero, infinity and NaN themselves.
pub(crate) fn frexp_mantissa_f64(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let normal = if exponent64(value) == 0 { value * 18_014_398_509_481_984.0 } else { value };
    f64::from_bits(normal.to_bits() & 0x800f_ffff_ffff_ffff | 1022 << 52)
}

macro_rules! division {
    ($scale:ident, $fixup:ident, $float:ty, $exponent:ident, $ldexp:ident, $quiet:ident,
     $far:literal, $power:literal, $tiny:literal, $under:literal, $top:literal) => {
        /// The first step of a division: scales numerator or denominator (`value` is one of them) where the
        /// quotient or the reciprocal would leave the range. The flag makes the last step scale back.
        pub(crate) fn $scale(value: $float, denominator: $float, numerator: $float) -> ($float, bool) {
            let up = || $ldexp(value, $power);
            let is_denormal = |value: $float| value.is_subnormal();
            if numerator == 0.0 || denominator == 0.0 {
                (<$float>::NAN, false)
            } else if $exponent(numerator) - $exponent(denominator) >= $far {
                (if value == denominator { up() } else { value }, true)
            } else if is_denormal(denominator) {
                (up(), false)
            } else if is_denormal(1.0 / denominator) && is_denormal(numerator / denominator) {
                (if value == denominator { $ldexp(value, -$power) } else { value }, true)
            } else if is_denormal(1.0 / denominator) {
                ($ldexp(value, -$power), false)
            } else if is_denormal(numerator / denominator) {
                (if value == numerator { up() } else { value }, true)
            } else if $exponent(numerator) <= $tiny {
                (up(), false)
            } else {
                (value, false)
            }
        }

        /// The end of a division: special cases, and the sign.
        pub(crate) fn $fixup(quotient: $float, denominator: $float, numerator: $float) -> $float {
            let sign =
                if denominator.is_sign_negative() != numerator.is_sign_negative() { -1.0 } else { 1.0 };
            if numerator.is_nan() {
                $quiet(numerator)
            } else if denominator.is_nan() {
                $quiet(denominator)
            } else if denominator == 0.0 && numerator == 0.0
                || denominator.is_infinite() && numerator.is_infinite()
            {
                -<$float>::NAN.copysign(1.0)
            } else if denominator == 0.0 || numerator.is_infinite() {
                <$float>::INFINITY.copysign(sign)
            } else if denominator.is_infinite() || numerator == 0.0 {
                (0.0 as $float).copysign(sign)
            } else if $exponent(numerator) - $exponent(denominator) < $under {
                (0.0 as $float).copysign(sign)
            } else if $exponent(denominator) == $top || quotient.is_nan() {
                // Neither is zero, infinite or NaN, so the quotient is a number: an intermediate result
                // overflowed.
                <$float>::INFINITY.copysign(sign)
            } else {
                quotient.copysign(sign)
            }
        }
    };
}

division!(div_scale_f32, div_fixup_f32, f32, exponent32, ldexp_f32, quiet32, 96, 64, 23, -150, 255);
division!(div_scale_f64, div_fixup_f64, f64, exponent64, ldexp_f64, quiet64, 768, 128, 53, -1075, 2047);

/// The last multiplication of a division of singles; `scaled` is the flag of the first step. Rounded once.
pub(crate) fn div_fmas_f32(a: f32, b: f32, c: f32, scaled: bool) -> f32 {
    if !scaled {
        return a.mul_add(b, c);
    }
    let power = if exponent32(c) > 127 { 64 } else { -64 };
    ldexp_f64(sum_to_odd(f64::from(a) * f64::from(b), c.into()), power) as f32
}

/// The last multiplication of a division of doubles; `scaled` is the flag of the first step. Rounded once.
pub(crate) fn div_fmas_f64(a: f64, b: f64, c: f64, scaled: bool) -> f64 {
    let result = a.mul_add(b, c);
    if !scaled {
        return result;
    }
    if result.is_infinite() && a.is_finite() && b.is_finite() && c.is_finite() && exponent64(c) <= 1023 {
        // It is too large only before it is scaled down.
        const DOWN: f64 = f64::from_bits((1023 - 64) << 52);
        return (a * DOWN).mul_add(b * DOWN, c * DOWN * DOWN);
    }
    if exponent64(c) > 1023 {
        return ldexp_f64(result, 128);
    }
    // The rounding error of the fused operation decides ties of a denormal result.
    let product = a * b;
    let low = a.mul_add(b, -product);
    let sum = product + c;
    let part = sum - product;
    let error = ((sum - result) + ((product - (sum - part)) + (c - part))) + low;
    // Half of the least denormal, before it is scaled down.
    const HALF: f64 = f64::from_bits((1023 - 947) << 52);
    let quotient = ldexp_f64(result, -128);
    let beyond = result - ldexp_f64(quotient, 128);
    if beyond.abs() == HALF && error != 0.0 {
        return ldexp_f64(result + HALF.copysign(error), -128);
    }
    quotient
}

/// The end of a division of halves, widened.
pub(crate) fn div_fixup_f16(quotient: f32, denominator: f32, numerator: f32) -> f32 {
    let sign = if denominator.is_sign_negative() != numerator.is_sign_negative() { -1.0 } else { 1.0 };
    if numerator.is_nan() {
        quiet32(numerator)
    } else if denominator.is_nan() {
        quiet32(denominator)
    } else if denominator == 0.0 && numerator == 0.0 || denominator.is_infinite() && numerator.is_infinite() {
        -f32::NAN.copysign(1.0)
    } else if denominator == 0.0 || numerator.is_infinite() {
        f32::INFINITY.copysign(sign)
    } else if denominator.is_infinite() || numerator == 0.0 {
        0.0f32.copysign(sign)
    } else {
        quotient.copysign(sign)
    }
}

/// The part of a single after the point, below 1.
#[inline(always)]
pub(crate) fn fract_f32(value: f32) -> f32 {
    let part = value - value.floor();
    // Rounding may reach 1 from just below.
    if part >= 1.0 { f32::from_bits(0x3f7f_ffff) } else { part }
}

/// The part of a half, widened, after the point, below 1.
#[inline(always)]
pub(crate) fn fract_f16(value: f32) -> f32 {
    let part = value - value.floor();
    if part >= 0.999_755_86 { 0.999_511_7 } else { part }
}

/// The part of a double after the point, below 1.
#[inline(always)]
pub(crate) fn fract_f64(value: f64) -> f64 {
    let part = value - value.floor();
    if part >= 1.0 { f64::from_bits(0x3fef_ffff_ffff_ffff) } else { part }
}

/// 2 to a power, within an ulp of single precision.
#[inline(always)]
pub(crate) fn exp2_f32(value: f32) -> f32 {
    let x = f64::from(value).clamp(-200.0, 200.0);
    let whole = x.round_ties_even();
    let part = (x - whole) * std::f64::consts::LN_2;
    // The series of e^part for |part| <= ln(2)/2; the first term left out is below 2e-11.
    let mut sum = 1.0 / 362_880.0;
    for factor in
        [1.0 / 40_320.0, 1.0 / 5_040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0]
    {
        sum = sum * part + factor;
    }
    let power = f64::from_bits((((whole as i32) + 1023) as u64) << 52);
    let result = (sum * power) as f32;
    if value.is_nan() { value + value } else { result }
}

/// Whether `v_mullit_f32` gives the least number for its second and third source.
#[inline(always)]
pub(crate) fn is_dark(factor: f32, light: f32) -> bool {
    factor.is_nan() || factor <= f32::MIN || light.is_nan() || light <= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_win_over_nan_and_zeros_are_ordered() {
        assert_eq!(min_f32(1.0, f32::NAN), 1.0);
        assert_eq!(max_f32(f32::NAN, 1.0), 1.0);
        assert!(min_f32(f32::NAN, f32::NAN).is_nan());
        assert!(min_f32(0.0, -0.0).is_sign_negative() && min_f32(-0.0, 0.0).is_sign_negative());
        assert!(max_f32(0.0, -0.0).is_sign_positive() && max_f32(-0.0, 0.0).is_sign_positive());
        let signalling = f32::from_bits(0x7f80_0001);
        assert_eq!(min_f32(1.0, signalling).to_bits(), 0x7fc0_0001);
        assert_eq!(max_f64(-3.0, f64::NEG_INFINITY), -3.0);
        assert_eq!(med3_f32(3.0, 1.0, 2.0), 2.0);
        assert_eq!(med3_f32(3.0, f32::NAN, 2.0), 2.0);
    }

    #[test]
    fn classes() {
        let cases = [
            (f32::from_bits(0x7f80_0001), 0),
            (f32::NAN, 1),
            (f32::NEG_INFINITY, 2),
            (-1.0, 3),
            (-1e-40, 4),
            (-0.0, 5),
            (0.0, 6),
            (1e-40, 7),
            (1.0, 8),
            (f32::INFINITY, 9),
        ];
        for (value, bit) in cases {
            assert_eq!(class_f32(value.to_bits()), Class(bit), "{value}");
            assert!(is_class(class_f32(value.to_bits()), 1 << bit));
        }
        assert_eq!(class_f64((-1e-310f64).to_bits()), Class(4));
        assert_eq!(class_f16(0x0001), Class(7));
    }

    #[test]
    fn powers_of_two_round_once() {
        assert_eq!(ldexp_f32(1.0, -149), f32::from_bits(1));
        assert_eq!(ldexp_f32(1.5, -149), f32::from_bits(2));
        assert_eq!(ldexp_f32(1.0, i32::MAX), f32::INFINITY);
        assert_eq!(ldexp_f32(1.0, i32::MIN), 0.0);
        assert_eq!(ldexp_f64(1.0, -1074), f64::from_bits(1));
        assert_eq!(ldexp_f64(f64::from_bits(1), 1074), 1.0);
        assert_eq!(ldexp_f64(f64::from_bits(1), 2098), ldexp_f64(1.0, 1023) * 2.0);
        assert_eq!(ldexp_f64(1.5, 1023), f64::from_bits(0x7fe8_0000_0000_0000));
        // Just above a tie of the last place of a denormal.
        assert_eq!(ldexp_f64(1.0 + f64::EPSILON, -1075), f64::from_bits(1));
        assert_eq!(ldexp_f64(1.0, -1075), 0.0);
        for value in [1.0f64, -3.75, 1e-310, f64::MAX, 5e-324] {
            assert_eq!(ldexp_f64(frexp_mantissa_f64(value), frexp_exponent_f64(value)), value);
        }
        assert_eq!((frexp_mantissa_f32(8.0), frexp_exponent_f32(8.0)), (0.5, 4));
        assert_eq!(frexp_exponent_f32(f32::INFINITY), 0);
    }

    /// The sequence that LLVM emits for an IEEE division.
    fn divide(n: f32, d: f32) -> f32 {
        let (scaled_d, _) = div_scale_f32(d, d, n);
        let (scaled_n, flag) = div_scale_f32(n, d, n);
        let rcp = 1.0 / scaled_d;
        let e = (-scaled_d).mul_add(rcp, 1.0);
        let rcp = e.mul_add(rcp, rcp);
        let q = scaled_n * rcp;
        let r = (-scaled_d).mul_add(q, scaled_n);
        let q = r.mul_add(rcp, q);
        let r = (-scaled_d).mul_add(q, scaled_n);
        div_fixup_f32(div_fmas_f32(r, rcp, q, flag), d, n)
    }

    #[test]
    fn the_steps_of_a_division_give_the_quotient() {
        let mut seed = 12345u32;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 17;
            seed ^= seed << 5;
            f32::from_bits(seed)
        };
        for _ in 0..200_000 {
            let (n, d) = (next(), next());
            let (got, expected) = (divide(n, d), n / d);
            assert!(
                got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
                "{n:e} / {d:e}: {got:e}, not {expected:e}"
            );
        }
        for (n, d) in
            [(1.0, 0.0), (0.0, 1.0), (-1.0, f32::INFINITY), (f32::MAX, f32::MIN_POSITIVE), (1.0, 3.0)]
        {
            assert_eq!(divide(n, d).to_bits(), (n / d).to_bits(), "{n} / {d}");
        }
        assert!(divide(0.0, 0.0).is_nan() && divide(f32::INFINITY, f32::INFINITY).is_nan());
    }

    #[test]
    fn exponentials_are_close() {
        for step in -15_000..=13_000 {
            let x = step as f32 / 100.0;
            let (got, expected) = (f64::from(exp2_f32(x)), f64::from(x).exp2());
            let ulp = (expected * f64::from(f32::EPSILON)).max(2f64.powi(-149));
            assert!(
                (got - expected).abs() <= ulp || expected > f64::from(f32::MAX) && got.is_infinite(),
                "2^{x}: {got:e}"
            );
        }
        assert_eq!(exp2_f32(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp2_f32(f32::NEG_INFINITY), 0.0);
        assert!(exp2_f32(f32::NAN).is_nan());
        assert_eq!(exp2_f32(3.0), 8.0);
    }
}
