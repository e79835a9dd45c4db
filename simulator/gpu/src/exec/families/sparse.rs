// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sparse matrix instructions: D += A * B. Two of each four elements of a row of A are stored. EXEC is
//! ignored.
//!
//! A lane holds `E` stored elements of one row of A and the `2 * E` elements of one column of B that they may
//! be multiplied by. Each stored element has an index of two bits in the lane's index register: its position
//! among the four.

use crate::exec::families::tile::{Bf8, Bf8Ocp, Bf16, F16, Fp8, Fp8Ocp, I8, Sum, place, widen};
use crate::exec::machine::core::Flow;
use crate::exec::machine::handler::{Compilations, handler, shared};
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::{VECTORS, Wave};
use crate::exec::values::row::{LANES, Row};
use crate::isa::{Inst, Op};

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    /// A product of `M`, stored elements per lane and input types.
    macro_rules! product {
        ($sum:ty, $m:literal, $elements:literal, $a:ty, $b:ty) => {
            handler!(
                portable: |core, step| product!(portable, core, step, $sum, $m, $elements, $a, $b),
                wide: |core, step| product!(wide, core, step, $sum, $m, $elements, $a, $b)
            )
        };
        ($compilation:ident, $core:ident, $step:ident, $sum:ty, $m:literal, $elements:literal, $a:ty, $b:ty) => {{
            let mut a = [[<$sum>::default(); LANES]; $elements];
            let mut b = [[<$sum>::default(); LANES]; 2 * $elements];
            widen::$compilation::<$sum, $a>($core.wave, $step.src[0], &mut a);
            widen::$compilation::<$sum, $b>($core.wave, $step.src[1], &mut b);
            multiply::$compilation::<$sum, $m>($core.wave, $step, &a, &b);
            Flow::Next
        }};
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
        Op::v_smfmac_f32_16x16x64_fp8_fp8_ocp => product!(f32, 16, 8, Fp8Ocp, Fp8Ocp),
        Op::v_smfmac_f32_16x16x64_fp8_bf8_ocp => product!(f32, 16, 8, Fp8Ocp, Bf8Ocp),
        Op::v_smfmac_f32_16x16x64_bf8_fp8_ocp => product!(f32, 16, 8, Bf8Ocp, Fp8Ocp),
        Op::v_smfmac_f32_16x16x64_bf8_bf8_ocp => product!(f32, 16, 8, Bf8Ocp, Bf8Ocp),
        Op::v_smfmac_f32_32x32x32_fp8_fp8_ocp => product!(f32, 32, 8, Fp8Ocp, Fp8Ocp),
        Op::v_smfmac_f32_32x32x32_fp8_bf8_ocp => product!(f32, 32, 8, Fp8Ocp, Bf8Ocp),
        Op::v_smfmac_f32_32x32x32_bf8_fp8_ocp => product!(f32, 32, 8, Bf8Ocp, Fp8Ocp),
        Op::v_smfmac_f32_32x32x32_bf8_bf8_ocp => product!(f32, 32, 8, Bf8Ocp, Bf8Ocp),
        Op::v_smfmac_f32_16x16x128_fp8_fp8 => product!(f32, 16, 16, Fp8Ocp, Fp8Ocp),
        Op::v_smfmac_f32_16x16x128_fp8_bf8 => product!(f32, 16, 16, Fp8Ocp, Bf8Ocp),
        Op::v_smfmac_f32_16x16x128_bf8_fp8 => product!(f32, 16, 16, Bf8Ocp, Fp8Ocp),
        Op::v_smfmac_f32_16x16x128_bf8_bf8 => product!(f32, 16, 16, Bf8Ocp, Bf8Ocp),
        Op::v_smfmac_f32_32x32x64_fp8_fp8 => product!(f32, 32, 16, Fp8Ocp, Fp8Ocp),
        Op::v_smfmac_f32_32x32x64_fp8_bf8 => product!(f32, 32, 16, Fp8Ocp, Bf8Ocp),
        Op::v_smfmac_f32_32x32x64_bf8_fp8 => product!(f32, 32, 16, Bf8Ocp, Fp8Ocp),
        Op::v_smfmac_f32_32x32x64_bf8_bf8 => product!(f32, 32, 16, Bf8Ocp, Bf8Ocp),
        Op::v_smfmac_f32_16x16x64_f16 => product!(f32, 16, 8, F16, F16),
        Op::v_smfmac_f32_32x32x32_f16 => product!(f32, 32, 8, F16, F16),
        Op::v_smfmac_f32_16x16x64_bf16 => product!(f32, 16, 8, Bf16, Bf16),
        Op::v_smfmac_f32_32x32x32_bf16 => product!(f32, 32, 8, Bf16, Bf16),
        Op::v_smfmac_i32_16x16x128_i8 => product!(i32, 16, 16, I8, I8),
        Op::v_smfmac_i32_32x32x64_i8 => product!(i32, 32, 16, I8, I8),
        _ => return None,
    })
}

/// Adds the product of a row of A and of B to its sums. The lanes are `groups` of `M`.
#[inline(always)]
pub(crate) fn accumulate<S: Sum, const M: usize>(
    totals: &mut [S; M],
    a: &[[S; LANES]],
    b: &[[S; LANES]],
    indices: &Row,
    row: usize,
    groups: usize,
) {
    for group in 0..groups {
        let lane = group * M + row;
        for (element, factors) in a.iter().enumerate() {
            let within = (indices[lane] >> (2 * element) & 3) as usize;
            let column = &b[element / 2 * 4 + within].as_chunks::<M>().0[group];
            for (total, value) in totals.iter_mut().zip(column) {
                *total = total.accumulate(factors[lane], *value);
            }
        }
    }
}

shared!(multiply[S: Sum, const M: usize] [S, M] (wave: &mut Wave, step: &Step, a: &[[S; LANES]], b: &[[S; LANES]]));

/// The product of A's stored elements and the elements of B that their indices name, in tiles of `M` rows.
#[inline(always)]
fn multiply<S: Sum, const M: usize>(wave: &mut Wave, step: &Step, a: &[[S; LANES]], b: &[[S; LANES]]) {
    let mods = &step.inst.mods;
    let Source::Vector(indices) = step.src[2] else { return };
    // A register holds several sets of indices. The instruction names one of them, unless CBSZ selects the first.
    let set = if mods.cbsz == 0 { usize::from(mods.abid) % (16 / a.len()) } else { 0 };
    let indices = wave.row(indices).map(|word| word >> (2 * a.len() * set));
    for row in 0..M {
        let (register, first) = place::<M>(0, row);
        let sums = &mut wave.v[(usize::from(step.dst) + register) & (VECTORS - 1)][first..first + M];
        let mut totals = [S::default(); M];
        for (total, bits) in totals.iter_mut().zip(&*sums) {
            *total = S::from_bits(*bits);
        }
        accumulate(&mut totals, a, b, &indices, row, LANES / M);
        for (bits, total) in sums.iter_mut().zip(totals) {
            *bits = total.to_bits();
        }
    }
}
