// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions that treat lanes differently: reads and writes of one lane, counts of lower lanes, swaps.

use crate::exec::machine::core::Flow;
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::step::Source;
use crate::exec::operands::element::{LaneValue, Spare, store32};
use crate::exec::operands::source::scalar32;
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::row;
use crate::isa::Op;

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    Some(match op {
        Op::v_readfirstlane_b32 => Compilations::scalar(|core, step| {
            // Without active lanes it is lane 0.
            let lane = core.wave.exec().trailing_zeros() as usize % 64;
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
                let exec = core.wave.exec();
                let (first, second) = (*core.wave.row(step.dst), *core.wave.row(other));
                core.wave.write_row(step.dst, &second, exec);
                core.wave.write_row(other, &first, exec);
            }
            Flow::Next
        }),
        _ => return None,
    })
}

fn lane_value(wave: &crate::exec::machine::wave::Wave, source: Source, lane: usize) -> u32 {
    match source {
        Source::Vector(number) => wave.row(number)[lane],
        source => scalar32(wave, source),
    }
}
