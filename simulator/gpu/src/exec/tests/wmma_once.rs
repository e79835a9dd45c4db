// SPDX-License-Identifier: MIT OR Apache-2.0
//! Matrix products of RDNA 4, dense and sparse, in waves of both sizes, against sums by rows and columns.
//!
//! The places of elements are written as AMD's matrix instruction calculator gives them, by the number of an inner element, and
//! not as the products read them.

use super::*;
use crate::exec::values::eighth::{f32_to_bf8_ocp, f32_to_fp8_ocp};
use crate::exec::values::half::{bf16_to_f32, f32_to_bf16};
use crate::isa::InstructionSet;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Half,
    Brain,
    Fp8,
    Bf8,
    Integer,
    Single,
}

use Kind::{Bf8, Brain, Fp8, Half, Integer, Single};

impl Kind {
    fn bits_of(self, value: i32) -> u32 {
        let float = value as f32;
        match self {
            Half => f32_to_f16(float),
            Brain => f32_to_bf16(float),
            Fp8 => f32_to_fp8_ocp(float, false),
            Bf8 => f32_to_bf8_ocp(float, false),
            Integer => value as u32,
            Single => float.to_bits(),
        }
    }

    fn value_of(self, bits: u32) -> i32 {
        match self {
            Half => f16_to_f32(bits & 0xffff) as i32,
            Brain => bf16_to_f32(bits & 0xffff) as i32,
            Integer => bits as i32,
            _ => f32::from_bits(bits) as i32,
        }
    }
}

/// A product: its code, its inner dimension, the bits of an element of A, and the types of A, B and the sums.
#[derive(Clone, Copy, Debug)]
struct Product {
    code: u32,
    depth: usize,
    bits: usize,
    types: [Kind; 3],
}

const fn product(code: u32, depth: usize, bits: usize, types: [Kind; 3]) -> Product {
    Product { code, depth, bits, types }
}

const PRODUCTS: [Product; 22] = [
    product(0x40, 16, 16, [Half, Half, Single]),
    product(0x41, 16, 16, [Brain, Brain, Single]),
    product(0x42, 16, 16, [Half, Half, Half]),
    product(0x43, 16, 16, [Brain, Brain, Brain]),
    product(0x44, 16, 8, [Integer, Integer, Integer]),
    product(0x45, 16, 4, [Integer, Integer, Integer]),
    product(0x46, 16, 8, [Fp8, Fp8, Single]),
    product(0x47, 16, 8, [Fp8, Bf8, Single]),
    product(0x48, 16, 8, [Bf8, Fp8, Single]),
    product(0x49, 16, 8, [Bf8, Bf8, Single]),
    product(0x4a, 32, 4, [Integer, Integer, Integer]),
    product(0x50, 32, 16, [Half, Half, Single]),
    product(0x51, 32, 16, [Brain, Brain, Single]),
    product(0x52, 32, 16, [Half, Half, Half]),
    product(0x53, 32, 16, [Brain, Brain, Brain]),
    product(0x54, 32, 8, [Integer, Integer, Integer]),
    product(0x55, 32, 4, [Integer, Integer, Integer]),
    product(0x56, 64, 4, [Integer, Integer, Integer]),
    product(0x57, 32, 8, [Fp8, Fp8, Single]),
    product(0x58, 32, 8, [Fp8, Bf8, Single]),
    product(0x59, 32, 8, [Bf8, Fp8, Single]),
    product(0x5a, 32, 8, [Bf8, Bf8, Single]),
];

/// A place of bits in the registers of a matrix.
#[derive(Clone, Copy)]
struct Place {
    register: usize,
    shift: usize,
    lane: usize,
}

impl Place {
    /// The same of a row of A or a column of B.
    fn of(self, side: usize) -> Self {
        Place { lane: self.lane + side, ..self }
    }

    fn set(self, wave: &mut Wave, first: usize, bits: usize, value: u32) {
        let mask = (u32::MAX >> (32 - bits)) << self.shift;
        let word = &mut wave.v[first + self.register][self.lane];
        *word = *word & !mask | value << self.shift & mask;
    }
}

impl Product {
    fn is_sparse(self) -> bool {
        self.code >= 0x50
    }

    /// An inner element of a row of A or a column of B, of a dense product.
    fn dense(self, size: usize, k: usize) -> Place {
        let (register, sixteenth) = match (size, self.bits, self.depth) {
            (32, 16, _) => (2 * (k / 8) + k / 2 % 2, k / 4 % 2),
            (32, 8, _) => (k / 4 % 2, k / 8),
            (32, _, 32) => (k / 8 % 2, k / 16),
            (_, 4, 16) => (0, k / 8),
            (_, 16, _) => (k / 2 % 2, 2 * (k / 8 % 2) + k / 4 % 2),
            (_, 8, _) => (0, 2 * (k / 4 % 2) + k / 8 % 2),
            _ => (0, 2 * (k / 8 % 2) + k / 16 % 2),
        };
        Place { register, shift: self.bits * (k % (32 / self.bits)), lane: 16 * sixteenth }
    }

    /// The sixteen lanes of an inner element of a sparse product; those of B are others in one.
    fn sixteenth(self, size: usize, k: usize, is_b: bool) -> usize {
        match (size, self.bits, self.depth) {
            (32, 16, _) => k / 8 % 2,
            (32, _, 32) => k / 16,
            (32, _, _) => k / 32,
            (_, 16, _) => k / 8,
            (_, 4, 32) if !is_b => k / 16,
            (_, _, 32) => 2 * (k / 8 % 2) + k / 16,
            _ => 2 * (k / 16 % 2) + k / 32,
        }
    }

    /// The first or second of the stored elements among the four from `k` on.
    fn stored(self, size: usize, k: usize, second: usize) -> Place {
        let register = match (size, self.bits, self.depth) {
            (32, 16, _) => 2 * (k / 16) + k / 4 % 2,
            (32, 8, _) => k / 8 % 2,
            (32, _, 64) => k / 16 % 2,
            (64, 16, _) => k / 4 % 2,
            _ => 0,
        };
        let shift = match self.bits {
            16 => 16 * second,
            bits => 2 * bits * (k / 4 % (16 / bits)) + bits * second,
        };
        Place { register, shift, lane: 16 * self.sixteenth(size, k, false) }
    }

    /// An element of B of a sparse product.
    fn of_b(self, size: usize, k: usize) -> Place {
        let register = match (size, self.bits, self.depth) {
            (32, 16, _) => 4 * (k / 16) + k / 2 % 4,
            (32, 8, _) => k / 4 % 4,
            (32, _, 32) => k / 8 % 2,
            (32, _, _) => k / 8 % 4,
            (_, 16, _) => k / 2 % 4,
            (_, 8, _) => k / 4 % 2,
            (_, _, 32) => 0,
            _ => k / 8 % 2,
        };
        let shift = self.bits * (k % (32 / self.bits));
        Place { register, shift, lane: 16 * self.sixteenth(size, k, true) }
    }

    /// The sets of indices in a register.
    fn sets(self, size: usize) -> usize {
        match (size, self.bits, self.depth) {
            (32, 4, 64) => 1,
            (64, 8 | 16, _) => 4,
            _ => 2,
        }
    }

    /// The first bit of the two indices of the four elements from `k` on.
    fn index(self, size: usize, k: usize, set: usize) -> usize {
        let within = match (size, self.bits, self.depth) {
            (32, 16, _) => 8 * (k / 16) + 4 * (k / 4 % 2),
            (32, _, 32) => 4 * (k / 4 % 4),
            (32, _, _) => 4 * (k / 4 % 8),
            (_, 4, _) => 4 * (k / 4 % 4),
            _ => 4 * (k / 4 % 2),
        };
        within + 32 / self.sets(size) * set
    }

    /// An element of C and D.
    fn sum(self, size: usize, row: usize, column: usize) -> Place {
        let each = size / 16;
        let (rows, is_short) = (16 / each, matches!(self.types[2], Half | Brain));
        let within = row % rows;
        let register = if is_short { within / 2 } else { within };
        let sixteenth = if size == 32 { row / 8 } else { 2 * (row / 4 % 2) + row / 8 };
        Place { register, shift: if is_short { row % 2 * 16 } else { 0 }, lane: 16 * sixteenth + column }
    }
}

fn a(row: usize, k: usize) -> i32 {
    (row as i32 * 3 + k as i32 * 5) % 7 - 3
}

fn b(k: usize, column: usize) -> i32 {
    (k as i32 * 2 + column as i32 * 3) % 5 - 2
}

fn c(row: usize, column: usize) -> i32 {
    row as i32 - column as i32
}

/// The positions of the two stored elements among the four from `k` on.
fn positions(row: usize, k: usize) -> [usize; 2] {
    [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]][(row * 5 + k / 4 * 7) % 6]
}

/// The registers in which A, B and the indices begin.
const A: usize = 8;
const B: usize = 16;
const INDICES: usize = 40;

/// Runs a product whose indices are in a set, and compares each sum.
fn check(instructions: &'static InstructionSet, product: Product, set: usize) {
    let Product { bits, types: [of_a, of_b, of_sum], .. } = product;
    // Integers of A are signed, those of B are not and begin with a set bit.
    let (signs, raised) = match (of_a, bits) {
        (Integer, 8) => (1, 200),
        (Integer, _) => (1, 10),
        // A is negated in the low halves of its registers, B in both.
        (Half | Brain, _) => (0b11, 0),
        _ => (0, 0),
    };
    let high_signs = if bits == 16 { 0b10 } else { 0 };
    let sign = |at: usize| if bits != 16 || at.is_multiple_of(2) { 1 } else { -1 };
    let third = if product.is_sparse() { INDICES } else { 0 };
    let words = [
        0xcc00_4000 | product.code << 16 | (set as u32) << 11 | high_signs << 8,
        0x1802_2108 | (0x100 + third as u32) << 18 | signs << 29,
        0xbfb0_0000,
    ];
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let mut wave = Wave::new();
    wave.set_size(instructions.wave_size());
    let size = wave.size();
    wave.set_mode(0x3f0);
    // A product is of all lanes, whatever EXEC says.
    wave.set_exec(LaneMask::of_bits(1));
    for register in A..=INDICES {
        // Whatever is no element or index of the selected set.
        wave.v[register] = super::words(|lane| 0x9b97_3a65_u32.rotate_left((register + lane) as u32));
    }
    for (side, k) in (0..16).flat_map(|side| (0..product.depth).map(move |k| (side, k))) {
        let of_column = of_b.bits_of(b(k, side) + raised);
        if !product.is_sparse() {
            let place = product.dense(size, k).of(side);
            place.set(&mut wave, A, bits, of_a.bits_of(a(side, k)));
            place.set(&mut wave, B, bits, of_column);
            continue;
        }
        product.of_b(size, k).of(side).set(&mut wave, B, bits, of_column);
        if k % 4 == 0 {
            for (at, position) in positions(side, k).into_iter().enumerate() {
                let place = product.stored(size, k, at).of(side);
                place.set(&mut wave, A, bits, of_a.bits_of(a(side, k + position)));
                let index = Place { register: 0, shift: product.index(size, k, set) + 2 * at, ..place };
                index.set(&mut wave, INDICES, 2, position as u32);
            }
        }
    }
    let width = if matches!(of_sum, Half | Brain) { 16 } else { 32 };
    let all = || (0..256).map(|number| (number / 16, number % 16));
    for (row, column) in all() {
        product.sum(size, row, column).set(&mut wave, 0, width, of_sum.bits_of(c(row, column)));
    }
    run_on(&mut wave, instructions, &words, &memory, &mut Lds::new(), Some(0));
    for (row, column) in all() {
        let inner: Vec<usize> = if product.is_sparse() {
            (0..product.depth).step_by(4).flat_map(|k| positions(row, k).map(|at| k + at)).collect()
        } else {
            (0..product.depth).collect()
        };
        let products =
            inner.iter().enumerate().map(|(at, &k)| sign(at) * a(row, k) * (b(k, column) + raised));
        let Place { register, shift, lane } = product.sum(size, row, column);
        assert_eq!(
            of_sum.value_of(wave.v[register][lane] >> shift),
            products.sum::<i32>() + c(row, column),
            "{product:?} in waves of {size} lanes, set {set} of indices: row {row}, column {column}"
        );
    }
}

#[test]
fn sums_are_those_of_rows_and_columns() {
    for set in [&isa::GFX1201, &isa::GFX1201_WAVE64] {
        for product in PRODUCTS {
            let sets = if product.is_sparse() { product.sets(set.wave_size() as usize) } else { 1 };
            (0..sets).for_each(|indices| check(set, product, indices));
        }
    }
}
