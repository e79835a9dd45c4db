// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two operations in one, sums of products, and fused operations of mixed precision.

use super::floats::unfused;
use super::integers::signed;
use super::lanes::finished;
use super::real::{self, F16, F32, Format, Round};
use super::rules::{self, Lane, OperandKind, Rule};
use super::text::{Line, Operand, What};
use super::values::Register;
use super::{LANES, Machine};

/// A computed value; a NaN becomes that of the first source that is one.
fn first_nan(format: Format, value: u64, sources: &[u64]) -> u64 {
    if !format.is_nan(value) {
        return value;
    }
    let first = sources.iter().find(|bits| format.is_nan(**bits));
    first.map_or(format.nan(), |bits| bits | format.quiet())
}

/// Products of halves of both sources added to a single one after the other.
fn dot2(round: Round, a: [u64; 2], b: [u64; 2], c: u64) -> u64 {
    (0..2).fold(c, |sum, half| real::fused_to(F16, F32, F32, round, a[half], b[half], sum))
}

/// The rule of a VOP2 mnemonic of this family without `v_`.
pub(super) fn rule(stem: &str) -> Option<Rule> {
    let halves = |bits: u64| [bits & 0xffff, bits >> 16 & 0xffff];
    Some(match stem {
        "dot2c_f32_f16" => Rule {
            accumulates: true,
            ..Rule::new(OperandKind::F32, &[OperandKind::B32; 2], move |lane, s| {
                dot2(lane.round(F32), halves(s[0]), halves(s[1]), lane.old)
            })
            .exact()
        },
        "pk_fmac_f16" => Rule::new(OperandKind::B32, &[OperandKind::B32; 2], move |lane, s| {
            (0..2).fold(0, |out, half| {
                let all = [s[0], s[1], lane.old].map(|bits| lane.flushed(F16, halves(bits)[half]));
                let value = real::fused(F16, lane.round(F16), all[0], all[1], all[2]);
                out | lane.flushed_result(F16, first_nan(F16, value, &all)) << (16 * half)
            })
        }),
        _ => return None,
    })
}

fn register(operand: &Operand<'_>) -> usize {
    match operand.what {
        What::Vector(number) | What::Scalar(number) => number,
        other => panic!("{other:?} is no register"),
    }
}

pub(super) fn operands(line: &Line<'_>) -> Vec<(Register, OperandKind)> {
    let kind = if line.name.ends_with("_f32") && line.name.starts_with("v_pk") {
        OperandKind::F32
    } else if line.name.ends_with("f16") && !line.name.contains("mix") {
        OperandKind::F16
    } else {
        OperandKind::B32
    };
    let mut found = Vec::new();
    for operand in &line.operands[1..] {
        if let Some(what) = Register::from_operand(operand) {
            found.push((what, kind));
            // Pairs of singles, and mixtures.
            let next = match what {
                Register::Vector(number) => Register::Vector(number + 1),
                Register::Scalar(number) => Register::Scalar(number + 1),
            };
            if line.name.ends_with("f32") && line.name.starts_with("v_pk") {
                found.push((next, kind));
            }
        }
    }
    if line.name.contains("mix") {
        found
            .iter_mut()
            .zip([OperandKind::F16, OperandKind::F32, OperandKind::F16])
            .for_each(|(entry, kind)| entry.1 = kind);
    }
    if line.name == "v_dot2_f32_f16" && found.len() == 3 {
        found[2].1 = OperandKind::F32;
    }
    found
}

/// The 32 bits of a source of 16-bit operations.
fn word(machine: &Machine, line: &Line<'_>, index: usize, lane: usize, float: bool) -> u64 {
    match line.operands[1 + index].what {
        What::Vector(number) => machine.v[number][lane].into(),
        What::Scalar(number) => machine.s[number].into(),
        // Integers are extended to 32 bits; a float is a half if the instruction is of halves, else a single.
        What::Constant(text) if float && text.contains('.') => Operand::constant(text, F16),
        What::Constant(text) => Operand::constant(text, F32),
        other => panic!("{other:?} in {line:?}"),
    }
}

/// Executes a VOP3P instruction, if it is one.
pub(super) fn execute(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let exec = machine.exec();
    let dst = register(line.operands.first()?);
    let mut results = Vec::new();
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let values = if line.name.contains("_mix") {
            vec![mixed(machine, line, lane, dst)]
        } else if line.name.starts_with("v_dot") {
            vec![dot(machine, line, lane)?]
        } else if line.name.starts_with("v_pk_") && line.name.ends_with("32") {
            singles(machine, line, lane)?
        } else {
            vec![halves(machine, line, lane)?]
        };
        results.push((lane, values));
    }
    for (lane, values) in results {
        for (at, value) in values.into_iter().enumerate() {
            machine.v[dst + at][lane] = value as u32;
        }
    }
    Some(())
}

fn lane_of(machine: &Machine, line: &Line<'_>) -> Lane {
    Lane { mode: machine.mode, number: 0, old: 0, vcc: false, clamp: line.has("clamp"), byte: 0 }
}

/// The half of source `index` that the low (0) or high (1) result takes, and whether its sign is changed.
fn choice(line: &Line<'_>, index: usize, result: usize) -> (u32, bool) {
    let (select, negate) = [("op_sel", "neg_lo"), ("op_sel_hi", "neg_hi")][result];
    let half = line.list(select, index).unwrap_or(result as i64);
    (half as u32, line.list(negate, index).unwrap_or(0) != 0)
}

fn halves(machine: &Machine, line: &Line<'_>, lane: usize) -> Option<u64> {
    let name = line.name.strip_prefix("v_pk_")?;
    let float = name.ends_with("f16");
    let rule = rules::rule(&format!("v_{name}"))?;
    let known = lane_of(machine, line);
    let mut out = 0;
    for result in 0..2 {
        let values: Vec<u64> = (0..rule.src.len())
            .map(|index| {
                let (half, negate) = choice(line, index, result);
                let bits = word(machine, line, index, lane, float) >> (16 * half) & 0xffff;
                let bits = if negate && float { bits ^ 0x8000 } else { bits };
                if float { known.flushed(F16, bits) } else { bits }
            })
            .collect();
        let mut value = (rule.value)(&known, &values);
        if float {
            if rule.any_nan {
                value = first_nan(F16, value, &values);
            }
            value = finished(machine, line, F16, value);
        }
        out |= value << (16 * result);
    }
    Some(out)
}

fn singles(machine: &Machine, line: &Line<'_>, lane: usize) -> Option<Vec<u64>> {
    let name = line.name.strip_prefix("v_pk_")?;
    let known = lane_of(machine, line);
    let read = |index: usize, half: u32, negate: bool| {
        let bits = match line.operands[1 + index].what {
            What::Vector(number) => machine.v[number + half as usize][lane].into(),
            What::Scalar(number) => machine.s[number + half as usize].into(),
            What::Constant(text) => Operand::constant(text, F32),
            other => panic!("{other:?} in {line:?}"),
        };
        if negate { bits ^ F32.sign() } else { bits }
    };
    if name == "mov_b32" {
        // The low result is from the first source, the high one from the second; op_sel selects for both.
        let half = |index: usize| line.list("op_sel", index).unwrap_or(0) as u32;
        return Some(vec![read(0, half(0), false), read(1, half(1), false)]);
    }
    let rule = rules::rule(&format!("v_{name}"))?;
    let both = (0..2).map(|result| {
        let values: Vec<u64> = (0..rule.src.len())
            .map(|index| {
                let (half, negate) = choice(line, index, result);
                known.flushed(F32, read(index, half, negate))
            })
            .collect();
        finished(machine, line, F32, first_nan(F32, (rule.value)(&known, &values), &values))
    });
    Some(both.collect())
}

fn mixed(machine: &Machine, line: &Line<'_>, lane: usize, dst: usize) -> u64 {
    let known = lane_of(machine, line);
    let values: Vec<u64> = (0..3)
        .map(|index| {
            let operand = &line.operands[1 + index];
            let is_half = line.list("op_sel_hi", index).unwrap_or(0) != 0;
            let bits = word(machine, line, index, lane, is_half);
            let bits = if is_half {
                let high = line.list("op_sel", index).unwrap_or(0);
                let half = known.flushed(F16, bits >> (16 * high) & 0xffff);
                real::convert(F16, F32, Round::Nearest, half)
            } else {
                known.flushed(F32, bits)
            };
            let bits = if operand.absolute { bits & !F32.sign() } else { bits };
            if operand.negative { bits ^ F32.sign() } else { bits }
        })
        .collect();
    let sum = if line.name.starts_with("v_fma") {
        real::fused(F32, known.round(F32), values[0], values[1], values[2])
    } else {
        unfused(F32, &known, values[0], values[1], values[2])
    };
    let sum = first_nan(F32, sum, &values);
    if line.name.ends_with("_f32") {
        return finished(machine, line, F32, sum);
    }
    let half = finished(machine, line, F16, real::convert(F32, F16, known.round(F16), sum));
    let old = u64::from(machine.v[dst][lane]);
    if line.name.contains("mixhi") { old & 0xffff | half << 16 } else { old & 0xffff_0000 | half }
}

fn dot(machine: &Machine, line: &Line<'_>, lane: usize) -> Option<u64> {
    let known = lane_of(machine, line);
    let float = line.name.ends_with("f16");
    let third = match line.operands[3].what {
        What::Constant(text) => Operand::constant(text, F32),
        _ => word(machine, line, 2, lane, false),
    };
    let part = |index: usize, result: usize| {
        let (half, negate) = choice(line, index, result);
        let bits = word(machine, line, index, lane, float) >> (16 * half) & 0xffff;
        if negate && float { bits ^ 0x8000 } else { bits }
    };
    if float {
        let negate = line.list("neg_lo", 2).unwrap_or(0) != 0;
        let c = known.flushed(F32, if negate { third ^ F32.sign() } else { third });
        let sum = dot2(known.round(F32), [part(0, 0), part(0, 1)], [part(1, 0), part(1, 1)], c);
        return Some(finished(machine, line, F32, sum));
    }
    let is_signed = line.name.contains("_i32");
    let count: u32 = line.name.strip_prefix("v_dot")?.get(..1)?.parse().ok()?;
    let width = 32 / count;
    let read = |bits: u64, width: u32| {
        let bits = bits & ((1 << width) - 1);
        if is_signed { signed(bits, width) } else { bits.into() }
    };
    let products: i128 = (0..count)
        .map(|at| {
            if count == 2 {
                return read(part(0, at as usize), 16) * read(part(1, at as usize), 16);
            }
            let whole = |index: usize| word(machine, line, index, lane, false) >> (at * width);
            read(whole(0), width) * read(whole(1), width)
        })
        .sum();
    let sum = products + read(third, 32);
    let (least, most) =
        if is_signed { (i32::MIN.into(), i32::MAX.into()) } else { (0, i128::from(u32::MAX)) };
    Some(if known.clamp { sum.clamp(least, most) } else { sum } as u32 as u64)
}
