// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vector arithmetic: VOP1, VOP2, VOP3 and VOPC.

use super::lanes::{finished, flushed_source, is_written, put, source};
use super::real::{self, Format};
use super::rules::{self, Lane, OperandKind, Rule};
use super::text::{Line, What};
use super::values::Register;
use super::{Freedom, LANES, Machine, VCC, floats};

/// Executes an instruction of these formats, if it is one.
pub(super) fn execute(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    if let Some(test) = line.name.strip_prefix("v_cmpx_") {
        return compare(machine, line, test, true);
    }
    if let Some(test) = line.name.strip_prefix("v_cmp_") {
        return compare(machine, line, test, false);
    }
    match line.name {
        "v_nop" | "v_clrexcp" => Some(()),
        "v_readfirstlane_b32" | "v_readlane_b32" | "v_writelane_b32" | "v_swap_b32" => {
            lane_moves(machine, line)
        }
        "v_cndmask_b32" => select(machine, line),
        "v_mqsad_u32_u8" => masked_sums(machine, line),
        _ if line.name.contains("_co_u32") => carries(machine, line),
        _ if line.name.starts_with("v_mad_u64") || line.name.starts_with("v_mad_i64") => {
            wide_products(machine, line)
        }
        _ if line.name.starts_with("v_div_scale_") => division_scales(machine, line),
        _ => usual(machine, line, &rules::rule(line.name)?),
    }
}

/// The registers that an instruction reads, and their kinds.
pub(super) fn operands(line: &Line<'_>) -> Vec<(Register, OperandKind)> {
    let stem = line.name.strip_prefix("v_").unwrap_or("");
    let tested = stem.strip_prefix("cmp_").or_else(|| stem.strip_prefix("cmpx_"));
    let (first, kinds) = if let Some(test) = tested {
        (1, rules::compare(test).map_or(Vec::new(), |(kinds, _)| kinds))
    } else if let Some(ty) = stem.strip_prefix("div_scale_") {
        (2, vec![if ty == "f64" { OperandKind::F64 } else { OperandKind::F32 }; 3])
    } else if stem.contains("_co_u32") {
        (2, vec![OperandKind::B32; 2])
    } else if stem.starts_with("mad_u64") || stem.starts_with("mad_i64") {
        (2, vec![OperandKind::B32, OperandKind::B32, OperandKind::B64])
    } else if stem == "cndmask_b32" {
        (1, vec![OperandKind::F32; 2])
    } else {
        (1, rules::rule(line.name).map_or(Vec::new(), |rule| rule.src))
    };
    let mut found: Vec<_> = kinds
        .iter()
        .enumerate()
        .filter_map(|(index, &kind)| Some((Register::from_operand(line.operands.get(first + index)?)?, kind)))
        .collect();
    // Instructions that accumulate read their destination.
    if let (Some(rule), Some(what)) =
        (rules::rule(line.name), line.operands.first().and_then(Register::from_operand))
    {
        found.push((what, rule.dst));
    }
    found
}

/// The bits of all sources in a lane, flushed where they are floats.
fn sources(machine: &Machine, line: &Line<'_>, first: usize, kinds: &[OperandKind], lane: usize) -> Vec<u64> {
    kinds
        .iter()
        .enumerate()
        .map(|(index, &kind)| {
            let bits = source(machine, line, &line.operands[first + index], index, kind, lane);
            kind.float().map_or(bits, |format| flushed_source(machine, format, bits))
        })
        .collect()
}

fn register(line: &Line<'_>, index: usize) -> usize {
    match line.operands[index].what {
        What::Vector(number) | What::Scalar(number) => number,
        other => panic!("{other:?} is no register in {line:?}"),
    }
}

fn old(machine: &Machine, register: usize, lane: usize) -> u64 {
    let high = machine.v.get(register + 1).map_or(0, |row| row[lane]);
    u64::from(machine.v[register][lane]) | u64::from(high) << 32
}

/// An instruction with one vector result, computed lane by lane.
fn usual(machine: &mut Machine, line: &Line<'_>, rule: &Rule) -> Option<()> {
    let dst = register(line, 0);
    let mut results = Vec::new();
    for lane in (0..LANES).filter(|&lane| is_written(machine, line, lane)) {
        let values = sources(machine, line, 1, &rule.src, lane);
        let mut before = old(machine, dst, lane);
        if let Some(format) = rule.dst.float() {
            let mask = u64::MAX >> (64 - format.bits());
            before = flushed_source(machine, format, before & mask);
        }
        let byte = (2..4).map(|at| line.list("op_sel", at).unwrap_or(0) << (at - 2)).sum::<i64>() as u32;
        let known = Lane {
            mode: machine.mode,
            number: lane,
            old: before,
            vcc: machine.pair(VCC) >> lane & 1 != 0,
            clamp: line.has("clamp"),
            byte,
        };
        let mut value = (rule.value)(&known, &values);
        let mut free = None;
        if let Some(format) = rule.dst.float() {
            if rule.any_nan && format.is_nan(value) {
                value = first_nan(rule, &values, before, format);
            }
            value = finished(machine, line, format, value);
            free = (rule.ulp > 0).then_some(rule.ulp);
        }
        results.push((lane, value, free));
    }
    for (lane, value, free) in results {
        write(machine, line, dst, lane, rule.dst, value, free);
    }
    Some(())
}

/// The NaN of a computation: the first source that is one, made quiet, or the usual one.
pub(super) fn first_nan(rule: &Rule, values: &[u64], old: u64, format: Format) -> u64 {
    let reads_old = rule.accumulates.then_some((rule.dst, old));
    rule.src
        .iter()
        .copied()
        .zip(values.iter().copied())
        .chain(reads_old)
        .filter_map(|(kind, bits)| Some((kind.float()?, bits)))
        .find(|(from, bits)| from.is_nan(*bits))
        .map_or(format.nan(), |(from, bits)| real::convert(from, format, real::Round::Nearest, bits))
}

fn write(
    machine: &mut Machine,
    line: &Line<'_>,
    dst: usize,
    lane: usize,
    kind: OperandKind,
    value: u64,
    free: Option<u32>,
) {
    if kind.registers() == 1 {
        return put(machine, line, dst, lane, kind, value, free);
    }
    machine.v[dst][lane] = value as u32;
    machine.v[dst + 1][lane] = (value >> 32) as u32;
    if let (Some(ulp), Some(format)) = (free, kind.float()) {
        machine.freedom.insert((dst, lane), Freedom { format, ulp, shift: 0 });
    }
}

fn compare(machine: &mut Machine, line: &Line<'_>, test: &str, narrows: bool) -> Option<()> {
    let (kinds, holds) = rules::compare(test)?;
    // The class is that of the unflushed bits.
    let raw = test.starts_with("class");
    let exec = machine.exec();
    let mut mask = 0;
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let values: Vec<u64> = if raw {
            kinds
                .iter()
                .enumerate()
                .map(|(i, &kind)| source(machine, line, &line.operands[1 + i], i, kind, lane))
                .collect()
        } else {
            sources(machine, line, 1, &kinds, lane)
        };
        mask |= u64::from(holds(&values)) << lane;
    }
    machine.set_pair(register(line, 0), mask);
    if narrows {
        machine.set_pair(super::EXEC, mask);
    }
    Some(())
}

fn lane_moves(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let scalar = |index: usize| source(machine, line, &line.operands[index], 9, OperandKind::B32, 0) as u32;
    let second = if line.operands.len() > 2 { (scalar(1), scalar(2) as usize & 63) } else { (0, 0) };
    match line.name {
        "v_readfirstlane_b32" => {
            let lane = (0..LANES).find(|lane| machine.exec() >> lane & 1 != 0).unwrap_or(0);
            machine.s[register(line, 0)] = machine.v[register(line, 1)][lane];
        }
        "v_readlane_b32" => {
            machine.s[register(line, 0)] = machine.v[register(line, 1)][second.1];
        }
        "v_writelane_b32" => {
            machine.v[register(line, 0)][second.1] = second.0;
        }
        _ => {
            let exec = machine.exec();
            for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
                let (a, b) = (register(line, 0), register(line, 1));
                let (x, y) = (machine.v[a][lane], machine.v[b][lane]);
                machine.v[a][lane] = y;
                machine.v[b][lane] = x;
            }
        }
    }
    Some(())
}

/// The scalar mask that an operand names.
fn mask(machine: &Machine, line: &Line<'_>, index: usize) -> u64 {
    machine.pair(register(line, index))
}

fn select(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let chosen = mask(machine, line, 3);
    let mut results = Vec::new();
    for lane in (0..LANES).filter(|&lane| is_written(machine, line, lane)) {
        let at = usize::from(chosen >> lane & 1 != 0);
        // Signs apply as to singles, but nothing is flushed.
        results.push((lane, source(machine, line, &line.operands[1 + at], at, OperandKind::F32, lane)));
    }
    for (lane, value) in results {
        put(machine, line, register(line, 0), lane, OperandKind::B32, value, None);
    }
    Some(())
}

fn carries(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let exec = machine.exec();
    let carry_in = if line.operands.len() > 4 { mask(machine, line, 4) } else { 0 };
    let carry_out = register(line, 1);
    let mut flags = 0u64;
    let mut results = Vec::new();
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let read =
            |at: usize| source(machine, line, &line.operands[2 + at], at, OperandKind::B32, lane) as i64;
        let (a, b, c) = (read(0), read(1), (carry_in >> lane & 1) as i64);
        let exact = match line.name {
            "v_add_co_u32" | "v_addc_co_u32" => a + b + c,
            "v_sub_co_u32" | "v_subb_co_u32" => a - b - c,
            _ => b - a - c,
        };
        let over = !(0..=i64::from(u32::MAX)).contains(&exact);
        flags |= u64::from(over) << lane;
        let value = if line.has("clamp") { exact.clamp(0, u32::MAX.into()) } else { exact };
        results.push((lane, u64::from(value as u32)));
    }
    for (lane, value) in results {
        if is_written(machine, line, lane) {
            put(machine, line, register(line, 0), lane, OperandKind::B32, value, None);
        }
    }
    machine.set_pair(carry_out, flags);
    Some(())
}

fn wide_products(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let exec = machine.exec();
    let is_signed = line.name.contains("i64");
    let mut flags = 0u64;
    let mut results = Vec::new();
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let read = |at: usize, kind| source(machine, line, &line.operands[2 + at], at, kind, lane);
        let wide = |bits: u64, width| {
            if is_signed { super::integers::signed(bits, width) } else { i128::from(bits) }
        };
        let (a, b) = (wide(read(0, OperandKind::B32), 32), wide(read(1, OperandKind::B32), 32));
        let exact = a * b + wide(read(2, OperandKind::B64), 64);
        let (least, most) =
            if is_signed { (i64::MIN.into(), i64::MAX.into()) } else { (0, i128::from(u64::MAX)) };
        // The 65th bit of the sum; for a signed sum it is the sign.
        flags |= u64::from(if is_signed { exact < 0 } else { exact > most }) << lane;
        results.push((lane, if line.has("clamp") { exact.clamp(least, most) } else { exact } as u64));
    }
    for (lane, value) in results {
        write(machine, line, register(line, 0), lane, OperandKind::B64, value, None);
    }
    machine.set_pair(register(line, 1), flags);
    Some(())
}

fn division_scales(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let exec = machine.exec();
    let kind = if line.name.ends_with("f64") { OperandKind::F64 } else { OperandKind::F32 };
    let format: Format = kind.float()?;
    let mut flags = 0u64;
    let mut results = Vec::new();
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let values = sources(machine, line, 2, &[kind; 3], lane);
        let (value, flag) = floats::division_scale(format, values[0], values[1], values[2]);
        flags |= u64::from(flag) << lane;
        // The usual NaN means that there is no quotient, but the NaN of a source comes first.
        let nan = values.iter().copied().find(|&bits| format.is_nan(bits));
        let value =
            if format.is_nan(value) { nan.map_or(format.nan(), |bits| bits | format.quiet()) } else { value };
        let value = finished(machine, line, format, value);
        results.push((lane, value, None));
    }
    for (lane, value, free) in results {
        write(machine, line, register(line, 0), lane, kind, value, free);
    }
    machine.set_pair(register(line, 1), flags);
    Some(())
}

/// Four sums of differences of bytes, each in a register.
fn masked_sums(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let exec = machine.exec();
    let (dst, third) = (register(line, 0), register(line, 3));
    for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
        let a = source(machine, line, &line.operands[1], 0, OperandKind::B64, lane);
        let b = source(machine, line, &line.operands[2], 1, OperandKind::B32, lane);
        let sums: Vec<u32> = (0..4)
            .map(|place| {
                let sum: u64 = (0..4)
                    .map(|i| {
                        let (x, y) = (a >> (8 * (place + i)) & 0xff, b >> (8 * i) & 0xff);
                        if y == 0 { 0 } else { x.abs_diff(y) }
                    })
                    .sum();
                let sum = sum + u64::from(machine.v[third + place][lane]);
                if line.has("clamp") { sum.min(u32::MAX.into()) as u32 } else { sum as u32 }
            })
            .collect();
        for (place, sum) in sums.into_iter().enumerate() {
            machine.v[dst + place][lane] = sum;
        }
    }
    Some(())
}
