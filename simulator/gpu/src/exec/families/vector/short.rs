// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integers of 16 bits.

use crate::exec::operands::element::B16;
use crate::exec::operands::operation::vector;

vector! {
    v_add_u16(a: u16, b: u16) -> u16 a.wrapping_add(b);
    v_sub_u16(a: u16, b: u16) -> u16 a.wrapping_sub(b);
    v_subrev_u16(a: u16, b: u16) -> u16 b.wrapping_sub(a);
    v_add_i16(a: u16, b: u16) -> u16 a.wrapping_add(b);
    v_sub_i16(a: u16, b: u16) -> u16 a.wrapping_sub(b);
    v_mul_lo_u16(a: u16, b: u16) -> u16 a.wrapping_mul(b);
    v_mad_u16 | v_mad_i16 | v_mad_legacy_u16 | v_mad_legacy_i16(a: u16, b: u16, c: u16) -> u16 a.wrapping_mul(b).wrapping_add(c);
    v_lshlrev_b16(a: u16, b: u16) -> u16 b << (a & 15);
    v_lshrrev_b16(a: u16, b: u16) -> u16 b >> (a & 15);
    v_ashrrev_i16(a: u16, b: i16) -> i16 b >> (a & 15);
    v_and_b16(a: u16, b: u16) -> u16 a & b;
    v_or_b16(a: u16, b: u16) -> u16 a | b;
    v_xor_b16(a: u16, b: u16) -> u16 a ^ b;
    v_not_b16(a: u16) -> u16 !a;
    v_mov_b16(a: u16) -> u16 a;
    v_cvt_i32_i16(a: i16) -> i32 a.into();
    v_cvt_u32_u16(a: u16) -> u32 a.into();
    v_min_u16(a: u16, b: u16) -> u16 a.min(b);
    v_max_u16(a: u16, b: u16) -> u16 a.max(b);
    v_min_i16(a: i16, b: i16) -> i16 a.min(b);
    v_max_i16(a: i16, b: i16) -> i16 a.max(b);
    v_min3_u16(a: u16, b: u16, c: u16) -> u16 a.min(b).min(c);
    v_max3_u16(a: u16, b: u16, c: u16) -> u16 a.max(b).max(c);
    v_med3_u16(a: u16, b: u16, c: u16) -> u16 a.min(b).max(a.max(b).min(c));
    v_min3_i16(a: i16, b: i16, c: i16) -> i16 a.min(b).min(c);
    v_max3_i16(a: i16, b: i16, c: i16) -> i16 a.max(b).max(c);
    v_med3_i16(a: i16, b: i16, c: i16) -> i16 a.min(b).max(a.max(b).min(c));
    v_mad_u32_u16(a: u16, b: u16, c: u32) -> u32 (u32::from(a) * u32::from(b)).wrapping_add(c);
    v_mad_i32_i16(a: i16, b: i16, c: i32) -> i32 (i32::from(a) * i32::from(b)).wrapping_add(c);
    v_pack_b32_f16(a: B16, b: B16) -> u32 u32::from(a.0) | u32::from(b.0) << 16;
    v_sat_pk_u8_i16(a: u32) -> u16 {
        let byte = |value: u32| (value as u16 as i16).clamp(0, 255) as u32;
        (byte(a) | byte(a >> 16) << 8) as u16
    };
}
