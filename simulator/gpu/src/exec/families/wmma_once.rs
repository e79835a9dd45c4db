// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wave matrix products of RDNA 4 in waves of 32 lanes: D = A * B + C, with 16 rows and columns. EXEC is ignored.
//!
//! Each element is in one lane. Lane `l` holds row `l % 16` of A and column `l % 16` of B, lanes from 16 on the second half of the
//! inner elements, which follow each other in the registers. It holds column `l % 16` of C and D, lanes from 16 on rows 8 to 15.

use crate::exec::families::tile::Sum;
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::Wave;
use crate::exec::operands::source::scalar32;
use crate::exec::values::eighth::{bf8_ocp_to_f32, fp8_ocp_to_f32};
use crate::exec::values::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::isa::{Inst, Op};

/// Rows and columns.
const SIDE: usize = 16;
/// The most inner elements.
const DEPTH: usize = 32;

/// The handler of an instruction of this family, `None` for other instructions.
///
/// # Errors
/// Why the instruction is not executed.
pub(crate) fn compilations(inst: &Inst) -> Option<Result<Compilations, &'static str>> {
    let handler: fn(&mut Core<'_>, &Step) -> Flow = match inst.op {
        Op::v_wmma_f32_16x16x16_f16_once => |core, step| floats(core, step, [&HALF; 2], None),
        Op::v_wmma_f32_16x16x16_bf16_once => |core, step| floats(core, step, [&BRAIN; 2], None),
        Op::v_wmma_f16_16x16x16_f16_once => |core, step| floats(core, step, [&HALF; 2], Some(f32_to_f16)),
        Op::v_wmma_bf16_16x16x16_bf16_once => |core, step| floats(core, step, [&BRAIN; 2], Some(f32_to_bf16)),
        Op::v_wmma_f32_16x16x16_fp8_fp8 => |core, step| floats(core, step, [&FP8, &FP8], None),
        Op::v_wmma_f32_16x16x16_fp8_bf8 => |core, step| floats(core, step, [&FP8, &BF8], None),
        Op::v_wmma_f32_16x16x16_bf8_fp8 => |core, step| floats(core, step, [&BF8, &FP8], None),
        Op::v_wmma_f32_16x16x16_bf8_bf8 => |core, step| floats(core, step, [&BF8, &BF8], None),
        Op::v_wmma_i32_16x16x16_iu8_once => |core, step| integers(core, step, 8, 16),
        Op::v_wmma_i32_16x16x16_iu4_once => |core, step| integers(core, step, 4, 16),
        Op::v_wmma_i32_16x16x32_iu4 => |core, step| integers(core, step, 4, 32),
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
        32 => Ok(Compilations::scalar(handler)),
        _ => Err("a matrix in a wave of 64 lanes"),
    })
}

/// A float of A or B.
struct Short {
    bits: usize,
    widened: fn(u32) -> f32,
}

const HALF: Short = Short { bits: 16, widened: f16_to_f32 };
const BRAIN: Short = Short { bits: 16, widened: bf16_to_f32 };
const FP8: Short = Short { bits: 8, widened: fp8_ocp_to_f32 };
const BF8: Short = Short { bits: 8, widened: bf8_ocp_to_f32 };

/// A lane of the register at a distance from the first of a source.
fn word(wave: &Wave, source: Source, distance: usize, lane: usize) -> u32 {
    match source {
        Source::Vector(first) => wave.row(first + distance as u16)[lane],
        source => scalar32(wave, source),
    }
}

/// The rows of A or the columns of B, of `depth` elements with `bits` bits.
fn vectors<T: Copy + Default>(
    wave: &Wave,
    source: Source,
    bits: usize,
    depth: usize,
    element: impl Fn(u32, usize) -> T,
) -> [[T; DEPTH]; SIDE] {
    let (each, held) = (32 / bits, depth / 2);
    std::array::from_fn(|row| {
        let mut vector = [T::default(); DEPTH];
        for (at, value) in vector.iter_mut().enumerate().take(depth) {
            let (lane, own) = (row + at / held * SIDE, at % held);
            let word = word(wave, source, own / each, lane);
            *value = element(word >> (own % each * bits) & (u32::MAX >> (32 - bits)), own);
        }
        vector
    })
}

/// Writes D, in which a register has `each` elements, computed from the numbers of row and column and from the element of C.
fn write(core: &mut Core<'_>, step: &Step, each: usize, element: impl Fn(usize, usize, u32) -> u32) {
    let (held, bits) = (SIDE / 2, 32 / each);
    // All of C is read first: D may begin within its registers.
    let mut words = [[0; 2 * SIDE]; SIDE / 2];
    for (row, column) in (0..SIDE * SIDE).map(|number| (number / SIDE, number % SIDE)) {
        let (lane, own) = (column + row / held * SIDE, row % held);
        let (register, shift) = (own / each, own % each * bits);
        // A constant is the same in both halves.
        let old = match step.src[2] {
            Source::Vector(_) => word(core.wave, step.src[2], register, lane) >> shift,
            source => word(core.wave, source, register, lane),
        };
        let value = element(row, column, old & (u32::MAX >> (32 - bits)));
        words[register][lane] |= value << shift;
    }
    for (register, words) in words.iter().enumerate().take(held / each) {
        core.wave.row_mut(step.dst + register as u16)[..2 * SIDE].copy_from_slice(words);
    }
}

/// A product of floats. The sum is a single, or of the type of A and is `rounded`.
fn floats(core: &mut Core<'_>, step: &Step, factors: [&Short; 2], rounded: Option<fn(f32) -> u32>) -> Flow {
    let mods = step.inst.mods;
    let read = |index: usize| {
        let factor = factors[index];
        vectors(core.wave, step.src[index], factor.bits, 16, |bits, at| {
            // The halves of a register have signs of their own.
            let negated = if at % 2 == 0 { mods.neg } else { mods.neg_hi } >> index & 1 != 0;
            let value = (factor.widened)(bits);
            if negated { -value } else { value }
        })
    };
    let (rows, columns) = (read(0), read(1));
    let (absolute, negated) = (mods.neg_hi >> 2 & 1 != 0, mods.neg >> 2 & 1 != 0);
    write(core, step, if rounded.is_some() { 2 } else { 1 }, |row, column, added| {
        let added = if rounded.is_some() { (factors[0].widened)(added) } else { f32::from_bits(added) };
        let added = if absolute { added.abs() } else { added };
        let added = if negated { -added } else { added };
        let products = rows[row].iter().zip(&columns[column]).take(16);
        let sum = products.fold(added, |sum, (a, b)| a.mul_add(*b, sum));
        rounded.map_or(Sum::to_bits(sum), |rounded| rounded(sum))
    });
    Flow::Next
}

/// A product of integers of `bits` bits, which the sign modifiers make signed, with `depth` inner elements.
fn integers(core: &mut Core<'_>, step: &Step, bits: usize, depth: usize) -> Flow {
    let mods = step.inst.mods;
    let read = |index: usize| {
        let signed = mods.neg >> index & 1 != 0;
        vectors(core.wave, step.src[index], bits, depth, |value, _| {
            let unused = 32 - bits;
            if signed { ((value << unused) as i32) >> unused } else { value as i32 }
        })
    };
    let (rows, columns) = (read(0), read(1));
    write(core, step, 1, |row, column, added| {
        let products = rows[row].iter().zip(&columns[column]).map(|(a, b)| i64::from(a * b));
        let sum = products.sum::<i64>() + i64::from(added as i32);
        let saturated = sum.clamp(i32::MIN.into(), i32::MAX.into());
        (if mods.clamp { saturated } else { sum }) as u32
    });
    Flow::Next
}
