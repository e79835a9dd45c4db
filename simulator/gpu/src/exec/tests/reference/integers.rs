// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integer and bit instructions, in integers wide enough for every result.

use super::rules::{Lane, OperandKind, Rule};

/// A value of `bits` bits, with its sign.
pub(super) fn signed(value: u64, bits: u32) -> i128 {
    i128::from((value << (64 - bits)) as i64 >> (64 - bits))
}

/// A result in `bits` bits: clamped if the instruction asks for it, else truncated.
fn fit(lane: &Lane, value: i128, bits: u32, is_signed: bool) -> u64 {
    let (least, most) = if is_signed {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    let value = if lane.clamp { value.clamp(least, most) } else { value };
    value as u64 & (((1u128 << bits) - 1) as u64)
}

fn byte(value: u64, index: u32) -> i128 {
    (value >> (8 * index) & 0xff).into()
}

/// Sum of absolute differences of four bytes; with `masked`, of those that are not zero in `b`.
fn differences(a: u64, b: u64, masked: bool) -> i128 {
    (0..4).filter(|&i| !masked || byte(b, i) != 0).map(|i| (byte(a, i) - byte(b, i)).abs()).sum()
}

/// Sums of differences at four places of `a`, each in a word of `bits` bits.
fn sliding(lane: &Lane, s: &[u64], masked: bool) -> u64 {
    (0..4).fold(0, |out, place| {
        let sum = differences(s[0] >> (8 * place), s[1], masked) + i128::from(s[2] >> (16 * place) & 0xffff);
        out | fit(lane, sum, 16, false) << (16 * place)
    })
}

/// The rule of a mnemonic without `v_`.
pub(super) fn rule(stem: &str) -> Option<Rule> {
    arithmetic(stem).or_else(|| bits(stem))
}

fn arithmetic(stem: &str) -> Option<Rule> {
    let (operation, ty) = stem.rsplit_once('_')?;
    let (is_signed, width) = match ty {
        "i16" => (true, 16),
        "u16" => (false, 16),
        "i32" => (true, 32),
        "u32" => (false, 32),
        _ => return None,
    };
    let kind = if width == 16 { OperandKind::B16 } else { OperandKind::B32 };
    let read = move |value: u64| if is_signed { signed(value, width) } else { value.into() };
    let two = |f: fn(i128, i128) -> i128| {
        Rule::new(kind, &[kind; 2], move |lane, s| fit(lane, f(read(s[0]), read(s[1])), width, is_signed))
    };
    let three = |f: fn(i128, i128, i128) -> i128| {
        Rule::new(kind, &[kind; 3], move |lane, s| {
            fit(lane, f(read(s[0]), read(s[1]), read(s[2])), width, is_signed)
        })
    };
    Some(match operation {
        "add" => two(|a, b| a + b),
        "sub" => two(|a, b| a - b),
        "subrev" => two(|a, b| b - a),
        "mul_lo" => two(|a, b| a * b),
        "mul_hi" => two(|a, b| (a * b) >> 32),
        "min" => two(|a, b| if a < b { a } else { b }),
        "max" => two(|a, b| if a >= b { a } else { b }),
        "mad" | "mad_legacy" => three(|a, b, c| a * b + c),
        "min3" => three(|a, b, c| a.min(b).min(c)),
        "max3" => three(|a, b, c| a.max(b).max(c)),
        "med3" => three(|a, b, c| {
            let mut all = [a, b, c];
            all.sort_unstable();
            all[1]
        }),
        "add3" => three(|a, b, c| a + b + c),
        "xad" => three(|a, b, c| (a ^ b) + c),
        "lshl_add" => three(|a, b, c| (a << (b & 31)) + c),
        "add_lshl" => three(|a, b, c| (a + b) << (c & 31)),
        "mad_u32" | "mad_i32" => Rule::new(
            OperandKind::B32,
            &[OperandKind::B16, OperandKind::B16, OperandKind::B32],
            move |lane, s| {
                let c = if is_signed { signed(s[2], 32) } else { s[2].into() };
                fit(lane, read(s[0]) * read(s[1]) + c, 32, is_signed)
            },
        ),
        "sad" if width == 32 => three(|a, b, c| (a - b).abs() + c),
        _ => return None,
    })
}

fn bits(stem: &str) -> Option<Rule> {
    let b32 = OperandKind::B32;
    let low = |value: u64| value & 0xffff_ffff;
    let one = |f: fn(u64) -> u64| Rule::new(b32, &[b32], move |_, s| low(f(s[0])));
    let two = |f: fn(u64, u64) -> u64| Rule::new(b32, &[b32; 2], move |_, s| low(f(s[0], s[1])));
    let three = |f: fn(u64, u64, u64) -> u64| Rule::new(b32, &[b32; 3], move |_, s| low(f(s[0], s[1], s[2])));
    let shift16 = |f: fn(u64, u64) -> u64| {
        Rule::new(OperandKind::B16, &[OperandKind::B16; 2], move |_, s| f(s[0] & 15, s[1]) & 0xffff)
    };
    let shift64 = |f: fn(u64, u64) -> u64| {
        Rule::new(OperandKind::B64, &[b32, OperandKind::B64], move |_, s| f(s[0] & 63, s[1]))
    };
    let products = |by: u32, unsigned: bool, high: u32| {
        Rule::new(b32, &[b32; 2], move |lane, s| {
            let part = |value: u64| {
                if unsigned {
                    i128::from(value & ((1 << by) - 1))
                } else {
                    signed(value & ((1 << by) - 1), by)
                }
            };
            fit(lane, (part(s[0]) * part(s[1])) >> high, 32, !unsigned)
        })
    };
    let mad24 = |unsigned: bool| {
        Rule::new(b32, &[b32; 3], move |lane, s| {
            let part = |value: u64| {
                if unsigned { i128::from(value & 0xff_ffff) } else { signed(value & 0xff_ffff, 24) }
            };
            let c = if unsigned { s[2].into() } else { signed(s[2], 32) };
            fit(lane, part(s[0]) * part(s[1]) + c, 32, !unsigned)
        })
    };
    let sums = |f: fn(u64, u64) -> i128| {
        Rule::new(b32, &[b32; 3], move |lane, s| fit(lane, f(s[0], s[1]) + i128::from(s[2]), 32, false))
    };
    let dot = |width: u32| {
        Rule::new(b32, &[b32; 2], move |lane, s| {
            let part = |value: u64, at: u32| signed(value >> (at * width) & ((1 << width) - 1), width);
            let sum: i128 = (0..32 / width).map(|at| part(s[0], at) * part(s[1], at)).sum();
            fit(lane, sum + signed(lane.old & 0xffff_ffff, 32), 32, true)
        })
    };
    Some(match stem {
        "mov_b32" | "accvgpr_read_b32" | "accvgpr_write_b32" | "accvgpr_mov_b32" => one(|a| a),
        "mov_b64" => Rule::new(OperandKind::B64, &[OperandKind::B64], |_, s| s[0]),
        "not_b32" => one(|a| !a),
        "bfrev_b32" => one(|a| (0..32).fold(0, |out, bit| out | (a >> bit & 1) << (31 - bit))),
        "ffbh_u32" => one(|a| (0..32).find(|at| a >> (31 - at) & 1 != 0).unwrap_or(u64::MAX)),
        "ffbl_b32" => one(|a| (0..32).find(|at| a >> at & 1 != 0).unwrap_or(u64::MAX)),
        "ffbh_i32" => one(|a| (1..32).find(|at| a >> (31 - at) & 1 != a >> 31 & 1).unwrap_or(u64::MAX)),
        "and_b32" => two(|a, b| a & b),
        "or_b32" => two(|a, b| a | b),
        "xor_b32" => two(|a, b| a ^ b),
        "xnor_b32" => two(|a, b| !(a ^ b)),
        "lshrrev_b32" => two(|a, b| b >> (a & 31)),
        "lshlrev_b32" => two(|a, b| b << (a & 31)),
        "ashrrev_i32" => two(|a, b| (signed(b, 32) >> (a & 31)) as u64),
        "lshrrev_b16" => shift16(|a, b| b >> a),
        "lshlrev_b16" => shift16(|a, b| b << a),
        "ashrrev_i16" => shift16(|a, b| (signed(b, 16) >> a) as u64),
        "lshrrev_b64" => shift64(|a, b| b >> a),
        "lshlrev_b64" => shift64(|a, b| b << a),
        "ashrrev_i64" => shift64(|a, b| ((b as i64) >> a) as u64),
        "mul_i32_i24" => products(24, false, 0),
        "mul_hi_i32_i24" => products(24, false, 32),
        "mul_u32_u24" => products(24, true, 0),
        "mul_hi_u32_u24" => products(24, true, 32),
        "mad_i32_i24" => mad24(false),
        "mad_u32_u24" => mad24(true),
        "bcnt_u32_b32" => two(|a, b| u64::from((a as u32).count_ones()) + b),
        "mbcnt_lo_u32_b32" => Rule::new(b32, &[b32; 2], move |lane, s| {
            low((0..lane.number.min(32)).filter(|bit| s[0] >> bit & 1 != 0).count() as u64 + s[1])
        }),
        "mbcnt_hi_u32_b32" => Rule::new(b32, &[b32; 2], move |lane, s| {
            low((32..lane.number.max(32)).filter(|bit| s[0] >> (bit - 32) & 1 != 0).count() as u64 + s[1])
        }),
        "bfm_b32" => two(|a, b| ((1 << (a & 31)) - 1) << (b & 31)),
        "bfe_u32" => three(|a, b, c| a >> (b & 31) & ((1 << (c & 31)) - 1)),
        "bfe_i32" => three(|a, b, c| match c & 31 {
            0 => 0,
            width => signed((signed(a, 32) >> (b & 31)) as u64 & ((1 << width) - 1), width as u32) as u64,
        }),
        "bfi_b32" => three(|a, b, c| (a & b) | (!a & c)),
        "lerp_u8" => three(|a, b, c| {
            (0..4).fold(0, |out, i| {
                let round = i128::from(c >> (8 * i) & 1);
                out | (((byte(a, i) + byte(b, i) + round) >> 1) as u64) << (8 * i)
            })
        }),
        "alignbit_b32" => three(|a, b, c| (a << 32 | b) >> (c & 31)),
        "alignbyte_b32" => three(|a, b, c| (a << 32 | b) >> (8 * (c & 3))),
        "perm_b32" => three(|a, b, c| {
            let data = a << 32 | b;
            (0..4).fold(0, |out, i| {
                let picked = match byte(c, i) {
                    code @ 0..=7 => byte(data, code as u32),
                    code @ 8..=11 => 255 * i128::from(data >> (16 * (code - 8) + 15) & 1),
                    12 => 0,
                    _ => 255,
                };
                out | (picked as u64) << (8 * i)
            })
        }),
        "lshl_or_b32" => three(|a, b, c| a << (b & 31) | c),
        "and_or_b32" => three(|a, b, c| a & b | c),
        "or3_b32" => three(|a, b, c| a | b | c),
        "lshl_add_u64" => Rule::new(OperandKind::B64, &[OperandKind::B64, b32, OperandKind::B64], |_, s| {
            (s[0] << (s[1] & 7)).wrapping_add(s[2])
        }),
        "sad_u8" => sums(|a, b| differences(a, b, false)),
        "msad_u8" => sums(|a, b| differences(a, b, true)),
        "sad_hi_u8" => sums(|a, b| differences(a, b, false) << 16),
        "sad_u16" => sums(|a, b| {
            let half = |value: u64, at: u32| i128::from(value >> (16 * at) & 0xffff);
            (half(a, 0) - half(b, 0)).abs() + (half(a, 1) - half(b, 1)).abs()
        }),
        "qsad_pk_u16_u8" => {
            Rule::new(OperandKind::B64, &[OperandKind::B64, b32, OperandKind::B64], |l, s| {
                sliding(l, s, false)
            })
        }
        "mqsad_pk_u16_u8" => {
            Rule::new(OperandKind::B64, &[OperandKind::B64, b32, OperandKind::B64], |l, s| {
                sliding(l, s, true)
            })
        }
        "dot2c_i32_i16" => dot(16),
        "dot4c_i32_i8" => dot(8),
        "dot8c_i32_i4" => dot(4),
        "sat_pk_u8_i16" => Rule::new(OperandKind::B16, &[b32], |_, s| {
            let clamped = |value: u64| signed(value & 0xffff, 16).clamp(0, 255) as u64;
            clamped(s[0]) | clamped(s[0] >> 16) << 8
        }),
        "pack_b32_f16" => Rule::new(b32, &[OperandKind::F16; 2], |_, s| s[0] | s[1] << 16),
        _ => return None,
    })
}
