// SPDX-License-Identifier: MIT OR Apache-2.0
//! Matrix instructions: D = A * B + C for tiles that are spread over the lanes of registers. EXEC is ignored.
//!
//! With `M` rows and columns, the lanes form 64 / `M` groups. A lane holds `E` consecutive elements of one
//! row of A (its number in the group) and of one column of B. Groups are either parts of the inner dimension,
//! or blocks: separate tiles. A register of the result holds 4 (for M = 4: 1) consecutive rows in the groups'
//! lanes, one column each.

use crate::exec::families::tile::{
    Bf8, Bf8Ocp, Bf16, F16, F32, Fp8, Fp8Ocp, I8, Normal, ROWS, Sum, Xf32, accumulate, place, widen,
};
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler, shared};
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::{VECTORS, Wave};
use crate::exec::operands::source::scalar32;
use crate::exec::values::row::LANES;
use crate::isa::{Inst, Op};

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    /// A product of `M`, elements per lane, blocks and input types.
    macro_rules! product {
        ($sum:ty, $m:literal, $elements:literal, $blocks:literal, $a:ty, $b:ty) => {
            handler!(
                portable: |core, step| product!(portable, core, step, $sum, $m, $elements, $blocks, $a, $b),
                wide: |core, step| product!(wide, core, step, $sum, $m, $elements, $blocks, $a, $b)
            )
        };
        ($compilation:ident, $core:ident, $step:ident, $sum:ty, $m:literal, $elements:literal, $blocks:literal, $a:ty, $b:ty) => {{
            // Inputs are read before the first result is written: the registers may be the same.
            let mut a = [[<$sum>::default(); LANES]; $elements];
            let mut b = [[<$sum>::default(); LANES]; $elements];
            widen::$compilation::<$sum, $a>($core.wave, $step.src[0], &mut a);
            widen::$compilation::<$sum, $b>($core.wave, $step.src[1], &mut b);
            multiply::$compilation::<$sum, $m>($core.wave, $step, &a, &mut b, $blocks);
            Flow::Next
        }};
    }
    Some(match inst.op {
        Op::v_mfma_f32_16x16x4_f32 => product!(f32, 16, 1, 1, F32, F32),
        Op::v_mfma_f32_32x32x2_f32 => product!(f32, 32, 1, 1, F32, F32),
        Op::v_mfma_f32_32x32x1_2b_f32 => product!(f32, 32, 1, 2, F32, F32),
        Op::v_mfma_f32_16x16x1_4b_f32 => product!(f32, 16, 1, 4, F32, F32),
        Op::v_mfma_f32_4x4x1_16b_f32 => product!(f32, 4, 1, 16, F32, F32),
        Op::v_mfma_f32_16x16x8_xf32 => product!(f32, 16, 2, 1, Xf32, Xf32),
        Op::v_mfma_f32_32x32x4_xf32 => product!(f32, 32, 2, 1, Xf32, Xf32),
        Op::v_mfma_f32_16x16x16_f16 => product!(f32, 16, 4, 1, F16, F16),
        Op::v_mfma_f32_32x32x8_f16 => product!(f32, 32, 4, 1, F16, F16),
        Op::v_mfma_f32_32x32x4_2b_f16 => product!(f32, 32, 4, 2, F16, F16),
        Op::v_mfma_f32_16x16x4_4b_f16 => product!(f32, 16, 4, 4, F16, F16),
        Op::v_mfma_f32_4x4x4_16b_f16 => product!(f32, 4, 4, 16, F16, F16),
        Op::v_mfma_f32_16x16x16_bf16 => product!(f32, 16, 4, 1, Bf16, Bf16),
        Op::v_mfma_f32_32x32x8_bf16 => product!(f32, 32, 4, 1, Bf16, Bf16),
        Op::v_mfma_f32_32x32x4_2b_bf16 => product!(f32, 32, 4, 2, Bf16, Bf16),
        Op::v_mfma_f32_16x16x4_4b_bf16 => product!(f32, 16, 4, 4, Bf16, Bf16),
        Op::v_mfma_f32_4x4x4_16b_bf16 => product!(f32, 4, 4, 16, Bf16, Bf16),
        Op::v_mfma_f32_16x16x32_fp8_fp8 => product!(f32, 16, 8, 1, Fp8, Fp8),
        Op::v_mfma_f32_16x16x32_fp8_bf8 => product!(f32, 16, 8, 1, Fp8, Bf8),
        Op::v_mfma_f32_16x16x32_bf8_fp8 => product!(f32, 16, 8, 1, Bf8, Fp8),
        Op::v_mfma_f32_16x16x32_bf8_bf8 => product!(f32, 16, 8, 1, Bf8, Bf8),
        Op::v_mfma_f32_32x32x16_fp8_fp8 => product!(f32, 32, 8, 1, Fp8, Fp8),
        Op::v_mfma_f32_32x32x16_fp8_bf8 => product!(f32, 32, 8, 1, Fp8, Bf8),
        Op::v_mfma_f32_32x32x16_bf8_fp8 => product!(f32, 32, 8, 1, Bf8, Fp8),
        Op::v_mfma_f32_32x32x16_bf8_bf8 => product!(f32, 32, 8, 1, Bf8, Bf8),
        Op::v_mfma_i32_16x16x32_i8 => product!(i32, 16, 8, 1, I8, I8),
        Op::v_mfma_i32_32x32x16_i8 => product!(i32, 32, 8, 1, I8, I8),
        Op::v_mfma_f32_16x16x32_f16 => product!(f32, 16, 8, 1, F16, F16),
        Op::v_mfma_f32_32x32x16_f16 => product!(f32, 32, 8, 1, F16, F16),
        Op::v_mfma_f32_16x16x32_bf16 => product!(f32, 16, 8, 1, Bf16, Bf16),
        Op::v_mfma_f32_32x32x16_bf16 => product!(f32, 32, 8, 1, Bf16, Bf16),
        Op::v_mfma_i32_16x16x64_i8 => product!(i32, 16, 16, 1, I8, I8),
        Op::v_mfma_i32_32x32x32_i8 => product!(i32, 32, 16, 1, I8, I8),
        Op::v_mfma_f32_16x16x32_fp8_fp8_ocp => product!(f32, 16, 8, 1, Fp8Ocp, Fp8Ocp),
        Op::v_mfma_f32_16x16x32_fp8_bf8_ocp => product!(f32, 16, 8, 1, Fp8Ocp, Bf8Ocp),
        Op::v_mfma_f32_16x16x32_bf8_fp8_ocp => product!(f32, 16, 8, 1, Bf8Ocp, Fp8Ocp),
        Op::v_mfma_f32_16x16x32_bf8_bf8_ocp => product!(f32, 16, 8, 1, Bf8Ocp, Bf8Ocp),
        Op::v_mfma_f32_32x32x16_fp8_fp8_ocp => product!(f32, 32, 8, 1, Fp8Ocp, Fp8Ocp),
        Op::v_mfma_f32_32x32x16_fp8_bf8_ocp => product!(f32, 32, 8, 1, Fp8Ocp, Bf8Ocp),
        Op::v_mfma_f32_32x32x16_bf8_fp8_ocp => product!(f32, 32, 8, 1, Bf8Ocp, Fp8Ocp),
        Op::v_mfma_f32_32x32x16_bf8_bf8_ocp => product!(f32, 32, 8, 1, Bf8Ocp, Bf8Ocp),
        Op::v_mfma_i32_32x32x4_2b_i8 => product!(i32, 32, 4, 2, I8, I8),
        Op::v_mfma_i32_16x16x4_4b_i8 => product!(i32, 16, 4, 4, I8, I8),
        Op::v_mfma_i32_4x4x4_16b_i8 => product!(i32, 4, 4, 16, I8, I8),
        Op::v_mfma_i32_32x32x8i8 => product!(i32, 32, 4, 1, I8, I8),
        Op::v_mfma_i32_16x16x16i8 => product!(i32, 16, 4, 1, I8, I8),
        Op::v_mfma_f32_16x16x16f16 => product!(Normal, 16, 4, 1, F16, F16),
        Op::v_mfma_f32_32x32x8f16 => product!(Normal, 32, 4, 1, F16, F16),
        Op::v_mfma_f32_32x32x4f16 => product!(Normal, 32, 4, 2, F16, F16),
        Op::v_mfma_f32_16x16x4f16 => product!(Normal, 16, 4, 4, F16, F16),
        Op::v_mfma_f32_4x4x4f16 => product!(Normal, 4, 4, 16, F16, F16),
        Op::v_mfma_f32_16x16x16bf16_1k => product!(Normal, 16, 4, 1, Bf16, Bf16),
        Op::v_mfma_f32_32x32x8bf16_1k => product!(Normal, 32, 4, 1, Bf16, Bf16),
        Op::v_mfma_f32_32x32x4bf16_1k => product!(Normal, 32, 4, 2, Bf16, Bf16),
        Op::v_mfma_f32_16x16x4bf16_1k => product!(Normal, 16, 4, 4, Bf16, Bf16),
        Op::v_mfma_f32_4x4x4bf16_1k => product!(Normal, 4, 4, 16, Bf16, Bf16),
        Op::v_mfma_f32_16x16x8_bf16 => product!(f32, 16, 2, 1, Bf16, Bf16),
        Op::v_mfma_f32_32x32x4_bf16 => product!(f32, 32, 2, 1, Bf16, Bf16),
        Op::v_mfma_f32_32x32x2_2b_bf16 => product!(f32, 32, 2, 2, Bf16, Bf16),
        Op::v_mfma_f32_16x16x2_4b_bf16 => product!(f32, 16, 2, 4, Bf16, Bf16),
        Op::v_mfma_f32_4x4x2_16b_bf16 => product!(f32, 4, 2, 16, Bf16, Bf16),
        Op::v_mfma_f32_16x16x8bf16 => product!(Normal, 16, 2, 1, Bf16, Bf16),
        Op::v_mfma_f32_32x32x4bf16 => product!(Normal, 32, 2, 1, Bf16, Bf16),
        Op::v_mfma_f32_32x32x2bf16 => product!(Normal, 32, 2, 2, Bf16, Bf16),
        Op::v_mfma_f32_16x16x2bf16 => product!(Normal, 16, 2, 4, Bf16, Bf16),
        Op::v_mfma_f32_4x4x2bf16 => product!(Normal, 4, 2, 16, Bf16, Bf16),
        // No document describes the lane pattern of a product of doubles before gfx942.
        Op::v_mfma_f64_16x16x4f64 | Op::v_mfma_f64_4x4x4f64 if inst.mods.blgp != 0 => return None,
        Op::v_mfma_f64_16x16x4f64 => handler!(|core, step| product_f64::<16>(core, step)),
        Op::v_mfma_f64_4x4x4f64 => handler!(|core, step| product_f64::<4>(core, step)),
        Op::v_mfma_f64_16x16x4_f64 => handler!(|core, step| product_f64::<16>(core, step)),
        Op::v_mfma_f64_4x4x4_4b_f64 => handler!(|core, step| product_f64::<4>(core, step)),
        _ => return None,
    })
}

shared!(multiply[S: Sum, const M: usize] [S, M] (
    wave: &mut Wave,
    step: &Step,
    a: &[[S; LANES]],
    b: &mut [[S; LANES]],
    blocks: usize,
));

/// The product of A and B, elements of each lane, in tiles of `M` rows.
#[inline(always)]
fn multiply<S: Sum, const M: usize>(
    wave: &mut Wave,
    step: &Step,
    a: &[[S; LANES]],
    b: &mut [[S; LANES]],
    blocks: usize,
) {
    let mods = &step.inst.mods;
    if mods.blgp != 0 {
        for values in &mut *b {
            *values = crossed(values, mods.blgp);
        }
    }
    start(wave, step, M * M * blocks / LANES);
    // The lanes of a row of A, or of a column of B, in groups of M: each is a part of the inner dimension, or a block.
    let groups = if blocks == 1 { LANES / M } else { 1 };
    // One block of A may serve several blocks of B.
    let size = 1usize << mods.cbsz;
    for block in 0..blocks {
        let shared = (block & !(size - 1) | usize::from(mods.abid) & (size - 1)) % blocks;
        for row in (0..M).step_by(ROWS) {
            let places: [_; ROWS] = std::array::from_fn(|ahead| place::<M>(block, row + ahead));
            let mut totals = [[S::default(); M]; ROWS];
            for (total, (register, first)) in totals.iter_mut().zip(places) {
                let sums = &wave.v[(usize::from(step.dst) + register) & (VECTORS - 1)][first..][..M];
                for (total, bits) in total.iter_mut().zip(sums) {
                    *total = S::from_bits(*bits);
                }
            }
            let pairs = (0..groups).map(|group| (shared + group, block + group));
            accumulate(&mut totals, a, b, row, pairs);
            for (total, (register, first)) in totals.iter().zip(places) {
                let sums = &mut wave.v[(usize::from(step.dst) + register) & (VECTORS - 1)][first..][..M];
                for (bits, total) in sums.iter_mut().zip(total) {
                    *bits = total.to_bits();
                }
            }
        }
    }
}

/// Copies C, registers or a constant for all elements, to the place of the result.
#[inline(always)]
pub(crate) fn start(wave: &mut Wave, step: &Step, registers: usize) {
    let place = |first: u16, index: usize| (usize::from(first) + index) & (VECTORS - 1);
    match step.src[2] {
        Source::Vector(first) if first == step.dst => {}
        Source::Vector(first) if first < step.dst => {
            for index in (0..registers).rev() {
                wave.v[place(step.dst, index)] = wave.v[place(first, index)];
            }
        }
        Source::Vector(first) => {
            for index in 0..registers {
                wave.v[place(step.dst, index)] = wave.v[place(first, index)];
            }
        }
        source => {
            let value = scalar32(wave, source);
            for index in 0..registers {
                wave.v[place(step.dst, index)] = [value; LANES];
            }
        }
    }
}

/// B with its lanes exchanged according to `blgp`.
fn crossed<S: Copy>(values: &[S; LANES], blgp: u8) -> [S; LANES] {
    std::array::from_fn(|lane| {
        values[match blgp {
            1 => lane % 32,
            2 => 32 + lane % 32,
            3 => (lane + 16) % 64,
            4..=7 => usize::from(blgp - 4) * 16 + lane % 16,
            _ => lane,
        }]
    })
}

/// Products of doubles: one tile of 16 rows, or four of 4; the inner dimension is 4.
#[inline(always)]
fn product_f64<const M: usize>(core: &mut Core<'_>, step: &Step) -> Flow {
    let wave = &mut *core.wave;
    let negated = step.inst.mods.blgp;
    let doubles = |source: Source, pair: u16, negate: u8| -> [f64; LANES] {
        std::array::from_fn(|lane| {
            let bits = match source {
                Source::Vector(number) => {
                    let number = number + 2 * pair;
                    u64::from(wave.row(number)[lane]) | u64::from(wave.row(number + 1)[lane]) << 32
                }
                Source::Constant(value) => value,
                _ => 0,
            };
            f64::from_bits(bits ^ u64::from(negated >> negate & 1) << 63)
        })
    };
    let (a, b) = (doubles(step.src[0], 0, 0), doubles(step.src[1], 0, 1));
    let pairs = if M == 16 { 4 } else { 1 };
    let mut results = [[0.0; LANES]; 4];
    for (pair, result) in results[..pairs].iter_mut().enumerate() {
        let c = doubles(step.src[2], pair as u16, 2);
        for (lane, value) in result.iter_mut().enumerate() {
            // Rows advance by groups of lanes within a pair of registers, then by pairs. Tiles of 4 lie side by side.
            let row = if M == 16 { 4 * pair + lane / 16 } else { lane / 16 };
            let (tile, column) = if M == 16 { (0, lane % 16) } else { (lane / 4 % 4 * 4, lane % 4) };
            *value =
                (0..4).fold(c[lane], |sum, k| a[16 * k + tile + row].mul_add(b[16 * k + tile + column], sum));
        }
    }
    for (pair, result) in (0u16..).zip(&results[..pairs]) {
        for (lane, value) in result.iter().enumerate() {
            let bits = if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() };
            wave.row_mut(step.dst + 2 * pair)[lane] = bits as u32;
            wave.row_mut(step.dst + 2 * pair + 1)[lane] = (bits >> 32) as u32;
        }
    }
    Flow::Next
}
