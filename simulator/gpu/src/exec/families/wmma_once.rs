// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wave matrix products of RDNA 4: WMMA with 16 or 32 inner elements, and SWMMAC, whose A is sparse, with 32 or 64.
//!
//! Each element is in one lane. The layouts, and the sets of indices that OPSEL selects, are those that AMD's matrix instruction
//! calculator prints for RDNA 4. The order of inner elements does not matter as long as A and B agree, and in a sparse product the
//! groups of four stay together.

use crate::exec::families::tile::{Bf8Ocp, Bf16, F16, Fp8Ocp, U4, U8};
use crate::exec::families::wmma_tile::{Layout, Place, SIDE, integers, shorts, singles};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::values::half::{f32_to_bf16, f32_to_f16};
use crate::isa::{Inst, Op};

/// A wave of 32 lanes. The lanes from 16 on hold the second half of the inner elements, and rows 8 to 15 of C and D.
struct Halves;

impl Layout for Halves {
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

/// A wave of 64 lanes. Each sixteen lanes hold a quarter of the inner elements, and four rows of C and D: those from 0, 8, 4 and 12
/// on.
struct Quarters;

impl Quarters {
    #[inline(always)]
    fn lane(row: usize) -> usize {
        (row / 4 % 2 * 2 + row / 8) * SIDE
    }
}

impl Layout for Quarters {
    const PARTS: usize = 4;

    #[inline(always)]
    fn whole(_: usize, row: usize) -> Place {
        Place { register: row % 4, lane: Self::lane(row), shift: 0 }
    }

    #[inline(always)]
    fn half(_: usize, row: usize, _: usize) -> Place {
        Place { register: row % 4 / 2, lane: Self::lane(row), shift: row % 2 * 16 }
    }
}

/// A wave of 64 lanes of which 32 hold A, whose elements have four bits.
struct Narrow;

impl Layout for Narrow {
    const PARTS: usize = 2;
    const IS_B_WIDER: bool = true;

    #[inline(always)]
    fn whole(size: usize, row: usize) -> Place {
        Quarters::whole(size, row)
    }

    #[inline(always)]
    fn half(size: usize, row: usize, selected: usize) -> Place {
        Quarters::half(size, row, selected)
    }
}

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    let is_wave64 = inst.set.wave_size() == 64;
    /// A product in waves of both sizes. A lane of 32 has so many elements of A and of B, a lane of 64 half as many.
    macro_rules! product {
        ($product:ident, [$($ty:ty),+], $of_a:literal, $of_b:literal $(, $rounded:expr)?) => {
            if is_wave64 {
                handler!(|core, step| $product::<Quarters, $($ty),+, { $of_a / 2 }, { $of_b / 2 }>(core, step $(, $rounded)?))
            } else {
                handler!(|core, step| $product::<Halves, $($ty),+, $of_a, $of_b>(core, step $(, $rounded)?))
            }
        };
    }
    /// A product with so few bits that lanes of both sizes of waves have as many elements of A.
    macro_rules! narrow {
        ($of_b:literal) => {
            if is_wave64 {
                handler!(|core, step| integers::<Narrow, U4, 8, $of_b>(core, step))
            } else {
                handler!(|core, step| integers::<Halves, U4, 8, $of_b>(core, step))
            }
        };
    }
    Some(match inst.op {
        Op::v_wmma_f32_16x16x16_f16_once => product!(singles, [F16, F16], 8, 8),
        Op::v_wmma_f32_16x16x16_bf16_once => product!(singles, [Bf16, Bf16], 8, 8),
        Op::v_wmma_f16_16x16x16_f16_once => product!(shorts, [F16], 8, 8, f32_to_f16),
        Op::v_wmma_bf16_16x16x16_bf16_once => product!(shorts, [Bf16], 8, 8, f32_to_bf16),
        Op::v_wmma_f32_16x16x16_fp8_fp8 => product!(singles, [Fp8Ocp, Fp8Ocp], 8, 8),
        Op::v_wmma_f32_16x16x16_fp8_bf8 => product!(singles, [Fp8Ocp, Bf8Ocp], 8, 8),
        Op::v_wmma_f32_16x16x16_bf8_fp8 => product!(singles, [Bf8Ocp, Fp8Ocp], 8, 8),
        Op::v_wmma_f32_16x16x16_bf8_bf8 => product!(singles, [Bf8Ocp, Bf8Ocp], 8, 8),
        Op::v_wmma_i32_16x16x16_iu8_once => product!(integers, [U8], 8, 8),
        Op::v_wmma_i32_16x16x16_iu4_once => narrow!(8),
        Op::v_wmma_i32_16x16x32_iu4 => product!(integers, [U4], 16, 16),
        Op::v_swmmac_f32_16x16x32_f16 => product!(singles, [F16, F16], 8, 16),
        Op::v_swmmac_f32_16x16x32_bf16 => product!(singles, [Bf16, Bf16], 8, 16),
        Op::v_swmmac_f16_16x16x32_f16 => product!(shorts, [F16], 8, 16, f32_to_f16),
        Op::v_swmmac_bf16_16x16x32_bf16 => product!(shorts, [Bf16], 8, 16, f32_to_bf16),
        Op::v_swmmac_f32_16x16x32_fp8_fp8 => product!(singles, [Fp8Ocp, Fp8Ocp], 8, 16),
        Op::v_swmmac_f32_16x16x32_fp8_bf8 => product!(singles, [Fp8Ocp, Bf8Ocp], 8, 16),
        Op::v_swmmac_f32_16x16x32_bf8_fp8 => product!(singles, [Bf8Ocp, Fp8Ocp], 8, 16),
        Op::v_swmmac_f32_16x16x32_bf8_bf8 => product!(singles, [Bf8Ocp, Bf8Ocp], 8, 16),
        Op::v_swmmac_i32_16x16x32_iu8 => product!(integers, [U8], 8, 16),
        Op::v_swmmac_i32_16x16x32_iu4 => narrow!(16),
        Op::v_swmmac_i32_16x16x64_iu4 => product!(integers, [U4], 16, 32),
        _ => return None,
    })
}
