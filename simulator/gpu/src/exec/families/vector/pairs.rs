// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shifts and sums of 64-bit integers, computed on their halves. The distance of a shift is nearly always the same in all
//! lanes.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::step::{Source, Step};
use crate::exec::operands::element::{LaneValue, Spare, is_usual, only_lane};
use crate::exec::operands::source::{scalar32, scalar64};
use crate::exec::values::row::{GROUPS, Group, LANES};
use crate::isa::Op;
use std::cell::Cell;

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    /// A shift by the first source.
    macro_rules! shift {
        ($halves:ident, |$value:ident, $by:ident| $whole:expr) => {
            handler!(|core, step| {
                if let Some(lane) = only_lane(core.wave, step) {
                    let $by = u32::fetch_lane(core.wave, step, 0, lane) & 63;
                    let $value = u64::fetch_lane(core.wave, step, 1, lane);
                    u64::store_lane(core.wave, step, lane, $whole);
                    return Flow::Next;
                }
                let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
                let distances = u32::fetch(core.wave, step, 0, &mut spare_a);
                let values = u64::fetch(core.wave, step, 1, &mut spare_b);
                let mut result = u64::result();
                if is_uniform(core, step, 0) {
                    let by = distances[0] & 63;
                    for lane in 0..LANES {
                        let (low, high) = $halves(values.0[lane], values.1[lane], by);
                        result.0.put(lane, low);
                        result.1.put(lane, high);
                    }
                } else {
                    for lane in 0..LANES {
                        let ($value, $by) = (u64::lane(values, lane), distances[lane] & 63);
                        u64::put(&mut result, lane, $whole);
                    }
                }
                // SAFETY: both loops write every lane.
                unsafe { u64::store(core.wave, step, &result) };
                Flow::Next
            })
        };
    }
    Some(match op {
        Op::v_lshlrev_b64 => shift!(left, |value, by| value << by),
        Op::v_lshrrev_b64 => shift!(right, |value, by| value >> by),
        Op::v_ashrrev_i64 => shift!(signed_right, |value, by| ((value as i64) >> by) as u64),
        Op::v_lshl_add_u64 => handler!(|core, step| shift_and_add(core, step)),
        _ => return None,
    })
}

/// Whether a source is the same in all lanes.
#[inline(always)]
fn is_uniform(core: &Core<'_>, step: &Step, index: usize) -> bool {
    !matches!(step.src[index], Source::Vector(_)) && !step.modified && !core.wave.unusual
}

#[inline(always)]
fn left(low: u32, high: u32, by: u32) -> (u32, u32) {
    if by < 32 { (low << by, high << by | low >> 1 >> (31 - by)) } else { (0, low << (by & 31)) }
}

#[inline(always)]
fn right(low: u32, high: u32, by: u32) -> (u32, u32) {
    if by < 32 { (low >> by | high << 1 << (31 - by), high >> by) } else { (high >> (by & 31), 0) }
}

#[inline(always)]
fn signed_right(low: u32, high: u32, by: u32) -> (u32, u32) {
    let signed = high as i32;
    if by < 32 {
        (low >> by | high << 1 << (31 - by), (signed >> by) as u32)
    } else {
        ((signed >> (by & 31)) as u32, (signed >> 31) as u32)
    }
}

/// `v_lshl_add_u64`
#[inline(always)]
fn shift_and_add(core: &mut Core<'_>, step: &Step) -> Flow {
    if let Some(lane) = only_lane(core.wave, step) {
        let [value, addend] = [0, 2].map(|index| u64::fetch_lane(core.wave, step, index, lane));
        let by = u32::fetch_lane(core.wave, step, 1, lane) & 7;
        u64::store_lane(core.wave, step, lane, (value << by).wrapping_add(addend));
        return Flow::Next;
    }
    if is_usual(core.wave, step)
        && let (Source::Vector(value), by) = (step.src[0], step.src[1])
        && !matches!(by, Source::Vector(_))
    {
        let by = scalar32(core.wave, by) & 7;
        let groups = match step.src[2] {
            Source::Vector(_) => core.wave.groups(),
            addend => {
                let addend = scalar64(core.wave, addend);
                core.wave.splat(0, addend as u32);
                core.wave.splat(1, (addend >> 32) as u32);
                core.wave.groups()
            }
        };
        let addends = match step.src[2] {
            Source::Vector(number) => [groups.register(number), groups.register(number + 1)],
            _ => [groups.splat(0), groups.splat(1)],
        };
        let values = [groups.register(value), groups.register(value + 1)];
        let sums = [groups.register(step.dst), groups.register(step.dst + 1)];
        if by == 0 {
            add_groups(values, addends, sums, |low, high| (low, high));
        } else {
            add_groups(values, addends, sums, |low, high| (low << by, high << by | low >> (32 - by)));
        }
        return Flow::Next;
    }
    let (mut spare_a, mut spare_b, mut spare_c) = (Spare::new(), Spare::new(), Spare::new());
    let values = u64::fetch(core.wave, step, 0, &mut spare_a);
    let distances = u32::fetch(core.wave, step, 1, &mut spare_b);
    let addends = u64::fetch(core.wave, step, 2, &mut spare_c);
    let mut result = u64::result();
    for (lane, distance) in distances.iter().enumerate() {
        let shifted = u64::lane(values, lane) << (distance & 7);
        u64::put(&mut result, lane, shifted.wrapping_add(u64::lane(addends, lane)));
    }
    // SAFETY: the loop wrote every lane.
    unsafe { u64::store(core.wave, step, &result) };
    Flow::Next
}

/// Adds pairs of registers, the first after a shift of their halves. A lane's sum depends on no other lane, so the registers
/// may overlap.
#[inline(always)]
fn add_groups(
    values: [&[Cell<Group>]; 2],
    addends: [&[Cell<Group>]; 2],
    sums: [&[Cell<Group>]; 2],
    shift: impl Fn(u32, u32) -> (u32, u32),
) {
    for group in 0..GROUPS {
        let [lows, highs] = values.map(|value| value[group].get());
        let [add_lows, add_highs] = addends.map(|addend| addend[group].get());
        let (mut low_sums, mut high_sums) = ([0; LANES / GROUPS], [0; LANES / GROUPS]);
        for lane in 0..LANES / GROUPS {
            let (low, high) = shift(lows[lane], highs[lane]);
            let sum = low.wrapping_add(add_lows[lane]);
            low_sums[lane] = sum;
            high_sums[lane] = high.wrapping_add(add_highs[lane]).wrapping_add(u32::from(sum < low));
        }
        sums[0][group].set(low_sums);
        sums[1][group].set(high_sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_shifted_like_wholes() {
        let halves = |value: u64| (value as u32, (value >> 32) as u32);
        for value in [0x8123_4567_89ab_cdef_u64, 1, !0, 1 << 31, 1 << 63] {
            let (low, high) = halves(value);
            for by in 0..64 {
                assert_eq!(left(low, high, by), halves(value << by), "{value:#x} << {by}");
                assert_eq!(right(low, high, by), halves(value >> by), "{value:#x} >> {by}");
                let signed = ((value as i64) >> by) as u64;
                assert_eq!(signed_right(low, high, by), halves(signed), "{value:#x} >> {by}, signed");
            }
        }
    }
}
