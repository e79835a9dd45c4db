// SPDX-License-Identifier: MIT OR Apache-2.0
//! Matrix instructions: D = A * B + C for tiles that are spread over the lanes of registers. EXEC is ignored.
//!
//! With `M` rows and columns, the lanes form 64 / `M` groups. A lane holds `E` consecutive elements of one
//! row of A (its number in the group) and of one column of B. Groups are either parts of the inner dimension,
//! or blocks: separate tiles. A register of the result holds 4 (for M = 4: 1) consecutive rows in the groups'
//! lanes, one column each.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::{Compilations, handler};
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::{VECTORS, Wave};
use crate::exec::operands::source::scalar32;
use crate::exec::values::eighth::{bf8_to_f32, fp8_to_f32};
use crate::exec::values::float::normal;

use crate::exec::values::half::{self, bf16_to_f32, f16_to_f32};
use crate::exec::values::row::{LANES, Row};
use crate::isa::{Inst, Op};

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    /// A product of `M`, elements per lane, blocks and input types.
    macro_rules! product {
        ($sum:ty, $m:literal, $elements:literal, $blocks:literal, $a:ty, $b:ty) => {
            handler!(|core, step| product::<$sum, $a, $b, $m, $elements, $blocks>(core, step))
        };
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

/// The type of the sums.
pub(crate) trait Sum: Copy + Default {
    fn from_bits(bits: u32) -> Self;
    fn to_bits(self) -> u32;
    /// Adds a product.
    fn accumulate(self, a: Self, b: Self) -> Self;
}

impl Sum for f32 {
    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        f32::from_bits(bits)
    }

    #[inline(always)]
    fn to_bits(self) -> u32 {
        // The NaN would depend on the host's processor.
        if self.is_nan() { 0x7fc0_0000 } else { f32::to_bits(self) }
    }

    #[inline(always)]
    fn accumulate(self, a: Self, b: Self) -> Self {
        a.mul_add(b, self)
    }
}

/// A single whose denormals become zero: in the factors, in the sum at the start and in the sum at the end.
#[derive(Clone, Copy, Default)]
struct Normal(f32);

impl Sum for Normal {
    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        Self(normal(f32::from_bits(bits)))
    }

    #[inline(always)]
    fn to_bits(self) -> u32 {
        Sum::to_bits(normal(self.0))
    }

    #[inline(always)]
    fn accumulate(self, a: Self, b: Self) -> Self {
        Self(a.0.mul_add(b.0, self.0))
    }
}

impl Sum for i32 {
    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        bits as i32
    }

    #[inline(always)]
    fn to_bits(self) -> u32 {
        self as u32
    }

    #[inline(always)]
    fn accumulate(self, a: Self, b: Self) -> Self {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

/// The type of A's or B's elements, of which one register holds `PER_REGISTER`.
pub(crate) trait Input<S> {
    const PER_REGISTER: usize;
    /// The element of a register, counted from its low bits.
    fn widen(register: u32, element: usize) -> S;

    /// The same element of every lane.
    #[inline(always)]
    fn widen_row(row: &Row, element: usize, values: &mut [S; LANES]) {
        for lane in 0..LANES {
            values[lane] = Self::widen(row[lane], element);
        }
    }
}

macro_rules! input {
    ($(#[$meta:meta])* $name:ident, $sum:ty, $per:literal, |$bits:ident| $widen:expr $(, $rows:item)?) => {
        $(#[$meta])*
        pub(crate) struct $name;

        impl Input<$sum> for $name {
            const PER_REGISTER: usize = $per;

            #[inline(always)]
            fn widen(register: u32, element: usize) -> $sum {
                let $bits = register >> (32 / $per * element);
                $widen
            }

            $($rows)?
        }
    };
}

input!(F32, f32, 1, |bits| f32::from_bits(bits));
input!(
    /// Singles with only ten bits of mantissa; rounded to nearest even.
    Xf32, f32, 1, |bits| {
        let rounded = bits.wrapping_add(0xfff + (bits >> 13 & 1)) & !0x1fff;
        f32::from_bits(if bits & 0x7f80_0000 == 0x7f80_0000 { bits } else { rounded })
    }
);
input!(
    F16,
    f32,
    2,
    |bits| f16_to_f32(bits & 0xffff),
    #[inline(always)]
    fn widen_row(row: &Row, element: usize, values: &mut [f32; LANES]) {
        half::widen_row(row, element == 1, values);
    }
);
input!(Bf16, f32, 2, |bits| bf16_to_f32(bits & 0xffff));

impl Input<Normal> for F16 {
    const PER_REGISTER: usize = 2;

    #[inline(always)]
    fn widen(register: u32, element: usize) -> Normal {
        let bits = register >> (16 * element) & 0xffff;
        // A half's denormals are normal as singles.
        Normal(f16_to_f32(if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }))
    }
}

impl Input<Normal> for Bf16 {
    const PER_REGISTER: usize = 2;

    #[inline(always)]
    fn widen(register: u32, element: usize) -> Normal {
        Normal(normal(<Self as Input<f32>>::widen(register, element)))
    }
}
input!(
    /// Four bits of exponent, three of mantissa.
    Fp8, f32, 4, |bits| fp8_to_f32(bits & 0xff)
);
input!(
    /// Five bits of exponent, two of mantissa.
    Bf8, f32, 4, |bits| bf8_to_f32(bits & 0xff)
);
input!(I8, i32, 4, |bits| bits as i8 as i32);

/// A tile's place in the registers of the result: the register and first lane of a row.
#[inline(always)]
pub(crate) fn place<const M: usize>(block: usize, row: usize) -> (usize, usize) {
    match M {
        4 => (row, 4 * block),
        16 => (4 * block + row % 4, row / 4 * 16),
        _ => (16 * block + row / 8 * 4 + row % 4, row / 4 % 2 * 32),
    }
}

/// The number of rows of the result that are summed together. Their sums stay in registers, and each of B's
/// values is read once for all of them.
const ROWS: usize = 4;

#[inline(always)]
fn product<S: Sum, A: Input<S>, B: Input<S>, const M: usize, const E: usize, const BLOCKS: usize>(
    core: &mut Core<'_>,
    step: &Step,
) -> Flow {
    let mods = &step.inst.mods;
    let wave = &mut *core.wave;
    // Inputs are read before the first result is written: the registers may be the same.
    let mut a = [[S::default(); LANES]; E];
    let mut b = [[S::default(); LANES]; E];
    for element in 0..E {
        element_row::<S, A>(wave, step.src[0], element, &mut a[element]);
        element_row::<S, B>(wave, step.src[1], element, &mut b[element]);
        if mods.blgp != 0 {
            b[element] = crossed(&b[element], mods.blgp);
        }
    }
    start(wave, step, M * M * BLOCKS / LANES);
    let groups = LANES / M;
    // One block of A may serve several blocks of B.
    let size = 1usize << mods.cbsz;
    for block in 0..BLOCKS {
        let shared = (block & !(size - 1) | usize::from(mods.abid) & (size - 1)) % BLOCKS;
        let (steps, first_of_a, first_of_b) =
            if BLOCKS == 1 { (groups, 0, 0) } else { (1, shared * M, block * M) };
        for row in (0..M).step_by(ROWS) {
            let places: [_; ROWS] = std::array::from_fn(|ahead| place::<M>(block, row + ahead));
            let mut totals = [[S::default(); M]; ROWS];
            for (total, (register, first)) in totals.iter_mut().zip(places) {
                let sums = &wave.v[(usize::from(step.dst) + register) & (VECTORS - 1)][first..first + M];
                for (total, bits) in total.iter_mut().zip(sums) {
                    *total = S::from_bits(*bits);
                }
            }
            for group in 0..steps {
                for element in 0..E {
                    let factors = &a[element][first_of_a + group * M + row..][..ROWS];
                    let column = &b[element][first_of_b + group * M..][..M];
                    for (total, factor) in totals.iter_mut().zip(factors) {
                        for (total, value) in total.iter_mut().zip(column) {
                            *total = total.accumulate(*factor, *value);
                        }
                    }
                }
            }
            for (total, (register, first)) in totals.iter().zip(places) {
                let sums = &mut wave.v[(usize::from(step.dst) + register) & (VECTORS - 1)][first..first + M];
                for (bits, total) in sums.iter_mut().zip(total) {
                    *bits = total.to_bits();
                }
            }
        }
    }
    Flow::Next
}

/// Copies C, registers or a constant for all elements, to the place of the result.
#[inline(always)]
fn start(wave: &mut Wave, step: &Step, registers: usize) {
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

/// One element of each lane, widened.
#[inline(always)]
pub(crate) fn element_row<S: Sum, I: Input<S>>(
    wave: &Wave,
    source: Source,
    element: usize,
    values: &mut [S; LANES],
) {
    let Source::Vector(number) = source else { return };
    let row = wave.row(number + (element / I::PER_REGISTER) as u16);
    I::widen_row(row, element % I::PER_REGISTER, values);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_tiles_cover_the_registers() {
        let mut seen = std::collections::HashSet::new();
        for row in 0..32 {
            assert!(seen.insert(place::<32>(0, row)));
        }
        assert_eq!(place::<32>(0, 13), (5, 32));
        assert_eq!(place::<16>(0, 13), (1, 48));
        assert_eq!(place::<16>(2, 1), (9, 0));
        assert_eq!(place::<4>(7, 3), (3, 28));
        assert_eq!(seen.len(), 32);
    }
}
