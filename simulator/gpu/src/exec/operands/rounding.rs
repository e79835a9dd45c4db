// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions whose results depend on MODE beyond denormals: directed rounding, and minima and maxima
//! without IEEE's rules for NaN. Few kernels use them, so they are executed lane by lane, in integers.

use crate::exec::machine::core::Flow;
use crate::exec::machine::step::Step;
use crate::exec::machine::wave::Wave;
use crate::exec::operands::modifiers::{modified32, modified64, old32, old64};
use crate::exec::operands::nan::{replaced32, replaced64};
use crate::exec::operands::result::{store32, store64};
use crate::exec::values::float::{is_dark, normal};
use crate::exec::values::half::{f16_to_f32, f32_to_f16};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::{LANES, Row};
use crate::exec::values::soft;
use crate::exec::values::soft::{DOUBLE, HALF, SINGLE, Soft};
use crate::isa::Op;

/// The function of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Add,
    Subtract,
    SubtractReversed,
    Multiply,
    MultiplyLegacy,
    Fused,
    Accumulate,
    /// Fused, but zero times anything is zero.
    FusedLegacy,
    AccumulateLegacy,
    /// The product of `v_mullit_f32`.
    Light,
    /// A product rounded on its own, and a sum.
    TwoSteps,
    TwoStepsAccumulate,
    /// The same, but zero times anything is zero.
    TwoStepsLegacy,
    TwoStepsLegacyAccumulate,
    Scale,
    Fraction,
    DivisionEnd,
    /// From the float of another kind.
    From(LaneKind),
    FromSigned(LaneKind),
    FromUnsigned(LaneKind),
    /// To an integer, a half added and rounded down.
    HalfUp,
    Least(usize),
    Greatest(usize),
    Middle,
    /// The lesser of the third source and of the greater of the others.
    GreatestThenLeast,
    LeastThenGreatest,
}

impl Function {
    /// Whether the result is one of the sources.
    fn chooses(self) -> bool {
        use Function::*;
        matches!(self, Least(_) | Greatest(_) | Middle | GreatestThenLeast | LeastThenGreatest)
    }
}

/// The function of an instruction, and the kind of float.
fn function(op: Op) -> Option<(Function, LaneKind)> {
    use Function::*;
    use LaneKind::{B16, B32, F16, F32, F64};
    macro_rules! functions {
        ($($function:expr, $kind:ident => $($name:ident)+;)+) => {
            match op {
                $($(Op::$name)|+ => Some(($function, $kind)),)+
                _ => None,
            }
        };
    }
    functions! {
        Add, F16 => v_add_f16;
        Add, F32 => v_add_f32;
        Add, F64 => v_add_f64;
        Subtract, F16 => v_sub_f16;
        Subtract, F32 => v_sub_f32;
        SubtractReversed, F16 => v_subrev_f16;
        SubtractReversed, F32 => v_subrev_f32;
        Multiply, F16 => v_mul_f16;
        Multiply, F32 => v_mul_f32;
        Multiply, F64 => v_mul_f64;
        MultiplyLegacy, F32 => v_mul_legacy_f32;
        Fused, F16 => v_fma_f16 v_fma_legacy_f16 v_fmamk_f16 v_fmaak_f16;
        Fused, F32 => v_fma_f32 v_fmamk_f32 v_fmaak_f32;
        Fused, F64 => v_fma_f64;
        Accumulate, F16 => v_fmac_f16;
        Accumulate, F32 => v_fmac_f32;
        Accumulate, F64 => v_fmac_f64;
        FusedLegacy, F32 => v_fma_dx9_zero_f32;
        AccumulateLegacy, F32 => v_fmac_dx9_zero_f32;
        Light, F32 => v_mullit_f32;
        TwoSteps, F16 => v_mad_f16 v_mad_legacy_f16 v_madmk_f16 v_madak_f16;
        TwoSteps, F32 => v_mad_f32 v_madmk_f32 v_madak_f32;
        TwoStepsAccumulate, F16 => v_mac_f16;
        TwoStepsAccumulate, F32 => v_mac_f32;
        Scale, F16 => v_ldexp_f16;
        Scale, F32 => v_ldexp_f32;
        Scale, F64 => v_ldexp_f64;
        Fraction, F16 => v_fract_f16;
        Fraction, F32 => v_fract_f32;
        Fraction, F64 => v_fract_f64;
        DivisionEnd, F32 => v_div_fmas_f32;
        DivisionEnd, F64 => v_div_fmas_f64;
        Least(2), F16 => v_min_f16;
        Least(2), F32 => v_min_f32;
        Least(2), F64 => v_min_f64;
        Greatest(2), F16 => v_max_f16;
        Greatest(2), F32 => v_max_f32;
        Greatest(2), F64 => v_max_f64;
        Least(3), F16 => v_min3_f16;
        Least(3), F32 => v_min3_f32;
        Greatest(3), F16 => v_max3_f16;
        Greatest(3), F32 => v_max3_f32;
        Middle, F16 => v_med3_f16;
        Middle, F32 => v_med3_f32;
        GreatestThenLeast, F16 => v_maxmin_f16;
        GreatestThenLeast, F32 => v_maxmin_f32;
        LeastThenGreatest, F16 => v_minmax_f16;
        LeastThenGreatest, F32 => v_minmax_f32;
        From(F32), F16 => v_cvt_f16_f32;
        From(F64), F32 => v_cvt_f32_f64;
        FromSigned(B32), F32 => v_cvt_f32_i32;
        FromUnsigned(B32), F32 => v_cvt_f32_u32;
        FromSigned(B16), F16 => v_cvt_f16_i16;
        FromUnsigned(B16), F16 => v_cvt_f16_u16;
        HalfUp, F32 => v_cvt_rpi_i32_f32;
        TwoStepsLegacy, F32 => v_mad_legacy_f32;
        TwoStepsLegacyAccumulate, F32 => v_mac_legacy_f32;
    }
}

/// The format of a kind of float.
pub(crate) fn format(kind: LaneKind) -> Soft {
    match kind {
        LaneKind::F16 => HALF,
        LaneKind::F64 => DOUBLE,
        _ => SINGLE,
    }
}

/// The rounding of results of a kind.
pub(crate) fn direction(wave: &Wave, kind: LaneKind) -> u32 {
    if kind == LaneKind::F32 { wave.mode.round32() } else { wave.mode.round64() }
}

/// Whether this module executes an instruction in the wave's mode.
#[cold]
#[inline(never)]
pub(crate) fn executes(wave: &Wave, step: &Step) -> bool {
    match function(step.inst.op) {
        Some((function, _)) if function.chooses() => !wave.mode.ieee(),
        Some((_, kind)) => direction(wave, kind) != soft::NEAREST,
        None => false,
    }
}

type Values = [u64; LANES];

fn source(wave: &Wave, step: &Step, index: usize, kind: LaneKind) -> Values {
    if kind == LaneKind::F64 {
        joined(modified64(wave, step, index, kind))
    } else {
        modified32(wave, step, index, kind).map(|bits| match kind {
            LaneKind::F16 | LaneKind::B16 => (bits & 0xffff).into(),
            _ => bits.into(),
        })
    }
}

fn old(wave: &Wave, step: &Step, kind: LaneKind) -> Values {
    if kind == LaneKind::F64 {
        joined(old64(wave, step, kind))
    } else {
        let mask = if kind == LaneKind::F16 { 0xffff } else { !0 };
        old32(wave, step, kind).map(|bits| (bits & mask).into())
    }
}

fn joined((low, high): (Row, Row)) -> Values {
    std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
}

/// Executes an instruction for which [`executes`] is true.
#[cold]
#[inline(never)]
pub(crate) fn execute(wave: &mut Wave, step: &Step) -> Flow {
    let Some((function, kind)) = function(step.inst.op) else { return Flow::Next };
    let (float, round) = (format(kind), direction(wave, kind));
    let get = |index: usize| source(wave, step, index, kind);
    let scaled = wave.vcc();
    let results: Values = match function {
        Function::Add => zip(get(0), get(1), |a, b| float.sum(a, b, round)),
        Function::Subtract => zip(get(0), get(1), |a, b| float.sum(a, float.negated(b), round)),
        Function::SubtractReversed => zip(get(0), get(1), |a, b| float.sum(b, float.negated(a), round)),
        Function::Multiply => zip(get(0), get(1), |a, b| float.product(a, b, round)),
        Function::MultiplyLegacy => zip(get(0), get(1), |a, b| {
            let zero = |bits: u64| bits & 0x7fff_ffff == 0;
            if zero(a) || zero(b) { 0 } else { float.product(a, b, round) }
        }),
        Function::Fused => zip3([get(0), get(1), get(2)], |all| float.fused(all, 0, round)),
        Function::Accumulate => {
            zip3([get(0), get(1), old(wave, step, kind)], |all| float.fused(all, 0, round))
        }
        Function::FusedLegacy => zip3([get(0), get(1), get(2)], |all| fused_legacy(all, round)),
        Function::AccumulateLegacy => {
            zip3([get(0), get(1), old(wave, step, kind)], |all| fused_legacy(all, round))
        }
        Function::Light => zip3([get(0), get(1), get(2)], |[a, b, c]| {
            let zero = |bits: u64| bits & 0x7fff_ffff == 0;
            let [factor, light] = [b, c].map(|bits| f32::from_bits(bits as u32));
            if is_dark(factor, light) {
                f32::MIN.to_bits().into()
            } else if zero(a) || zero(b) {
                0
            } else {
                float.product(a, b, round)
            }
        }),
        Function::TwoSteps => zip3([get(0), get(1), get(2)], |all| two_steps(kind, all, round)),
        Function::TwoStepsAccumulate => {
            zip3([get(0), get(1), old(wave, step, kind)], |all| two_steps(kind, all, round))
        }
        Function::TwoStepsLegacy => zip3([get(0), get(1), get(2)], |all| two_steps_legacy(all, round)),
        Function::TwoStepsLegacyAccumulate => {
            zip3([get(0), get(1), old(wave, step, kind)], |all| two_steps_legacy(all, round))
        }
        Function::Scale => {
            let by = source(wave, step, 1, if kind == LaneKind::F16 { LaneKind::B16 } else { LaneKind::B32 });
            zip(get(0), by, |a, by| {
                let by = if kind == LaneKind::F16 { (by as i16).into() } else { by as i32 };
                float.scaled(a, by, round)
            })
        }
        Function::Fraction => get(0).map(|a| {
            let floor = match kind {
                LaneKind::F64 => f64::from_bits(a).floor().to_bits(),
                LaneKind::F32 => f32::from_bits(a as u32).floor().to_bits().into(),
                _ => f32_to_f16(f16_to_f32(a as u32).floor()).into(),
            };
            let part = float.sum(a, float.negated(floor), round);
            let one = float.of_integer(1, round);
            if part == one { one - 1 } else { part }
        }),
        Function::DivisionEnd => {
            let [a, b, c] = [get(0), get(1), get(2)];
            std::array::from_fn(|lane| {
                let field = if kind == LaneKind::F64 { c[lane] >> 52 & 0x7ff } else { c[lane] >> 23 & 0xff };
                let (middle, power) = if kind == LaneKind::F64 { (1023, 128) } else { (127, 64) };
                let by = match scaled.has(lane) {
                    false => 0,
                    _ if field > middle => power,
                    _ => -power,
                };
                float.fused([a[lane], b[lane], c[lane]], by, round)
            })
        }
        Function::From(from) => {
            source(wave, step, 0, from).map(|bits| format(from).convert(float, bits, round))
        }
        Function::FromSigned(from) => source(wave, step, 0, from).map(|bits| {
            let value = if from == LaneKind::B16 { (bits as i16).into() } else { (bits as i32).into() };
            float.of_integer(value, round)
        }),
        Function::FromUnsigned(from) => {
            source(wave, step, 0, from).map(|bits| float.of_integer(bits as i64, round))
        }
        Function::HalfUp => {
            let results = get(0).map(|a| {
                let sum = f32::from_bits(float.sum(a, 0x3f00_0000, round) as u32);
                sum.floor() as i32 as u32
            });
            store32(wave, step, results, LaneKind::B32);
            return Flow::Next;
        }
        Function::Least(count) => chosen(count, get, |a, b| least(float, a, b)),
        Function::Greatest(count) => chosen(count, get, |a, b| greatest(float, a, b)),
        Function::GreatestThenLeast => {
            zip3([get(0), get(1), get(2)], |[a, b, c]| least(float, greatest(float, a, b), c))
        }
        Function::LeastThenGreatest => {
            zip3([get(0), get(1), get(2)], |[a, b, c]| greatest(float, least(float, a, b), c))
        }
        Function::Middle => zip3([get(0), get(1), get(2)], |[a, b, c]| middle(float, a, b, c)),
    };
    let chooses = function.chooses();
    if kind == LaneKind::F64 {
        let mut low = results.map(|bits| bits as u32);
        let mut high = results.map(|bits| (bits >> 32) as u32);
        if !chooses {
            (low, high) = replaced64(wave, step, low, high, kind);
        }
        store64(wave, step, low, high, kind);
    } else {
        let mut row = results.map(|bits| bits as u32);
        if !chooses {
            row = replaced32(wave, step, row, kind);
        }
        store32(wave, step, row, kind);
    }
    Flow::Next
}

fn zip(a: Values, b: Values, f: impl Fn(u64, u64) -> u64) -> Values {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

fn zip3([a, b, c]: [Values; 3], f: impl Fn([u64; 3]) -> u64) -> Values {
    std::array::from_fn(|lane| f([a[lane], b[lane], c[lane]]))
}

fn chosen(count: usize, get: impl Fn(usize) -> Values, f: impl Fn(u64, u64) -> u64) -> Values {
    (1..count).fold(get(0), |best, index| zip(best, get(index), &f))
}

/// A product rounded on its own, and a sum. Denormal singles are flushed in every mode.
pub(crate) fn two_steps(kind: LaneKind, [a, b, c]: [u64; 3], round: u32) -> u64 {
    let float = format(kind);
    if kind != LaneKind::F32 {
        return float.sum(float.product(a, b, round), c, round);
    }
    let normal = |bits: u64| u64::from(normal(f32::from_bits(bits as u32)).to_bits());
    let product = normal(float.product(normal(a), normal(b), round));
    normal(float.sum(product, normal(c), round))
}

/// The same of singles, in which zero times anything is zero.
fn two_steps_legacy([a, b, c]: [u64; 3], round: u32) -> u64 {
    let is_zero = |bits: u64| normal(f32::from_bits(bits as u32)) == 0.0;
    two_steps(LaneKind::F32, if is_zero(a) || is_zero(b) { [0, 0, c] } else { [a, b, c] }, round)
}

/// A fused product and sum of singles, in which zero times anything is zero.
fn fused_legacy([a, b, c]: [u64; 3], round: u32) -> u64 {
    let zero = |bits: u64| bits & 0x7fff_ffff == 0;
    if zero(a) || zero(b) { c } else { SINGLE.fused([a, b, c], 0, round) }
}

/// The lesser of two numbers; if one is a NaN of any kind, the other.
pub(crate) fn least(float: Soft, a: u64, b: u64) -> u64 {
    match (float.is_nan(a), float.is_nan(b)) {
        (true, _) => b,
        (_, true) => a,
        _ if float.key(a) < float.key(b) => a,
        _ => b,
    }
}

/// The greater of two numbers, in the same way.
pub(crate) fn greatest(float: Soft, a: u64, b: u64) -> u64 {
    match (float.is_nan(a), float.is_nan(b)) {
        (true, _) => b,
        (_, true) => a,
        _ if float.key(a) > float.key(b) => a,
        _ => b,
    }
}

fn middle(float: Soft, a: u64, b: u64, c: u64) -> u64 {
    if [a, b, c].into_iter().any(|bits| float.is_nan(bits)) {
        return least(float, least(float, a, b), c);
    }
    let most = greatest(float, greatest(float, a, b), c);
    if float.equal(most, a) {
        greatest(float, b, c)
    } else if float.equal(most, b) {
        greatest(float, a, c)
    } else {
        greatest(float, a, b)
    }
}
