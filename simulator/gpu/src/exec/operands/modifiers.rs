// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sources with modifiers: other lanes (DPP), parts of registers (SDWA, op_sel), register indexing, signs, and flushed
//! denormals.

use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::Wave;
use crate::exec::operands::index::{destination, indexed};
use crate::exec::operands::source::{scalar32, scalar64};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::{LANES, Row, mask, row};
use crate::isa::{Dpp, Mods, SdwaSel};
use crate::lane_mask::LaneMask;

/// A 32-bit (or smaller) source, with its index, its modifiers and the float mode applied.
#[cold]
#[inline(never)]
pub(crate) fn modified32(wave: &Wave, step: &Step, index: usize, kind: LaneKind) -> Row {
    let mods = &step.inst.mods;
    let mut values = match indexed(wave, step, index) {
        Source::Vector(number) => *wave.row(number),
        source => [scalar32(wave, source); LANES],
    };
    if index == 0 && crosses(mods) {
        values = crossed(&values, mods, wave.exec());
    }
    if let (Some(sdwa), Some(select)) =
        (&mods.sdwa, mods.sdwa.and_then(|sdwa| sdwa.src_sel.get(index).copied()))
    {
        let signed = sdwa.sext >> index & 1 != 0;
        values = row!(|lane| selected(values[lane], select, signed));
    } else if matches!(kind, LaneKind::F16 | LaneKind::RawF16 | LaneKind::B16)
        && mods.op_sel >> index & 1 != 0
    {
        values = row!(|lane| values[lane] >> 16);
    }
    let (keep, flip) = signs(mods, index, sign32(kind));
    flushed32(wave, values.map(|value| value & keep ^ flip), kind)
}

/// A 64-bit source, with its index, its modifiers and the float mode applied, as low and high rows.
#[cold]
#[inline(never)]
pub(crate) fn modified64(wave: &Wave, step: &Step, index: usize, kind: LaneKind) -> (Row, Row) {
    let mods = &step.inst.mods;
    let (mut low, mut high) = match indexed(wave, step, index) {
        Source::Vector(number) => (*wave.row(number), *wave.row(number + 1)),
        source => {
            let value = scalar64(wave, source);
            ([value as u32; LANES], [(value >> 32) as u32; LANES])
        }
    };
    if index == 0 && crosses(mods) {
        low = crossed(&low, mods, wave.exec());
        high = crossed(&high, mods, wave.exec());
    }
    if matches!(kind, LaneKind::F64 | LaneKind::RawF64) {
        let (keep, flip) = signs(mods, index, 0x8000_0000);
        for word in &mut high {
            *word = *word & keep ^ flip;
        }
    }
    flushed64(wave, (low, high), kind)
}

/// Doubles with denormals made zero, if the mode asks for it.
fn flushed64(wave: &Wave, (mut low, mut high): (Row, Row), kind: LaneKind) -> (Row, Row) {
    if kind == LaneKind::F64 && wave.mode.flush_in64() {
        for lane in 0..LANES {
            if high[lane] & 0x7ff0_0000 == 0 {
                low[lane] = 0;
                high[lane] &= 0x8000_0000;
            }
        }
    }
    (low, high)
}

/// Singles or halves with denormals made zero, if the mode asks for it.
fn flushed32(wave: &Wave, values: Row, kind: LaneKind) -> Row {
    let (exponent, sign) = match kind {
        LaneKind::F32 if wave.mode.flush_in32() => (0x7f80_0000, 0x8000_0000),
        LaneKind::F16 if wave.mode.flush_in64() => (0x7c00, 0x8000),
        _ => return values,
    };
    values.map(|value| if value & exponent == 0 { value & sign } else { value })
}

/// The old value of the destination, for instructions that accumulate.
#[cold]
#[inline(never)]
pub(crate) fn old32(wave: &Wave, step: &Step, kind: LaneKind) -> Row {
    let row = *wave.row(destination(wave, step));
    flushed32(wave, if is_high(step, kind) { row.map(|word| word >> 16) } else { row }, kind)
}

/// Whether the destination is the high half of a register.
#[inline(always)]
pub(crate) fn is_high(step: &Step, kind: LaneKind) -> bool {
    kind.is_half() && step.inst.mods.op_sel & 8 != 0
}

/// The same for 64 bits, as low and high rows.
#[cold]
#[inline(never)]
pub(crate) fn old64(wave: &Wave, step: &Step, kind: LaneKind) -> (Row, Row) {
    let number = destination(wave, step);
    flushed64(wave, (*wave.row(number), *wave.row(number + 1)), kind)
}

/// The sign bit of a number of 32 bits or less; zero if it has none.
#[inline]
fn sign32(kind: LaneKind) -> u32 {
    match kind {
        LaneKind::F32 | LaneKind::RawF32 => 0x8000_0000,
        LaneKind::F16 | LaneKind::RawF16 => 0x8000,
        _ => 0,
    }
}

/// One lane of a 32-bit (or smaller) source of a step that is [`plain`](Step::plain), in the usual float mode.
#[inline(never)]
pub(crate) fn lane32(wave: &Wave, step: &Step, index: usize, kind: LaneKind, lane: usize) -> u32 {
    let value = match step.src[index] {
        Source::Vector(number) => wave.row(number)[lane],
        source => scalar32(wave, source),
    };
    if !step.modified {
        return value;
    }
    let (keep, flip) = signs(&step.inst.mods, index, sign32(kind));
    value & keep ^ flip
}

/// One lane of a 64-bit source of such a step.
#[inline(never)]
pub(crate) fn lane64(wave: &Wave, step: &Step, index: usize, kind: LaneKind, lane: usize) -> u64 {
    let value = match step.src[index] {
        Source::Vector(number) => {
            u64::from(wave.row(number)[lane]) | u64::from(wave.row(number + 1)[lane]) << 32
        }
        source => scalar64(wave, source),
    };
    if !step.modified || !matches!(kind, LaneKind::F64 | LaneKind::RawF64) {
        return value;
    }
    let (keep, flip) = signs(&step.inst.mods, index, 0x8000_0000);
    let high = (value >> 32) as u32 & keep ^ flip;
    u64::from(high) << 32 | value & 0xffff_ffff
}

/// The masks for absolute value and negation of a source: bits to keep, then bits to flip.
fn signs(mods: &Mods, index: usize, sign: u32) -> (u32, u32) {
    let keep = if mods.abs >> index & 1 != 0 { !sign } else { !0 };
    (keep, if mods.neg >> index & 1 != 0 { sign } else { 0 })
}

/// Part of a register, extended to 32 bits.
fn selected(value: u32, select: SdwaSel, signed: bool) -> u32 {
    let (shift, bits) = match select {
        SdwaSel::Byte0 => (0, 8),
        SdwaSel::Byte1 => (8, 8),
        SdwaSel::Byte2 => (16, 8),
        SdwaSel::Byte3 => (24, 8),
        SdwaSel::Word0 => (0, 16),
        SdwaSel::Word1 => (16, 16),
        SdwaSel::Dword => return value,
    };
    let top = value << (32 - shift - bits);
    if signed { ((top as i32) >> (32 - bits)) as u32 } else { top >> (32 - bits) }
}

/// Whether the first source comes from other lanes.
pub(crate) fn crosses(mods: &Mods) -> bool {
    mods.dpp.is_some() || mods.dpp8.is_some()
}

/// The first source of such an instruction: each lane's value of its source lane, zero where there is none.
pub(crate) fn crossed(values: &Row, mods: &Mods, exec: LaneMask) -> Row {
    if let Some(dpp8) = mods.dpp8 {
        let readable = if dpp8.fetch_inactive { LaneMask::WAVE64 } else { exec };
        return row!(|lane| {
            let from = lane & !7 | usize::from(dpp8.lane(lane & 7));
            if readable.has(from) { values[from] } else { 0 }
        });
    }
    mods.dpp.as_ref().map_or(*values, |dpp| shuffled(values, dpp, exec))
}

/// Each lane's value of its DPP source lane; zero where there is none.
fn shuffled(values: &Row, dpp: &Dpp, exec: LaneMask) -> Row {
    let exec = readable_lanes(dpp, exec);
    row!(|lane| match source_lane(dpp.ctrl, lane) {
        Some(from) if exec.has(from) => values[from],
        _ => 0,
    })
}

/// The lanes that a DPP instruction may write: the lanes in its masks. Without bound_ctrl, their source lane must also
/// exist and be active.
pub(crate) fn writable_lanes(dpp: &Dpp, exec: LaneMask) -> LaneMask {
    let exec = readable_lanes(dpp, exec);
    mask!(|lane| {
        let row = dpp.row_mask >> (lane / 16) & 1 != 0;
        let bank = dpp.bank_mask >> (lane / 4 % 4) & 1 != 0;
        let sourced = || source_lane(dpp.ctrl, lane).is_some_and(|from| exec.has(from));
        row && bank && (dpp.bound_ctrl || sourced())
    })
}

/// The lanes whose values may be read.
fn readable_lanes(dpp: &Dpp, exec: LaneMask) -> LaneMask {
    if dpp.fetch_inactive { LaneMask::WAVE64 } else { exec }
}

/// The lane that a lane reads from; `None` past the edge of a row or of the wave.
fn source_lane(ctrl: u16, lane: usize) -> Option<usize> {
    let in_row = lane % 16;
    let count = usize::from(ctrl & 15);
    let from = match ctrl {
        0x000..=0x0ff => lane & !3 | usize::from(ctrl) >> (2 * (lane & 3)) & 3,
        0x101..=0x10f => (in_row + count < 16).then_some(lane + count)?,
        0x111..=0x11f => (in_row >= count).then(|| lane - count)?,
        0x121..=0x12f => lane - in_row + (in_row + 16 - count) % 16,
        0x130 => (lane < 63).then_some(lane + 1)?,
        0x134 => (lane + 1) % 64,
        0x138 => lane.checked_sub(1)?,
        0x13c => (lane + 63) % 64,
        0x140 => lane - in_row + 15 - in_row,
        0x141 => lane & !7 | (7 - (lane & 7)),
        0x142 => (lane & 0x30).checked_sub(1)?,
        0x143 => (lane & 0x20).checked_sub(1)?,
        0x150..=0x15f => lane - in_row + count,
        0x160..=0x16f => lane ^ count,
        _ => return None,
    };
    Some(from)
}

/// Whether a DPP control code is known.
pub(crate) fn knows_dpp(ctrl: u16) -> bool {
    matches!(
        ctrl,
        0x000..=0x0ff
            | 0x101..=0x10f
            | 0x111..=0x11f
            | 0x121..=0x12f
            | 0x130
            | 0x134
            | 0x138
            | 0x13c
            | 0x140..=0x143
            | 0x150..=0x16f
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(ctrl: u16) -> Vec<Option<usize>> {
        (0..64).map(|lane| source_lane(ctrl, lane)).collect()
    }

    #[test]
    fn dpp_reads_the_documented_lanes() {
        assert_eq!(sources(0b00_01_10_11)[..8], [3, 2, 1, 0, 7, 6, 5, 4].map(Some));
        assert_eq!(sources(0x101)[14..17], [Some(15), None, Some(17)], "row_shl:1");
        assert_eq!(sources(0x112)[15..19], [Some(13), None, None, Some(16)], "row_shr:2");
        assert_eq!(sources(0x121)[15..18], [Some(14), Some(31), Some(16)], "row_ror:1");
        assert_eq!(sources(0x130)[62..], [Some(63), None], "wave_shl");
        assert_eq!(sources(0x134)[62..], [Some(63), Some(0)], "wave_rol");
        assert_eq!(sources(0x138)[..2], [None, Some(0)], "wave_shr");
        assert_eq!(sources(0x13c)[..2], [Some(63), Some(0)], "wave_ror");
        assert_eq!(sources(0x140)[15..18], [Some(0), Some(31), Some(30)], "row_mirror");
        assert_eq!(sources(0x141)[7..10], [Some(0), Some(15), Some(14)], "row_half_mirror");
        assert_eq!(sources(0x142)[15..17], [None, Some(15)], "row_bcast:15");
        assert_eq!(sources(0x142)[63], Some(47), "row_bcast:15");
        assert_eq!(sources(0x143)[31..33], [None, Some(31)], "row_bcast:31");
        assert_eq!(sources(0x153)[16..18], [Some(19), Some(19)], "row_newbcast:3");
        assert_eq!(sources(0x165)[16..20], [21, 20, 23, 22].map(Some), "row_xmask:5");
    }

    #[test]
    fn parts_of_registers_extend() {
        assert_eq!(selected(0x80fe_7f01, SdwaSel::Byte3, true), 0xffff_ff80);
        assert_eq!(selected(0x80fe_7f01, SdwaSel::Byte3, false), 0x80);
        assert_eq!(selected(0x80fe_7f01, SdwaSel::Word1, true), 0xffff_80fe);
        assert_eq!(selected(0x80fe_7f01, SdwaSel::Word0, true), 0x7f01);
        assert_eq!(selected(0x80fe_7f01, SdwaSel::Dword, true), 0x80fe_7f01);
    }

    #[test]
    fn masks_and_bounds_keep_lanes_from_being_written() {
        let dpp = Dpp { ctrl: 0x111, row_mask: 0b0011, bank_mask: 0xf, ..Dpp::default() };
        assert_eq!(writable_lanes(&dpp, LaneMask::WAVE64).bits(), 0xfffe_fffe);
        assert_eq!(writable_lanes(&dpp, LaneMask::of_bits(!4)).bits(), 0xfffe_fff6);
        assert_eq!(
            writable_lanes(&Dpp { bound_ctrl: true, ..dpp }, LaneMask::of_bits(!4)).bits(),
            0xffff_ffff
        );
        assert_eq!(writable_lanes(&Dpp { bank_mask: 1, ..dpp }, LaneMask::WAVE64).bits(), 0x000e_000e);
        assert_eq!(
            writable_lanes(&Dpp { fetch_inactive: true, ..dpp }, LaneMask::of_bits(!4)).bits(),
            0xfffe_fffe
        );
    }
}
