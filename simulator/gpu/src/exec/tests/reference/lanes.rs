// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operands of vector instructions, one lane at a time: other lanes, parts of registers, signs, flushed
//! denormals; and the writing of a result to its register.

use super::real::{self, F32, Format};
use super::rules::OperandKind;
use super::text::{Line, Operand, What};
use super::{Freedom, Machine};

/// The lane that a lane reads with DPP; `None` past an edge.
pub(super) fn dpp_source(line: &Line<'_>, lane: usize) -> Option<usize> {
    let (row, at) = (lane & !15, lane & 15);
    let by = |name: &str| line.modifier(name).map(text_number);
    let inside = |at: usize| (at < 16).then_some(row + at);
    if let Some(to) = line.list("quad_perm", lane & 3) {
        Some(lane & !3 | to as usize)
    } else if let Some(by) = by("row_shl") {
        inside(at + by)
    } else if let Some(by) = by("row_shr") {
        inside(at.checked_sub(by)?)
    } else if let Some(by) = by("row_ror") {
        Some(row + (at + 16 - by) % 16)
    } else if line.has("wave_shl") {
        (lane + 1 < 64).then_some(lane + 1)
    } else if line.has("wave_rol") {
        Some((lane + 1) % 64)
    } else if line.has("wave_shr") {
        lane.checked_sub(1)
    } else if line.has("wave_ror") {
        Some((lane + 63) % 64)
    } else if line.has("row_mirror") {
        Some(row + 15 - at)
    } else if line.has("row_half_mirror") {
        Some((lane & !7) + 7 - (lane & 7))
    } else if let Some(which) = by("row_bcast") {
        // The last lane of a row goes to the next row, or that of the first half to the second.
        if which == 15 { row.checked_sub(1) } else { (lane & 32).checked_sub(1) }
    } else if let Some(which) = by("row_newbcast") {
        Some(row + which)
    } else {
        panic!("unknown DPP in {line:?}")
    }
}

fn text_number(text: &str) -> usize {
    super::text::integer(text) as usize
}

/// Whether a lane's result is written.
pub(super) fn is_written(machine: &Machine, line: &Line<'_>, lane: usize) -> bool {
    let active = |lane: usize| machine.exec() >> lane & 1 != 0;
    if line.form != "dpp" {
        return active(lane);
    }
    let row = line.number("row_mask") >> (lane / 16) & 1 != 0;
    let bank = line.number("bank_mask") >> (lane / 4 % 4) & 1 != 0;
    let valid = line.has("bound_ctrl") || dpp_source(line, lane).is_some_and(active);
    active(lane) && row && bank && valid
}

/// The bits of source `index` (0 is the first behind the destinations) in a lane. `raw` leaves denormals alone.
pub(super) fn source(
    machine: &Machine,
    line: &Line<'_>,
    operand: &Operand<'_>,
    index: usize,
    kind: OperandKind,
    lane: usize,
) -> u64 {
    let mut from = Some(lane);
    if index == 0 && line.form == "dpp" {
        from = dpp_source(line, lane).filter(|lane| machine.exec() >> lane & 1 != 0);
    }
    let mut bits = match operand.what {
        What::Vector(number) => from.map_or(0, |lane| {
            let word = |at: usize| u64::from(machine.v[number + at][lane]);
            if kind.registers() > 1 { word(0) | word(1) << 32 } else { word(0) }
        }),
        What::Scalar(number) if kind.registers() > 1 => machine.pair(number),
        What::Scalar(number) => machine.s[number].into(),
        What::Constant(text) => {
            // Integers of 16 bits take the low half of a 32-bit constant.
            let format = if kind == OperandKind::B16 { F32 } else { kind.width() };
            let bits = Operand::constant(text, format);
            // A literal of 32 bits is the low half of an integer.
            if kind == OperandKind::B64 && text.starts_with("0x") { bits >> 32 } else { bits }
        }
        What::Other(name) => special(machine, name),
    };
    if line.form == "sdwa" {
        let select = line.modifier(["src0_sel", "src1_sel"][index]).unwrap_or("DWORD");
        bits = selected(bits, select, operand.sext);
    } else if matches!(kind, OperandKind::F16 | OperandKind::B16) {
        bits = bits >> (16 * line.list("op_sel", index).unwrap_or(0)) & 0xffff;
    }
    if let OperandKind::B16 | OperandKind::F16 = kind {
        bits &= 0xffff;
    }
    let Some(format) = kind.float() else { return bits };
    if operand.absolute {
        bits &= !format.sign();
    }
    if operand.negative {
        bits ^= format.sign();
    }
    bits
}

/// A float source whose denormal the mode makes zero.
pub(super) fn flushed_source(machine: &Machine, format: Format, bits: u64) -> u64 {
    let keep = machine.mode >> if format == F32 { 4 } else { 6 } & 1 != 0;
    if !keep && format.is_denormal(bits) { bits & format.sign() } else { bits }
}

fn special(machine: &Machine, name: &str) -> u64 {
    match name {
        "src_scc" | "scc" => machine.scc.into(),
        "src_vccz" => (machine.pair(super::VCC) == 0).into(),
        "src_execz" => (machine.exec() == 0).into(),
        _ => panic!("unknown operand {name}"),
    }
}

fn selected(bits: u64, select: &str, sext: bool) -> u64 {
    let (shift, width) = part(select);
    let value = bits >> shift & (u64::MAX >> (64 - width));
    if sext { super::integers::signed(value, width) as u64 & 0xffff_ffff } else { value }
}

/// First bit and width of a part of a register.
fn part(select: &str) -> (u32, u32) {
    match select.split_once('_') {
        Some(("BYTE", index)) => (8 * text_number(index) as u32, 8),
        Some((_, index)) => (16 * text_number(index) as u32, 16),
        None => (0, 32),
    }
}

/// Output scale, flushed denormals and clamp of a float result.
pub(super) fn finished(machine: &Machine, line: &Line<'_>, format: Format, bits: u64) -> u64 {
    let keeps_denormals = machine.mode >> if format == F32 { 5 } else { 7 } & 1 != 0;
    let mut bits = bits;
    let scale = match (line.modifier("mul"), line.modifier("div")) {
        (Some("2"), _) => 1,
        (Some("4"), _) => 2,
        (_, Some("2")) => -1,
        _ => 0,
    };
    // The scale has no effect in the two usual modes: with denormals, or with IEEE's rules.
    let ieee = machine.mode & 0x200 != 0;
    if scale != 0 && !ieee && !keeps_denormals && format.field(bits) != format.field(format.infinity()) {
        let round = real::Round::from_mode(if format == F32 { machine.mode } else { machine.mode >> 2 });
        bits = real::from_number(format, round, format.number(bits).scaled(scale));
    }
    if !keeps_denormals && format.is_denormal(bits) {
        bits &= format.sign();
    }
    if line.has("clamp") {
        let one = (format.bias() as u64) << format.mantissa;
        bits = if format.is_nan(bits) {
            if machine.mode & 0x100 != 0 { 0 } else { bits }
        } else if format.is_negative(bits) {
            0
        } else {
            bits.min(one)
        };
    }
    bits
}

/// Puts a result of at most 32 bits into its register.
pub(super) fn put(
    machine: &mut Machine,
    line: &Line<'_>,
    register: usize,
    lane: usize,
    kind: OperandKind,
    bits: u64,
    free: Option<u32>,
) {
    let old = machine.v[register][lane];
    let mut shift = 0;
    let new = if let (true, Some(select)) = (line.form == "sdwa", line.modifier("dst_sel")) {
        let (first, width) = part(select);
        shift = first;
        let mask = u64::MAX >> (64 - width) << first;
        let placed = bits << first & mask;
        let sign = placed >> (first + width - 1) & 1 != 0;
        let rest = match line.modifier("dst_unused") {
            Some("UNUSED_PRESERVE") => u64::from(old) & !mask,
            // Bits above the part repeat its sign, those below are zero.
            Some("UNUSED_SEXT") if sign => !(u64::MAX >> (64 - first - width)),
            _ => 0,
        };
        (placed | rest) as u32
    } else if matches!(kind, OperandKind::B16 | OperandKind::F16) {
        // Instructions that can select a half of the destination keep the other half; the rest clear it.
        let high = line.list("op_sel", source_count(line)).unwrap_or(0) != 0;
        shift = if high { 16 } else { 0 };
        if keeps_other_half(line.name) {
            if high { old & 0xffff | (bits as u32) << 16 } else { old & 0xffff_0000 | bits as u32 }
        } else {
            bits as u32
        }
    } else {
        bits as u32
    };
    machine.v[register][lane] = new;
    if let (Some(ulp), Some(format)) = (free, kind.float()) {
        machine.freedom.insert((register, lane), Freedom { format, ulp, shift });
    }
}

/// Sources of an instruction, by the length of its op_sel.
fn source_count(line: &Line<'_>) -> usize {
    (0..4).rev().find(|&index| line.list("op_sel", index).is_some()).unwrap_or(3)
}

fn keeps_other_half(name: &str) -> bool {
    let stem = &name[2..];
    let selecting = ["mad", "fma", "div_fixup", "min3", "max3", "med3"];
    let sixteen =
        stem.ends_with("16") && selecting.iter().any(|&s| stem.rsplit_once('_').is_some_and(|(p, _)| p == s));
    sixteen
        || matches!(stem, "add_i16" | "sub_i16" | "cvt_pk_fp8_f32" | "cvt_pk_bf8_f32")
        || matches!(stem, "bitop3_b16" | "ashr_pk_i8_i32" | "ashr_pk_u8_i32")
}
