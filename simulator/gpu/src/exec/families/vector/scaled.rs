// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversions of floats of eight, six and four bits with a scale, a power of two: the exponent of a single. To these formats a
//! value is divided by it, from them it is multiplied. Rounding is to nearest even, once.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::step::{Source, Step};
use crate::exec::operands::element::{Spare, fetch32};
use crate::exec::operands::result::{finish32, written_lanes};
use crate::exec::values::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f64_to_f16};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::narrow::{Format, power};
use crate::exec::values::row::Row;
use crate::isa::{Inst, Op};

/// The wider type of a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wide {
    Single,
    Half,
    Brain,
}

impl Wide {
    fn bits(self) -> usize {
        if self == Self::Single { 32 } else { 16 }
    }
}

/// A conversion of `count` elements, to the narrower type or from it.
struct Conversion {
    narrow: Format,
    wide: Wide,
    count: usize,
    narrows: bool,
}

/// The conversion of an instruction.
fn conversion(op: Op) -> Option<Conversion> {
    use Format::{Bf6, Bf8, Fp4, Fp6, Fp8};
    use Wide::{Brain, Half, Single};
    let (narrow, wide, count, narrows) = match op {
        Op::v_cvt_scalef32_pk_fp8_f32 => (Fp8, Single, 2, true),
        Op::v_cvt_scalef32_pk_bf8_f32 => (Bf8, Single, 2, true),
        Op::v_cvt_scalef32_pk_fp8_f16 => (Fp8, Half, 2, true),
        Op::v_cvt_scalef32_pk_bf8_f16 => (Bf8, Half, 2, true),
        Op::v_cvt_scalef32_pk_fp8_bf16 => (Fp8, Brain, 2, true),
        Op::v_cvt_scalef32_pk_bf8_bf16 => (Bf8, Brain, 2, true),
        Op::v_cvt_scalef32_pk_fp4_f32 => (Fp4, Single, 2, true),
        Op::v_cvt_scalef32_pk_fp4_f16 => (Fp4, Half, 2, true),
        Op::v_cvt_scalef32_pk_fp4_bf16 => (Fp4, Brain, 2, true),
        Op::v_cvt_scalef32_2xpk16_fp6_f32 => (Fp6, Single, 32, true),
        Op::v_cvt_scalef32_2xpk16_bf6_f32 => (Bf6, Single, 32, true),
        Op::v_cvt_scalef32_pk32_fp6_f16 => (Fp6, Half, 32, true),
        Op::v_cvt_scalef32_pk32_bf6_f16 => (Bf6, Half, 32, true),
        Op::v_cvt_scalef32_pk32_fp6_bf16 => (Fp6, Brain, 32, true),
        Op::v_cvt_scalef32_pk32_bf6_bf16 => (Bf6, Brain, 32, true),
        Op::v_cvt_scalef32_f32_fp8 => (Fp8, Single, 1, false),
        Op::v_cvt_scalef32_f32_bf8 => (Bf8, Single, 1, false),
        Op::v_cvt_scalef32_f16_fp8 => (Fp8, Half, 1, false),
        Op::v_cvt_scalef32_f16_bf8 => (Bf8, Half, 1, false),
        Op::v_cvt_scalef32_pk_f32_fp8 => (Fp8, Single, 2, false),
        Op::v_cvt_scalef32_pk_f32_bf8 => (Bf8, Single, 2, false),
        Op::v_cvt_scalef32_pk_f16_fp8 => (Fp8, Half, 2, false),
        Op::v_cvt_scalef32_pk_f16_bf8 => (Bf8, Half, 2, false),
        Op::v_cvt_scalef32_pk_bf16_fp8 => (Fp8, Brain, 2, false),
        Op::v_cvt_scalef32_pk_bf16_bf8 => (Bf8, Brain, 2, false),
        Op::v_cvt_scalef32_pk_f32_fp4 => (Fp4, Single, 2, false),
        Op::v_cvt_scalef32_pk_f16_fp4 => (Fp4, Half, 2, false),
        Op::v_cvt_scalef32_pk_bf16_fp4 => (Fp4, Brain, 2, false),
        Op::v_cvt_scalef32_pk32_f32_fp6 => (Fp6, Single, 32, false),
        Op::v_cvt_scalef32_pk32_f32_bf6 => (Bf6, Single, 32, false),
        Op::v_cvt_scalef32_pk32_f16_fp6 => (Fp6, Half, 32, false),
        Op::v_cvt_scalef32_pk32_f16_bf6 => (Bf6, Half, 32, false),
        Op::v_cvt_scalef32_pk32_bf16_fp6 => (Fp6, Brain, 32, false),
        Op::v_cvt_scalef32_pk32_bf16_bf6 => (Bf6, Brain, 32, false),
        _ => return None,
    };
    Some(Conversion { narrow, wide, count, narrows })
}

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    let conversion = conversion(inst.op)?;
    let mods = &inst.mods;
    // No document says what signs and selections of two halves, or signs of the scale, mean.
    let signed = if conversion.narrows && conversion.wide == Wide::Single { 3 } else { 0 };
    let unknown = if conversion.narrows && conversion.wide != Wide::Single { mods.op_sel & 3 } else { 0 };
    if (mods.neg | mods.abs) & !signed != 0 || unknown != 0 {
        return None;
    }
    Some(Compilations::scalar(convert))
}

/// The most registers of a source or of a result.
const MOST: usize = 32;

fn convert(core: &mut Core<'_>, step: &Step) -> Flow {
    let Some(conversion) = conversion(step.inst.op) else { return Flow::Next };
    let mode = core.wave.mode;
    let (sources, scales) = read(core, step, &conversion);
    let first_bit = selected(&conversion, step.inst.mods.op_sel);
    let Conversion { narrow, wide, count, narrows } = conversion;
    let (from, to) = if narrows { (wide.bits(), narrow.bits()) } else { (narrow.bits(), wide.bits()) };
    let (from_bit, to_bit) = if narrows { (0, first_bit) } else { (first_bit, 0) };
    // A half goes to the half of the register that is selected.
    let to_bit = if count == 1 && wide == Wide::Half {
        16 * usize::from(step.inst.mods.op_sel >> 3 & 1)
    } else {
        to_bit
    };
    let registers = (to_bit + count * to).div_ceil(32);
    let lanes = written_lanes(core.wave, step);
    for lane in lanes.lanes() {
        let scale = scales[lane] >> 23 & 0xff;
        let factor = if scale == 0xff { f64::NAN } else { power(scale as i32 - 127) };
        for index in 0..count {
            let bit = from_bit + index * from;
            let word = |at: usize| u64::from(sources.get(at).map_or(0, |row| row[lane]));
            let pair = word(bit / 32) | word(bit / 32 + 1) << 32;
            let bits = (pair >> (bit % 32)) as u32 & (u32::MAX >> (32 - from));
            let result = if narrows {
                let value = match wide {
                    Wide::Single => f32::from_bits(bits),
                    Wide::Half => f16_to_f32(bits),
                    Wide::Brain => bf16_to_f32(bits),
                };
                let value = f64::from(value);
                let quotient = value / factor;
                let quotient = if quotient.is_nan() { f64::NAN.copysign(value) } else { quotient };
                narrow.narrowed(quotient, mode.saturates())
            } else {
                let value = narrow.widened(bits) * factor;
                match wide {
                    Wide::Single => finish32(quiet(value), &step.inst.mods, mode).to_bits(),
                    Wide::Half if value.is_nan() => 0x7e00,
                    Wide::Half => f64_to_f16(value),
                    Wide::Brain => f32_to_bf16(quiet(value)),
                }
            };
            let bit = to_bit + index * to;
            let mask = u64::from(u32::MAX >> (32 - to)) << (bit % 32);
            let bits = u64::from(result) << (bit % 32);
            for (at, (mask, bits)) in [(mask, bits), (mask >> 32, bits >> 32)].into_iter().enumerate() {
                let register = bit / 32 + at;
                if mask as u32 != 0 && register < registers {
                    let old = &mut core.wave.row_mut(step.dst + register as u16)[lane];
                    *old = *old & !(mask as u32) | bits as u32 & mask as u32;
                }
            }
        }
    }
    Flow::Next
}

/// A single of a value that it holds, or one NaN for all.
fn quiet(value: f64) -> f32 {
    if value.is_nan() { f32::from_bits(0x7fc0_0000) } else { value as f32 }
}

/// The first bit of the narrower elements in their register, by the selection of the instruction.
fn selected(conversion: &Conversion, op_sel: u8) -> usize {
    let selection =
        usize::from(if conversion.narrows { op_sel >> 2 & 3 } else { (op_sel & 1) << 1 | op_sel >> 1 & 1 });
    match (conversion.narrow.bits() * conversion.count, conversion.narrows) {
        // A byte. The bits of its number are in order, in contrast to conversions of GFX12.
        (8, false) => 8 * usize::from(op_sel & 3),
        (8, true) => 8 * selection,
        // Two bytes.
        (16, _) => 16 * (selection >> 1),
        _ => 0,
    }
}

/// The registers of the elements, one after another, and the scales.
fn read(core: &Core<'_>, step: &Step, conversion: &Conversion) -> (Vec<Row>, Row) {
    let wave = &*core.wave;
    let fetched = |index: usize, kind| *fetch32(wave, step, index, kind, &mut Spare::new());
    let last = if conversion.narrows && conversion.wide == Wide::Single { 2 } else { 1 };
    let scales = fetched(last, LaneKind::B32);
    let rows = |index: usize, count: usize| -> Vec<Row> {
        match step.src[index] {
            Source::Vector(first) if count > 1 => (0..count).map(|at| *wave.row(first + at as u16)).collect(),
            _ => vec![fetched(index, LaneKind::B32)],
        }
    };
    let sources = match (conversion.narrows, conversion.count) {
        // Two sources of one single each.
        (true, 2) if conversion.wide == Wide::Single => {
            vec![fetched(0, LaneKind::F32), fetched(1, LaneKind::F32)]
        }
        // Two sources whose singles alternate.
        (true, _) if conversion.wide == Wide::Single => {
            let (even, odd) = (rows(0, MOST / 2), rows(1, MOST / 2));
            even.into_iter().zip(odd).flat_map(|(even, odd)| [even, odd]).collect()
        }
        (true, count) => rows(0, count * 16 / 32),
        (false, count) => rows(0, (count * conversion.narrow.bits()).div_ceil(32)),
    };
    (sources, scales)
}
