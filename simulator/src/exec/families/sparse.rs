// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sparse matrix instructions: D += A * B. Two of each four elements of a row of A are stored. EXEC is
//! ignored.
//!
//! A lane holds `E` stored elements of one row of A and the `2 * E` elements of one column of B that they may
//! be multiplied by. Each stored element has an index of two bits in the lane's index register: its position
//! among the four.

use crate::exec::families::matrix::{Bf8, Bf16, F16, Fp8, I8, Input, Sum, element_row, place};
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::VECTORS;
use crate::exec::values::row::LANES;
use crate::isa::{Inst, Op};

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    /// A product of `M`, stored elements per lane and input types.
    macro_rules! product {
        ($sum:ty, $m:literal, $elements:literal, $a:ty, $b:ty) => {
            handler!(|core, step| product::<$sum, $a, $b, $m, $elements, { 2 * $elements }>(core, step))
        };
    }
    Some(match inst.op {
        Op::v_smfmac_f32_16x16x32_f16 => product!(f32, 16, 4, F16, F16),
        Op::v_smfmac_f32_32x32x16_f16 => product!(f32, 32, 4, F16, F16),
        Op::v_smfmac_f32_16x16x32_bf16 => product!(f32, 16, 4, Bf16, Bf16),
        Op::v_smfmac_f32_32x32x16_bf16 => product!(f32, 32, 4, Bf16, Bf16),
        Op::v_smfmac_i32_16x16x64_i8 => product!(i32, 16, 8, I8, I8),
        Op::v_smfmac_i32_32x32x32_i8 => product!(i32, 32, 8, I8, I8),
        Op::v_smfmac_f32_16x16x64_fp8_fp8 => product!(f32, 16, 8, Fp8, Fp8),
        Op::v_smfmac_f32_16x16x64_fp8_bf8 => product!(f32, 16, 8, Fp8, Bf8),
        Op::v_smfmac_f32_16x16x64_bf8_fp8 => product!(f32, 16, 8, Bf8, Fp8),
        Op::v_smfmac_f32_16x16x64_bf8_bf8 => product!(f32, 16, 8, Bf8, Bf8),
        Op::v_smfmac_f32_32x32x32_fp8_fp8 => product!(f32, 32, 8, Fp8, Fp8),
        Op::v_smfmac_f32_32x32x32_fp8_bf8 => product!(f32, 32, 8, Fp8, Bf8),
        Op::v_smfmac_f32_32x32x32_bf8_fp8 => product!(f32, 32, 8, Bf8, Fp8),
        Op::v_smfmac_f32_32x32x32_bf8_bf8 => product!(f32, 32, 8, Bf8, Bf8),
        _ => return None,
    })
}

/// `DENSE` is twice `E`.
#[inline(always)]
fn product<S: Sum, A: Input<S>, B: Input<S>, const M: usize, const E: usize, const DENSE: usize>(
    core: &mut Core<'_>,
    step: &Step,
) -> Flow {
    let mods = &step.inst.mods;
    let wave = &mut *core.wave;
    let Source::Vector(indices) = step.src[2] else { return Flow::Next };
    // A register holds several sets of indices. The instruction names one of them, unless CBSZ selects the first.
    let set = if mods.cbsz == 0 { usize::from(mods.abid) % (16 / E) } else { 0 };
    let indices = wave.row(indices).map(|word| word >> (2 * E * set));
    let mut a = [[S::default(); LANES]; E];
    let mut b = [[S::default(); LANES]; DENSE];
    for (element, row) in a.iter_mut().enumerate() {
        element_row::<S, A>(wave, step.src[0], element, row);
    }
    for (element, row) in b.iter_mut().enumerate() {
        element_row::<S, B>(wave, step.src[1], element, row);
    }
    for row in 0..M {
        let (register, first) = place::<M>(0, row);
        let sums = &mut wave.v[(usize::from(step.dst) + register) & (VECTORS - 1)][first..first + M];
        let mut totals = [S::default(); M];
        for (total, bits) in totals.iter_mut().zip(&*sums) {
            *total = S::from_bits(*bits);
        }
        for group in 0..LANES / M {
            let lane = group * M + row;
            for element in 0..E {
                let within = (indices[lane] >> (2 * element) & 3) as usize;
                let column = &b[element / 2 * 4 + within][group * M..][..M];
                for (total, value) in totals.iter_mut().zip(column) {
                    *total = total.accumulate(a[element][lane], *value);
                }
            }
        }
        for (bits, total) in sums.iter_mut().zip(totals) {
            *bits = total.to_bits();
        }
    }
    Flow::Next
}
