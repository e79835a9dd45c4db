// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wave matrix products of RDNA 3, with 16 inner elements.

use crate::exec::families::tile::{Bf16, F16, U4, U8};
use crate::exec::families::wmma_tile::{Layout, Place, SIDE, integers, shorts, singles};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::values::half::{f32_to_bf16, f32_to_f16};
use crate::isa::Op;

/// A lane holds all inner elements, one after the other. Code keeps the same in each sixteen lanes; the first sixteen are read.
struct Repeated;

impl Layout for Repeated {
    const PARTS: usize = 1;

    #[inline(always)]
    fn whole(size: usize, row: usize) -> Place {
        Self::half(size, row, 0)
    }

    #[inline(always)]
    fn half(size: usize, row: usize, selected: usize) -> Place {
        // A register has one row in each sixteen lanes of the wave.
        let rows = size / SIDE;
        Place { register: row / rows, lane: row % rows * SIDE, shift: 16 * selected }
    }
}

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    Some(match op {
        Op::v_wmma_f32_16x16x16_f16 => {
            handler!(|core, step| singles::<Repeated, F16, F16, 16, 16>(core, step))
        }
        Op::v_wmma_f32_16x16x16_bf16 => {
            handler!(|core, step| singles::<Repeated, Bf16, Bf16, 16, 16>(core, step))
        }
        Op::v_wmma_f16_16x16x16_f16 => {
            handler!(|core, step| shorts::<Repeated, F16, 16, 16>(core, step, f32_to_f16))
        }
        Op::v_wmma_bf16_16x16x16_bf16 => {
            handler!(|core, step| shorts::<Repeated, Bf16, 16, 16>(core, step, f32_to_bf16))
        }
        Op::v_wmma_i32_16x16x16_iu8 => handler!(|core, step| integers::<Repeated, U8, 16, 16>(core, step)),
        Op::v_wmma_i32_16x16x16_iu4 => handler!(|core, step| integers::<Repeated, U4, 16, 16>(core, step)),
        _ => return None,
    })
}
