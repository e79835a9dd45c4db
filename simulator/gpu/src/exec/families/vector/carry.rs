// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions that read or write one bit for each lane: carries, selection, and the scaling flags of divisions.

use super::integer::differences;
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::step::{Source, Step};
use crate::exec::operands::element::{LaneValue, Raw, Spare, fetch32, only_lane, store32};
use crate::exec::operands::index::{destination, indexed};
use crate::exec::operands::source::lane_mask;
use crate::exec::values::float::*;
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::{LANES, Row, gathered, row};
use crate::isa::Op;
use crate::lane_mask::LaneMask;

/// An addition or subtraction with carry-out, and with carry-in if the function takes one.
macro_rules! carry {
    ($up:literal |$a:ident, $b:ident $(, $carry:ident)?| $result:expr) => {
        handler!(|core, step| {
            let clamp = step.inst.mods.clamp;
            if let Some(lane) = only_lane(core.wave, step) {
                let ($a, $b) = (u32::fetch_lane(core.wave, step, 0, lane), u32::fetch_lane(core.wave, step, 1, lane));
                $(let $carry = u32::from(lane_mask(core.wave, step.src[2]).has(lane));)?
                let (sum, over): (u32, bool) = $result;
                core.wave.row_mut(step.dst)[lane] = sum;
                core.wave.set_mask(step.inst.sdst, LaneMask::of_flag(lane, over));
                return Flow::Next;
            }
            let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
            let left = u32::fetch(core.wave, step, 0, &mut spare_a);
            let right = u32::fetch(core.wave, step, 1, &mut spare_b);
            $(let carries = lane_mask(core.wave, step.src[2]);
            let $carry = mask_row(carries);)?
            let mut sums = u32::result();
            let mut flags = [0; LANES];
            for lane in 0..LANES {
                let ($a, $b) = (left[lane], right[lane]);
                $(let $carry = $carry[lane];)?
                let (sum, over): (u32, bool) = $result;
                // Overflow saturates at the maximum, underflow at zero.
                let limit = if $up { u32::MAX } else { 0 };
                sums.put(lane, if clamp & over { limit } else { sum });
                flags[lane] = over.into();
            }
            let flags = gathered(&flags) & core.wave.exec();
            // SAFETY: the loop wrote every lane.
            unsafe { u32::store(core.wave, step, &sums) };
            core.wave.set_mask(step.inst.sdst, flags);
            Flow::Next
        })
    };
}

/// A multiplication of 32-bit numbers and an addition of a 64-bit one; the flag is the sum's 65th bit.
macro_rules! multiply_add {
    ($narrow:ty, $wide:ty) => {
        handler!(|core, step| {
            let clamp = step.inst.mods.clamp;
            if let Some(lane) = only_lane(core.wave, step) {
                let a = <$wide>::from(<$narrow>::fetch_lane(core.wave, step, 0, lane));
                let b = <$wide>::from(<$narrow>::fetch_lane(core.wave, step, 1, lane));
                let (sum, over) = (a * b).overflowing_add(<$wide>::fetch_lane(core.wave, step, 2, lane));
                <$wide>::store_lane(core.wave, step, lane, sum);
                let flag = over != (<$wide>::MIN != 0 && sum >> 63 != 0);
                core.wave.set_mask(step.inst.sdst, LaneMask::of_flag(lane, flag));
                return Flow::Next;
            }
            let (mut spare_a, mut spare_b, mut spare_c) = (Spare::new(), Spare::new(), Spare::new());
            let a = <$narrow>::fetch(core.wave, step, 0, &mut spare_a);
            let b = <$narrow>::fetch(core.wave, step, 1, &mut spare_b);
            let c = <$wide>::fetch(core.wave, step, 2, &mut spare_c);
            let mut sums = <$wide>::result();
            let mut flags = [0; LANES];
            for lane in 0..LANES {
                let product =
                    <$wide>::from(<$narrow>::lane(a, lane)) * <$wide>::from(<$narrow>::lane(b, lane));
                let addend = <$wide>::lane(c, lane);
                let (sum, over) = product.overflowing_add(addend);
                let saturated = if clamp { product.saturating_add(addend) } else { sum };
                <$wide>::put(&mut sums, lane, saturated);
                // For a signed sum it is the sign, inverted by an overflow.
                flags[lane] = (over != (<$wide>::MIN != 0 && sum >> 63 != 0)).into();
            }
            let flags = gathered(&flags) & core.wave.exec();
            // SAFETY: the loop wrote every lane.
            unsafe { <$wide>::store(core.wave, step, &sums) };
            core.wave.set_mask(step.inst.sdst, flags);
            Flow::Next
        })
    };
}

macro_rules! division_scale {
    ($float:ty, $scale:ident) => {
        handler!(|core, step| {
            if let Some(lane) = only_lane(core.wave, step) {
                let a = <$float>::fetch_lane(core.wave, step, 0, lane);
                let b = <$float>::fetch_lane(core.wave, step, 1, lane);
                let c = <$float>::fetch_lane(core.wave, step, 2, lane);
                let (value, flag) = $scale(a, b, c);
                if <$float>::store_lane(core.wave, step, lane, value) {
                    core.wave.set_mask(step.inst.sdst, LaneMask::of_flag(lane, flag));
                    return Flow::Next;
                }
            }
            let (mut spare_a, mut spare_b, mut spare_c) = (Spare::new(), Spare::new(), Spare::new());
            let a = <$float>::fetch(core.wave, step, 0, &mut spare_a);
            let b = <$float>::fetch(core.wave, step, 1, &mut spare_b);
            let c = <$float>::fetch(core.wave, step, 2, &mut spare_c);
            let mut results = <$float>::result();
            let mut flags = [0; LANES];
            for lane in 0..LANES {
                let (a, b, c) = (<$float>::lane(a, lane), <$float>::lane(b, lane), <$float>::lane(c, lane));
                let (value, flag) = $scale(a, b, c);
                <$float>::put(&mut results, lane, value);
                flags[lane] = flag.into();
            }
            let flags = gathered(&flags) & core.wave.exec();
            // SAFETY: the loop wrote every lane.
            unsafe {
                <$float>::replace_nans(core.wave, step, &mut results);
                <$float>::store(core.wave, step, &results);
            }
            core.wave.set_mask(step.inst.sdst, flags);
            Flow::Next
        })
    };
}

macro_rules! division_fmas {
    ($float:ty, $fmas:ident) => {
        handler!(|core, step| {
            if core.wave.unusual && crate::exec::operands::rounding::executes(core.wave, step) {
                return crate::exec::operands::rounding::execute(core.wave, step);
            }
            if let Some(lane) = only_lane(core.wave, step) {
                let a = <$float>::fetch_lane(core.wave, step, 0, lane);
                let b = <$float>::fetch_lane(core.wave, step, 1, lane);
                let c = <$float>::fetch_lane(core.wave, step, 2, lane);
                let value = $fmas(a, b, c, core.wave.vcc().has(lane));
                if <$float>::store_lane(core.wave, step, lane, value) {
                    return Flow::Next;
                }
            }
            let (mut spare_a, mut spare_b, mut spare_c) = (Spare::new(), Spare::new(), Spare::new());
            let a = <$float>::fetch(core.wave, step, 0, &mut spare_a);
            let b = <$float>::fetch(core.wave, step, 1, &mut spare_b);
            let c = <$float>::fetch(core.wave, step, 2, &mut spare_c);
            let scaled = core.wave.vcc();
            let mut results = <$float>::result();
            for lane in 0..LANES {
                let (a, b, c) = (<$float>::lane(a, lane), <$float>::lane(b, lane), <$float>::lane(c, lane));
                <$float>::put(&mut results, lane, $fmas(a, b, c, scaled.has(lane)));
            }
            // SAFETY: the loop wrote every lane.
            unsafe {
                <$float>::replace_nans(core.wave, step, &mut results);
                <$float>::store(core.wave, step, &results);
            }
            Flow::Next
        })
    };
}

/// A sum, and whether it has more than 32 bits.
#[inline(always)]
fn sum(a: u32, b: u32, carry: u32) -> (u32, bool) {
    let sum = a.wrapping_add(b);
    let whole = sum.wrapping_add(carry);
    (whole, (sum < a) | (whole < sum))
}

/// A difference, and whether it is less than zero.
#[inline(always)]
fn difference(a: u32, b: u32, borrow: u32) -> (u32, bool) {
    let difference = a.wrapping_sub(b);
    (difference.wrapping_sub(borrow), (a < b) | (difference < borrow))
}

/// A mask as a row of zeros and ones.
#[inline(always)]
fn mask_row(mask: LaneMask) -> Row {
    let [low, high] = mask.halves();
    row!(|lane| if lane < 32 { low >> (lane & 31) & 1 } else { high >> (lane & 31) & 1 })
}

/// Takes the first source where the lane's bit of the third is zero, else the second.
#[inline(always)]
fn choose(core: &mut Core<'_>, step: &Step, source: LaneKind, result: LaneKind) -> Flow {
    let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
    let a = fetch32(core.wave, step, 0, source, &mut spare_a);
    let b = fetch32(core.wave, step, 1, source, &mut spare_b);
    let chosen = mask_row(lane_mask(core.wave, step.src[2]));
    let values = row!(|lane| b[lane] ^ (a[lane] ^ b[lane]) & chosen[lane].wrapping_sub(1));
    store32(core.wave, step, &values, result);
    Flow::Next
}

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    Some(match op {
        Op::v_add_co_u32 => carry!(true | a, b | sum(a, b, 0)),
        Op::v_sub_co_u32 => carry!(false | a, b | difference(a, b, 0)),
        Op::v_subrev_co_u32 => carry!(false | a, b | difference(b, a, 0)),
        Op::v_addc_co_u32 => carry!(true | a, b, carry | sum(a, b, carry)),
        Op::v_subb_co_u32 => carry!(false | a, b, carry | difference(a, b, carry)),
        Op::v_subbrev_co_u32 => carry!(false | a, b, carry | difference(b, a, carry)),
        Op::v_mad_u64_u32 => multiply_add!(u32, u64),
        Op::v_mad_i64_i32 => multiply_add!(i32, i64),
        Op::v_div_scale_f32 => division_scale!(f32, div_scale_f32),
        Op::v_div_scale_f64 => division_scale!(f64, div_scale_f64),
        Op::v_div_fmas_f32 => division_fmas!(f32, div_fmas_f32),
        Op::v_div_fmas_f64 => division_fmas!(f64, div_fmas_f64),
        Op::v_mqsad_u32_u8 => Compilations::scalar(|core, step| {
            let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
            let a = u64::fetch(core.wave, step, 0, &mut spare_a);
            let b = *u32::fetch(core.wave, step, 1, &mut spare_b);
            let Source::Vector(third) = indexed(core.wave, step, 2) else { return Flow::Next };
            let a: [u64; LANES] = std::array::from_fn(|lane| u64::lane(a, lane));
            let sums: [Row; 4] = std::array::from_fn(|place| {
                let old = core.wave.row(third + place as u16);
                row!(|lane| {
                    let sum = differences((a[lane] >> (8 * place)) as u32, b[lane], b[lane]);
                    if step.inst.mods.clamp {
                        sum.saturating_add(old[lane])
                    } else {
                        sum.wrapping_add(old[lane])
                    }
                })
            });
            let (exec, first) = (core.wave.exec(), destination(core.wave, step));
            for (place, sums) in (0..).zip(&sums) {
                core.wave.write_row(first + place, sums, exec);
            }
            Flow::Next
        }),
        // Its sources may carry the sign modifiers of floats.
        Op::v_cndmask_b32 => handler!(|core, step| {
            if let Some(lane) = only_lane(core.wave, step) {
                let index = usize::from(lane_mask(core.wave, step.src[2]).has(lane));
                let Raw(value) = Raw::<u32>::fetch_lane(core.wave, step, index, lane);
                core.wave.row_mut(step.dst)[lane] = value;
                return Flow::Next;
            }
            choose(core, step, LaneKind::RawF32, LaneKind::B32)
        }),
        Op::v_cndmask_b16 => handler!(|core, step| choose(core, step, LaneKind::RawF16, LaneKind::B16)),
        _ => return None,
    })
}
