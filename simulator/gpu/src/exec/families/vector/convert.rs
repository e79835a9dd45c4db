// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversions between types.

use crate::exec::machine::core::Flow;
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::operands::element::{F16, Spare, fetch32, store32};
use crate::exec::operands::operation::vector;
use crate::exec::values::eighth::{bf8_ocp_to_f32, bf8_to_f32, fp8_ocp_to_f32, fp8_to_f32};
use crate::exec::values::half::{f32_to_bf16, f32_to_f16, f32_to_f16_toward_zero};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::row;
use crate::isa::Op;

vector! {
    v_cvt_i32_f64(a: f64) -> i32 a as i32;
    v_cvt_f64_i32(a: i32) -> f64 a.into();
    #[usual] v_cvt_f32_i32(a: i32) -> f32 a as f32;
    #[usual] v_cvt_f32_u32(a: u32) -> f32 a as f32;
    v_cvt_u32_f32(a: f32) -> u32 a as u32;
    v_cvt_i32_f32(a: f32) -> i32 a as i32;
    #[usual] v_cvt_f16_f32(a: f32) -> F16 F16(a);
    #[usual] v_cvt_f32_f16(a: F16) -> f32 a.0;
    v_cvt_rpi_i32_f32(a: f32) -> i32 (a + 0.5).floor() as i32;
    v_cvt_flr_i32_f32(a: f32) -> i32 a.floor() as i32;
    v_cvt_off_f32_i4(a: u32) -> f32 ((a << 28) as i32 >> 28) as f32 / 16.0;
    v_cvt_f32_f64(a: f64) -> f32 a as f32;
    v_cvt_f64_f32(a: f32) -> f64 a.into();
    v_cvt_f32_ubyte0(a: u32) -> f32 (a & 0xff) as f32;
    v_cvt_f32_ubyte1(a: u32) -> f32 (a >> 8 & 0xff) as f32;
    v_cvt_f32_ubyte2(a: u32) -> f32 (a >> 16 & 0xff) as f32;
    v_cvt_f32_ubyte3(a: u32) -> f32 (a >> 24) as f32;
    v_cvt_u32_f64(a: f64) -> u32 a as u32;
    v_cvt_f64_u32(a: u32) -> f64 a.into();
    v_cvt_f16_u16(a: u16) -> F16 F16(a.into());
    v_cvt_f16_i16(a: i16) -> F16 F16(a.into());
    v_cvt_u16_f16(a: F16) -> u16 a.0 as u16;
    v_cvt_i16_f16(a: F16) -> i16 a.0 as i16;
    v_cvt_norm_i16_f16(a: F16) -> i16 signed_norm(a.0);
    v_cvt_norm_u16_f16(a: F16) -> u16 unsigned_norm(a.0);
    v_cvt_pknorm_i16_f32(a: f32, b: f32) -> u32 packed(signed_norm(a) as u16, signed_norm(b) as u16);
    v_cvt_pknorm_u16_f32(a: f32, b: f32) -> u32 packed(unsigned_norm(a), unsigned_norm(b));
    v_cvt_pknorm_i16_f16(a: F16, b: F16) -> u32 packed(signed_norm(a.0) as u16, signed_norm(b.0) as u16);
    v_cvt_pknorm_u16_f16(a: F16, b: F16) -> u32 packed(unsigned_norm(a.0), unsigned_norm(b.0));
    v_cvt_pkrtz_f16_f32(a: f32, b: f32) -> u32 f32_to_f16_toward_zero(a) | f32_to_f16_toward_zero(b) << 16;
    v_cvt_pk_u16_u32(a: u32, b: u32) -> u32 a.min(0xffff) | b.min(0xffff) << 16;
    v_cvt_pk_i16_i32(a: i32, b: i32) -> u32 {
        let short = |value: i32| value.clamp(i16::MIN.into(), i16::MAX.into()) as u16;
        packed(short(a), short(b))
    };
    v_cvt_pk_i16_f32(a: f32, b: f32) -> u32 packed(a as i16 as u16, b as i16 as u16);
    v_cvt_pk_u16_f32(a: f32, b: f32) -> u32 packed(a as u16, b as u16);
    v_cvt_f32_fp8(a: u32) -> f32 fp8_to_f32(a & 0xff);
    v_cvt_f32_bf8(a: u32) -> f32 bf8_to_f32(a & 0xff);
    v_cvt_pk_f32_fp8(a: u32) -> u64 singles(fp8_to_f32(a & 0xff), fp8_to_f32(a >> 8 & 0xff));
    v_cvt_pk_f32_bf8(a: u32) -> u64 singles(bf8_to_f32(a & 0xff), bf8_to_f32(a >> 8 & 0xff));
    v_cvt_pk_f32_fp8_ocp(a: u16) -> u64 {
        let bytes = u32::from(a);
        singles(fp8_ocp_to_f32(bytes & 0xff), fp8_ocp_to_f32(bytes >> 8))
    };
    v_cvt_pk_f32_bf8_ocp(a: u16) -> u64 {
        let bytes = u32::from(a);
        singles(bf8_ocp_to_f32(bytes & 0xff), bf8_ocp_to_f32(bytes >> 8))
    };
    v_cvt_pk_f16_f32(a: f32, b: f32) -> u32 f32_to_f16(a) | f32_to_f16(b) << 16;
    v_cvt_pk_bf16_f32(a: f32, b: f32) -> u32 f32_to_bf16(a) | f32_to_bf16(b) << 16;
    v_cvt_pkaccum_u8_f32(a: f32, b: u32, [c: u32]) -> u32 {
        let shift = 8 * (b & 3);
        c & !(0xff << shift) | u32::from(a as u8) << shift
    };
    v_cvt_pk_u8_f32(a: f32, b: u32, c: u32) -> u32 {
        let shift = 8 * (b & 3);
        c & !(0xff << shift) | u32::from(a as u8) << shift
    };
}

/// The handler of a conversion from bfloats, which have no operand type of their own.
pub(crate) fn brain(op: Op) -> Option<Compilations> {
    (op == Op::v_cvt_f32_bf16).then(|| {
        handler!(|core, step| {
            let mut spare = Spare::new();
            let bits = fetch32(core.wave, step, 0, LaneKind::RawF16, &mut spare);
            let result = row!(|lane| bits[lane] << 16);
            store32(core.wave, step, &result, LaneKind::F32);
            Flow::Next
        })
    })
}

#[inline(always)]
fn singles(low: f32, high: f32) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

#[inline(always)]
fn packed(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

#[inline(always)]
fn signed_norm(value: f32) -> i16 {
    // The product is exact in double precision.
    (f64::from(value.clamp(-1.0, 1.0)) * 32767.0).round_ties_even() as i16
}

#[inline(always)]
fn unsigned_norm(value: f32) -> u16 {
    (f64::from(value.clamp(0.0, 1.0)) * 65535.0).round_ties_even() as u16
}
