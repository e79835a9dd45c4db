// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wave matrix products of RDNA 4 in waves of 32 lanes, with 16 or 32 inner elements.

use crate::exec::families::tile::{Bf8Ocp, Bf16, F16, Fp8Ocp, U4, U8};
use crate::exec::families::wmma_tile::{Layout, Place, SIDE, integers, shorts, singles};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::values::half::{f32_to_bf16, f32_to_f16};
use crate::isa::{Inst, Op};

/// Each element is in one lane. The lanes from 16 on hold the second half of the inner elements, and rows 8 to 15 of C and D.
struct Once;

impl Layout for Once {
    const PARTS: usize = 2;

    #[inline(always)]
    fn whole(_: usize, row: usize) -> Place {
        Place { register: row % 8, lane: row / 8 * SIDE, shift: 0 }
    }

    #[inline(always)]
    fn half(_: usize, row: usize, _: usize) -> Place {
        // A register has two rows.
        Place { register: row % 8 / 2, lane: row / 8 * SIDE, shift: row % 2 * 16 }
    }
}

/// The handler of an instruction of this family, `None` for other instructions.
///
/// # Errors
/// Why the instruction is not executed.
pub(crate) fn compilations(inst: &Inst) -> Option<Result<Compilations, &'static str>> {
    /// Floats of two types with single sums.
    macro_rules! singles {
        ($a:ty, $b:ty) => {
            handler!(|core, step| singles::<Once, $a, $b, 8>(core, step))
        };
    }
    let compilations = match inst.op {
        Op::v_wmma_f32_16x16x16_f16_once => singles!(F16, F16),
        Op::v_wmma_f32_16x16x16_bf16_once => singles!(Bf16, Bf16),
        Op::v_wmma_f16_16x16x16_f16_once => {
            handler!(|core, step| shorts::<Once, F16, 8>(core, step, f32_to_f16))
        }
        Op::v_wmma_bf16_16x16x16_bf16_once => {
            handler!(|core, step| shorts::<Once, Bf16, 8>(core, step, f32_to_bf16))
        }
        Op::v_wmma_f32_16x16x16_fp8_fp8 => singles!(Fp8Ocp, Fp8Ocp),
        Op::v_wmma_f32_16x16x16_fp8_bf8 => singles!(Fp8Ocp, Bf8Ocp),
        Op::v_wmma_f32_16x16x16_bf8_fp8 => singles!(Bf8Ocp, Fp8Ocp),
        Op::v_wmma_f32_16x16x16_bf8_bf8 => singles!(Bf8Ocp, Bf8Ocp),
        Op::v_wmma_i32_16x16x16_iu8_once => handler!(|core, step| integers::<Once, U8, 8>(core, step)),
        Op::v_wmma_i32_16x16x16_iu4_once => handler!(|core, step| integers::<Once, U4, 8>(core, step)),
        Op::v_wmma_i32_16x16x32_iu4 => handler!(|core, step| integers::<Once, U4, 16>(core, step)),
        Op::v_swmmac_f32_16x16x32_f16
        | Op::v_swmmac_f32_16x16x32_bf16
        | Op::v_swmmac_f16_16x16x32_f16
        | Op::v_swmmac_bf16_16x16x32_bf16
        | Op::v_swmmac_i32_16x16x32_iu8
        | Op::v_swmmac_i32_16x16x32_iu4
        | Op::v_swmmac_i32_16x16x64_iu4
        | Op::v_swmmac_f32_16x16x32_fp8_fp8
        | Op::v_swmmac_f32_16x16x32_fp8_bf8
        | Op::v_swmmac_f32_16x16x32_bf8_fp8
        | Op::v_swmmac_f32_16x16x32_bf8_bf8 => return Some(Err("sparse matrices")),
        _ => return None,
    };
    Some(match inst.set.wave_size() {
        32 => Ok(compilations),
        _ => Err("a matrix in a wave of 64 lanes"),
    })
}
