// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integer instructions with the clamp bit: they saturate.

use super::integer::{low24, signed24};
use crate::exec::lanes::vector;

vector! {
    v_add_u32(a: u32, b: u32) -> u32 a.saturating_add(b);
    v_sub_u32(a: u32, b: u32) -> u32 a.saturating_sub(b);
    v_subrev_u32(a: u32, b: u32) -> u32 b.saturating_sub(a);
    v_add_i32(a: i32, b: i32) -> i32 a.saturating_add(b);
    v_sub_i32(a: i32, b: i32) -> i32 a.saturating_sub(b);
    v_add_u16(a: u16, b: u16) -> u16 a.saturating_add(b);
    v_sub_u16(a: u16, b: u16) -> u16 a.saturating_sub(b);
    v_subrev_u16(a: u16, b: u16) -> u16 b.saturating_sub(a);
    v_add_i16(a: i16, b: i16) -> i16 a.saturating_add(b);
    v_sub_i16(a: i16, b: i16) -> i16 a.saturating_sub(b);
    v_mad_u16 | v_mad_legacy_u16(a: u16, b: u16, c: u16) -> u16 {
        (u32::from(a) * u32::from(b)).saturating_add(c.into()).min(0xffff) as u16
    };
    v_mad_i16 | v_mad_legacy_i16(a: i16, b: i16, c: i16) -> i16 {
        (i64::from(a) * i64::from(b) + i64::from(c)).clamp(i16::MIN.into(), i16::MAX.into()) as i16
    };
    v_mad_u32_u24(a: u32, b: u32, c: u32) -> u32 {
        (u64::from(low24(a)) * u64::from(low24(b)) + u64::from(c)).min(u32::MAX.into()) as u32
    };
    v_mad_i32_i24(a: i32, b: i32, c: i32) -> i32 {
        let sum = i64::from(signed24(a)) * i64::from(signed24(b)) + i64::from(c);
        sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32
    };
    v_mad_u32_u16(a: u16, b: u16, c: u32) -> u32 (u32::from(a) * u32::from(b)).saturating_add(c);
    v_mad_i32_i16(a: i16, b: i16, c: i32) -> i32 (i32::from(a) * i32::from(b)).saturating_add(c);
    v_cvt_i32_f32(a: f32) -> i32 a as i32;
    v_cvt_u32_f32(a: f32) -> u32 a as u32;
    v_cvt_i32_f64(a: f64) -> i32 a as i32;
    v_cvt_u32_f64(a: f64) -> u32 a as u32;
}
