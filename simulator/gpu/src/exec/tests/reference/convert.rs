// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversions.

use super::floats;
use super::integers::signed;
use super::real::{self, F16, F32, F64, Format, Number, Round};
use super::rules::{Lane, OperandKind, Rule};

/// A float to an integer toward zero. Out of range the nearest integer, for NaN zero.
fn integer(format: Format, bits: u64, round: Round, least: i128, most: i128) -> i128 {
    if format.is_nan(bits) {
        return 0;
    }
    if format.is_infinite(bits) {
        return if format.is_negative(bits) { least } else { most };
    }
    format.number(bits).to_integer(round).clamp(least, most)
}

/// A float in [-1, 1] or [0, 1] as a fraction of the greatest integer.
fn norm(format: Format, bits: u64, least: i128, most: i128) -> u64 {
    if format.is_nan(bits) {
        return 0;
    }
    if format.is_infinite(bits) {
        return if format.is_negative(bits) { least as u64 & 0xffff } else { most as u64 };
    }
    let scaled = format.number(bits).times(Number::integer(most)).to_integer(Round::Nearest);
    scaled.clamp(least, most) as u64 & 0xffff
}

fn from_integer(to: Format, lane: &Lane, value: i128) -> u64 {
    real::from_number(to, lane.round(to), Number::integer(value))
}

/// Eight bits with `mantissa` bits of mantissa, no infinities and one NaN, as a single.
pub(super) fn from_eighth(code: u64, mantissa: u32) -> u64 {
    if code == 0x80 {
        return F32.nan();
    }
    let bias = if mantissa == 3 { 8 } else { 16 };
    let (field, fraction) = ((code & 0x7f) >> mantissa, code & ((1 << mantissa) - 1));
    let (whole, exponent) = if field == 0 { (fraction, 1) } else { (fraction | 1 << mantissa, field as i32) };
    let number = Number {
        negative: code & 0x80 != 0,
        mantissa: whole.into(),
        exponent: exponent - bias - mantissa as i32,
    };
    real::from_number(F32, Round::Nearest, number)
}

/// The nearest of all codes, even on a tie. Infinity becomes NaN; overflow too, or the greatest if the mode
/// saturates.
pub(super) fn to_eighth(lane: &Lane, bits: u64, mantissa: u32) -> u64 {
    if F32.field(bits) == 255 {
        return 0x80;
    }
    let value = real::to_f64(F32, F32.magnitude(bits));
    let code = |code: u64| real::to_f64(F32, from_eighth(code, mantissa));
    // The next code's value if there were one.
    let end = 2.0 * code(0x7f) - code(0x7e);
    if lane.mode >> 23 & 1 == 0 && value >= (code(0x7f) + end) / 2.0 {
        return 0x80;
    }
    let above = (0..0x80u64).find(|&candidate| code(candidate) >= value).unwrap_or(0x7f);
    let chosen = if above == 0 || code(above) < value {
        above
    } else {
        let (up, down) = (code(above) - value, value - code(above - 1));
        let is_up = up < down || up == down && above & 1 == 0;
        if is_up { above } else { above - 1 }
    };
    if chosen != 0 && F32.is_negative(bits) { chosen | 0x80 } else { chosen }
}

/// The rule of a mnemonic without `v_`.
pub(super) fn rule(stem: &str) -> Option<Rule> {
    match stem {
        "frexp_exp_i32_f32" => {
            return Some(to_bits(F32, |_, b| floats::exponent(F32, b) as u64 & 0xffff_ffff));
        }
        "frexp_exp_i32_f64" => {
            return Some(to_bits(F64, |_, b| floats::exponent(F64, b) as u64 & 0xffff_ffff));
        }
        "trig_preop_f64" => {
            return Some(Rule::new(OperandKind::F64, &[OperandKind::F64, OperandKind::B32], |_, s| {
                let field = F64.field(s[0]);
                let shift = (s[1] & 31) as i32 * 53 + (field - 1077).max(0);
                let scale = -53 - shift + if field >= 1968 { 128 } else { 0 };
                let bits = super::angle::two_over_pi(shift as usize, 53);
                real::from_number(F64, Round::Nearest, Number::integer(bits.into()).scaled(scale))
            }));
        }
        "frexp_exp_i16_f16" => {
            return Some(Rule::new(OperandKind::B16, &[OperandKind::F16], |_, s| {
                floats::exponent(F16, s[0]) as u64 & 0xffff
            }));
        }
        _ => {}
    }
    let name = stem.strip_prefix("cvt_")?;
    if let Some(index) = name.strip_prefix("f32_ubyte") {
        let shift = 8 * index.parse::<u32>().ok()?;
        return Some(Rule::new(OperandKind::F32, &[OperandKind::B32], move |l, s| {
            from_integer(F32, l, (s[0] >> shift & 0xff).into())
        }));
    }
    let two = |dst: OperandKind, kind: OperandKind, f: fn(&Lane, u64, u64) -> u64| {
        Rule::new(dst, &[kind; 2], move |lane, s| f(lane, s[0], s[1]))
    };
    let float = |dst: OperandKind, src: OperandKind| {
        let (to, from) = (dst.float()?, src.float()?);
        Some(Rule::new(dst, &[src], move |l, s| real::convert(from, to, l.round(to), s[0])))
    };
    let of_integer = |dst: OperandKind, src: OperandKind, is_signed: bool| {
        let (to, bits) = (dst.float()?, src.width().bits());
        Some(Rule::new(dst, &[src], move |l, s| {
            from_integer(to, l, if is_signed { signed(s[0], bits) } else { s[0].into() })
        }))
    };
    let byte = |value: u64| integer(F32, value, Round::Zero, 0, 255) as u64;
    Some(match name {
        "f32_f16" => float(OperandKind::F32, OperandKind::F16)?,
        "f16_f32" => float(OperandKind::F16, OperandKind::F32)?,
        "f64_f32" => float(OperandKind::F64, OperandKind::F32)?,
        "f32_f64" => float(OperandKind::F32, OperandKind::F64)?,
        "f32_i32" => of_integer(OperandKind::F32, OperandKind::B32, true)?,
        "f32_u32" => of_integer(OperandKind::F32, OperandKind::B32, false)?,
        "f64_i32" => of_integer(OperandKind::F64, OperandKind::B32, true)?,
        "f64_u32" => of_integer(OperandKind::F64, OperandKind::B32, false)?,
        "f16_i16" => of_integer(OperandKind::F16, OperandKind::B16, true)?,
        "f16_u16" => of_integer(OperandKind::F16, OperandKind::B16, false)?,
        "off_f32_i4" => Rule::new(OperandKind::F32, &[OperandKind::B32], |_, s| {
            let number = Number { exponent: -4, ..Number::integer(signed(s[0] & 15, 4)) };
            real::from_number(F32, Round::Nearest, number) & !if s[0] & 15 == 0 { F32.sign() } else { 0 }
        }),
        "i32_f32" => to_bits(F32, |_, b| integer(F32, b, Round::Zero, I32.0, I32.1) as u32 as u64),
        "u32_f32" => to_bits(F32, |_, b| integer(F32, b, Round::Zero, 0, U32) as u64),
        "i32_f64" => to_bits(F64, |_, b| integer(F64, b, Round::Zero, I32.0, I32.1) as u32 as u64),
        "u32_f64" => to_bits(F64, |_, b| integer(F64, b, Round::Zero, 0, U32) as u64),
        "i16_f16" => Rule::new(OperandKind::B16, &[OperandKind::F16], |_, s| {
            integer(F16, s[0], Round::Zero, -0x8000, 0x7fff) as u16 as u64
        }),
        "u16_f16" => Rule::new(OperandKind::B16, &[OperandKind::F16], |_, s| {
            integer(F16, s[0], Round::Zero, 0, 0xffff) as u64
        }),
        "flr_i32_f32" => to_bits(F32, |_, b| integer(F32, b, Round::Down, I32.0, I32.1) as u32 as u64),
        "rpi_i32_f32" => to_bits(F32, |l, b| {
            let half = real::add(F32, l.round(F32), b, 0x3f00_0000);
            integer(F32, half, Round::Down, I32.0, I32.1) as u32 as u64
        }),
        "norm_i16_f16" => {
            Rule::new(OperandKind::B16, &[OperandKind::F16], |_, s| norm(F16, s[0], -0x7fff, 0x7fff))
        }
        "norm_u16_f16" => Rule::new(OperandKind::B16, &[OperandKind::F16], |_, s| norm(F16, s[0], 0, 0xffff)),
        "pknorm_i16_f32" => two(OperandKind::B32, OperandKind::F32, |_, a, b| {
            norm(F32, a, -0x7fff, 0x7fff) | norm(F32, b, -0x7fff, 0x7fff) << 16
        }),
        "pknorm_u16_f32" => two(OperandKind::B32, OperandKind::F32, |_, a, b| {
            norm(F32, a, 0, 0xffff) | norm(F32, b, 0, 0xffff) << 16
        }),
        "pknorm_i16_f16" => two(OperandKind::B32, OperandKind::F16, |_, a, b| {
            norm(F16, a, -0x7fff, 0x7fff) | norm(F16, b, -0x7fff, 0x7fff) << 16
        }),
        "pknorm_u16_f16" => two(OperandKind::B32, OperandKind::F16, |_, a, b| {
            norm(F16, a, 0, 0xffff) | norm(F16, b, 0, 0xffff) << 16
        }),
        "pkrtz_f16_f32" => two(OperandKind::B32, OperandKind::F32, |_, a, b| {
            let half = |bits| real::convert(F32, F16, Round::Zero, bits);
            half(a) | half(b) << 16
        }),
        "pk_u16_u32" => {
            two(OperandKind::B32, OperandKind::B32, |_, a, b| a.min(0xffff) | b.min(0xffff) << 16)
        }
        "pk_i16_i32" => two(OperandKind::B32, OperandKind::B32, |_, a, b| {
            let short = |value| signed(value, 32).clamp(-0x8000, 0x7fff) as u16 as u64;
            short(a) | short(b) << 16
        }),
        "f32_fp8" => Rule::new(OperandKind::F32, &[OperandKind::B32], |_, s| from_eighth(s[0] & 0xff, 3)),
        "f32_bf8" => Rule::new(OperandKind::F32, &[OperandKind::B32], |_, s| from_eighth(s[0] & 0xff, 2)),
        "pk_f32_fp8" => Rule::new(OperandKind::B64, &[OperandKind::B32], |_, s| {
            from_eighth(s[0] & 0xff, 3) | from_eighth(s[0] >> 8 & 0xff, 3) << 32
        }),
        "pk_f32_bf8" => Rule::new(OperandKind::B64, &[OperandKind::B32], |_, s| {
            from_eighth(s[0] & 0xff, 2) | from_eighth(s[0] >> 8 & 0xff, 2) << 32
        }),
        "pk_fp8_f32" => {
            two(OperandKind::B16, OperandKind::F32, |l, a, b| to_eighth(l, a, 3) | to_eighth(l, b, 3) << 8)
        }
        "pk_bf8_f32" => {
            two(OperandKind::B16, OperandKind::F32, |l, a, b| to_eighth(l, a, 2) | to_eighth(l, b, 2) << 8)
        }
        "sr_fp8_f32" => stochastic(3),
        "sr_bf8_f32" => stochastic(2),
        "pk_u8_f32" => Rule::new(
            OperandKind::B32,
            &[OperandKind::F32, OperandKind::B32, OperandKind::B32],
            move |_, s| {
                let shift = 8 * (s[1] & 3);
                s[2] & !(0xff << shift) | byte(s[0]) << shift
            },
        ),
        "pkaccum_u8_f32" => {
            Rule::new(OperandKind::B32, &[OperandKind::F32, OperandKind::B32], move |lane, s| {
                let shift = 8 * (s[1] & 3);
                lane.old & 0xffff_ffff & !(0xff << shift) | byte(s[0]) << shift
            })
        }
        _ => return None,
    })
}

const I32: (i128, i128) = (i32::MIN as i128, i32::MAX as i128);
const U32: i128 = u32::MAX as i128;

fn to_bits(format: Format, f: fn(&Lane, u64) -> u64) -> Rule {
    let kind = if format == F64 { OperandKind::F64 } else { OperandKind::F32 };
    Rule::new(OperandKind::B32, &[kind], move |lane, s| f(lane, s[0]))
}

/// Rounding by a random number: its high bits are added to the mantissa, which wraps; one byte of the
/// destination is written.
fn stochastic(mantissa: u32) -> Rule {
    Rule::new(OperandKind::B32, &[OperandKind::F32, OperandKind::B32], move |lane, s| {
        // The sum takes as many random bits as the result has fewer bits than f32.
        let added = s[0] & 0xff80_0000 | (s[0].wrapping_add(s[1] >> (9 + mantissa))) & 0x7f_ffff;
        let code = if F32.field(s[0]) == 255 { 0x80 } else { to_eighth(lane, added, mantissa) };
        let shift = 8 * lane.byte;
        lane.old & 0xffff_ffff & !(0xff << shift) | code << shift
    })
}
