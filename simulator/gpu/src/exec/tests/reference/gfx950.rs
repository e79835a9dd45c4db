// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions of gfx950: floats of few bits by lists of all their values, truth tables bit by bit, exchanges lane by lane.

use super::lanes::{finished, flushed_source, is_written, put, source};
use super::memory::Space;
use super::real::{self, F16, F32, Format, Round};
use super::rules::OperandKind;
use super::text::{Line, What};
use super::values::Register;
use super::{LANES, Machine};

const BF16: Format = Format { exponent: 8, mantissa: 7 };

/// The bits of a float of few bits, and the bits of its mantissa.
fn layout(ty: &str) -> Option<(u32, u32)> {
    Some(match ty {
        "fp8" => (8, 3),
        "bf8" => (8, 2),
        "fp6" => (6, 3),
        "bf6" => (6, 2),
        "fp4" => (4, 1),
        _ => return None,
    })
}

/// The value of a code.
pub(super) fn value(ty: &str, code: u64) -> f64 {
    let Some((bits, mantissa)) = layout(ty) else { return 0.0 };
    let magnitude = code & ((1 << (bits - 1)) - 1);
    let (field, fraction) = (magnitude >> mantissa, (magnitude & ((1 << mantissa) - 1)) as f64);
    let bias = (1i32 << (bits - mantissa - 2)) - 1;
    let steps = f64::from(1 << mantissa);
    let number = match (ty, field) {
        ("fp8", _) if magnitude == 0x7f => f64::NAN,
        ("bf8", 31) if fraction == 0.0 => f64::INFINITY,
        ("bf8", 31) => f64::NAN,
        (_, 0) => fraction / steps * 2f64.powi(1 - bias),
        _ => (1.0 + fraction / steps) * 2f64.powi(field as i32 - bias),
    };
    if code >> (bits - 1) & 1 != 0 { -number } else { number }
}

/// The code of the nearest of all numbers, even on a tie.
fn nearest(ty: &str, wanted: f64, saturates: bool) -> u64 {
    let Some((bits, _)) = layout(ty) else { return 0 };
    let sign = u64::from(wanted.is_sign_negative()) << (bits - 1);
    let numbers: Vec<f64> =
        (0..1u64 << (bits - 1)).map(|code| value(ty, code)).take_while(|number| number.is_finite()).collect();
    let (greatest, eighth) = (numbers.len() as u64 - 1, bits == 8);
    if wanted.is_nan() {
        return sign | if eighth { if ty == "fp8" { 0x7f } else { 0x7e } } else { greatest };
    }
    let size = wanted.abs();
    // The number behind the greatest, if there were one.
    let behind = 2.0 * numbers[greatest as usize] - numbers[greatest as usize - 1];
    let limit = (numbers[greatest as usize] + behind) / 2.0;
    let is_beyond = if greatest & 1 == 0 { size > limit } else { size >= limit };
    if is_beyond {
        return sign | if eighth && !saturates { greatest + 1 } else { greatest };
    }
    let upper = numbers.iter().position(|number| *number >= size).unwrap_or(greatest as usize);
    let lower = upper.saturating_sub(1);
    let (up, down) = ((numbers[upper] - size).abs(), (size - numbers[lower]).abs());
    let chosen = if up < down || up == down && upper & 1 == 0 { upper } else { lower };
    sign | chosen as u64
}

fn vector(line: &Line<'_>, index: usize) -> usize {
    match line.operands[index].what {
        What::Vector(number) => number,
        other => panic!("{other:?} in {line:?}"),
    }
}

/// The kinds of the sources of an instruction of this file.
pub(super) fn operands(line: &Line<'_>) -> Option<Vec<(Register, OperandKind)>> {
    let name = line.name.strip_prefix("v_")?;
    let kind = match name {
        "minimum3_f32" | "maximum3_f32" | "cvt_pk_f16_f32" | "cvt_pk_bf16_f32" => OperandKind::F32,
        "pk_minimum3_f16" | "pk_maximum3_f16" => OperandKind::F16,
        _ if name.starts_with("cvt_scalef32_pk_") && name.ends_with("f32") => OperandKind::F32,
        _ if name.starts_with("cvt_scalef32_") => OperandKind::B32,
        _ => return None,
    };
    let registers = line.operands[1..].iter().filter_map(Register::from_operand);
    Some(registers.map(|register| (register, kind)).collect())
}

/// A single that the instruction computes for each lane.
fn each(
    machine: &mut Machine,
    line: &Line<'_>,
    kind: OperandKind,
    f: impl Fn(&Machine, usize) -> u64,
) -> Option<()> {
    let dst = vector(line, 0);
    let lanes: Vec<usize> = (0..LANES).filter(|lane| is_written(machine, line, *lane)).collect();
    let results: Vec<u64> = lanes.iter().map(|lane| f(machine, *lane)).collect();
    for (lane, bits) in lanes.into_iter().zip(results) {
        put(machine, line, dst, lane, kind, bits, None);
        if kind == OperandKind::B64 {
            machine.v[dst + 1][lane] = (bits >> 32) as u32;
        }
    }
    Some(())
}

fn read(machine: &Machine, line: &Line<'_>, index: usize, kind: OperandKind, lane: usize) -> u64 {
    let bits = source(machine, line, &line.operands[1 + index], index, kind, lane);
    kind.float().map_or(bits, |format| flushed_source(machine, format, bits))
}

/// A load from LDS that transposes matrices of sixteen columns.
fn transposed(machine: &mut Machine, line: &Line<'_>, bytes: usize) -> Option<()> {
    let (address, offset, exec) = (machine.v[vector(line, 1)], line.number("offset") as u32, machine.exec());
    let mut columns = vec![0; LANES];
    for (lane, column) in columns.iter_mut().enumerate() {
        // Element `lane % 16` of each row of sixteen elements, which several lanes hold.
        for row in 0..8 / bytes {
            let at = row * 16 + lane % 16;
            let holder = lane / 16 * 16 + at * bytes / 8;
            let place = u64::from(address[holder].wrapping_add(offset)) + (at * bytes % 8) as u64;
            if exec >> holder & 1 != 0 {
                *column |= machine.memory.load(Space::Lds, 0, place, bytes) << (8 * bytes * row);
            }
        }
    }
    let dst = vector(line, 0);
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        machine.v[dst][lane] = columns[lane] as u32;
        machine.v[dst + 1][lane] = (columns[lane] >> 32) as u32;
    }
    Some(())
}

/// Executes an instruction of this file, if it is one.
pub(super) fn execute(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    use OperandKind::{B16, B32, B64};
    match line.name {
        "ds_read_b64_tr_b8" => return transposed(machine, line, 1),
        "ds_read_b64_tr_b16" => return transposed(machine, line, 2),
        _ => {}
    }
    let name = line.name.strip_prefix("v_")?;
    let single = |machine: &Machine, index, lane| read(machine, line, index, OperandKind::F32, lane);
    match name {
        "bitop3_b32" | "bitop3_b16" => {
            let kind = if name.ends_with("16") { B16 } else { B32 };
            let table = line.number("bitop3");
            each(machine, line, kind, |machine, lane| {
                let all = [0, 1, 2].map(|index| read(machine, line, index, kind, lane));
                (0..kind.width().bits()).fold(0, |out, bit| {
                    let at = all.iter().fold(0, |at, value| at << 1 | value >> bit & 1);
                    out | (table as u64 >> at & 1) << bit
                })
            })
        }
        "prng_b32" => each(machine, line, B32, |machine, lane| {
            let state = read(machine, line, 0, B32, lane);
            ((state * 2) ^ ((state >> 31 & 1) * 197)) & 0xffff_ffff
        }),
        "ashr_pk_i8_i32" | "ashr_pk_u8_i32" => each(machine, line, B16, |machine, lane| {
            let by = read(machine, line, 2, B32, lane) & 31;
            let byte = |index| {
                let shifted = super::integers::signed(read(machine, line, index, B32, lane), 32) >> by;
                let least = if name.contains("u8") { 0 } else { -128 };
                shifted.clamp(least, least + 255) as u64 & 0xff
            };
            byte(0) | byte(1) << 8
        }),
        "cvt_pk_f16_f32" | "cvt_pk_bf16_f32" => each(machine, line, B32, |machine, lane| {
            let to = if name.contains("bf16") { BF16 } else { F16 };
            let [a, b] =
                [0, 1].map(|index| real::convert(F32, to, Round::Nearest, single(machine, index, lane)));
            a | b << 16
        }),
        "cvt_f32_bf16" => each(machine, line, B32, |machine, lane| {
            let operand = &line.operands[1];
            let mut bits = source(machine, line, operand, 0, B32, lane);
            if let What::Constant("1.0") = operand.what {
                bits = 0x3f80;
            }
            bits = (bits & 0xffff) << 16;
            if operand.absolute {
                bits &= !F32.sign();
            }
            if operand.negative {
                bits ^= F32.sign();
            }
            finished(machine, line, F32, bits)
        }),
        "permlane16_swap_b32" | "permlane32_swap_b32" => {
            let size = if name.contains("16") { 16 } else { 32 };
            let (first, second) = (vector(line, 0), vector(line, 1));
            let (before, exec) = (machine.v.clone(), machine.exec());
            let is_active = |lane: usize| exec >> lane & 1 != 0;
            for low in (0..LANES).filter(|lane| lane / size % 2 == 0) {
                // The second group of the first register and the first group of the second one.
                let places = [(first, low + size, second, low), (second, low, first, low + size)];
                for (to, lane, from, partner) in places.into_iter().filter(|place| is_active(place.1)) {
                    if is_active(partner) || line.has("fi") {
                        machine.v[to][lane] = before[from][partner];
                    } else if line.has("bound_ctrl") {
                        machine.v[to][lane] = 0;
                    }
                }
            }
            Some(())
        }
        "minimum3_f32" | "maximum3_f32" => each(machine, line, B32, |machine, lane| {
            let all = [0, 1, 2].map(|index| single(machine, index, lane));
            finished(machine, line, F32, extremum(F32, name.starts_with("max"), all))
        }),
        "pk_minimum3_f16" | "pk_maximum3_f16" => each(machine, line, B32, |machine, lane| {
            (0..2).fold(0, |out, result| {
                let all = [0, 1, 2].map(|index| {
                    let (select, negate) = [("op_sel", "neg_lo"), ("op_sel_hi", "neg_hi")][result];
                    let half = line.list(select, index).unwrap_or(result as i64);
                    let bits = match line.operands[1 + index].what {
                        What::Constant("1.0") => 0x3c00,
                        _ => source(machine, line, &line.operands[1 + index], 9, B32, lane),
                    };
                    let bits =
                        bits >> (16 * half) & 0xffff ^ (line.list(negate, index).unwrap_or(0) as u64) << 15;
                    flushed_source(machine, F16, bits)
                });
                out | finished(machine, line, F16, extremum(F16, name.contains("max"), all)) << (16 * result)
            })
        }),
        "dot2_f32_bf16" | "dot2c_f32_bf16" => {
            let old = machine.v[vector(line, 0)];
            each(machine, line, B32, |machine, lane| {
                let word = |index: usize| source(machine, line, &line.operands[1 + index], index, B32, lane);
                let (packed, third) = (
                    name.starts_with("dot2_"),
                    if line.operands.len() > 3 { word(2) } else { old[lane].into() },
                );
                let third = if packed && line.list("neg_lo", 2).unwrap_or(0) != 0 {
                    third ^ F32.sign()
                } else {
                    third
                };
                let sum = (0..2).fold(flushed_source(machine, F32, third), |sum, half| {
                    let factor = |index: usize| {
                        let negate = line.list(["neg_lo", "neg_hi"][half], index).unwrap_or(0) as u64;
                        word(index) >> (16 * half) & 0xffff ^ negate << 15
                    };
                    real::fused_to(BF16, F32, F32, Round::from_mode(machine.mode), factor(0), factor(1), sum)
                });
                finished(machine, line, F32, if F32.is_nan(sum) { F32.nan() } else { sum })
            })
        }
        _ if name.starts_with("cvt_scalef32_") => scaled(machine, line, name),
        "cvt_f32_fp8" | "cvt_f32_bf8" => each(machine, line, B32, |machine, lane| {
            let code = source(machine, line, &line.operands[1], 0, B32, lane) & 0xff;
            signed_single_of(&name[8..], code)
        }),
        "cvt_pk_f32_fp8" | "cvt_pk_f32_bf8" => each(machine, line, B64, |machine, lane| {
            let codes = source(machine, line, &line.operands[1], 0, B32, lane);
            let [low, high] = [codes, codes >> 8].map(|code| signed_single_of(&name[11..], code & 0xff));
            low | high << 32
        }),
        "cvt_pk_fp8_f32" | "cvt_pk_bf8_f32" => each(machine, line, B16, |machine, lane| {
            let [a, b] = [0, 1].map(|index| eighth(machine, &name[7..10], single(machine, index, lane)));
            a | b << 8
        }),
        "cvt_sr_fp8_f32" | "cvt_sr_bf8_f32" => {
            let old = machine.v[vector(line, 0)];
            each(machine, line, B32, |machine, lane| {
                let (bits, random) = (single(machine, 0, lane), read(machine, line, 1, B32, lane));
                let mantissa =
                    bits.wrapping_add(random >> if name.contains("fp8") { 12 } else { 11 }) & 0x7f_ffff;
                let added = if F32.field(bits) == 255 { bits } else { bits & 0xff80_0000 | mantissa };
                let place =
                    (2..4).map(|at| line.list("op_sel", at).unwrap_or(0) << (at - 2)).sum::<i64>() * 8;
                u64::from(old[lane]) & !(0xff << place) | eighth(machine, &name[7..10], added) << place
            })
        }
        _ => None,
    }
}

/// A single as eight bits.
fn eighth(machine: &Machine, ty: &str, bits: u64) -> u64 {
    nearest(ty, f64::from(f32::from_bits(bits as u32)), machine.mode >> 23 & 1 != 0)
}

fn single_of(value: f64) -> u64 {
    if value.is_nan() { F32.nan() } else { (value as f32).to_bits().into() }
}

/// The single of a code of eight bits. A NaN has the sign of its code.
fn signed_single_of(ty: &str, code: u64) -> u64 {
    let bits = single_of(value(ty, code));
    if F32.is_nan(bits) { bits | (code & 0x80) << 24 } else { bits }
}

/// The least or greatest of three. A NaN wins, a signalling one over a quiet one; it comes out quiet.
fn extremum(format: Format, greatest: bool, all: [u64; 3]) -> u64 {
    let key = |bits: u64| {
        let magnitude = format.magnitude(bits) as i64;
        if format.is_negative(bits) { -magnitude - 1 } else { magnitude }
    };
    let two = |a: u64, b: u64| {
        let nan = [a, b].into_iter().find(|bits| format.is_signalling(*bits));
        let nan = nan.or_else(|| [a, b].into_iter().find(|bits| format.is_nan(*bits)));
        nan.map_or(if (key(b) > key(a)) == greatest { b } else { a }, |bits| bits | format.quiet())
    };
    two(two(all[0], all[1]), all[2])
}

/// Conversions with a scale.
fn scaled(machine: &mut Machine, line: &Line<'_>, name: &str) -> Option<()> {
    let mut parts = name.split('_').rev();
    let (of, to) = (parts.next()?, parts.next()?);
    let count = match parts.next()? {
        "pk" => 2,
        "pk32" | "2xpk16" => 32,
        _ => 1,
    };
    let width = |ty: &str| layout(ty).map_or(if ty == "f32" { 32 } else { 16 }, |(bits, _)| bits) as usize;
    let sources = line.operands.len() - 2;
    let select = |at: usize| line.list("op_sel", at).unwrap_or(0) as usize;
    let exec = machine.exec();
    let before = machine.v.clone();
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let word = |index: usize, at: usize| match line.operands[1 + index].what {
            What::Vector(number) => u64::from(before[number + at][lane]),
            _ => source(machine, line, &line.operands[1 + index], 9, OperandKind::B32, lane),
        };
        let exponent = match line.operands[line.operands.len() - 1].what {
            What::Constant(text) => super::text::Operand::constant(text, F32),
            _ => word(sources, 0),
        } >> 23
            & 0xff;
        let scale = if exponent == 255 { f64::NAN } else { 2f64.powi(exponent as i32 - 127) };
        let mut results = Vec::new();
        for element in 0..count {
            if layout(to).is_some() {
                let bits = match (of, count) {
                    ("f32", 2) => single_source(machine, line, element, lane),
                    ("f32", _) => word(element % 2, element / 2),
                    _ => word(0, element / 2) >> (16 * (element % 2)) & 0xffff,
                };
                let single = match of {
                    "f16" => real::convert(F16, F32, Round::Nearest, bits),
                    "bf16" => bits << 16,
                    _ => bits,
                };
                let single = f64::from(f32::from_bits(single as u32));
                let quotient = if scale.is_nan() { f64::NAN.copysign(single) } else { single / scale };
                results.push(nearest(to, quotient, machine.mode >> 23 & 1 != 0));
            } else {
                let start = match width(of) * count {
                    8 => 8 * (select(0) + 2 * select(1)),
                    16 => 16 * select(0),
                    _ => 0,
                };
                // Bit by bit, as a code may lie in two registers.
                let code = (0..width(of)).fold(0, |code, bit| {
                    let at = start + element * width(of) + bit;
                    code | (word(0, at / 32) >> (at % 32) & 1) << bit
                });
                let single = single_of(value(of, code) * scale);
                results.push(match to {
                    "f32" => finished(machine, line, F32, single),
                    "f16" if F32.is_nan(single) => 0x7e00,
                    "f16" => real::convert(F32, F16, Round::Nearest, single),
                    _ => real::convert(F32, BF16, Round::Nearest, single),
                });
            }
        }
        let start = match (to, width(to) * count) {
            (_, 8) => 8 * (select(2) + 2 * select(3)),
            ("fp8" | "bf8", _) => 16 * select(line.operands.len() - 1),
            ("f16", 16) => 16 * select(2),
            _ => 0,
        };
        let dst = vector(line, 0);
        for (element, result) in results.into_iter().enumerate() {
            for bit in 0..width(to) {
                let at = start + element * width(to) + bit;
                let word = &mut machine.v[dst + at / 32][lane];
                *word = *word & !(1 << (at % 32)) | ((result >> bit & 1) as u32) << (at % 32);
            }
        }
    }
    Some(())
}

fn single_source(machine: &Machine, line: &Line<'_>, index: usize, lane: usize) -> u64 {
    read(machine, line, index, OperandKind::F32, lane)
}

/// Products of matrices whose formats are fields of the instruction, with or without scales.
pub(super) fn product(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let name = line.name.strip_prefix("v_mfma_")?;
    let name = name.strip_prefix("scale_").unwrap_or(name);
    let (side, inner) = match name {
        "f32_16x16x128_f8f6f4" => (16, 128),
        "f32_32x32x64_f8f6f4" => (32, 64),
        _ => return None,
    };
    let format = |field: &str| ["fp8", "bf8", "fp6", "bf6", "fp4"][line.number(field) as usize];
    let scale = |operand: usize, lane: usize| {
        let index = operand - 4;
        let byte = 2 * line.list("op_sel_hi", index).unwrap_or(0) + line.list("op_sel", index).unwrap_or(0);
        let code = machine.v[vector(line, operand)][lane] >> (8 * byte) & 0xff;
        if code == 255 { f64::NAN } else { 2f64.powi(code as i32 - 127) }
    };
    let has_scales = line.operands.len() > 4;
    let element = |operand: usize, ty: &str, line_of_matrix: usize, k: usize| {
        let bits = layout(ty).map_or(8, |(bits, _)| bits) as usize;
        let groups = LANES / side;
        let (group, index) =
            if bits == 8 { (k / 16 % groups, k / (16 * groups) * 16 + k % 16) } else { (k / 32, k % 32) };
        let lane = group * side + line_of_matrix;
        let code = (0..bits).fold(0, |code, bit| {
            let at = index * bits + bit;
            code | u64::from(machine.v[vector(line, operand) + at / 32][lane] >> (at % 32) & 1) << bit
        });
        value(ty, code)
    };
    let all = |operand: usize, field: &str| -> Vec<Vec<f64>> {
        let of_line = |at: usize| (0..inner).map(|k| element(operand, format(field), at, k)).collect();
        (0..side).map(of_line).collect()
    };
    let (a, b) = (all(1, "cbsz"), all(2, "blgp"));
    let mut results = Vec::new();
    for (row, of_a) in a.iter().enumerate() {
        for (column, of_b) in b.iter().enumerate() {
            let (register, lane) = match side {
                16 => (row % 4, row / 4 * 16 + column),
                _ => (row / 8 * 4 + row % 4, row / 4 % 2 * 32 + column),
            };
            let mut sum = 0.0;
            for block in 0..inner / 32 {
                let mut part = 0.0;
                for k in 32 * block..32 * block + 32 {
                    part += of_a[k] * of_b[k];
                }
                if has_scales {
                    // The lane of a scale is that of its row in the group of its block.
                    part = part * scale(4, block * side + row) * scale(5, block * side + column);
                }
                sum += part;
            }
            let third = match line.operands[3].what {
                What::Vector(number) => f32::from_bits(machine.v[number + register][lane]),
                _ => 1.0,
            };
            results.push((register, lane, single_of(sum + f64::from(third))));
        }
    }
    let dst = vector(line, 0);
    for (register, lane, bits) in results {
        machine.v[dst + register][lane] = bits as u32;
    }
    Some(())
}
