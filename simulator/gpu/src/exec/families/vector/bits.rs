// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any function of three bits by its truth table, shifts that narrow, and random numbers.

use crate::exec::machine::core::Flow;
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::operands::element::{LaneValue, Spare, store32};
use crate::exec::operands::operation::vector;
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::row;
use crate::isa::Op;

vector! {
    v_prng_b32(a: u32) -> u32 next_random(a);
    v_ashr_pk_i8_i32(a: i32, b: i32, c: u32) -> u16 {
        let byte = |value: i32| (value >> (c & 31)).clamp(-128, 127) as u8;
        u16::from_le_bytes([byte(a), byte(b)])
    };
    v_ashr_pk_u8_i32(a: i32, b: i32, c: u32) -> u16 {
        let byte = |value: i32| (value >> (c & 31)).clamp(0, 255) as u8;
        u16::from_le_bytes([byte(a), byte(b)])
    };
}

/// The handler of `v_bitop3`: bit `4 * a + 2 * b + c` of the table is the result for these bits.
pub(crate) fn tables(op: Op) -> Option<Compilations> {
    macro_rules! table {
        ($ty:ty, $kind:expr) => {
            handler!(|core, step| {
                let mut spares = [Spare::new(), Spare::new(), Spare::new()];
                let [first, second, third] = &mut spares;
                let a = <$ty>::fetch(core.wave, step, 0, first);
                let b = <$ty>::fetch(core.wave, step, 1, second);
                let c = <$ty>::fetch(core.wave, step, 2, third);
                let table = step.inst.imm;
                let terms: [u32; 8] = std::array::from_fn(|bits| if table >> bits & 1 != 0 { !0 } else { 0 });
                let result = row!(|lane| {
                    let (a, b, c) = (a[lane], b[lane], c[lane]);
                    (0..8).fold(0, |all, bits| {
                        let same = |value: u32, bit: usize| if bits >> bit & 1 != 0 { value } else { !value };
                        all | same(a, 2) & same(b, 1) & same(c, 0) & terms[bits]
                    })
                });
                let result = if $kind == LaneKind::B16 { row!(|lane| result[lane] & 0xffff) } else { result };
                store32(core.wave, step, &result, $kind);
                Flow::Next
            })
        };
    }
    Some(match op {
        Op::v_bitop3_b32 => table!(u32, LaneKind::B32),
        Op::v_bitop3_b16 => table!(u16, LaneKind::B16),
        _ => return None,
    })
}

/// The number after another of a generator that shifts, with feedback.
#[inline(always)]
fn next_random(state: u32) -> u32 {
    state << 1 ^ if state >> 31 != 0 { 197 } else { 0 }
}
