// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tiles of matrix instructions: the types of their elements, and where a row of a tile lies in the registers.

use crate::exec::machine::handler::shared;
use crate::exec::machine::step::Source;
use crate::exec::machine::wave::Wave;
use crate::exec::values::eighth::{bf8_ocp_to_f32, bf8_to_f32, fp8_ocp_to_f32, fp8_to_f32};
use crate::exec::values::float::normal;
use crate::exec::values::half::{self, bf16_to_f32, f16_to_f32};
use crate::exec::values::row::{LANES, Row};

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
        // One NaN for all: its bits would depend on the host's processor. The comparison of integers is vectorised.
        let bits = f32::to_bits(self);
        if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fc0_0000 } else { bits }
    }

    #[inline(always)]
    fn accumulate(self, a: Self, b: Self) -> Self {
        a.mul_add(b, self)
    }
}

/// A single whose denormals become zero: in the factors, in the sum at the start and in the sum at the end.
#[derive(Clone, Copy, Default)]
pub(crate) struct Normal(f32);

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
input!(
    /// The same in the encoding of the OCP.
    Fp8Ocp, f32, 4, |bits| fp8_ocp_to_f32(bits & 0xff)
);
input!(
    /// The same in the encoding of the OCP.
    Bf8Ocp, f32, 4, |bits| bf8_ocp_to_f32(bits & 0xff)
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

shared!(widen[S: Sum, I: Input<S>] [S, I] (wave: &Wave, source: Source, elements: &mut [[S; LANES]]));

/// Reads consecutive elements of each lane from registers.
#[inline(always)]
fn widen<S: Sum, I: Input<S>>(wave: &Wave, source: Source, elements: &mut [[S; LANES]]) {
    let Source::Vector(first) = source else { return };
    for (register, elements) in (first..).zip(elements.chunks_mut(I::PER_REGISTER)) {
        let row = wave.row(register);
        for (element, values) in elements.iter_mut().enumerate() {
            I::widen_row(row, element, values);
        }
    }
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
