// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scalar floats: each is the vector instruction of the same name, in one lane.

use super::Machine;
use super::lanes::flushed_source;
use super::real::F16;
use super::rules::{self, Lane, OperandKind, Rule};
use super::text::{Line, Operand, What};
use super::values::Register;
use super::vector::first_nan;

/// The rule of a mnemonic.
fn rule(name: &str) -> Option<Rule> {
    let stem = name.strip_prefix("s_")?;
    let same = match stem {
        "cvt_hi_f32_f16" => "cvt_f32_f16",
        "cvt_pk_rtz_f16_f32" => "cvt_pkrtz_f16_f32",
        // Integers have other rules for the condition code, and no vector instruction of these names.
        _ if stem.ends_with("f32") || stem.ends_with("f16") || stem.starts_with("cvt_") => stem,
        _ => return None,
    };
    rules::rule(&format!("v_{same}"))
}

/// The test of a compare of floats, and the kind of its sources.
fn compare(name: &str) -> Option<rules::Compare> {
    let test = name.strip_prefix("s_cmp_").filter(|test| test.ends_with("f32") || test.ends_with("f16"))?;
    rules::compare(test)
}

/// The registers that an instruction reads, and their kinds.
pub(super) fn operands(line: &Line<'_>) -> Option<Vec<(Register, OperandKind)>> {
    let (first, kinds) = match (compare(line.name), rule(line.name)) {
        (Some((kinds, _)), _) => (0, kinds),
        (None, Some(rule)) => (1, rule.src.into_iter().chain([rule.dst]).collect()),
        _ => return None,
    };
    // The destination may be a source.
    let operands = line.operands[first..].iter().chain(&line.operands[..first]);
    Some(
        operands
            .zip(kinds)
            .filter_map(|(operand, kind)| Some((Register::from_operand(operand)?, kind)))
            .collect(),
    )
}

/// A source, flushed if it is a float.
fn source(machine: &Machine, operand: &Operand<'_>, kind: OperandKind, high: bool) -> u64 {
    let bits: u64 = match operand.what {
        What::Scalar(number) => machine.s[number].into(),
        What::Constant(text) if high => Operand::constant(text, OperandKind::F32.width()),
        What::Constant(text) => Operand::constant(text, kind.width()),
        other => panic!("{other:?} as a scalar float"),
    };
    let bits = if high { bits >> 16 } else { bits };
    let mask = if kind.width() == F16 { 0xffff } else { 0xffff_ffff };
    kind.float().map_or(bits & mask, |format| flushed_source(machine, format, bits & mask))
}

/// Executes an instruction, if it is one of these.
pub(super) fn execute(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let high = line.name == "s_cvt_hi_f32_f16";
    if let Some((kinds, holds)) = compare(line.name) {
        let values: Vec<u64> = line
            .operands
            .iter()
            .zip(kinds)
            .map(|(operand, kind)| source(machine, operand, kind, high))
            .collect();
        machine.scc = holds(&values);
        return Some(());
    }
    let rule = rule(line.name)?;
    let read = |at: usize, kind| source(machine, &line.operands[at], kind, high);
    let values: Vec<u64> = rule.src.iter().enumerate().map(|(at, &kind)| read(1 + at, kind)).collect();
    let old = read(0, rule.dst);
    let lane = Lane { mode: machine.mode, number: 0, old, vcc: false, clamp: false, byte: 0 };
    let mut value = (rule.value)(&lane, &values);
    if let Some(format) = rule.dst.float() {
        if rule.any_nan && format.is_nan(value) {
            value = first_nan(&rule, &values, old, format);
        }
        value = lane.flushed_result(format, value);
    }
    let What::Scalar(dst) = line.operands[0].what else { return None };
    // A half leaves nothing in the high bits.
    machine.s[dst] = value as u32;
    Some(())
}
