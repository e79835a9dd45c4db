// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions that treat lanes differently: reads and writes of one lane, counts of lower lanes, swaps. Also moves of registers
//! whose numbers M0 shifts.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::step::{Source, Step};
use crate::exec::operands::element::{LaneValue, Spare, store32};
use crate::exec::operands::source::scalar32;
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::{LANES, row};
use crate::isa::Op;

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    Some(match op {
        Op::v_readfirstlane_b32 => Compilations::scalar(|core, step| {
            // Without active lanes it is lane 0.
            let lane = core.wave.exec().first();
            let value = lane_value(core.wave, step.src[0], lane);
            core.wave.set_scalar(step.inst.dst, value);
            Flow::Next
        }),
        Op::v_readlane_b32 => Compilations::scalar(|core, step| {
            let lane = scalar32(core.wave, step.src[1]) as usize % core.wave.size();
            let value = lane_value(core.wave, step.src[0], lane);
            core.wave.set_scalar(step.inst.dst, value);
            Flow::Next
        }),
        Op::v_writelane_b32 => Compilations::scalar(|core, step| {
            let value = scalar32(core.wave, step.src[0]);
            let lane = scalar32(core.wave, step.src[1]) as usize % core.wave.size();
            core.wave.row_mut(step.dst)[lane] = value;
            Flow::Next
        }),
        Op::v_mbcnt_lo_u32_b32 => handler!(|core, step| {
            let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
            let a = u32::fetch(core.wave, step, 0, &mut spare_a);
            let b = u32::fetch(core.wave, step, 1, &mut spare_b);
            let result = row!(|lane| {
                let lower = if lane < 32 { (1u32 << (lane & 31)) - 1 } else { !0 };
                (a[lane] & lower).count_ones().wrapping_add(b[lane])
            });
            store32(core.wave, step, &result, LaneKind::B32);
            Flow::Next
        }),
        Op::v_mbcnt_hi_u32_b32 => handler!(|core, step| {
            let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
            let a = u32::fetch(core.wave, step, 0, &mut spare_a);
            let b = u32::fetch(core.wave, step, 1, &mut spare_b);
            let result = row!(|lane| {
                let lower = if lane < 32 { 0 } else { (1u32 << (lane & 31)) - 1 };
                (a[lane] & lower).count_ones().wrapping_add(b[lane])
            });
            store32(core.wave, step, &result, LaneKind::B32);
            Flow::Next
        }),
        Op::v_swap_b32 => Compilations::scalar(|core, step| {
            if let Source::Vector(other) = step.src[0] {
                swap(core, step.dst, other);
            }
            Flow::Next
        }),
        Op::v_swaprel_b32 => Compilations::scalar(|core, step| {
            let m0 = core.wave.m0();
            let (first, second) = (shifted(step.dst, m0 >> 16 & 0x3ff), step.src[0]);
            if let (Some(first), Source::Vector(number)) = (first, second)
                && let Some(second) = shifted(number, m0 & 0x3ff)
            {
                swap(core, first, second);
            }
            Flow::Next
        }),
        Op::v_movrels_b32 => Compilations::scalar(|core, step| {
            let by = core.wave.m0();
            move_relative(core, step, [by, 0])
        }),
        Op::v_movreld_b32 => Compilations::scalar(|core, step| {
            let by = core.wave.m0();
            move_relative(core, step, [0, by])
        }),
        Op::v_movrelsd_b32 => Compilations::scalar(|core, step| {
            let by = core.wave.m0();
            move_relative(core, step, [by, by])
        }),
        Op::v_movrelsd_2_b32 => Compilations::scalar(|core, step| {
            let m0 = core.wave.m0();
            move_relative(core, step, [m0 & 0x3ff, m0 >> 16 & 0x3ff])
        }),
        _ => return None,
    })
}

/// Exchanges two registers.
fn swap(core: &mut Core<'_>, first: u16, second: u16) {
    let exec = core.wave.exec();
    let (first_row, second_row) = (*core.wave.row(first), *core.wave.row(second));
    core.wave.write_row(first, &second_row, exec);
    core.wave.write_row(second, &first_row, exec);
}

/// The number of a register with something added. `None` past v255.
fn shifted(number: u16, by: u32) -> Option<u16> {
    u32::from(number).checked_add(by).filter(|number| *number < 256).map(|number| number as u16)
}

/// Copies a register, with numbers added to that of the source and that of the destination. Past v255 the source is v0, and nothing
/// is written.
fn move_relative(core: &mut Core<'_>, step: &Step, [from_by, to_by]: [u32; 2]) -> Flow {
    let values = match step.src[0] {
        Source::Vector(number) => *core.wave.row(shifted(number, from_by).unwrap_or(0)),
        source => [scalar32(core.wave, source); LANES],
    };
    if let Some(number) = shifted(step.dst, to_by) {
        let exec = core.wave.exec();
        core.wave.write_row(number, &values, exec);
    }
    Flow::Next
}

fn lane_value(wave: &crate::exec::machine::wave::Wave, source: Source, lane: usize) -> u32 {
    match source {
        Source::Vector(number) => wave.row(number)[lane],
        source => scalar32(wave, source),
    }
}
