// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes results to the destination: output scale, clamp, flushed denormals, and the part of the register
//! and the lanes that are written.

use crate::exec::machine::step::Step;
use crate::exec::machine::wave::{Mode, Wave};
use crate::exec::operands::index::destination;
use crate::exec::operands::modifiers::writable_lanes;
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::{LANES, Row, row};
use crate::exec::values::soft;
use crate::isa::{Mods, SdwaSel, SdwaUnused};
use crate::lane_mask::LaneMask;

/// Stores a 32-bit (or smaller) result, with all modifiers and the float mode applied.
#[cold]
#[inline(never)]
pub(crate) fn store32(wave: &mut Wave, step: &Step, result: Row, kind: LaneKind) {
    let mods = &step.inst.mods;
    let mode = wave.mode;
    let result = match kind {
        LaneKind::F32 => row!(|lane| finish32(f32::from_bits(result[lane]), mods, mode).to_bits()),
        LaneKind::F16 if mods.clamp || mods.omod != 0 || wave.unusual => {
            row!(|lane| finish16(result[lane], mods, mode))
        }
        _ => result,
    };
    let number = destination(wave, step);
    let old = *wave.row(number);
    let result = if let Some(sdwa) = &mods.sdwa {
        row!(|lane| merged(old[lane], result[lane], sdwa.dst_sel, sdwa.dst_unused))
    } else if matches!(kind, LaneKind::F16 | LaneKind::B16) && mods.op_sel & 8 != 0 {
        row!(|lane| old[lane] & 0xffff | result[lane] << 16)
    } else if matches!(kind, LaneKind::F16 | LaneKind::B16) && step.keeps_half {
        row!(|lane| old[lane] & 0xffff_0000 | result[lane] & 0xffff)
    } else {
        result
    };
    let lanes = written_lanes(wave, step);
    wave.write_row(number, &result, lanes);
}

/// Stores a 64-bit result, with all modifiers and the float mode applied.
#[cold]
#[inline(never)]
pub(crate) fn store64(wave: &mut Wave, step: &Step, mut low: Row, mut high: Row, kind: LaneKind) {
    let mods = &step.inst.mods;
    let mode = wave.mode;
    if kind == LaneKind::F64 {
        for lane in 0..LANES {
            let bits = u64::from(low[lane]) | u64::from(high[lane]) << 32;
            let bits = finish64(f64::from_bits(bits), mods, mode).to_bits();
            (low[lane], high[lane]) = (bits as u32, (bits >> 32) as u32);
        }
    }
    let number = destination(wave, step);
    let lanes = written_lanes(wave, step);
    wave.write_row(number, &low, lanes);
    wave.write_row(number + 1, &high, lanes);
}

/// The lanes that the instruction writes.
pub(crate) fn written_lanes(wave: &Wave, step: &Step) -> LaneMask {
    let exec = wave.exec();
    step.inst.mods.dpp.as_ref().map_or(exec, |dpp| exec & writable_lanes(dpp, exec))
}

/// The output scale as a power of two. The hardware ignores it if denormals are kept or IEEE's rules hold.
fn scale(mods: &Mods, mode: Mode, flushes: bool) -> i32 {
    if flushes && !mode.ieee() { [0, 1, 2, -1][usize::from(mods.omod & 3)] } else { 0 }
}

/// A number between 0 and 1; a NaN is zero if the mode says so.
macro_rules! clamped {
    ($value:expr, $mode:expr) => {{
        let value = $value;
        if value.is_nan() {
            if $mode.dx10_clamp() { 0.0 } else { value }
        } else if value > 0.0 {
            value.min(1.0)
        } else {
            // Negative zero becomes zero too.
            0.0
        }
    }};
}

/// Output scale, denormals and clamp of a single-precision result.
pub(crate) fn finish32(value: f32, mods: &Mods, mode: Mode) -> f32 {
    let mut value = value;
    let by = scale(mods, mode, mode.flush_out32());
    if by != 0 && value.is_finite() {
        value = f32::from_bits(soft::SINGLE.scaled(value.to_bits().into(), by, mode.round32()) as u32);
    }
    if mode.flush_out32() && value.is_subnormal() {
        value = 0.0f32.copysign(value);
    }
    if mods.clamp { clamped!(value, mode) } else { value }
}

fn finish64(value: f64, mods: &Mods, mode: Mode) -> f64 {
    let mut value = value;
    let by = scale(mods, mode, mode.flush_out64());
    if by != 0 && value.is_finite() {
        value = f64::from_bits(soft::DOUBLE.scaled(value.to_bits(), by, mode.round64()));
    }
    if mode.flush_out64() && value.is_subnormal() {
        value = 0.0f64.copysign(value);
    }
    if mods.clamp { clamped!(value, mode) } else { value }
}

/// Output scale, denormals and clamp of a half-precision result.
pub(crate) fn finish16(bits: u32, mods: &Mods, mode: Mode) -> u32 {
    let mut bits = bits & 0xffff;
    let by = scale(mods, mode, mode.flush_out64());
    if by != 0 && bits & 0x7c00 != 0x7c00 {
        bits = soft::HALF.scaled(bits.into(), by, mode.round64()) as u32;
    }
    if mode.flush_out64() && bits & 0x7c00 == 0 {
        bits &= 0x8000;
    }
    if !mods.clamp {
        return bits;
    }
    match bits {
        // A NaN of either sign.
        _ if bits & 0x7fff > 0x7c00 => {
            if mode.dx10_clamp() {
                0
            } else {
                bits
            }
        }
        0x8000.. => 0,
        _ => bits.min(0x3c00),
    }
}

/// Puts a result into part of a register.
fn merged(old: u32, result: u32, select: SdwaSel, unused: SdwaUnused) -> u32 {
    let (shift, bits) = match select {
        SdwaSel::Byte0 => (0, 8),
        SdwaSel::Byte1 => (8, 8),
        SdwaSel::Byte2 => (16, 8),
        SdwaSel::Byte3 => (24, 8),
        SdwaSel::Word0 => (0, 16),
        SdwaSel::Word1 => (16, 16),
        SdwaSel::Dword => return result,
    };
    let mask = ((1u32 << bits) - 1) << shift;
    let part = result << shift & mask;
    match unused {
        SdwaUnused::Pad => part,
        SdwaUnused::Preserve => old & !mask | part,
        SdwaUnused::Sext => {
            let top = result << (32 - bits);
            // Bits above the part repeat its sign, those below are zero.
            (((top as i32) >> (32 - bits)) as u32) << shift
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_merged() {
        assert_eq!(merged(0x1122_3344, 0xab, SdwaSel::Byte1, SdwaUnused::Preserve), 0x1122_ab44);
        assert_eq!(merged(0x1122_3344, 0xab, SdwaSel::Byte1, SdwaUnused::Pad), 0xab00);
        assert_eq!(merged(0x1122_3344, 0xab, SdwaSel::Byte1, SdwaUnused::Sext), 0xffff_ab00);
        assert_eq!(merged(0x1122_3344, 0x1_8001, SdwaSel::Word1, SdwaUnused::Preserve), 0x8001_3344);
        assert_eq!(merged(0x1122_3344, 0xab, SdwaSel::Dword, SdwaUnused::Pad), 0xab);
    }

    #[test]
    fn clamp_and_scale() {
        let mode = Mode { bits: 0x1f0 };
        let mods = Mods { clamp: true, omod: 1, ..Mods::default() };
        assert_eq!(finish32(0.25, &mods, mode), 0.25, "no scale where denormals are kept");
        assert_eq!(finish32(0.25, &mods, Mode { bits: 0x1c0 }), 0.5);
        assert_eq!(finish32(0.25, &mods, Mode { bits: 0x3c0 }), 0.25, "no scale by IEEE's rules");
        assert_eq!(finish32(-0.0, &mods, mode).to_bits(), 0);
        assert_eq!(finish32(3.0, &mods, mode), 1.0);
        assert_eq!(finish32(-3.0, &mods, mode), 0.0);
        assert_eq!(finish32(f32::NAN, &mods, mode), 0.0);
        assert!(finish32(f32::NAN, &mods, Mode { bits: 0xf0 }).is_nan());
        let plain = Mods::default();
        assert_eq!(finish32(1e-40, &plain, Mode { bits: 0xd0 }).to_bits(), 0);
        assert_eq!(finish32(-1e-40, &plain, Mode { bits: 0xd0 }).to_bits(), 0x8000_0000);
        assert_eq!(finish32(1e-40, &plain, mode), 1e-40);
        assert_eq!(finish16(0x3c00, &Mods { omod: 3, ..plain }, Mode { bits: 0x130 }), 0x3800);
    }
}
