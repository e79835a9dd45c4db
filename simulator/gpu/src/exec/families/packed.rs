// SPDX-License-Identifier: MIT OR Apache-2.0
//! VOP3P: two operations in one instruction, and fused operations of mixed precision.

use crate::exec::families::dot::bits;
use crate::exec::machine::core::Flow;
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::step::{INTEGERS, Source, Step};
use crate::exec::machine::wave::{Mode, Wave};
use crate::exec::operands::modifiers::{crossed, crosses};
use crate::exec::operands::result::{finish16, finish32, written_lanes};
use crate::exec::operands::rounding::two_steps;
use crate::exec::operands::source::{scalar32, scalar64};
use crate::exec::values::extremum::{max_num_f16, maximum_f16, min_num_f16, minimum_f16};
use crate::exec::values::float::{max_f16, min_f16, unfused};
use crate::exec::values::half::{f16_to_f32, f32_to_f16, f64_to_f16, sum_to_odd};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::{LANES, Row, row};
use crate::exec::values::soft;
use crate::isa::{Op, Operand, inline_f16};

/// A source as halves for the low and for the high result, in the low bits of two rows.
#[inline(always)]
pub(super) fn halves(wave: &Wave, step: &Step, index: usize) -> [Row; 2] {
    let mods = &step.inst.mods;
    let other;
    let values = match step.src[index] {
        Source::Vector(number) if index == 0 && crosses(mods) => {
            other = crossed(wave.row(number), mods, wave.exec());
            &other
        }
        Source::Vector(number) => wave.row(number),
        source => {
            other = [scalar32(wave, source); LANES];
            &other
        }
    };
    let shifts = [mods.op_sel, mods.op_sel_hi].map(|high| 16 * u32::from(high >> index & 1));
    let flips = [mods.neg, mods.neg_hi].map(|negate| 0x8000 * u32::from(negate >> index & 1));
    [
        row!(|lane| values[lane] >> shifts[0] & 0xffff ^ flips[0]),
        row!(|lane| values[lane] >> shifts[1] & 0xffff ^ flips[1]),
    ]
}

/// A source of 64 bits as singles for the low and for the high result.
#[inline(always)]
fn singles(wave: &Wave, step: &Step, index: usize) -> [Row; 2] {
    let mods = &step.inst.mods;
    let second = [mods.op_sel, mods.op_sel_hi].map(|second| second >> index & 1);
    let flips = [mods.neg, mods.neg_hi].map(|negate| 0x8000_0000 * u32::from(negate >> index & 1));
    match step.src[index] {
        Source::Vector(number) => {
            let [low, high] = second.map(|second| wave.row(number + u16::from(second)));
            [row!(|lane| low[lane] ^ flips[0]), row!(|lane| high[lane] ^ flips[1])]
        }
        // A constant is the same in both halves.
        Source::Constant(value) => flips.map(|flip| [value as u32 ^ flip; LANES]),
        source => {
            let value = scalar64(wave, source);
            let half = |which: usize| (value >> (32 * second[which])) as u32 ^ flips[which];
            [[half(0); LANES], [half(1); LANES]]
        }
    }
}

/// An operation on both halves of sources given by their number.
macro_rules! pair {
    (float $mode:ident |$($arg:ident $index:literal),*| $result:expr) => {
        handler!(|core, step| {
            let wave = &*core.wave;
            $(let $arg = halves(wave, step, $index);)*
            let $mode = wave.mode;
            let mut low = row!(|lane| { $(let $arg = $arg[0][lane];)* $result });
            let mut high = row!(|lane| { $(let $arg = $arg[1][lane];)* $result });
            if step.inst.mods.clamp || wave.unusual {
                finish_halves([&mut low, &mut high], step, wave);
            }
            let result = row!(|lane| low[lane] & 0xffff | high[lane] << 16);
            let exec = core.wave.exec();
            core.wave.write_row(step.dst, &result, exec);
            Flow::Next
        })
    };
    ($ty:ident, |$($arg:ident $index:literal),*| $result:expr, clamped $clamped:expr) => {
        handler!(|core, step| {
            let wave = &*core.wave;
            $(let $arg = halves(wave, step, $index);)*
            let result = if step.inst.mods.clamp {
                pair!(@both $ty [$($arg)*] $clamped)
            } else {
                pair!(@both $ty [$($arg)*] $result)
            };
            let exec = core.wave.exec();
            core.wave.write_row(step.dst, &result, exec);
            Flow::Next
        })
    };
    (@both $ty:ident [$($arg:ident)*] $result:expr) => {
        row!(|lane| {
            let low: $ty = { $(let $arg = $arg[0][lane] as $ty;)* $result };
            let high: $ty = { $(let $arg = $arg[1][lane] as $ty;)* $result };
            u32::from(low as u16) | u32::from(high as u16) << 16
        })
    };
}

/// An operation on both singles of register pairs.
macro_rules! pair32 {
    (|$($arg:ident $index:literal),*| $result:expr, exact $exact:expr) => {
        handler!(|core, step| {
            let wave = &*core.wave;
            $(let $arg = singles(wave, step, $index);)*
            let (mut low, mut high);
            if wave.unusual {
                let mode = wave.mode;
                let exact = |half: usize, lane: usize| {
                    let all = [$($arg[half][lane]),*].map(|bits| flushed_single(bits, mode));
                    let exact: fn([u64; { [$($index),*].len() }], u32) -> u64 = $exact;
                    exact(all.map(u64::from), mode.round32()) as u32
                };
                low = row!(|lane| exact(0, lane));
                high = row!(|lane| exact(1, lane));
            } else {
                low = row!(|lane| { $(let $arg = f32::from_bits($arg[0][lane]);)* $result.to_bits() });
                high = row!(|lane| { $(let $arg = f32::from_bits($arg[1][lane]);)* $result.to_bits() });
            }
            if step.inst.mods.clamp || wave.unusual || has_nan(&low) || has_nan(&high) {
                replace_nans_of_singles(&mut low, wave.mode, &[$(&$arg[0]),*]);
                replace_nans_of_singles(&mut high, wave.mode, &[$(&$arg[1]),*]);
                finish_singles([&mut low, &mut high], step, wave);
            }
            let exec = core.wave.exec();
            core.wave.write_row(step.dst, &low, exec);
            core.wave.write_row(step.dst + 1, &high, exec);
            Flow::Next
        })
    };
}

/// Clamps halves and flushes their denormals.
#[cold]
fn finish_halves(rows: [&mut Row; 2], step: &Step, wave: &Wave) {
    for row in rows {
        *row = row.map(|bits| finish16(bits, &step.inst.mods, wave.mode));
    }
}

/// A single with a denormal made zero, if the mode asks for it.
fn flushed_single(bits: u32, mode: Mode) -> u32 {
    if mode.flush_in32() && bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

fn is_nan(bits: u32) -> bool {
    bits & 0x7fff_ffff > 0x7f80_0000
}

#[inline(always)]
fn has_nan(row: &Row) -> bool {
    row.iter().fold(0, |found, bits| found | u32::from(bits & 0x7fff_ffff > 0x7f80_0000)) != 0
}

/// Replaces each computed NaN by that of the first source that is one.
#[cold]
fn replace_nans_of_singles(results: &mut Row, mode: Mode, sources: &[&Row]) {
    for (lane, result) in results.iter_mut().enumerate().filter(|(_, bits)| is_nan(**bits)) {
        let first = sources.iter().map(|row| flushed_single(row[lane], mode)).find(|bits| is_nan(*bits));
        *result = first.map_or(0x7fc0_0000, |bits| bits | 0x0040_0000);
    }
}

/// Clamps singles and flushes their denormals.
#[cold]
fn finish_singles(rows: [&mut Row; 2], step: &Step, wave: &Wave) {
    for row in rows {
        *row = row.map(|bits| finish32(f32::from_bits(bits), &step.inst.mods, wave.mode).to_bits());
    }
}

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    /// One of two halves, by a rule that no mode changes.
    macro_rules! chosen {
        ($rule:ident) => {
            pair!(float mode |a 0, b 1| {
                let [a, b] = flushed_halves([a, b], mode);
                $rule(a as u16, b as u16).into()
            })
        };
    }
    /// The same of three.
    macro_rules! chosen3 {
        ($rule:ident) => {
            pair!(float mode |a 0, b 1, c 2| {
                let [a, b, c] = flushed_halves([a, b, c], mode);
                $rule($rule(a as u16, b as u16), c as u16).into()
            })
        };
    }
    Some(match op {
        Op::v_pk_mad_i16 => pair!(i16, |a 0, b 1, c 2| a.wrapping_mul(b).wrapping_add(c),
            clamped(i64::from(a) * i64::from(b) + i64::from(c)).clamp(i16::MIN.into(), i16::MAX.into())
                as i16
        ),
        Op::v_pk_mad_u16 => pair!(u16, |a 0, b 1, c 2| a.wrapping_mul(b).wrapping_add(c),
            clamped(u64::from(a) * u64::from(b) + u64::from(c)).min(u16::MAX.into()) as u16
        ),
        Op::v_pk_mul_lo_u16 => pair!(u16, |a 0, b 1| a.wrapping_mul(b), clamped a.saturating_mul(b)),
        Op::v_pk_add_i16 => pair!(i16, |a 0, b 1| a.wrapping_add(b), clamped a.saturating_add(b)),
        Op::v_pk_sub_i16 => pair!(i16, |a 0, b 1| a.wrapping_sub(b), clamped a.saturating_sub(b)),
        Op::v_pk_add_u16 => pair!(u16, |a 0, b 1| a.wrapping_add(b), clamped a.saturating_add(b)),
        Op::v_pk_sub_u16 => pair!(u16, |a 0, b 1| a.wrapping_sub(b), clamped a.saturating_sub(b)),
        Op::v_pk_lshlrev_b16 => pair!(u16, |a 0, b 1| b << (a & 15), clamped b << (a & 15)),
        Op::v_pk_lshrrev_b16 => pair!(u16, |a 0, b 1| b >> (a & 15), clamped b >> (a & 15)),
        Op::v_pk_ashrrev_i16 => pair!(i16, |a 0, b 1| b >> (a & 15), clamped b >> (a & 15)),
        Op::v_pk_max_i16 => pair!(i16, |a 0, b 1| a.max(b), clamped a.max(b)),
        Op::v_pk_min_i16 => pair!(i16, |a 0, b 1| a.min(b), clamped a.min(b)),
        Op::v_pk_max_u16 => pair!(u16, |a 0, b 1| a.max(b), clamped a.max(b)),
        Op::v_pk_min_u16 => pair!(u16, |a 0, b 1| a.min(b), clamped a.min(b)),
        Op::v_pk_fma_f16 => pair!(float mode |a 0, b 1, c 2| {
            let all = flushed_halves([a, b, c], mode);
            half_or_source_nan(fused(all, mode), &all)
        }),
        Op::v_pk_add_f16 => pair!(float mode |a 0, b 1| {
            let [a, b] = flushed_halves([a, b], mode);
            let sum = match mode.round64() {
                soft::NEAREST => f32_to_f16(f16_to_f32(a) + f16_to_f32(b)),
                round => soft::HALF.sum(a.into(), b.into(), round) as u32,
            };
            half_or_source_nan(sum, &[a, b])
        }),
        Op::v_pk_mul_f16 => pair!(float mode |a 0, b 1| {
            let [a, b] = flushed_halves([a, b], mode);
            let product = match mode.round64() {
                soft::NEAREST => f32_to_f16(f16_to_f32(a) * f16_to_f32(b)),
                round => soft::HALF.product(a.into(), b.into(), round) as u32,
            };
            half_or_source_nan(product, &[a, b])
        }),
        Op::v_pk_min_f16 => pair!(float mode |a 0, b 1| {
            let [a, b] = flushed_halves([a, b], mode);
            chosen_half(a, b, mode, min_f16)
        }),
        Op::v_pk_max_f16 => pair!(float mode |a 0, b 1| {
            let [a, b] = flushed_halves([a, b], mode);
            chosen_half(a, b, mode, max_f16)
        }),
        Op::v_pk_min_num_f16 => chosen!(min_num_f16),
        Op::v_pk_max_num_f16 => chosen!(max_num_f16),
        Op::v_pk_minimum3_f16 => chosen3!(minimum_f16),
        Op::v_pk_maximum3_f16 => chosen3!(maximum_f16),
        Op::v_pk_minimum_f16 => chosen!(minimum_f16),
        Op::v_pk_maximum_f16 => chosen!(maximum_f16),
        Op::v_pk_fma_f32 => {
            pair32!(|a 0, b 1, c 2| a.mul_add(b, c), exact |all, round| soft::SINGLE.fused(all, 0, round))
        }
        Op::v_pk_mul_f32 => {
            pair32!(|a 0, b 1| a * b, exact |[a, b], round| soft::SINGLE.product(a, b, round))
        }
        Op::v_pk_add_f32 => pair32!(|a 0, b 1| a + b, exact |[a, b], round| soft::SINGLE.sum(a, b, round)),
        Op::v_pk_mov_b32 => handler!(|core, step| {
            // op_sel selects the half of the first source in its low bit, that of the second in its high bit.
            let [low, high] = [singles(core.wave, step, 0)[0], singles(core.wave, step, 1)[0]];
            let exec = core.wave.exec();
            core.wave.write_row(step.dst, &low, exec);
            core.wave.write_row(step.dst + 1, &high, exec);
            Flow::Next
        }),
        Op::v_fma_mix_f32 | Op::v_mad_mix_f32 => handler!(|core, step| {
            let result = mixed(core.wave, step);
            let (mods, mode) = (&step.inst.mods, core.wave.mode);
            let result = row!(|lane| finish32(result[lane], mods, mode).to_bits());
            let exec = written_lanes(core.wave, step);
            core.wave.write_row(step.dst, &result, exec);
            Flow::Next
        }),
        Op::v_fma_mixlo_f16 | Op::v_fma_mixhi_f16 | Op::v_mad_mixlo_f16 | Op::v_mad_mixhi_f16 => {
            handler!(|core, step| {
                let result = mixed(core.wave, step);
                let (mods, mode) = (&step.inst.mods, core.wave.mode);
                let high = matches!(step.inst.op, Op::v_fma_mixhi_f16 | Op::v_mad_mixhi_f16);
                let old = core.wave.row(step.dst);
                let result = row!(|lane| {
                    let half = finish16(rounded_half(result[lane], mode), mods, mode);
                    if high { old[lane] & 0xffff | half << 16 } else { old[lane] & 0xffff_0000 | half }
                });
                let exec = written_lanes(core.wave, step);
                core.wave.write_row(step.dst, &result, exec);
                Flow::Next
            })
        }
        _ => return None,
    })
}

/// The handler of a VOP2 instruction that adds to its destination.
pub(crate) fn accumulating(op: Op) -> Option<Compilations> {
    Some(match op {
        Op::v_pk_fmac_f16 => handler!(|core, step| {
            let wave = &*core.wave;
            let [a, b, c] = std::array::from_fn(|index| bits(wave, step, index));
            let mode = wave.mode;
            let result = row!(|lane| {
                let one = |shift: u32| {
                    let all = [a, b, c].map(|row| row[lane] >> shift & 0xffff);
                    let all = flushed_halves(all, mode);
                    finish16(half_or_source_nan(fused(all, mode), &all), &step.inst.mods, mode)
                };
                one(0) | one(16) << 16
            });
            let exec = core.wave.exec();
            core.wave.write_row(step.dst, &result, exec);
            Flow::Next
        }),
        _ => return None,
    })
}

/// Halves with denormals made zero, if the mode asks for it.
#[inline(always)]
fn flushed_halves<const N: usize>(halves: [u32; N], mode: Mode) -> [u32; N] {
    halves.map(|bits| if mode.flush_in64() & (bits & 0x7c00 == 0) { bits & 0x8000 } else { bits })
}

/// A computed half; a NaN becomes that of the first source that is one.
#[inline(always)]
fn half_or_source_nan(result: u32, sources: &[u32]) -> u32 {
    let is_nan = |bits: u32| bits & 0x7fff > 0x7c00;
    if is_nan(result) {
        return sources.iter().find(|bits| is_nan(**bits)).map_or(0x7e00, |bits| bits | 0x200);
    }
    result
}

/// The lesser or greater half. Without IEEE's rules a signalling NaN counts like a quiet one.
#[inline(always)]
fn chosen_half(a: u32, b: u32, mode: Mode, choose: impl Fn(u16, u16) -> u16) -> u32 {
    let is_nan = |bits: u32| bits & 0x7fff > 0x7c00;
    if !mode.ieee() & (is_nan(a) | is_nan(b)) {
        return if is_nan(a) { b } else { a };
    }
    choose(a as u16, b as u16).into()
}

#[inline(always)]
fn fused([a, b, c]: [u32; 3], mode: Mode) -> u32 {
    if mode.round64() != soft::NEAREST {
        return soft::HALF.fused([a, b, c].map(u64::from), 0, mode.round64()) as u32;
    }
    let product = f64::from(f16_to_f32(a)) * f64::from(f16_to_f32(b));
    f64_to_f16(sum_to_odd(product, f16_to_f32(c).into()))
}

/// A product and a sum of sources that are singles or halves, in single precision: fused in `v_fma_mix*`, each rounded on
/// its own in `v_mad_mix*`.
fn mixed(wave: &Wave, step: &Step) -> [f32; LANES] {
    let [a, b, c] = std::array::from_fn(|index| mixed_source(wave, step, index));
    let mode = wave.mode;
    let is_fused = matches!(step.inst.op, Op::v_fma_mix_f32 | Op::v_fma_mixlo_f16 | Op::v_fma_mixhi_f16);
    std::array::from_fn(|lane| {
        let all = [a[lane], b[lane], c[lane]];
        let result = match (is_fused, mode.round32() == soft::NEAREST) {
            (true, true) => a[lane].mul_add(b[lane], c[lane]),
            (false, true) => unfused(a[lane], b[lane], c[lane]),
            (fused, false) => {
                let bits = all.map(|value| u64::from(value.to_bits()));
                let round = mode.round32();
                let result = if fused {
                    soft::SINGLE.fused(bits, 0, round)
                } else {
                    two_steps(LaneKind::F32, bits, round)
                };
                f32::from_bits(result as u32)
            }
        };
        if !result.is_nan() {
            return result;
        }
        let first = all.iter().map(|value| value.to_bits()).find(|bits| is_nan(*bits));
        f32::from_bits(first.map_or(0x7fc0_0000, |bits| bits | 0x0040_0000))
    })
}

/// A single rounded to a half.
pub(super) fn rounded_half(value: f32, mode: Mode) -> u32 {
    if mode.round64() == soft::NEAREST || value.is_nan() {
        return f32_to_f16(value);
    }
    soft::SINGLE.convert(soft::HALF, value.to_bits().into(), mode.round64()) as u32
}

fn mixed_source(wave: &Wave, step: &Step, index: usize) -> [f32; LANES] {
    let mods = &step.inst.mods;
    let has = |bits: u8| bits >> index & 1 != 0;
    let half = has(mods.op_sel_hi);
    let values = match (step.src[index], step.inst.src[index]) {
        // A constant of a half: integers are extended to both halves, floats are the low one.
        (_, Operand::Inline(code)) if half && code > INTEGERS => [inline_f16(code).into(); LANES],
        (Source::Vector(number), _) if index == 0 && crosses(mods) => {
            crossed(wave.row(number), mods, wave.exec())
        }
        (Source::Vector(number), _) => *wave.row(number),
        (source, _) => [scalar32(wave, source); LANES],
    };
    values.map(|value| {
        let value = match (half, has(mods.op_sel)) {
            (true, true) => f16_to_f32(flushed_halves([value >> 16], wave.mode)[0]),
            (true, false) => f16_to_f32(flushed_halves([value & 0xffff], wave.mode)[0]),
            (false, _) => f32::from_bits(flushed_single(value, wave.mode)),
        };
        let value = if has(mods.abs) { value.abs() } else { value };
        if has(mods.neg) { -value } else { value }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_fused() {
        // 1.0009765625 squared, less 1: a product rounded on its own would lose the last place.
        let near_one = 0x3c01;
        assert_eq!(
            fused([near_one, near_one, 0xbc00], Mode { bits: 0x3f0 }),
            f32_to_f16(2.0 / 1024.0 + 1.0 / 1_048_576.0)
        );
    }
}
