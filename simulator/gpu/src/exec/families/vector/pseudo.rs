// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transcendental functions of one scalar: `v_s_*`. A half lies in the low bits of a register, and a result clears the high ones.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::step::Step;
use crate::exec::operands::result::{finish16, finish32};
use crate::exec::operands::source::scalar32;
use crate::exec::values::float::exp2_f32;
use crate::exec::values::half::{f16_to_f32, f32_to_f16};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::nan::{carried, delivered};
use crate::isa::Op;

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    /// The handlers of a function for singles and for halves.
    macro_rules! function {
        (single $value:ident $result:expr) => {
            |core, step| single(core, step, |$value| $result)
        };
        (half $value:ident $result:expr) => {
            |core, step| half(core, step, |$value| $result)
        };
    }
    Some(Compilations::scalar(match op {
        Op::v_s_exp_f32 => function!(single value exp2_f32(value)),
        Op::v_s_exp_f16 => function!(half value exp2_f32(value)),
        Op::v_s_log_f32 => function!(single value value.log2()),
        Op::v_s_log_f16 => function!(half value value.log2()),
        Op::v_s_rcp_f32 => function!(single value 1.0 / value),
        Op::v_s_rcp_f16 => function!(half value 1.0 / value),
        Op::v_s_rsq_f32 => function!(single value (1.0 / f64::from(value).sqrt()) as f32),
        Op::v_s_rsq_f16 => function!(half value (1.0 / f64::from(value).sqrt()) as f32),
        Op::v_s_sqrt_f32 => function!(single value value.sqrt()),
        Op::v_s_sqrt_f16 => function!(half value value.sqrt()),
        _ => return None,
    }))
}

/// The source with its signs, and without a denormal that the mode does not read.
fn source(core: &Core<'_>, step: &Step, sign: u32, exponent: u32, flushes: bool) -> u32 {
    let mods = &step.inst.mods;
    let bits = scalar32(core.wave, step.src[0]) & (sign | (sign - 1));
    let bits = if mods.abs & 1 != 0 { bits & !sign } else { bits };
    let bits = if mods.neg & 1 != 0 { bits ^ sign } else { bits };
    if flushes && bits & exponent == 0 { bits & sign } else { bits }
}

fn single(core: &mut Core<'_>, step: &Step, function: impl Fn(f32) -> f32) -> Flow {
    let bits = source(core, step, 0x8000_0000, 0x7f80_0000, core.wave.mode.flush_in32());
    let result = function(f32::from_bits(bits));
    let result = match result.is_nan() {
        true => f32::from_bits(delivered(carried(bits.into(), LaneKind::F32), LaneKind::F32) as u32),
        false => result,
    };
    let result = finish32(result, &step.inst.mods, core.wave.mode).to_bits();
    core.wave.set_scalar(step.inst.dst, result);
    Flow::Next
}

fn half(core: &mut Core<'_>, step: &Step, function: impl Fn(f32) -> f32) -> Flow {
    let bits = source(core, step, 0x8000, 0x7c00, core.wave.mode.flush_in64());
    let result = function(f16_to_f32(bits));
    let result = match result.is_nan() {
        true => delivered(carried(bits.into(), LaneKind::F16), LaneKind::F16) as u32,
        false => f32_to_f16(result),
    };
    let result = finish16(result, &step.inst.mods, core.wave.mode);
    core.wave.set_scalar(step.inst.dst, result);
    Flow::Next
}
