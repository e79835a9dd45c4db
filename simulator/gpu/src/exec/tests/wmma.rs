// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wave matrix products against sums by rows and columns, in waves of both sizes.

use super::*;
use crate::exec::values::half::{bf16_to_f32, f32_to_bf16};
use crate::isa::InstructionSet;

/// Runs a product on registers that `setup` has prepared: A begins at `v8`, B at `v16`, C and D at `v0`.
fn product(set: &'static InstructionSet, code: [u32; 2], setup: impl Fn(&mut Wave)) -> Wave {
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let mut wave = Wave::new();
    wave.set_size(set.wave_size());
    wave.set_mode(0x3f0);
    // A product is of all lanes, whatever EXEC says.
    wave.set_exec(LaneMask::of_bits(1));
    setup(&mut wave);
    run_on(&mut wave, set, &[code[0], code[1], 0xbfb0_0000], &memory, &mut Lds::new(), Some(0));
    wave
}

/// A float of 16 bits.
#[derive(Clone, Copy)]
struct Short {
    narrowed: fn(f32) -> u32,
    widened: fn(u32) -> f32,
}

const HALF: Short = Short { narrowed: f32_to_f16, widened: f16_to_f32 };
const BRAIN: Short = Short { narrowed: f32_to_bf16, widened: bf16_to_f32 };

const SETS: [&InstructionSet; 2] = [&isa::GFX1100, &isa::GFX1100_WAVE64];

/// An element of A in a row, of B in a column, and of C.
fn a(row: usize, at: usize) -> i32 {
    (row as i32 * 3 + at as i32 * 5) % 7 - 3
}

fn b(at: usize, column: usize) -> i32 {
    (at as i32 * 2 + column as i32 * 3) % 5 - 2
}

fn c(row: usize, column: usize) -> i32 {
    row as i32 - column as i32
}

/// Fills registers from `first` on with elements of `bits` bits, sixteen for each lane.
fn fill(wave: &mut Wave, first: usize, bits: usize, element: impl Fn(usize, usize) -> u32) {
    let each = 32 / bits;
    for register in 0..16 / each {
        wave.v[first + register] = words(|lane| {
            (0..each).fold(0, |word, part| word | element(lane % 16, register * each + part) << (part * bits))
        });
    }
}

/// The register and the lane of an element of C and D.
fn place(wave: &Wave, row: usize, column: usize) -> (usize, usize) {
    let groups = wave.size() / 16;
    (row / groups, row % groups * 16 + column)
}

fn sum(row: usize, column: usize, start: i32) -> i32 {
    (0..16).map(|at| a(row, at) * b(at, column)).sum::<i32>() + start
}

#[test]
fn singles_are_summed_of_halves() {
    let kinds = [(0xcc40_4000, HALF), (0xcc41_4000, BRAIN)];
    for (set, (first, Short { narrowed, .. })) in
        SETS.into_iter().flat_map(|set| kinds.map(|kind| (set, kind)))
    {
        let wave = product(set, [first, 0x1c02_2108], |wave| {
            fill(wave, 8, 16, |row, at| narrowed(a(row, at) as f32));
            fill(wave, 16, 16, |column, at| narrowed(b(at, column) as f32));
            for (row, column) in (0..256).map(|number| (number / 16, number % 16)) {
                let (register, lane) = place(wave, row, column);
                wave.v[register][lane] = (c(row, column) as f32).to_bits();
            }
        });
        for (row, column) in (0..256).map(|number| (number / 16, number % 16)) {
            let (register, lane) = place(&wave, row, column);
            let got = f32::from_bits(wave.v[register][lane]);
            assert_eq!(got, sum(row, column, c(row, column)) as f32, "{set:?}: row {row}, column {column}");
        }
    }
}

#[test]
fn a_short_sum_goes_to_the_half_that_is_selected() {
    // `op_sel:[0,0,1]` and none.
    let kinds = [(0xcc42_4000, HALF), (0xcc43_4000, BRAIN)];
    for (set, (first, Short { narrowed, widened })) in
        SETS.into_iter().flat_map(|set| kinds.map(|kind| (set, kind)))
    {
        for shift in [0, 16] {
            let code = [first | if shift == 16 { 0x2000 } else { 0 }, 0x1c02_2108];
            let wave = product(set, code, |wave| {
                fill(wave, 8, 16, |row, at| narrowed(a(row, at) as f32));
                fill(wave, 16, 16, |column, at| narrowed(b(at, column) as f32));
                for register in 0..8 {
                    wave.v[register] = [0x7777_7777 & !(0xffff << shift) | narrowed(2.0) << shift; LANES];
                }
            });
            for (row, column) in (0..256).map(|number| (number / 16, number % 16)) {
                let (register, lane) = place(&wave, row, column);
                let word = wave.v[register][lane];
                assert_eq!(widened(word >> shift & 0xffff), sum(row, column, 2) as f32, "{set:?}, {shift}");
                assert_eq!(word >> (16 - shift) & 0xffff, 0x7777, "the other half stays");
            }
        }
    }
}

#[test]
fn integers_are_signed_as_their_modifiers_say() {
    for set in SETS {
        // Eight bits: A is signed and B is not. `neg_lo:[1,0,0]`.
        let unsigned = |at: usize, column: usize| b(at, column) + 2;
        let wave = product(set, [0xcc44_4000, 0x3c02_2108], |wave| {
            fill(wave, 8, 8, |row, at| a(row, at) as u32 & 0xff);
            fill(wave, 16, 8, |column, at| (unsigned(at, column) + 250) as u32);
            (0..8).for_each(|register| wave.v[register] = [9; LANES]);
        });
        for (row, column) in (0..256).map(|number| (number / 16, number % 16)) {
            let (register, lane) = place(&wave, row, column);
            let expected = (0..16).map(|at| a(row, at) * (unsigned(at, column) + 250)).sum::<i32>() + 9;
            assert_eq!(wave.v[register][lane] as i32, expected, "{set:?}: row {row}, column {column}");
        }
        // Four bits, both signed, saturated. `neg_lo:[1,1,0] clamp`.
        let wave = product(set, [0xcc45_c000, 0x7c02_2108], |wave| {
            fill(wave, 8, 4, |_, _| 7);
            fill(wave, 16, 4, |column, _| if column == 0 { 7 } else { 8 });
            (0..8).for_each(|register| wave.v[register] = [i32::MAX as u32 - 700; LANES]);
        });
        assert_eq!(wave.v[0][0] as i32, i32::MAX, "{set:?}");
        assert_eq!(wave.v[0][1] as i32, i32::MAX - 700 - 16 * 56, "{set:?}");
    }
}
