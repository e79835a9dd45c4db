// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wave matrix products of RDNA 3: D = A * B + C, with 16 rows, columns and inner elements. EXEC is ignored.
//!
//! Lane `l` holds row `l % 16` of A and column `l % 16` of B, whose elements follow each other in its registers. Code keeps the
//! same in each sixteen lanes; the first sixteen are read here. A register of C and D holds one row in each sixteen lanes.

use crate::exec::families::tile::Sum;
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::Wave;
use crate::exec::operands::source::scalar32;
use crate::exec::values::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::exec::values::row::Row;
use crate::isa::Op;

/// Rows, columns and inner elements.
const SIDE: usize = 16;

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    Some(Compilations::scalar(match op {
        Op::v_wmma_f32_16x16x16_f16 => |core, step| floats(core, step, &HALF, None),
        Op::v_wmma_f32_16x16x16_bf16 => |core, step| floats(core, step, &BRAIN, None),
        Op::v_wmma_f16_16x16x16_f16 => |core, step| floats(core, step, &HALF, Some(&HALF)),
        Op::v_wmma_bf16_16x16x16_bf16 => |core, step| floats(core, step, &BRAIN, Some(&BRAIN)),
        Op::v_wmma_i32_16x16x16_iu8 => |core, step| integers(core, step, 8),
        Op::v_wmma_i32_16x16x16_iu4 => |core, step| integers(core, step, 4),
        _ => return None,
    }))
}

/// A float of 16 bits.
struct Short {
    widened: fn(u32) -> f32,
    rounded: fn(f32) -> u32,
}

const HALF: Short = Short { widened: f16_to_f32, rounded: f32_to_f16 };
const BRAIN: Short = Short { widened: bf16_to_f32, rounded: f32_to_bf16 };

/// A lane of the register at a distance from the first of a source.
fn word(wave: &Wave, source: Source, distance: usize, lane: usize) -> u32 {
    match source {
        Source::Vector(first) => wave.row(first + distance as u16)[lane],
        source => scalar32(wave, source),
    }
}

/// The row of A or the column of B that each of sixteen lanes holds, in elements of `bits` bits.
fn vectors<T: Copy + Default>(
    wave: &Wave,
    step: &Step,
    index: usize,
    bits: usize,
    element: impl Fn(u32, usize) -> T,
) -> [[T; SIDE]; SIDE] {
    let each = 32 / bits;
    std::array::from_fn(|lane| {
        std::array::from_fn(|at| {
            let word = word(wave, step.src[index], at / each, lane);
            element(word >> (at % each * bits) & (u32::MAX >> (32 - bits)), at)
        })
    })
}

/// Writes each element of D, computed from the number of its row and column and from the word of C that it adds to.
fn write(core: &mut Core<'_>, step: &Step, element: impl Fn(usize, usize, u32) -> u32) {
    let groups = core.wave.size() / SIDE;
    // All of C is read first: D may begin within its registers.
    let added: Vec<Row> = (0..SIDE / groups)
        .map(|register| std::array::from_fn(|lane| word(core.wave, step.src[2], register, lane)))
        .collect();
    for (register, added) in added.iter().enumerate() {
        for (lane, added) in added.iter().enumerate().take(core.wave.size()) {
            let value = element(groups * register + lane / SIDE, lane % SIDE, *added);
            core.wave.row_mut(step.dst + register as u16)[lane] = value;
        }
    }
}

/// A product of floats of 16 bits. The sum is a single, or is rounded to `short`, in the half of the register that `op_sel`
/// selects.
fn floats(core: &mut Core<'_>, step: &Step, factor: &Short, short: Option<&Short>) -> Flow {
    let mods = step.inst.mods;
    let read = |index: usize| {
        vectors(core.wave, step, index, 16, |bits, at| {
            // The halves of a register have signs of their own.
            let negated = if at % 2 == 0 { mods.neg } else { mods.neg_hi } >> index & 1 != 0;
            let value = (factor.widened)(bits);
            if negated { -value } else { value }
        })
    };
    let (rows, columns) = (read(0), read(1));
    let (absolute, negated) = (mods.neg_hi >> 2 & 1 != 0, mods.neg >> 2 & 1 != 0);
    let shift = if mods.op_sel >> 2 & 1 != 0 { 16 } else { 0 };
    let groups = core.wave.size() / SIDE;
    let old: Vec<Row> =
        (0..SIDE / groups).map(|register| *core.wave.row(step.dst + register as u16)).collect();
    write(core, step, |row, column, added| {
        let added = match short {
            Some(short) => (short.widened)(added >> shift & 0xffff),
            None => f32::from_bits(added),
        };
        let added = if absolute { added.abs() } else { added };
        let added = if negated { -added } else { added };
        let products = rows[row].iter().zip(&columns[column]);
        let sum = products.fold(added, |sum, (a, b)| a.mul_add(*b, sum));
        match short {
            Some(short) => {
                let kept = old[row / groups][row % groups * SIDE + column] & !(0xffff << shift);
                kept | (short.rounded)(sum) << shift
            }
            None => Sum::to_bits(sum),
        }
    });
    Flow::Next
}

/// A product of integers of `bits` bits, which the sign modifiers make signed.
fn integers(core: &mut Core<'_>, step: &Step, bits: usize) -> Flow {
    let mods = step.inst.mods;
    let read = |index: usize| {
        let signed = mods.neg >> index & 1 != 0;
        vectors(core.wave, step, index, bits, |value, _| {
            let unused = 32 - bits;
            if signed { ((value << unused) as i32) >> unused } else { value as i32 }
        })
    };
    let (rows, columns) = (read(0), read(1));
    write(core, step, |row, column, added| {
        let products = rows[row].iter().zip(&columns[column]).map(|(a, b)| i64::from(a * b));
        let sum = products.sum::<i64>() + i64::from(added as i32);
        let saturated = sum.clamp(i32::MIN.into(), i32::MAX.into());
        (if mods.clamp { saturated } else { sum }) as u32
    });
    Flow::Next
}
