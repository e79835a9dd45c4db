// SPDX-License-Identifier: MIT OR Apache-2.0
//! Floats of eight bits from singles, rounded to nearest or by a random number, and the single of a byte that the instruction
//! selects.

use crate::exec::machine::core::Flow;
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::operands::element::{LaneValue, Spare, store32};
use crate::exec::operands::index::destination;
use crate::exec::values::eighth::{
    bf8_ocp_to_f32, f32_to_bf8, f32_to_bf8_bounded, f32_to_bf8_ocp, f32_to_fp8, f32_to_fp8_bounded,
    f32_to_fp8_ocp, fp8_ocp_to_f32,
};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::{Row, row};
use crate::isa::Op;

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    /// The random number's high bits are added to the mantissa, which wraps; the result goes to one byte.
    macro_rules! stochastic {
        ($shift:literal, $narrow:ident) => {
            handler!(|core, step| {
                let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
                let a = f32::fetch(core.wave, step, 0, &mut spare_a);
                let b = u32::fetch(core.wave, step, 1, &mut spare_b);
                let saturates = core.wave.mode.saturates();
                let place = 8 * u32::from(step.inst.mods.op_sel >> 2 & 3);
                let old: &Row = core.wave.row(destination(core.wave, step));
                let result = row!(|lane| {
                    let mantissa = a[lane].wrapping_add(b[lane] >> $shift) & 0x7f_ffff;
                    let finite = f32::from_bits(a[lane]).is_finite();
                    let bits = if finite { a[lane] & 0xff80_0000 | mantissa } else { a[lane] };
                    old[lane] & !(0xff << place) | $narrow(f32::from_bits(bits), saturates) << place
                });
                store32(core.wave, step, &result, LaneKind::B32);
                Flow::Next
            })
        };
    }
    /// Two results side by side.
    macro_rules! pair {
        ($narrow:ident) => {
            handler!(|core, step| {
                let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
                let a = f32::fetch(core.wave, step, 0, &mut spare_a);
                let b = f32::fetch(core.wave, step, 1, &mut spare_b);
                let saturates = core.wave.mode.saturates();
                let narrow = |bits: u32| $narrow(f32::from_bits(bits), saturates);
                let result = row!(|lane| narrow(a[lane]) | narrow(b[lane]) << 8);
                store32(core.wave, step, &result, LaneKind::B16);
                Flow::Next
            })
        };
    }
    /// The single of one byte. The bits of its number are reversed.
    macro_rules! widened {
        ($widen:ident) => {
            handler!(|core, step| {
                let mut spare = Spare::new();
                let bytes = u32::fetch(core.wave, step, 0, &mut spare);
                let selected = u32::from(step.inst.mods.op_sel);
                let place = 8 * (selected >> 1 & 1 | (selected & 1) << 1);
                let result = row!(|lane| $widen(bytes[lane] >> place & 0xff).to_bits());
                store32(core.wave, step, &result, LaneKind::F32);
                Flow::Next
            })
        };
    }
    Some(match op {
        Op::v_cvt_f32_fp8_ocp => widened!(fp8_ocp_to_f32),
        Op::v_cvt_f32_bf8_ocp => widened!(bf8_ocp_to_f32),
        Op::v_cvt_pk_fp8_f32_ocp => pair!(f32_to_fp8_ocp),
        Op::v_cvt_pk_bf8_f32_ocp => pair!(f32_to_bf8_ocp),
        Op::v_cvt_sr_fp8_f32_ocp => stochastic!(12, f32_to_fp8_ocp),
        Op::v_cvt_sr_bf8_f32_ocp => stochastic!(11, f32_to_bf8_ocp),
        Op::v_cvt_pk_fp8_f32_bounded => pair!(f32_to_fp8_bounded),
        Op::v_cvt_pk_bf8_f32_bounded => pair!(f32_to_bf8_bounded),
        Op::v_cvt_sr_fp8_f32_bounded => stochastic!(12, f32_to_fp8_bounded),
        Op::v_cvt_sr_bf8_f32_bounded => stochastic!(11, f32_to_bf8_bounded),
        Op::v_cvt_pk_fp8_f32 => pair!(f32_to_fp8),
        Op::v_cvt_pk_bf8_f32 => pair!(f32_to_bf8),
        Op::v_cvt_sr_fp8_f32 => stochastic!(12, f32_to_fp8),
        Op::v_cvt_sr_bf8_f32 => stochastic!(11, f32_to_bf8),
        _ => return None,
    })
}
