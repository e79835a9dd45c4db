// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sums of products of the parts of two registers and of a third source.
//!
//! Products of floats are added in ascending order in single precision, each step fused; a short sum is rounded once at the end.

use crate::exec::families::packed::{halves, rounded_half};
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::{Mode, Wave};
use crate::exec::operands::element::{Spare, fetch32, store32};
use crate::exec::operands::modifiers::crosses;
use crate::exec::operands::result::{finish32, written_lanes};
use crate::exec::operands::source::scalar32;
use crate::exec::values::eighth::{bf8_ocp_to_f32, fp8_ocp_to_f32};
use crate::exec::values::half::{bf16_to_f32, f16_to_f32, f32_to_bf16};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::{LANES, Row, row};
use crate::exec::values::soft;
use crate::isa::{Inst, Op};

/// A sum of products of parts of registers and a third source.
macro_rules! dot {
    ($wide:ty, $ty:ty, |$sum:ident, $a:ident, $b:ident| $result:expr) => {
        handler!(|core, step| {
            let wave = &*core.wave;
            let [a, b, c] = std::array::from_fn(|index| bits(wave, step, index));
            let clamp = step.inst.mods.clamp;
            let result = row!(|lane| {
                let ($a, $b) = (a[lane], b[lane]);
                let $sum = <$wide>::from(c[lane] as $ty);
                let sum: $wide = $result;
                if clamp { sum.clamp(<$ty>::MIN.into(), <$ty>::MAX.into()) as u32 } else { sum as u32 }
            });
            let exec = written_lanes(core.wave, step);
            core.wave.write_row(step.dst, &result, exec);
            Flow::Next
        })
    };
}

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    Some(match inst.op {
        Op::v_dot2_f32_f16 => handler!(|core, step| single_sum(core, step, f16_to_f32)),
        Op::v_dot2_f32_bf16 => handler!(|core, step| single_sum(core, step, bf16_to_f32)),
        // Their modifiers of the first two sources have no known meaning; bfloats have none at all.
        Op::v_dot2_f16_f16 | Op::v_dot2_bf16_bf16
            if (inst.mods.neg | inst.mods.abs | inst.mods.op_sel) & 3 != 0 =>
        {
            return None;
        }
        Op::v_dot2_f16_f16 => handler!(|core, step| {
            let result = short_sum(core.wave, step, LaneKind::F16, f16_to_f32, rounded_half);
            store32(core.wave, step, &result, LaneKind::F16);
            Flow::Next
        }),
        Op::v_dot2_bf16_bf16 if inst.mods.clamp || inst.mods.omod != 0 => return None,
        Op::v_dot2_bf16_bf16 => handler!(|core, step| {
            let rounded = |sum: f32, _: Mode| f32_to_bf16(sum);
            let result = short_sum(core.wave, step, LaneKind::RawF16, bf16_to_f32, rounded);
            store32(core.wave, step, &result, LaneKind::B16);
            Flow::Next
        }),
        Op::v_dot4_f32_fp8_fp8 => handler!(|core, step| eighths(core, step, fp8_ocp_to_f32, fp8_ocp_to_f32)),
        Op::v_dot4_f32_fp8_bf8 => handler!(|core, step| eighths(core, step, fp8_ocp_to_f32, bf8_ocp_to_f32)),
        Op::v_dot4_f32_bf8_fp8 => handler!(|core, step| eighths(core, step, bf8_ocp_to_f32, fp8_ocp_to_f32)),
        Op::v_dot4_f32_bf8_bf8 => handler!(|core, step| eighths(core, step, bf8_ocp_to_f32, bf8_ocp_to_f32)),
        Op::v_dot4_i32_iu8 => handler!(|core, step| integer_sum(core, step, 8)),
        Op::v_dot8_i32_iu4 => handler!(|core, step| integer_sum(core, step, 4)),
        Op::v_dot2_i32_i16 => handler!(|core, step| {
            let wave = &*core.wave;
            let (a, b, c) = (halves(wave, step, 0), halves(wave, step, 1), bits(wave, step, 2));
            let clamp = step.inst.mods.clamp;
            let result = row!(|lane| {
                let product = |half: usize| i64::from(a[half][lane] as i16) * i64::from(b[half][lane] as i16);
                let sum = product(0) + product(1) + i64::from(c[lane] as i32);
                if clamp { sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32 } else { sum as u32 }
            });
            let exec = core.wave.exec();
            core.wave.write_row(step.dst, &result, exec);
            Flow::Next
        }),
        Op::v_dot2_u32_u16 => handler!(|core, step| {
            let wave = &*core.wave;
            let (a, b, c) = (halves(wave, step, 0), halves(wave, step, 1), bits(wave, step, 2));
            let clamp = step.inst.mods.clamp;
            let result = row!(|lane| {
                let product = |half: usize| u64::from(a[half][lane]) * u64::from(b[half][lane]);
                let sum = product(0) + product(1) + u64::from(c[lane]);
                if clamp { sum.min(u32::MAX.into()) as u32 } else { sum as u32 }
            });
            let exec = core.wave.exec();
            core.wave.write_row(step.dst, &result, exec);
            Flow::Next
        }),
        Op::v_dot4_i32_i8 => dot!(i64, i32, |sum, a, b| sum + signed_products(a, b, 8)),
        Op::v_dot4_u32_u8 => dot!(u64, u32, |sum, a, b| sum + products(a, b, 8)),
        Op::v_dot8_i32_i4 => dot!(i64, i32, |sum, a, b| sum + signed_products(a, b, 4)),
        Op::v_dot8_u32_u4 => dot!(u64, u32, |sum, a, b| sum + products(a, b, 4)),
        Op::v_dot4c_i32_i8 => dot!(i64, i32, |sum, a, b| sum + signed_products(a, b, 8)),
        Op::v_dot8c_i32_i4 => dot!(i64, i32, |sum, a, b| sum + signed_products(a, b, 4)),
        Op::v_dot2c_i32_i16 => dot!(i64, i32, |sum, a, b| sum + signed_products(a, b, 16)),
        Op::v_dot2c_f32_f16 => handler!(|core, step| accumulated(core, step, f16_to_f32)),
        // Its signs are those of both halves or of one; no document says which.
        Op::v_dot2c_f32_bf16 if inst.mods.neg | inst.mods.abs != 0 => return None,
        Op::v_dot2c_f32_bf16 => handler!(|core, step| accumulated(core, step, bf16_to_f32)),
        _ => return None,
    })
}

/// The sum of the destination and of products of floats of 16 bits.
#[inline(always)]
fn accumulated(core: &mut Core<'_>, step: &Step, widened: impl Fn(u32) -> f32 + Copy) -> Flow {
    let wave = &*core.wave;
    let [a, b, c] = std::array::from_fn(|index| bits(wave, step, index));
    let (mods, mode) = (&step.inst.mods, wave.mode);
    let result = row!(|lane| {
        let [a, b] = [a[lane], b[lane]];
        let halves = |bits: u32| [bits & 0xffff, bits >> 16].map(widened);
        finish32(f32::from_bits(dot2(halves(a), halves(b), c[lane], mode)), mods, mode).to_bits()
    });
    let exec = written_lanes(core.wave, step);
    core.wave.write_row(step.dst, &result, exec);
    Flow::Next
}

/// A sum of a single and of products of floats of 16 bits.
#[inline(always)]
fn single_sum(core: &mut Core<'_>, step: &Step, widened: impl Fn(u32) -> f32 + Copy) -> Flow {
    let wave = &*core.wave;
    let (a, b) = (halves(wave, step, 0), halves(wave, step, 1));
    let c = bits(wave, step, 2);
    let (mods, mode) = (&step.inst.mods, wave.mode);
    let flip = 0x8000_0000 * u32::from(mods.neg >> 2 & 1);
    let result = row!(|lane| {
        let [a, b] = [a, b].map(|halves| halves.map(|half| widened(half[lane])));
        finish32(f32::from_bits(dot2(a, b, c[lane] ^ flip, mode)), mods, mode).to_bits()
    });
    let lanes = written_lanes(core.wave, step);
    core.wave.write_row(step.dst, &result, lanes);
    Flow::Next
}

/// A sum of a single and of products of floats of 8 bits, rounded after each.
#[inline(always)]
fn eighths(
    core: &mut Core<'_>,
    step: &Step,
    first: impl Fn(u32) -> f32 + Copy,
    second: impl Fn(u32) -> f32 + Copy,
) -> Flow {
    let wave = &*core.wave;
    let [a, b, c] = std::array::from_fn(|index| bits(wave, step, index));
    let (mods, mode) = (&step.inst.mods, wave.mode);
    let flip = 0x8000_0000 * u32::from(mods.neg >> 2 & 1);
    let keep = !(0x8000_0000 * u32::from(mods.neg_hi >> 2 & 1));
    let result = row!(|lane| {
        let sum = (0..4).fold(f32::from_bits(c[lane] & keep ^ flip), |sum, at| {
            first(a[lane] >> (8 * at) & 0xff).mul_add(second(b[lane] >> (8 * at) & 0xff), sum)
        });
        // One NaN for all: its bits would depend on the host's processor.
        let sum = if sum.is_nan() { f32::from_bits(0x7fc0_0000) } else { sum };
        finish32(sum, mods, mode).to_bits()
    });
    let lanes = written_lanes(core.wave, step);
    core.wave.write_row(step.dst, &result, lanes);
    Flow::Next
}

/// A sum of floats of 16 bits, rounded to one.
#[inline(always)]
fn short_sum(
    wave: &Wave,
    step: &Step,
    kind: LaneKind,
    widened: impl Fn(u32) -> f32 + Copy,
    rounded: impl Fn(f32, Mode) -> u32,
) -> Row {
    let [a, b] = [0, 1].map(|index| bits(wave, step, index));
    let mut spare = Spare::new();
    let c = fetch32(wave, step, 2, kind, &mut spare);
    row!(|lane| {
        let [a, b] = [a[lane], b[lane]].map(|word| [word & 0xffff, word >> 16].map(widened));
        let sum = dot2(a, b, widened(c[lane] & 0xffff).to_bits(), wave.mode);
        rounded(f32::from_bits(sum), wave.mode)
    })
}

/// A sum of products of integers of `width` bits, which the sign modifiers make signed.
#[inline(always)]
fn integer_sum(core: &mut Core<'_>, step: &Step, width: u32) -> Flow {
    let wave = &*core.wave;
    let [a, b, c] = std::array::from_fn(|index| bits(wave, step, index));
    let mods = &step.inst.mods;
    let signed = [mods.neg & 1 != 0, mods.neg & 2 != 0];
    let part = |word: u32, at: u32, signed: bool| {
        let top = word << (32 - width * (at + 1));
        i64::from(if signed { top as i32 >> (32 - width) } else { (top >> (32 - width)) as i32 })
    };
    let result = row!(|lane| {
        let products = (0..32 / width).map(|at| part(a[lane], at, signed[0]) * part(b[lane], at, signed[1]));
        let sum = i64::from(c[lane] as i32) + products.sum::<i64>();
        (if mods.clamp { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum }) as u32
    });
    let lanes = written_lanes(core.wave, step);
    core.wave.write_row(step.dst, &result, lanes);
    Flow::Next
}

/// The bits of a source, after DPP; without such a source, the bits of the destination.
#[inline(always)]
pub(super) fn bits(wave: &Wave, step: &Step, index: usize) -> Row {
    let mut spare = Spare::new();
    match step.src[index] {
        Source::None => *wave.row(step.dst),
        _ if crosses(&step.inst.mods) => *fetch32(wave, step, index, LaneKind::B32, &mut spare),
        Source::Vector(number) => *wave.row(number),
        source => [scalar32(wave, source); LANES],
    }
}

/// Two products of floats of 16 bits and a single, each step fused.
#[inline(always)]
fn dot2(a: [f32; 2], b: [f32; 2], c: u32, mode: Mode) -> u32 {
    if mode.round32() != soft::NEAREST {
        return (0..2).fold(c.into(), |sum, half| {
            soft::SINGLE.fused([a[half].to_bits().into(), b[half].to_bits().into(), sum], 0, mode.round32())
        }) as u32;
    }
    let flushed =
        |value: f32| if mode.flush_in32() & value.is_subnormal() { 0.0f32.copysign(value) } else { value };
    let sum = a[0].mul_add(b[0], flushed(f32::from_bits(c)));
    let sum = a[1].mul_add(b[1], sum);
    if sum.is_nan() { 0x7fc0_0000 } else { sum.to_bits() }
}

/// The sum of products of unsigned parts of `width` bits.
#[inline(always)]
fn products(a: u32, b: u32, width: u32) -> u64 {
    let mask = (1 << width) - 1;
    (0..32 / width)
        .map(|part| u64::from(a >> (part * width) & mask) * u64::from(b >> (part * width) & mask))
        .sum()
}

/// The sum of products of signed parts of `width` bits.
#[inline(always)]
fn signed_products(a: u32, b: u32, width: u32) -> i64 {
    let part = |value: u32, part: u32| i64::from((value << (32 - width * (part + 1))) as i32 >> (32 - width));
    (0..32 / width).map(|index| part(a, index) * part(b, index)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_products() {
        assert_eq!(products(0x0102_03ff, 0x0203_04ff, 8), 2 + 6 + 12 + 255 * 255);
        assert_eq!(signed_products(0x0102_03ff, 0x0203_0402, 8), 2 + 6 + 12 - 2);
        assert_eq!(signed_products(0x8000_0001, 0x8000_0003, 16), (1 << 30) + 3);
        assert_eq!(products(0xf000_000f, 0x2000_000f, 4), 30 + 225);
    }
}
