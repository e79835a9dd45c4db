// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which NaN a computation gives: the first source that is one, made quiet, or else the usual one. Processors choose by the
//! order in which a compiler puts operands, so it is done over in the rare case.

use super::crossing::{modified32, modified64, old32, old64};
use super::lanes::Kind;
use super::state::{LANES, Row, Wave};
use super::step::Step;
use crate::isa::{Element, Op};

/// A float's bits in double precision's layout, if it is a NaN, made quiet.
pub(super) fn carried(bits: u64, kind: Kind) -> Option<u64> {
    let (sign, infinity, shift) = match kind {
        Kind::F16 => (0x8000u64, 0x7c00u64, 42),
        Kind::F32 => (0x8000_0000, 0x7f80_0000, 29),
        _ => (1 << 63, 0x7ff0_0000_0000_0000, 0),
    };
    let magnitude = bits & (sign - 1);
    let is_negative = bits & sign != 0;
    // The exponent of a NaN is all ones in every format.
    let payload = magnitude.wrapping_sub(infinity) << shift;
    let quiet = 0x7ff8_0000_0000_0000 | payload & 0x000f_ffff_ffff_ffff;
    (magnitude > infinity).then_some(quiet | u64::from(is_negative) << 63)
}

/// Cuts a NaN in double precision's layout down to another format's.
pub(super) fn delivered(nan: Option<u64>, kind: Kind) -> u64 {
    let nan = nan.unwrap_or(0x7ff8_0000_0000_0000);
    match kind {
        Kind::F16 => nan >> 48 & 0x8000 | 0x7c00 | nan >> 42 & 0x3ff,
        Kind::F32 => nan >> 32 & 0x8000_0000 | 0x7f80_0000 | nan >> 29 & 0x7f_ffff,
        _ => nan,
    }
}

/// The NaN of each lane's sources, the first that has one.
fn of_sources(wave: &Wave, step: &Step, kind: Kind) -> [Option<u64>; LANES] {
    let mut found = [None; LANES];
    let mut look = |lane: usize, bits: u64, kind: Kind| {
        if found[lane].is_none() {
            found[lane] = carried(bits, kind);
        }
    };
    for index in 0..3 {
        let source = match step.inst.src_type[index].element {
            Element::F16 => Kind::F16,
            Element::F32 => Kind::F32,
            Element::F64 => Kind::F64,
            _ => continue,
        };
        if source == Kind::F64 {
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
    if matches!(step.inst.op, Op::v_fmac_f32 | Op::v_fmac_f64 | Op::v_mac_f16 | Op::v_mac_f32) {
        if kind == Kind::F64 {
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

/// Replaces the NaNs among the 32-bit results of an instruction.
#[cold]
#[inline(never)]
pub(super) fn settle32(wave: &Wave, step: &Step, results: &mut Row, kind: Kind) {
    let sources = of_sources(wave, step, kind);
    for (bits, nan) in results.iter_mut().zip(sources) {
        if carried((*bits).into(), kind).is_some() {
            *bits = delivered(nan, kind) as u32;
        }
    }
}

/// Replaces the NaNs among the 64-bit results of an instruction.
#[cold]
#[inline(never)]
pub(super) fn settle64(wave: &Wave, step: &Step, low: &mut Row, high: &mut Row, kind: Kind) {
    let sources = of_sources(wave, step, kind);
    for (lane, nan) in sources.into_iter().enumerate() {
        if carried(u64::from(low[lane]) | u64::from(high[lane]) << 32, kind).is_some() {
            let bits = delivered(nan, kind);
            (low[lane], high[lane]) = (bits as u32, (bits >> 32) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_move_between_formats() {
        assert_eq!(carried(0x7f80_0001, Kind::F32), Some(0x7ff8_0000_2000_0000));
        assert_eq!(delivered(carried(0xff80_0001, Kind::F32), Kind::F32), 0xffc0_0001);
        assert_eq!(delivered(carried(0xfe05, Kind::F16), Kind::F32), 0xffc0_a000);
        assert_eq!(delivered(None, Kind::F16), 0x7e00);
        assert_eq!(carried(0x7f80_0000, Kind::F32), None);
        assert_eq!(carried(0x7ff0_0000_0000_0000, Kind::F64), None);
    }
}
