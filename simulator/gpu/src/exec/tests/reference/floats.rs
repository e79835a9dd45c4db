// SPDX-License-Identifier: MIT OR Apache-2.0
//! Float instructions, in the same way for each format.

use super::real::{self, F16, F32, F64, Format, Round};
use super::rules::{Lane, OperandKind, Rule};
use std::cmp::Ordering;

/// The rule of `stem` in a format.
pub(super) fn rule(stem: &str, format: Format) -> Option<Rule> {
    let kind = match format {
        F16 => OperandKind::F16,
        F64 => OperandKind::F64,
        _ => OperandKind::F32,
    };
    let one =
        |f: fn(Format, &Lane, u64) -> u64| Rule::new(kind, &[kind], move |lane, s| f(format, lane, s[0]));
    let two = |f: fn(Format, &Lane, u64, u64) -> u64| {
        Rule::new(kind, &[kind; 2], move |lane, s| f(format, lane, s[0], s[1]))
    };
    let three = |f: fn(Format, &Lane, u64, u64, u64) -> u64| {
        Rule::new(kind, &[kind; 3], move |lane, s| f(format, lane, s[0], s[1], s[2]))
    };
    let close = |f: fn(f64) -> f64| {
        Rule::new(kind, &[kind], move |_, s| {
            // Denormal results and arguments are outside any tolerance; the host keeps them.
            real::from_f64(format, f(real::to_f64(format, s[0])))
        })
        .within(2)
    };
    Some(match stem {
        "add" => two(|f, l, a, b| real::add(f, l.round(f), a, b)),
        "sub" => two(|f, l, a, b| real::add(f, l.round(f), a, b ^ f.sign())),
        "subrev" => two(|f, l, a, b| real::add(f, l.round(f), b, a ^ f.sign())),
        "mul" => two(|f, l, a, b| real::multiply(f, l.round(f), a, b)),
        "mul_legacy" => {
            two(
                |f, l, a, b| {
                    if f.is_zero(a) || f.is_zero(b) { 0 } else { real::multiply(f, l.round(f), a, b) }
                },
            )
        }
        "fma" | "fma_legacy" | "fmamk" | "fmaak" => {
            three(|f, l, a, b, c| real::fused(f, l.round(f), a, b, c))
        }
        "fmac" => two(|f, l, a, b| real::fused(f, l.round(f), a, b, l.old)),
        "mad_legacy" if format == F32 => three(|f, l, a, b, c| {
            let is_zero = |bits: u64| f.is_zero(normal(f, bits));
            if is_zero(a) || is_zero(b) { unfused(f, l, 0, 0, c) } else { unfused(f, l, a, b, c) }
        }),
        "mac_legacy" => two(|f, l, a, b| {
            let is_zero = |bits: u64| f.is_zero(normal(f, bits));
            if is_zero(a) || is_zero(b) { unfused(f, l, 0, 0, l.old) } else { unfused(f, l, a, b, l.old) }
        }),
        "mad" | "mad_legacy" | "madmk" | "madak" => three(unfused),
        "mac" => two(|f, l, a, b| unfused(f, l, a, b, l.old)),
        "min" => two(|f, l, a, b| extremum(f, l, Ordering::Less, a, b)),
        "max" => two(|f, l, a, b| extremum(f, l, Ordering::Greater, a, b)),
        "min3" => three(|f, l, a, b, c| three_way(f, l, Ordering::Less, a, b, c)),
        "max3" => three(|f, l, a, b, c| three_way(f, l, Ordering::Greater, a, b, c)),
        "med3" => three(median),
        "trunc" => one(|f, _, a| whole(f, Round::Zero, a)),
        "ceil" => one(|f, _, a| whole(f, Round::Up, a)),
        "floor" => one(|f, _, a| whole(f, Round::Down, a)),
        "rndne" => one(|f, _, a| whole(f, Round::Nearest, a)),
        "fract" => one(|f, l, a| {
            let part = real::add(f, l.round(f), a, whole(f, Round::Down, a) ^ f.sign());
            let one = (f.bias() as u64) << f.mantissa;
            if part == one { one - 1 } else { part }
        }),
        "exp" | "exp_legacy" => close(f64::exp2),
        "log" | "log_legacy" => close(f64::log2),
        "rcp" | "rcp_iflag" => close(|x| 1.0 / x),
        "rsq" => close(|x| 1.0 / x.sqrt()),
        "sqrt" => close(f64::sqrt),
        "sin" => close(|x| turn(x, f64::sin)),
        "cos" => close(|x| turn(x, f64::cos)),
        "ldexp" => Rule::new(
            kind,
            &[kind, if format == F16 { OperandKind::B16 } else { OperandKind::B32 }],
            move |lane, s| {
                let by = if format == F16 { (s[1] as i16).into() } else { s[1] as i32 };
                if format.field(s[0]) == format.field(format.infinity()) {
                    return if format.is_nan(s[0]) { s[0] | format.quiet() } else { s[0] };
                }
                real::from_number(
                    format,
                    lane.round(format),
                    format.number(s[0]).scaled(by.clamp(-5000, 5000)),
                )
            },
        ),
        "frexp_mant" => one(|f, _, a| {
            if f.is_nan(a) {
                return a | f.quiet();
            }
            if f.is_infinite(a) || f.is_zero(a) {
                return a;
            }
            let number = f.number(a);
            let top = 127 - number.mantissa.leading_zeros() as i32;
            real::from_number(f, Round::Nearest, real::Number { exponent: -top - 1, ..number })
        }),
        "cubeid" | "cubesc" | "cubetc" | "cubema" => {
            let which = ["cubeid", "cubesc", "cubetc", "cubema"].iter().position(|name| *name == stem)?;
            Rule::new(kind, &[kind; 3], move |_, s| cube(s[0], s[1], s[2])[which])
        }
        "div_fixup" | "div_fixup_legacy" => three(division_fixup),
        "div_fmas" => three(|f, l, a, b, c| {
            let by = match (l.vcc, f) {
                (false, _) => 0,
                (_, F64) if f.field(c) > 1023 => 128,
                (_, F64) => -128,
                _ if f.field(c) > 127 => 64,
                _ => -64,
            };
            // Scaling a factor and the addend is scaling the result, rounded once.
            scaled_fma(f, l.round(f), a, b, c, by)
        }),
        _ => return None,
    })
}

/// A function of revolutions by way of the first quarter turn, where no digits cancel.
fn turn(x: f64, f: fn(f64) -> f64) -> f64 {
    if x.is_infinite() {
        return f64::NAN;
    }
    let cosine = f(0.0) == 1.0;
    let part = x - x.round();
    let quarter = part.abs().min(0.5 - part.abs());
    // If a quarter turn is closer than a whole one, the other function is the exact one.
    let angle = |turns: f64| turns * std::f64::consts::TAU;
    let magnitude = match (cosine, quarter <= 0.125) {
        (false, true) => angle(quarter).sin(),
        (false, false) => angle(0.25 - quarter).cos(),
        (true, true) => angle(quarter).cos(),
        (true, false) => angle(0.25 - quarter).sin(),
    };
    let negative = if cosine { part.abs() > 0.25 } else { part.is_sign_negative() };
    if negative { -magnitude } else { magnitude }
}

/// A float, or zero of its sign in place of a denormal.
fn normal(format: Format, bits: u64) -> u64 {
    if format.is_denormal(bits) { bits & format.sign() } else { bits }
}

/// `a * b + c` with the product rounded on its own. Singles have no denormals, in any mode.
pub(super) fn unfused(format: Format, lane: &Lane, a: u64, b: u64, c: u64) -> u64 {
    let round = lane.round(format);
    if format != F32 {
        return real::add(format, round, real::multiply(format, round, a, b), c);
    }
    let product = normal(format, real::multiply(format, round, normal(format, a), normal(format, b)));
    normal(format, real::add(format, round, product, normal(format, c)))
}

fn scaled_fma(format: Format, round: Round, a: u64, b: u64, c: u64, by: i32) -> u64 {
    let plain = real::fused(format, round, a, b, c);
    let finite = |bits: u64| !format.is_nan(bits) && !format.is_infinite(bits);
    if by == 0 || ![a, b, c].into_iter().all(finite) {
        return plain;
    }
    let sum = real::Sum::zero().add(format.number(a).times(format.number(b)).scaled(by));
    let sum = sum.add(format.number(c).scaled(by));
    sum.rounded(format, round).unwrap_or(plain)
}

/// The lesser or the greater, by the manual's list of cases.
pub(super) fn extremum(format: Format, lane: &Lane, wanted: Ordering, a: u64, b: u64) -> u64 {
    if lane.ieee() && format.is_signalling(a) {
        return a | format.quiet();
    }
    if lane.ieee() && format.is_signalling(b) {
        return b | format.quiet();
    }
    if format.is_nan(a) {
        return b;
    }
    if format.is_nan(b) {
        return a;
    }
    if format.is_zero(a) && format.is_zero(b) {
        let minus = format.is_negative(a) && format.is_negative(b)
            || wanted == Ordering::Less && (format.is_negative(a) || format.is_negative(b));
        return format.with_sign(0, minus);
    }
    if real::order(format, a, b) == Some(wanted) { a } else { b }
}

fn three_way(format: Format, lane: &Lane, wanted: Ordering, a: u64, b: u64, c: u64) -> u64 {
    let first = extremum(format, lane, wanted, a, b);
    extremum(format, lane, wanted, first, c)
}

fn median(format: Format, lane: &Lane, a: u64, b: u64, c: u64) -> u64 {
    if [a, b, c].into_iter().any(|bits| format.is_nan(bits)) {
        return three_way(format, lane, Ordering::Less, a, b, c);
    }
    let greatest = three_way(format, lane, Ordering::Greater, a, b, c);
    let same = |bits| real::order(format, greatest, bits) == Some(Ordering::Equal);
    let (x, y) = if same(a) {
        (b, c)
    } else if same(b) {
        (a, c)
    } else {
        (a, b)
    };
    extremum(format, lane, Ordering::Greater, x, y)
}

/// The whole number next to a float in a direction; zero keeps its sign.
pub(super) fn whole(format: Format, round: Round, bits: u64) -> u64 {
    if format.is_nan(bits) {
        return bits | format.quiet();
    }
    let number = format.number(bits);
    if format.is_infinite(bits) || number.exponent >= 0 {
        return bits;
    }
    let value = number.to_integer(round);
    format.with_sign(
        real::from_number(format, Round::Nearest, real::Number::integer(value)),
        format.is_negative(bits),
    )
}

/// Face, S, T and twice the major axis of a direction.
fn cube(x: u64, y: u64, z: u64) -> [u64; 4] {
    let value = |bits: u64| f32::from_bits(bits as u32);
    let size = |bits: u64| value(bits).abs();
    let minus = |bits: u64| bits ^ F32.sign();
    let face = |number: f32, axis: u64| if value(axis) < 0.0 { number + 1.0 } else { number };
    let (face, s, t, major) = if size(z) >= size(x) && size(z) >= size(y) {
        (face(4.0, z), if value(z) < 0.0 { minus(x) } else { x }, minus(y), z)
    } else if size(y) >= size(x) {
        (face(2.0, y), x, if value(y) < 0.0 { minus(z) } else { z }, y)
    } else {
        (face(0.0, x), if value(x) < 0.0 { z } else { minus(z) }, minus(y), x)
    };
    let two = 0x4000_0000;
    [face.to_bits().into(), s, t, real::multiply(F32, Round::Nearest, two, major)]
}

/// The exponent that `frexp` gives.
pub(super) fn exponent(format: Format, bits: u64) -> i64 {
    if format.is_zero(bits) || format.field(bits) == format.field(format.infinity()) {
        return 0;
    }
    let number = format.number(bits);
    i64::from(number.exponent) + 128 - i64::from(number.mantissa.leading_zeros())
}

fn division_fixup(f: Format, _: &Lane, quotient: u64, denominator: u64, numerator: u64) -> u64 {
    let negative = f.is_negative(denominator) != f.is_negative(numerator);
    let (d, n) = (denominator, numerator);
    if f.is_nan(n) {
        return n | f.quiet();
    }
    if f.is_nan(d) {
        return d | f.quiet();
    }
    if f.is_zero(d) && f.is_zero(n) || f.is_infinite(d) && f.is_infinite(n) {
        return f.nan() | f.sign();
    }
    if f.is_zero(d) || f.is_infinite(n) {
        return f.with_sign(f.infinity(), negative);
    }
    if f.is_infinite(d) || f.is_zero(n) {
        return f.with_sign(0, negative);
    }
    let (under, has_range) = match f {
        F32 => (-150, true),
        F64 => (-1075, true),
        _ => (0, false),
    };
    if has_range && f.field(n) - f.field(d) < under {
        return f.with_sign(0, negative);
    }
    if has_range && f.is_nan(quotient) {
        // Neither is zero, infinite or NaN, so the quotient is a number: an intermediate result overflowed.
        return f.with_sign(f.infinity(), negative);
    }
    let quotient = if f.is_nan(quotient) { quotient | f.quiet() } else { quotient };
    f.with_sign(quotient, negative)
}

/// The scaling step of a division: the scaled value and the flag.
pub(super) fn division_scale(f: Format, value: u64, d: u64, n: u64) -> (u64, bool) {
    let host = |bits: u64| real::to_f64(f, bits);
    let quotient_is_denormal = |n: f64, d: f64| match f {
        F64 => (n / d).is_subnormal(),
        _ => (n as f32 / d as f32).is_subnormal(),
    };
    let (far, power, tiny) = if f == F64 { (768, 128, 53) } else { (96, 64, 23) };
    let scaled = |by: i32| {
        if f.field(value) == f.field(f.infinity()) {
            return if f.is_nan(value) { value | f.quiet() } else { value };
        }
        real::from_number(f, Round::Nearest, f.number(value).scaled(by))
    };
    let is = |other: u64| real::order(f, value, other) == Some(Ordering::Equal);
    let reciprocal = quotient_is_denormal(1.0, host(d));
    let quotient = quotient_is_denormal(host(n), host(d));
    if f.is_zero(n) || f.is_zero(d) {
        (f.nan(), false)
    } else if f.field(n) - f.field(d) >= far {
        (if is(d) { scaled(power) } else { value }, true)
    } else if f.is_denormal(d) {
        (scaled(power), false)
    } else if reciprocal && quotient {
        (if is(d) { scaled(-power) } else { value }, true)
    } else if reciprocal {
        (scaled(-power), false)
    } else if quotient {
        (if is(n) { scaled(power) } else { value }, true)
    } else if f.field(n) <= tiny {
        (scaled(power), false)
    } else {
        (value, false)
    }
}
