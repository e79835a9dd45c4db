// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions that read or write one bit for each lane: carries, selection, and the scaling flags of divisions.

use crate::exec::float::*;
use crate::exec::lanes::{Element, Kind, Spare, fetch32, mask, row, row_pair, scalar64};
use crate::exec::step::{Flow, Versions, handler};
use crate::isa::Op;

/// An addition or subtraction with carry-out, and with carry-in if the function takes one.
macro_rules! carry {
    (|$a:ident, $b:ident $(, $carry:ident)?| $result:expr) => {
        handler!(|core, step| {
            let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
            let left = u32::fetch(core.wave, step, 0, &mut spare_a);
            let right = u32::fetch(core.wave, step, 1, &mut spare_b);
            $(let $carry = scalar64(core.wave, step.src[2]);)?
            let sum = |lane: usize| -> u64 {
                let ($a, $b) = (u64::from(left[lane]), u64::from(right[lane]));
                $(let $carry = $carry >> lane & 1;)?
                $result
            };
            let flags = mask(|lane| sum(lane) >> 32 != 0) & core.wave.exec();
            let result = row(|lane| sum(lane) as u32);
            u32::store(core.wave, step, &result);
            core.wave.set_pair(step.inst.sdst, flags);
            Flow::Next
        })
    };
}

/// A multiplication of 32-bit numbers and an addition of a 64-bit one, with carry-out.
macro_rules! multiply_add {
    ($narrow:ty, $wide:ty) => {
        handler!(|core, step| {
            let (mut spare_a, mut spare_b, mut spare_c) = (Spare::new(), Spare::new(), Spare::new());
            let a = <$narrow>::fetch(core.wave, step, 0, &mut spare_a);
            let b = <$narrow>::fetch(core.wave, step, 1, &mut spare_b);
            let c = <$wide>::fetch(core.wave, step, 2, &mut spare_c);
            let sum = |lane: usize| {
                let product =
                    <$wide>::from(<$narrow>::lane(a, lane)) * <$wide>::from(<$narrow>::lane(b, lane));
                product.overflowing_add(<$wide>::lane(c, lane))
            };
            let flags = mask(|lane| sum(lane).1) & core.wave.exec();
            let result = row_pair(|lane| sum(lane).0 as u64);
            u64::store(core.wave, step, &result);
            core.wave.set_pair(step.inst.sdst, flags);
            Flow::Next
        })
    };
}

macro_rules! division_scale {
    ($float:ty, $scale:ident) => {
        handler!(|core, step| {
            let (mut spare_a, mut spare_b, mut spare_c) = (Spare::new(), Spare::new(), Spare::new());
            let a = <$float>::fetch(core.wave, step, 0, &mut spare_a);
            let b = <$float>::fetch(core.wave, step, 1, &mut spare_b);
            let c = <$float>::fetch(core.wave, step, 2, &mut spare_c);
            let scaled =
                |lane| $scale(<$float>::lane(a, lane), <$float>::lane(b, lane), <$float>::lane(c, lane));
            let flags = mask(|lane| scaled(lane).1) & core.wave.exec();
            let result = <$float>::compute(|lane| scaled(lane).0);
            <$float>::store(core.wave, step, &result);
            core.wave.set_pair(step.inst.sdst, flags);
            Flow::Next
        })
    };
}

macro_rules! division_fmas {
    ($float:ty, $fmas:ident) => {
        handler!(|core, step| {
            let (mut spare_a, mut spare_b, mut spare_c) = (Spare::new(), Spare::new(), Spare::new());
            let a = <$float>::fetch(core.wave, step, 0, &mut spare_a);
            let b = <$float>::fetch(core.wave, step, 1, &mut spare_b);
            let c = <$float>::fetch(core.wave, step, 2, &mut spare_c);
            let scaled = core.wave.vcc();
            let result = <$float>::compute(|lane| {
                let (a, b, c) = (<$float>::lane(a, lane), <$float>::lane(b, lane), <$float>::lane(c, lane));
                $fmas(a, b, c, scaled >> lane & 1 != 0)
            });
            <$float>::store(core.wave, step, &result);
            Flow::Next
        })
    };
}

/// The handler of an instruction of this family.
pub(crate) fn versions(op: Op) -> Option<Versions> {
    Some(match op {
        Op::v_add_co_u32 => carry!(|a, b| a + b),
        Op::v_sub_co_u32 => carry!(|a, b| a.wrapping_sub(b)),
        Op::v_subrev_co_u32 => carry!(|a, b| b.wrapping_sub(a)),
        Op::v_addc_co_u32 => carry!(|a, b, carry| a + b + carry),
        Op::v_subb_co_u32 => carry!(|a, b, carry| a.wrapping_sub(b + carry)),
        Op::v_subbrev_co_u32 => carry!(|a, b, carry| b.wrapping_sub(a + carry)),
        Op::v_mad_u64_u32 => multiply_add!(u32, u64),
        Op::v_mad_i64_i32 => multiply_add!(i32, i64),
        Op::v_div_scale_f32 => division_scale!(f32, div_scale_f32),
        Op::v_div_scale_f64 => division_scale!(f64, div_scale_f64),
        Op::v_div_fmas_f32 => division_fmas!(f32, div_fmas_f32),
        Op::v_div_fmas_f64 => division_fmas!(f64, div_fmas_f64),
        // Its sources may carry the sign modifiers of floats.
        Op::v_cndmask_b32 => handler!(|core, step| {
            let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
            let a = fetch32(core.wave, step, 0, Kind::F32, &mut spare_a);
            let b = fetch32(core.wave, step, 1, Kind::F32, &mut spare_b);
            let chosen = scalar64(core.wave, step.src[2]);
            let (low, high) = (chosen as u32, (chosen >> 32) as u32);
            let result = row(|lane| {
                let half = if lane < 32 { low } else { high };
                let keep = (half >> (lane & 31) & 1).wrapping_sub(1);
                b[lane] ^ (a[lane] ^ b[lane]) & keep
            });
            u32::store(core.wave, step, &result);
            Flow::Next
        }),
        _ => return None,
    })
}
