// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scalar floats: SOP1, SOP2 and SOPC since GFX11.5. They compute what the vector instructions compute in a lane, with
//! the rounding and the denormals of MODE. Halves are in the low bits of a register, and results clear the high ones.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::step::Step;
use crate::exec::machine::wave::Wave;
use crate::exec::operands::rounding::{direction, format, greatest, least};
use crate::exec::operands::source::scalar32;
use crate::exec::values::extremum::{
    max_num_f16, max_num_f32, maximum_f16, maximum_f32, min_num_f16, min_num_f32, minimum_f16, minimum_f32,
};
use crate::exec::values::float::{max_f16, max_f32, min_f16, min_f32};
use crate::exec::values::half::{f16_to_f32, f32_to_f16, f32_to_f16_toward_zero};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::nan::{carried, delivered};
use crate::exec::values::soft::{HALF, SINGLE};
use crate::isa::{Op, Operand};

use LaneKind::{F16, F32};

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    /// Makes a handler of a function of the core and the step.
    macro_rules! run {
        (|$core:ident, $step:ident| $body:expr) => {{
            fn run($core: &mut Core<'_>, $step: &Step) -> Flow {
                $body;
                Flow::Next
            }
            run
        }};
    }
    /// A float of some floats of the same kind and of the rounding.
    macro_rules! float {
        ($kind:expr, |$sources:pat_param, $round:pat_param| $body:expr) => {
            run!(|core, step| {
                let values = sources(core.wave, step, $kind);
                let ($sources, $round) = (values, direction(core.wave, $kind));
                store_computed(core, step, $kind, $body, &values.map(|bits| (bits, $kind)));
            })
        };
    }
    /// A product added to the destination.
    macro_rules! accumulate {
        ($kind:expr) => {
            run!(|core, step| {
                let [a, b] = sources(core.wave, step, $kind);
                let values = [a, b, flushed(core.wave, destination(core.wave, step), $kind)];
                let result = format($kind).fused(values, 0, direction(core.wave, $kind));
                store_computed(core, step, $kind, result, &values.map(|bits| (bits, $kind)));
            })
        };
    }
    /// The float of another kind.
    macro_rules! convert {
        ($from:expr => $to:expr, |$source:ident| $bits:expr) => {
            run!(|core, step| {
                let $source = scalar32(core.wave, step.src[0]);
                let bits = flushed(core.wave, $bits, $from);
                let result = format($from).convert(format($to), bits, direction(core.wave, $to));
                store_computed(core, step, $to, result, &[(bits, $from)]);
            })
        };
    }
    /// One of two sources: by IEEE's rules, or the number if there is one.
    macro_rules! choose {
        ($kind:expr, |$a:ident, $b:ident| $ieee:expr, $other:ident) => {
            run!(|core, step| {
                let [$a, $b] = sources(core.wave, step, $kind);
                let result = if core.wave.mode.ieee() { $ieee } else { $other(format($kind), $a, $b) };
                store(core, step, $kind, result);
            })
        };
    }
    /// One of two sources, by a rule that no mode changes.
    macro_rules! by_rule {
        (F32, $rule:ident) => {
            run!(|core, step| {
                let [a, b] = sources(core.wave, step, F32).map(single);
                store(core, step, F32, $rule(a, b).to_bits().into());
            })
        };
        (F16, $rule:ident) => {
            run!(|core, step| {
                let [a, b] = sources(core.wave, step, F16);
                store(core, step, F16, $rule(a as u16, b as u16).into());
            })
        };
    }
    /// The whole number next to a float.
    macro_rules! whole {
        (F32, $function:ident) => {
            float!(F32, |[a], _| single(a).$function().to_bits().into())
        };
        (F16, $function:ident) => {
            float!(F16, |[a], _| f32_to_f16(half(a).$function()).into())
        };
    }
    /// Whether a condition holds, or with `not`, whether it does not, because it fails or a source is a NaN.
    macro_rules! compare {
        ($kind:expr, $read:ident, |$a:ident, $b:ident| $test:expr) => {
            run!(|core, step| {
                let [$a, $b] = sources(core.wave, step, $kind).map($read);
                core.wave.scc = $test;
            })
        };
        ($kind:expr, $read:ident, not |$a:ident, $b:ident| $test:expr) => {
            run!(|core, step| {
                let [$a, $b] = sources(core.wave, step, $kind).map($read);
                let holds = $test;
                core.wave.scc = !holds;
            })
        };
    }
    let handler: fn(&mut Core<'_>, &Step) -> Flow = match op {
        Op::s_add_f32 => float!(F32, |[a, b], round| SINGLE.sum(a, b, round)),
        Op::s_sub_f32 => float!(F32, |[a, b], round| SINGLE.sum(a, SINGLE.negated(b), round)),
        Op::s_mul_f32 => float!(F32, |[a, b], round| SINGLE.product(a, b, round)),
        Op::s_fmaak_f32 | Op::s_fmamk_f32 => {
            float!(F32, |[a, b, c], round| SINGLE.fused([a, b, c], 0, round))
        }
        Op::s_fmac_f32 => accumulate!(F32),
        Op::s_min_f32 => choose!(F32, |a, b| min_f32(single(a), single(b)).to_bits().into(), least),
        Op::s_max_f32 => choose!(F32, |a, b| max_f32(single(a), single(b)).to_bits().into(), greatest),
        Op::s_min_num_f32 => by_rule!(F32, min_num_f32),
        Op::s_max_num_f32 => by_rule!(F32, max_num_f32),
        Op::s_minimum_f32 => by_rule!(F32, minimum_f32),
        Op::s_maximum_f32 => by_rule!(F32, maximum_f32),
        Op::s_min_num_f16 => by_rule!(F16, min_num_f16),
        Op::s_max_num_f16 => by_rule!(F16, max_num_f16),
        Op::s_minimum_f16 => by_rule!(F16, minimum_f16),
        Op::s_maximum_f16 => by_rule!(F16, maximum_f16),
        Op::s_ceil_f32 => whole!(F32, ceil),
        Op::s_floor_f32 => whole!(F32, floor),
        Op::s_trunc_f32 => whole!(F32, trunc),
        Op::s_rndne_f32 => whole!(F32, round_ties_even),
        Op::s_add_f16 => float!(F16, |[a, b], round| HALF.sum(a, b, round)),
        Op::s_sub_f16 => float!(F16, |[a, b], round| HALF.sum(a, HALF.negated(b), round)),
        Op::s_mul_f16 => float!(F16, |[a, b], round| HALF.product(a, b, round)),
        Op::s_fmac_f16 => accumulate!(F16),
        Op::s_min_f16 => choose!(F16, |a, b| min_f16(a as u16, b as u16).into(), least),
        Op::s_max_f16 => choose!(F16, |a, b| max_f16(a as u16, b as u16).into(), greatest),
        Op::s_ceil_f16 => whole!(F16, ceil),
        Op::s_floor_f16 => whole!(F16, floor),
        Op::s_trunc_f16 => whole!(F16, trunc),
        Op::s_rndne_f16 => whole!(F16, round_ties_even),
        Op::s_cvt_f32_i32 => run!(|core, step| {
            let value = scalar32(core.wave, step.src[0]) as i32;
            let result = SINGLE.of_integer(value.into(), direction(core.wave, F32));
            store(core, step, F32, result);
        }),
        Op::s_cvt_f32_u32 => run!(|core, step| {
            let value = scalar32(core.wave, step.src[0]);
            let result = SINGLE.of_integer(value.into(), direction(core.wave, F32));
            store(core, step, F32, result);
        }),
        Op::s_cvt_i32_f32 => run!(|core, step| {
            let [a] = sources(core.wave, step, F32).map(single);
            core.wave.set_scalar(step.inst.dst, a as i32 as u32);
        }),
        Op::s_cvt_u32_f32 => run!(|core, step| {
            let [a] = sources(core.wave, step, F32).map(single);
            core.wave.set_scalar(step.inst.dst, a as u32);
        }),
        Op::s_cvt_f16_f32 => convert!(F32 => F16, |source| source),
        Op::s_cvt_f32_f16 => convert!(F16 => F32, |source| source),
        Op::s_cvt_hi_f32_f16 => convert!(F16 => F32, |source| source >> 16),
        Op::s_cvt_pk_rtz_f16_f32 => run!(|core, step| {
            let [low, high] = sources(core.wave, step, F32).map(|bits| f32_to_f16_toward_zero(single(bits)));
            core.wave.set_scalar(step.inst.dst, low | high << 16);
        }),
        Op::s_cmp_lt_f32 => compare!(F32, single, |a, b| a < b),
        Op::s_cmp_eq_f32 => compare!(F32, single, |a, b| a == b),
        Op::s_cmp_le_f32 => compare!(F32, single, |a, b| a <= b),
        Op::s_cmp_gt_f32 => compare!(F32, single, |a, b| a > b),
        Op::s_cmp_lg_f32 => compare!(F32, single, |a, b| (a < b) | (a > b)),
        Op::s_cmp_ge_f32 => compare!(F32, single, |a, b| a >= b),
        Op::s_cmp_o_f32 => compare!(F32, single, not | a, b | a.is_nan() | b.is_nan()),
        Op::s_cmp_u_f32 => compare!(F32, single, |a, b| a.is_nan() | b.is_nan()),
        Op::s_cmp_nge_f32 => compare!(F32, single, not | a, b | a >= b),
        Op::s_cmp_nlg_f32 => compare!(F32, single, not | a, b | (a < b) | (a > b)),
        Op::s_cmp_ngt_f32 => compare!(F32, single, not | a, b | a > b),
        Op::s_cmp_nle_f32 => compare!(F32, single, not | a, b | a <= b),
        Op::s_cmp_neq_f32 => compare!(F32, single, |a, b| a != b),
        Op::s_cmp_nlt_f32 => compare!(F32, single, not | a, b | a < b),
        Op::s_cmp_lt_f16 => compare!(F16, half, |a, b| a < b),
        Op::s_cmp_eq_f16 => compare!(F16, half, |a, b| a == b),
        Op::s_cmp_le_f16 => compare!(F16, half, |a, b| a <= b),
        Op::s_cmp_gt_f16 => compare!(F16, half, |a, b| a > b),
        Op::s_cmp_lg_f16 => compare!(F16, half, |a, b| (a < b) | (a > b)),
        Op::s_cmp_ge_f16 => compare!(F16, half, |a, b| a >= b),
        Op::s_cmp_o_f16 => compare!(F16, half, not | a, b | a.is_nan() | b.is_nan()),
        Op::s_cmp_u_f16 => compare!(F16, half, |a, b| a.is_nan() | b.is_nan()),
        Op::s_cmp_nge_f16 => compare!(F16, half, not | a, b | a >= b),
        Op::s_cmp_nlg_f16 => compare!(F16, half, not | a, b | (a < b) | (a > b)),
        Op::s_cmp_ngt_f16 => compare!(F16, half, not | a, b | a > b),
        Op::s_cmp_nle_f16 => compare!(F16, half, not | a, b | a <= b),
        Op::s_cmp_neq_f16 => compare!(F16, half, |a, b| a != b),
        Op::s_cmp_nlt_f16 => compare!(F16, half, not | a, b | a < b),
        _ => return None,
    };
    Some(Compilations::scalar(handler))
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn half(bits: u64) -> f32 {
    f16_to_f32(bits as u32)
}

/// The first sources, which are of one kind.
fn sources<const COUNT: usize>(wave: &Wave, step: &Step, kind: LaneKind) -> [u64; COUNT] {
    let all = step.src.map(|source| flushed(wave, scalar32(wave, source), kind));
    std::array::from_fn(|index| all[index])
}

/// The old value of the destination.
fn destination(wave: &Wave, step: &Step) -> u32 {
    match step.inst.dst {
        Operand::Sgpr(number) => wave.s[usize::from(number) & 127],
        _ => 0,
    }
}

/// The float in the low bits, or zero for a denormal that the mode does not read.
fn flushed(wave: &Wave, bits: u32, kind: LaneKind) -> u64 {
    let flushes = if kind == F32 { wave.mode.flush_in32() } else { wave.mode.flush_in64() };
    normal(bits.into(), kind, flushes)
}

/// The float in the low bits; zero of its sign in place of a denormal if `flushes`.
fn normal(bits: u64, kind: LaneKind, flushes: bool) -> u64 {
    let (mask, sign) = if kind == F32 { (0xffff_ffff, 0x8000_0000) } else { (0xffff, 0x8000) };
    let bits = bits & mask;
    if flushes && bits & format(kind).infinity() == 0 { bits & sign } else { bits }
}

/// Stores a result, with a NaN that is the first source that is one, or else the usual one.
fn store_computed(
    core: &mut Core<'_>,
    step: &Step,
    kind: LaneKind,
    result: u64,
    sources: &[(u64, LaneKind)],
) {
    let nan = || delivered(sources.iter().find_map(|&(bits, kind)| carried(bits, kind)), kind);
    store(core, step, kind, if format(kind).is_nan(result) { nan() } else { result });
}

/// Stores a result, or zero for a denormal that the mode does not write.
fn store(core: &mut Core<'_>, step: &Step, kind: LaneKind, result: u64) {
    let mode = core.wave.mode;
    let flushes = if kind == F32 { mode.flush_out32() } else { mode.flush_out64() };
    core.wave.set_scalar(step.inst.dst, normal(result, kind, flushes) as u32);
}
