// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scalar arithmetic, the modes, and instructions without a visible effect.

use super::integers::signed;
use super::rules::OperandKind;
use super::text::{Line, Operand, What, integer};
use super::values::Register;
use super::{EXEC, M0, Machine, real, scalar_float};

/// The effect on SCC.
enum Flag {
    Keep,
    NonZero,
    Is(bool),
}
use Flag::{Is, Keep, NonZero};

/// Whether an operand of a mnemonic has 64 bits: the destination is number 0.
fn is_wide(name: &str, index: usize) -> bool {
    let narrow_count = index > 1
        && ["lshl_b64", "lshr_b64", "ashr_i64", "bfe_u64", "bfe_i64"].iter().any(|n| name.ends_with(n));
    match name {
        "s_bfm_b64" => index == 0,
        "s_bitreplicate_b64_b32" | "s_bitset0_b64" | "s_bitset1_b64" => index == 0,
        "s_bitcmp0_b64" | "s_bitcmp1_b64" => index == 0,
        "s_flbit_i32_i64" => index == 1,
        _ if name.contains("_i32_b64") => index == 1,
        _ => {
            !narrow_count
                && (name.ends_with("64") || name.contains("saveexec_b64") || name.contains("wrexec_b64"))
        }
    }
}

pub(super) fn operands(line: &Line<'_>) -> Vec<(Register, OperandKind)> {
    if let Some(operands) = scalar_float::operands(line) {
        return operands;
    }
    let registers = line.operands.iter().enumerate().filter_map(|(index, operand)| {
        let kind = if is_wide(line.name, index) { OperandKind::B64 } else { OperandKind::B32 };
        Some((Register::from_operand(operand)?, kind))
    });
    registers.collect()
}

fn value(machine: &Machine, operand: &Operand<'_>, wide: bool) -> u64 {
    match operand.what {
        What::Scalar(number) if wide => machine.pair(number),
        What::Scalar(number) => machine.s[number].into(),
        What::Constant(text) if wide => {
            let bits = Operand::constant(text, real::F64);
            if text.starts_with("0x") { bits >> 32 } else { bits }
        }
        What::Constant(text) => Operand::constant(text, real::F32),
        What::Other("src_scc") => machine.scc.into(),
        other => panic!("{other:?} as a scalar"),
    }
}

/// Executes a scalar instruction, if it is one.
pub(super) fn execute(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let name = line.name;
    if matches!(
        name,
        "s_nop"
            | "s_waitcnt"
            | "s_setprio"
            | "s_icache_inv"
            | "s_incperflevel"
            | "s_decperflevel"
            | "s_wakeup"
            | "s_dcache_inv"
            | "s_dcache_wb"
            | "s_dcache_inv_vol"
            | "s_dcache_wb_vol"
            | "s_ttracedata"
            | "s_sethalt"
            | "s_trap"
            | "s_sendmsg"
            | "buffer_inv"
            | "buffer_invl2"
            | "buffer_wbinvl1"
            | "buffer_wbinvl1_vol"
            | "buffer_wbl2"
    ) {
        return Some(());
    }
    if control(machine, line).is_some() || scalar_float::execute(machine, line).is_some() {
        return Some(());
    }
    if let Some(test) = name.strip_prefix("s_cmpk_") {
        let a = value(machine, &line.operands[0], false);
        let b = immediate(line, 1) as u64 & if test.ends_with("u32") { 0xffff } else { 0xffff_ffff };
        machine.scc = compare(test, a, b)?;
        return Some(());
    }
    let read = |index: usize| value(machine, &line.operands[index], is_wide(name, index));
    if let Some(test) = name.strip_prefix("s_cmp_") {
        machine.scc = compare(test, read(0), read(1))?;
        return Some(());
    }
    if let Some(test) = name.strip_prefix("s_bitcmp") {
        let bit = read(0) >> (read(1) & if name.ends_with("64") { 63 } else { 31 }) & 1;
        machine.scc = bit == u64::from(test.starts_with('1'));
        return Some(());
    }
    let (result, flag) = arithmetic(machine, line, &read)?;
    let What::Scalar(dst) = line.operands[0].what else { return None };
    if let Some(result) = result {
        if is_wide(name, 0) {
            machine.set_pair(dst, result)
        } else {
            machine.s[dst] = result as u32
        }
        match flag {
            Keep => {}
            NonZero => machine.scc = result & if is_wide(name, 0) { u64::MAX } else { 0xffff_ffff } != 0,
            Is(flag) => machine.scc = flag,
        }
    }
    Some(())
}

fn immediate(line: &Line<'_>, index: usize) -> i64 {
    match line.operands[index].what {
        What::Constant(text) => {
            let value = integer(text);
            // LLVM prints a negative constant of 16 bits as it is stored.
            if text.starts_with("0x") { i64::from(value as u16 as i16) } else { value }
        }
        other => panic!("{other:?} is no constant"),
    }
}

fn compare(test: &str, a: u64, b: u64) -> Option<bool> {
    let (test, ty) = test.split_once('_')?;
    let read = |bits: u64| if ty.starts_with('i') { signed(bits & 0xffff_ffff, 32) } else { bits.into() };
    let (a, b) = (read(a), read(b));
    Some(match test {
        "eq" => a == b,
        "lg" => a != b,
        "gt" => a > b,
        "ge" => a >= b,
        "lt" => a < b,
        "le" => a <= b,
        _ => return None,
    })
}

/// A bit field: `width` bits from `offset` on.
fn field(a: u64, control: u64, bits: u32, is_signed: bool) -> u64 {
    let (offset, width) = ((control & u64::from(bits - 1)) as u32, (control >> 16 & 0x7f) as u32);
    let shifted = if is_signed { signed(a, bits) >> offset } else { i128::from(a) >> offset };
    let width = width.min(bits);
    let value = shifted & ((1i128 << width) - 1);
    let negative = is_signed && width > 0 && value >> (width - 1) & 1 != 0;
    (if negative { value - (1 << width) } else { value }) as u64 & (u64::MAX >> (64 - bits))
}

fn first(bits: u32, found: impl Fn(u32) -> bool) -> u64 {
    (0..bits).find(|&bit| found(bit)).map_or(u64::MAX, u64::from)
}

/// The result, `None` if the destination keeps its value; and SCC.
#[allow(clippy::too_many_lines)]
fn arithmetic(
    machine: &Machine,
    line: &Line<'_>,
    read: &impl Fn(usize) -> u64,
) -> Option<(Option<u64>, Flag)> {
    let name = line.name;
    let scc = machine.scc;
    let low = |value: i128| value as u64 & 0xffff_ffff;
    let s32 = |bits: u64| signed(bits & 0xffff_ffff, 32);
    let unsigned = |exact: i128| (low(exact), Is(!(0..=0xffff_ffff).contains(&exact)));
    let over = |exact: i128| (low(exact), Is(exact != s32(low(exact))));
    let wide = name.ends_with("64");
    let a = || read(1);
    let b = || read(2);
    let (value, flag) = match name {
        "s_add_u32" => unsigned(i128::from(a()) + i128::from(b())),
        "s_sub_u32" => unsigned(i128::from(a()) - i128::from(b())),
        "s_addc_u32" => unsigned(i128::from(a()) + i128::from(b()) + i128::from(scc)),
        "s_subb_u32" => unsigned(i128::from(a()) - i128::from(b()) - i128::from(scc)),
        "s_add_i32" => over(s32(a()) + s32(b())),
        "s_sub_i32" => over(s32(a()) - s32(b())),
        "s_min_i32" => (low(s32(a()).min(s32(b()))), Is(s32(a()) < s32(b()))),
        "s_min_u32" => (a().min(b()), Is(a() < b())),
        "s_max_i32" => (low(s32(a()).max(s32(b()))), Is(s32(a()) >= s32(b()))),
        "s_max_u32" => (a().max(b()), Is(a() >= b())),
        "s_cselect_b32" | "s_cselect_b64" => (if scc { a() } else { b() }, Keep),
        "s_and_b32" | "s_and_b64" => (a() & b(), NonZero),
        "s_or_b32" | "s_or_b64" => (a() | b(), NonZero),
        "s_xor_b32" | "s_xor_b64" => (a() ^ b(), NonZero),
        "s_andn2_b32" | "s_andn2_b64" => (a() & !b(), NonZero),
        "s_orn2_b32" | "s_orn2_b64" => (a() | !b(), NonZero),
        "s_nand_b32" | "s_nand_b64" => (!(a() & b()), NonZero),
        "s_nor_b32" | "s_nor_b64" => (!(a() | b()), NonZero),
        "s_xnor_b32" | "s_xnor_b64" => (!(a() ^ b()), NonZero),
        "s_lshl_b32" => (a() << (b() & 31), NonZero),
        "s_lshr_b32" => (a() >> (b() & 31), NonZero),
        "s_ashr_i32" => (low(s32(a()) >> (b() & 31)), NonZero),
        "s_lshl_b64" => (a() << (b() & 63), NonZero),
        "s_lshr_b64" => (a() >> (b() & 63), NonZero),
        "s_ashr_i64" => ((a() as i64 >> (b() & 63)) as u64, NonZero),
        "s_bfm_b32" => (((1 << (a() & 31)) - 1) << (b() & 31), Keep),
        "s_bfm_b64" => (((1 << (a() & 63)) - 1) << (b() & 63), Keep),
        "s_bfe_u32" => (field(a(), b(), 32, false), NonZero),
        "s_bfe_i32" => (field(a(), b(), 32, true), NonZero),
        "s_bfe_u64" => (field(a(), b(), 64, false), NonZero),
        "s_bfe_i64" => (field(a(), b(), 64, true), NonZero),
        "s_mul_i32" => (low(i128::from(a()) * i128::from(b())), Keep),
        "s_mul_hi_u32" => (low((i128::from(a()) * i128::from(b())) >> 32), Keep),
        "s_mul_hi_i32" => (low((s32(a()) * s32(b())) >> 32), Keep),
        // The difference wraps before its sign is dropped.
        "s_absdiff_i32" => (low(s32(low(s32(a()) - s32(b()))).abs()), NonZero),
        "s_lshl1_add_u32" => unsigned((i128::from(a()) << 1) + i128::from(b())),
        "s_lshl2_add_u32" => unsigned((i128::from(a()) << 2) + i128::from(b())),
        "s_lshl3_add_u32" => unsigned((i128::from(a()) << 3) + i128::from(b())),
        "s_lshl4_add_u32" => unsigned((i128::from(a()) << 4) + i128::from(b())),
        "s_pack_ll_b32_b16" => (a() & 0xffff | (b() & 0xffff) << 16, Keep),
        "s_pack_lh_b32_b16" => (a() & 0xffff | (b() >> 16) << 16, Keep),
        "s_pack_hh_b32_b16" => (a() >> 16 | (b() >> 16) << 16, Keep),
        "s_mov_b32" | "s_mov_b64" => (a(), Keep),
        "s_cmov_b32" | "s_cmov_b64" => return Some((scc.then(a), Keep)),
        "s_not_b32" | "s_not_b64" => (!a(), NonZero),
        "s_brev_b32" => ((0..32).fold(0, |out, bit| out | (a() >> bit & 1) << (31 - bit)), Keep),
        "s_brev_b64" => ((0..64).fold(0, |out, bit| out | (a() >> bit & 1) << (63 - bit)), Keep),
        "s_wqm_b32" | "s_wqm_b64" => {
            let bits = if wide { 64 } else { 32 };
            ((0..bits).fold(0, |out, bit| out | u64::from(a() >> (bit & 60) & 15 != 0) << bit), NonZero)
        }
        "s_quadmask_b32" | "s_quadmask_b64" => {
            let quads = if wide { 16 } else { 8 };
            ((0..quads).fold(0, |out, quad| out | u64::from(a() >> (4 * quad) & 15 != 0) << quad), NonZero)
        }
        "s_bcnt0_i32_b32" => ((0..32).map(|bit| !a() >> bit & 1).sum(), NonZero),
        "s_bcnt0_i32_b64" => ((0..64).map(|bit| !a() >> bit & 1).sum(), NonZero),
        "s_bcnt1_i32_b32" => ((0..32).map(|bit| a() >> bit & 1).sum(), NonZero),
        "s_bcnt1_i32_b64" => ((0..64).map(|bit| a() >> bit & 1).sum(), NonZero),
        "s_ff0_i32_b32" => (first(32, |bit| a() >> bit & 1 == 0), Keep),
        "s_ff0_i32_b64" => (first(64, |bit| a() >> bit & 1 == 0), Keep),
        "s_ff1_i32_b32" => (first(32, |bit| a() >> bit & 1 == 1), Keep),
        "s_ff1_i32_b64" => (first(64, |bit| a() >> bit & 1 == 1), Keep),
        "s_flbit_i32_b32" => (first(32, |at| a() >> (31 - at) & 1 == 1), Keep),
        "s_flbit_i32_b64" => (first(64, |at| a() >> (63 - at) & 1 == 1), Keep),
        "s_flbit_i32" => (first(32, |at| a() >> (31 - at) & 1 != a() >> 31 & 1), Keep),
        "s_flbit_i32_i64" => (first(64, |at| a() >> (63 - at) & 1 != a() >> 63), Keep),
        "s_sext_i32_i8" => (signed(a() & 0xff, 8) as u64, Keep),
        "s_sext_i32_i16" => (signed(a() & 0xffff, 16) as u64, Keep),
        "s_abs_i32" => (low(s32(a()).abs()), NonZero),
        "s_bitset0_b32" => (read(0) & !(1 << (a() & 31)), Keep),
        "s_bitset1_b32" => (read(0) | 1 << (a() & 31), Keep),
        "s_bitset0_b64" => (read(0) & !(1 << (a() & 63)), Keep),
        "s_bitset1_b64" => (read(0) | 1 << (a() & 63), Keep),
        "s_bitreplicate_b64_b32" => ((0..64).fold(0, |out, bit| out | (a() >> (bit / 2) & 1) << bit), Keep),
        "s_movk_i32" => (immediate(line, 1) as u64, Keep),
        "s_cmovk_i32" => return Some((scc.then(|| immediate(line, 1) as u64), Keep)),
        "s_addk_i32" => over(s32(read(0)) + i128::from(immediate(line, 1))),
        "s_mulk_i32" => (low(s32(read(0)) * i128::from(immediate(line, 1))), Keep),
        _ => return None,
    };
    Some((Some(value), flag))
}

/// EXEC, M0's indices and the hardware registers.
fn control(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    let name = line.name;
    let register = |index: usize| match line.operands[index].what {
        What::Scalar(number) => number,
        other => panic!("{other:?} is no scalar register"),
    };
    if let Some(operation) = name.strip_suffix("_saveexec_b64").or_else(|| name.strip_suffix("_wrexec_b64")) {
        let (s, exec) = (value(machine, &line.operands[1], true), machine.exec());
        let new = match operation {
            "s_and" => s & exec,
            "s_or" => s | exec,
            "s_xor" => s ^ exec,
            "s_andn2" => s & !exec,
            "s_orn2" => s | !exec,
            "s_nand" => !(s & exec),
            "s_nor" => !(s | exec),
            "s_xnor" => !(s ^ exec),
            "s_andn1" => !s & exec,
            "s_orn1" => !s | exec,
            _ => return None,
        };
        machine.set_pair(register(0), if name.contains("wrexec") { new } else { exec });
        machine.set_pair(EXEC, new);
        machine.scc = new != 0;
        return Some(());
    }
    let m0 = machine.s[M0];
    match name {
        "s_movrels_b32" => machine.s[register(0)] = machine.s[register(1) + m0 as usize],
        "s_movrels_b64" => machine.set_pair(register(0), machine.pair(register(1) + m0 as usize)),
        "s_movreld_b32" => {
            machine.s[register(0) + m0 as usize] = value(machine, &line.operands[1], false) as u32
        }
        "s_movreld_b64" => {
            let moved = value(machine, &line.operands[1], true);
            machine.set_pair(register(0) + m0 as usize, moved);
        }
        "s_set_gpr_idx_on" => {
            let index = value(machine, &line.operands[0], false) as u32 & 0xff;
            machine.s[M0] = m0 & !0xf0ff | index | which(line, 1) << 12;
        }
        "s_set_gpr_idx_idx" => {
            machine.s[M0] = m0 & !0xff | value(machine, &line.operands[0], false) as u32 & 0xff;
        }
        "s_set_gpr_idx_mode" => machine.s[M0] = m0 & !0xf000 | which(line, 0) << 12,
        "s_set_gpr_idx_off" => {}
        "s_setreg_b32" | "s_setreg_imm32_b32" => {
            let new = value(machine, &line.operands[1], false) as u32;
            let (id, offset, size) = hardware(line, 0);
            assert_eq!(id, "HW_REG_MODE");
            let mask = (((1u64 << size) - 1) << offset) as u32;
            machine.mode = machine.mode & !mask | new << offset & mask;
        }
        "s_getreg_b32" => {
            let (id, offset, size) = hardware(line, 1);
            let bits = if id == "HW_REG_MODE" { machine.mode } else { machine.scc.into() };
            machine.s[register(0)] = (u64::from(bits) >> offset & ((1 << size) - 1)) as u32;
        }
        _ => return None,
    }
    Some(())
}

/// The operands in `gpr_idx(SRC0,DST)`.
fn which(line: &Line<'_>, index: usize) -> u32 {
    let What::Other(text) = line.operands[index].what else { panic!("{line:?}") };
    ["SRC0", "SRC1", "SRC2", "DST"]
        .iter()
        .enumerate()
        .map(|(bit, name)| u32::from(text.contains(name)) << bit)
        .sum()
}

/// Name, first bit and width in `hwreg(NAME, 4, 2)`.
fn hardware<'t>(line: &Line<'t>, index: usize) -> (&'t str, u32, u32) {
    let What::Other(text) = line.operands[index].what else { panic!("{line:?}") };
    let inner = text.trim_start_matches("hwreg(").trim_end_matches(')');
    let mut parts = inner.split(", ");
    let name = parts.next().unwrap_or("");
    let mut number = |otherwise| parts.next().map_or(otherwise, |part| integer(part) as u32);
    (name, number(0), number(32))
}
