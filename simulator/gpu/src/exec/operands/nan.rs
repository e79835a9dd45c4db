// SPDX-License-Identifier: MIT OR Apache-2.0
//! The NaN of a computation: the first source that is a NaN, made quiet, or else the usual NaN. The host's
//! processor chooses by the order of operands, which is the host compiler's, so computed NaNs are replaced.
//! They are rare.

use crate::exec::machine::step::Step;
use crate::exec::machine::wave::Wave;
use crate::exec::operands::modifiers::{modified32, modified64, old32, old64};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::nan::{carried, delivered};
use crate::exec::values::row::{LANES, Row};
use crate::isa::{Element, Op};

/// The NaN of each lane's first source that is one.
fn of_sources(wave: &Wave, step: &Step, kind: LaneKind) -> [Option<u64>; LANES] {
    let mut found = [None; LANES];
    let mut look = |lane: usize, bits: u64, kind: LaneKind| {
        if found[lane].is_none() {
            found[lane] = carried(bits, kind);
        }
    };
    for index in 0..3 {
        let source = match step.inst.src_type[index].element {
            Element::F16 => LaneKind::F16,
            Element::F32 => LaneKind::F32,
            Element::F64 => LaneKind::F64,
            _ => continue,
        };
        if source == LaneKind::F64 {
            let (low, high) = modified64(wave, step, index, source);
            for lane in 0..LANES {
                look(lane, u64::from(low[lane]) | u64::from(high[lane]) << 32, source);
            }
        } else {
            let row = modified32(wave, step, index, source);
            for (lane, bits) in row.into_iter().enumerate() {
                look(lane, bits.into(), source);
            }
        }
    }
    let accumulates = matches!(
        step.inst.op,
        Op::v_fmac_f16
            | Op::v_fmac_f32
            | Op::v_fmac_f64
            | Op::v_fmac_dx9_zero_f32
            | Op::v_mac_f16
            | Op::v_mac_f32
            | Op::v_mac_legacy_f32
    );
    if accumulates {
        if kind == LaneKind::F64 {
            let (low, high) = old64(wave, step, kind);
            for lane in 0..LANES {
                look(lane, u64::from(low[lane]) | u64::from(high[lane]) << 32, kind);
            }
        } else {
            let row = old32(wave, step, kind);
            for (lane, bits) in row.into_iter().enumerate() {
                look(lane, bits.into(), kind);
            }
        }
    }
    found
}

/// The 32-bit results of an instruction with their NaNs replaced.
///
/// Results are passed by value, so that those of the usual case need no address and stay in the host's registers.
#[cold]
#[inline(never)]
pub(crate) fn replaced32(wave: &Wave, step: &Step, mut results: Row, kind: LaneKind) -> Row {
    // Inactive lanes often hold NaNs, and are not written.
    if !wave.exec().lanes().any(|lane| carried(results[lane].into(), kind).is_some()) {
        return results;
    }
    let sources = of_sources(wave, step, kind);
    for (bits, nan) in results.iter_mut().zip(sources) {
        if carried((*bits).into(), kind).is_some() {
            *bits = delivered(nan, kind) as u32;
        }
    }
    results
}

/// As [`replaced32`], the low and high halves of 64-bit results.
#[cold]
#[inline(never)]
pub(crate) fn replaced64(
    wave: &Wave,
    step: &Step,
    mut low: Row,
    mut high: Row,
    kind: LaneKind,
) -> (Row, Row) {
    let double = |lane: usize| u64::from(low[lane]) | u64::from(high[lane]) << 32;
    if !wave.exec().lanes().any(|lane| carried(double(lane), kind).is_some()) {
        return (low, high);
    }
    let sources = of_sources(wave, step, kind);
    for (lane, nan) in sources.into_iter().enumerate() {
        if carried(u64::from(low[lane]) | u64::from(high[lane]) << 32, kind).is_some() {
            let bits = delivered(nan, kind);
            (low[lane], high[lane]) = (bits as u32, (bits >> 32) as u32);
        }
    }
    (low, high)
}
