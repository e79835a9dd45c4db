// SPDX-License-Identifier: MIT OR Apache-2.0
//! Integers and bits of 32 and 64 bits, without carries.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::step::{Source, Step};
use crate::exec::operands::element::{LaneValue, Spare, store32};
use crate::exec::operands::operation::vector;
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::{LANES, row};
use crate::isa::Op;

vector! {
    #[usual] v_mov_b32 | v_accvgpr_read_b32 | v_accvgpr_write_b32 | v_accvgpr_mov_b32(a: u32) -> u32 a;
    v_mov_b64(a: u64) -> u64 a;
    #[usual] v_add_u32 | v_add_i32(a: u32, b: u32) -> u32 a.wrapping_add(b);
    #[usual] v_sub_u32 | v_sub_i32(a: u32, b: u32) -> u32 a.wrapping_sub(b);
    #[usual] v_subrev_u32(a: u32, b: u32) -> u32 b.wrapping_sub(a);
    v_mul_i32_i24(a: i32, b: i32) -> i32 signed24(a).wrapping_mul(signed24(b));
    v_mul_hi_i32_i24(a: i32, b: i32) -> i32 ((i64::from(signed24(a)) * i64::from(signed24(b))) >> 32) as i32;
    #[usual] v_mul_u32_u24(a: u32, b: u32) -> u32 low24(a).wrapping_mul(low24(b));
    v_mul_hi_u32_u24(a: u32, b: u32) -> u32 ((u64::from(low24(a)) * u64::from(low24(b))) >> 32) as u32;
    v_mad_i32_i24(a: i32, b: i32, c: i32) -> i32 signed24(a).wrapping_mul(signed24(b)).wrapping_add(c);
    #[usual] v_mad_u32_u24(a: u32, b: u32, c: u32) -> u32 low24(a).wrapping_mul(low24(b)).wrapping_add(c);
    #[usual] v_mul_lo_u32 | v_mul_lo_i32(a: u32, b: u32) -> u32 a.wrapping_mul(b);
    v_mul_hi_u32(a: u32, b: u32) -> u32 ((u64::from(a) * u64::from(b)) >> 32) as u32;
    v_mul_hi_i32(a: i32, b: i32) -> i32 ((i64::from(a) * i64::from(b)) >> 32) as i32;
    #[usual] v_min_i32(a: i32, b: i32) -> i32 a.min(b);
    #[usual] v_max_i32(a: i32, b: i32) -> i32 a.max(b);
    #[usual] v_min_u32(a: u32, b: u32) -> u32 a.min(b);
    #[usual] v_max_u32(a: u32, b: u32) -> u32 a.max(b);
    v_min3_i32(a: i32, b: i32, c: i32) -> i32 a.min(b).min(c);
    v_max3_i32(a: i32, b: i32, c: i32) -> i32 a.max(b).max(c);
    v_med3_i32(a: i32, b: i32, c: i32) -> i32 a.min(b).max(a.max(b).min(c));
    v_min3_u32(a: u32, b: u32, c: u32) -> u32 a.min(b).min(c);
    v_max3_u32(a: u32, b: u32, c: u32) -> u32 a.max(b).max(c);
    v_med3_u32(a: u32, b: u32, c: u32) -> u32 a.min(b).max(a.max(b).min(c));
    #[usual] v_lshrrev_b32(a: u32, b: u32) -> u32 b >> (a & 31);
    #[usual] v_ashrrev_i32(a: u32, b: i32) -> i32 b >> (a & 31);
    #[usual] v_lshlrev_b32(a: u32, b: u32) -> u32 b << (a & 31);
    #[usual] v_and_b32(a: u32, b: u32) -> u32 a & b;
    #[usual] v_or_b32(a: u32, b: u32) -> u32 a | b;
    #[usual] v_xor_b32(a: u32, b: u32) -> u32 a ^ b;
    v_xnor_b32(a: u32, b: u32) -> u32 !(a ^ b);
    v_xor3_b32(a: u32, b: u32, c: u32) -> u32 a ^ b ^ c;
    v_maxmin_i32(a: i32, b: i32, c: i32) -> i32 a.max(b).min(c);
    v_minmax_i32(a: i32, b: i32, c: i32) -> i32 a.min(b).max(c);
    v_maxmin_u32(a: u32, b: u32, c: u32) -> u32 a.max(b).min(c);
    v_minmax_u32(a: u32, b: u32, c: u32) -> u32 a.min(b).max(c);
    v_not_b32(a: u32) -> u32 !a;
    v_bfrev_b32(a: u32) -> u32 a.reverse_bits();
    v_ffbh_u32(a: u32) -> u32 if a == 0 { !0 } else { a.leading_zeros() };
    v_ffbl_b32(a: u32) -> u32 if a == 0 { !0 } else { a.trailing_zeros() };
    v_ffbh_i32(a: i32) -> u32 if (a == 0) | (a == -1) { !0 } else { (a ^ a >> 31).leading_zeros() };
    v_bcnt_u32_b32(a: u32, b: u32) -> u32 a.count_ones().wrapping_add(b);
    v_bfm_b32(a: u32, b: u32) -> u32 ((1u32 << (a & 31)) - 1) << (b & 31);
    #[usual] v_bfe_u32(a: u32, b: u32, c: u32) -> u32 (a >> (b & 31)) & ((1u32 << (c & 31)) - 1);
    v_bfe_i32(a: i32, b: u32, c: u32) -> i32 signed_field(a, b & 31, c & 31);
    v_bfi_b32(a: u32, b: u32, c: u32) -> u32 a & b | !a & c;
    v_alignbit_b32(a: u32, b: u32, c: u32) -> u32 ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32;
    v_alignbyte_b32(a: u32, b: u32, c: u32) -> u32 ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32;
    v_xad_u32(a: u32, b: u32, c: u32) -> u32 (a ^ b).wrapping_add(c);
    #[usual] v_lshl_add_u32(a: u32, b: u32, c: u32) -> u32 (a << (b & 31)).wrapping_add(c);
    #[usual] v_add_lshl_u32(a: u32, b: u32, c: u32) -> u32 a.wrapping_add(b) << (c & 31);
    #[usual] v_add3_u32(a: u32, b: u32, c: u32) -> u32 a.wrapping_add(b).wrapping_add(c);
    #[usual] v_lshl_or_b32(a: u32, b: u32, c: u32) -> u32 a << (b & 31) | c;
    #[usual] v_and_or_b32(a: u32, b: u32, c: u32) -> u32 a & b | c;
    v_or3_b32(a: u32, b: u32, c: u32) -> u32 a | b | c;
    v_lerp_u8(a: u32, b: u32, c: u32) -> u32 bytes(|shift| {
        ((a >> shift & 0xff) + (b >> shift & 0xff) + (c >> shift & 1)) >> 1
    });
    v_sad_u8(a: u32, b: u32, c: u32) -> u32 differences(a, b, !0).wrapping_add(c);
    v_msad_u8(a: u32, b: u32, c: u32) -> u32 differences(a, b, b).wrapping_add(c);
    v_sad_hi_u8(a: u32, b: u32, c: u32) -> u32 (differences(a, b, !0) << 16).wrapping_add(c);
    v_sad_u16(a: u32, b: u32, c: u32) -> u32 {
        (a & 0xffff).abs_diff(b & 0xffff).wrapping_add((a >> 16).abs_diff(b >> 16)).wrapping_add(c)
    };
    v_qsad_pk_u16_u8(a: u64, b: u32, c: u64) -> u64 sliding(c, |shift, sum| {
        differences((a >> shift) as u32, b, !0).wrapping_add(sum)
    });
    v_mqsad_pk_u16_u8(a: u64, b: u32, c: u64) -> u64 sliding(c, |shift, sum| {
        differences((a >> shift) as u32, b, b).wrapping_add(sum)
    });
    v_sad_u32(a: u32, b: u32, c: u32) -> u32 a.abs_diff(b).wrapping_add(c);
}

#[inline(always)]
pub(crate) fn signed24(value: i32) -> i32 {
    value << 8 >> 8
}

#[inline(always)]
pub(crate) fn low24(value: u32) -> u32 {
    value & 0xff_ffff
}

#[inline(always)]
fn signed_field(value: i32, offset: u32, width: u32) -> i32 {
    // A field that reaches past the top repeats the sign bit of the register.
    let value = value >> offset;
    let spare = 32 - width;
    if width == 0 { 0 } else { value << (spare & 31) >> (spare & 31) }
}

/// The handler of `v_perm_b32`. Its selector is nearly always the same for all lanes.
pub(crate) fn permute(op: Op) -> Option<Compilations> {
    (op == Op::v_perm_b32).then(|| handler!(|core, step| permute_row(core, step)))
}

#[inline(always)]
fn permute_row(core: &mut Core<'_>, step: &Step) -> Flow {
    let mut spares = [Spare::new(), Spare::new(), Spare::new()];
    let [high, low, selectors] = &mut spares;
    let high = <u32 as LaneValue>::fetch(core.wave, step, 0, high);
    let low = <u32 as LaneValue>::fetch(core.wave, step, 1, low);
    let selectors = <u32 as LaneValue>::fetch(core.wave, step, 2, selectors);
    let uniform = !matches!(step.src[2], Source::Vector(_)) && !core.wave.unusual;
    let picks = selectors[0].to_le_bytes();
    let result = if uniform && picks.iter().all(|pick| *pick < 8) {
        // Each byte comes from the same place in every lane.
        let mut result = [0; LANES];
        for (place, pick) in (0..).step_by(8).zip(picks) {
            let (from, shift) = (if pick < 4 { low } else { high }, pick % 4 * 8);
            for lane in 0..LANES {
                result[lane] |= (from[lane] >> shift & 0xff) << place;
            }
        }
        result
    } else {
        row!(|lane| permuted(u64::from(high[lane]) << 32 | u64::from(low[lane]), selectors[lane]))
    };
    store32(core.wave, step, &result, LaneKind::B32);
    Flow::Next
}

/// Selects four of eight bytes by the bytes of a selector. Codes from 8 on give signs and constants.
#[inline(always)]
fn permuted(data: u64, selector: u32) -> u32 {
    // Bit 15, 31, 47 or 63, repeated.
    let sign = |code: u32| if data >> (16 * (code & 3) + 15) & 1 != 0 { 0xff } else { 0 };
    bytes(|shift| {
        let code = selector >> shift & 0xff;
        let picked = (data >> (8 * (code & 7))) as u32;
        let other = if code > 12 { 0xff } else { 0 };
        let beyond = if code < 12 { sign(code) } else { other };
        if code < 8 { picked } else { beyond }
    })
}

/// A word of four bytes, each computed from its shift.
#[inline(always)]
fn bytes(f: impl Fn(u32) -> u32) -> u32 {
    f(0) & 0xff | (f(8) & 0xff) << 8 | (f(16) & 0xff) << 16 | (f(24) & 0xff) << 24
}

/// Four words of 16 bits, each computed from a shift by whole bytes and its old value.
#[inline(always)]
pub(crate) fn sliding(old: u64, f: impl Fn(u32, u32) -> u32) -> u64 {
    let word =
        |place: u32| u64::from(f(8 * place, (old >> (16 * place)) as u32 & 0xffff) & 0xffff) << (16 * place);
    word(0) | word(1) | word(2) | word(3)
}

/// The sum of absolute differences of bytes, of those that are not zero in `mask`.
#[inline(always)]
pub(crate) fn differences(a: u32, b: u32, mask: u32) -> u32 {
    let one = |shift: u32| {
        let difference = (a >> shift & 0xff).abs_diff(b >> shift & 0xff);
        if mask >> shift & 0xff != 0 { difference } else { 0 }
    };
    one(0) + one(8) + one(16) + one(24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_picked() {
        let data = 0x8877_6655_4433_2211;
        assert_eq!(permuted(data, 0x0706_0100), 0x8877_2211);
        assert_eq!(permuted(data, 0x0c0d_0b08), 0x00ff_ff00);
        assert_eq!(permuted(data, 0x0405_0203), 0x5566_3344);
    }

    #[test]
    fn fields_extend_their_sign() {
        assert_eq!(signed_field(0x0000_0f00, 8, 4), -1);
        assert_eq!(signed_field(i32::MIN, 30, 8), -2);
        assert_eq!(signed_field(-1, 0, 0), 0);
        assert_eq!(signed24(0x0080_0000), -0x80_0000);
        assert_eq!(differences(0x0102_0304, 0x0400_0304, !0), 5);
        assert_eq!(differences(0x0102_0304, 0x0400_0304, 0x0400_0304), 3);
    }
}
