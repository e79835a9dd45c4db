// SPDX-License-Identifier: MIT OR Apache-2.0
//! Matrix products of elements with eight, six or four bits, in a format for A and one for B, with or without scales. EXEC is
//! ignored.
//!
//! A has `M` rows, B `M` columns. The lanes form 64 / `M` groups; lane `l` holds elements of row, or column, `l % M`. The inner
//! elements of a lane with six or four bits follow each other. Those with eight bits are two halves: the first one continues in
//! the next group, and behind the last group's first half comes the first group's second. A scale belongs to 32 inner elements;
//! the lane that holds it is that of the row in the group of their number.
//!
//! A sum is exact until it is rounded once, to nearest even.

use crate::exec::families::matrix::start;
use crate::exec::families::tile::place;
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::step::{Source, Step, vector_number};
use crate::exec::machine::wave::{VECTORS, Wave};
use crate::exec::values::narrow::{Format, power};
use crate::exec::values::row::{LANES, Row};
use crate::isa::{Inst, Op};

/// Inner elements that have one scale, and those of a lane.
const BLOCK: usize = 32;

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    let handler: fn(&mut Core<'_>, &Step) -> Flow = match inst.op {
        Op::v_mfma_f32_16x16x128_f8f6f4 | Op::v_mfma_scale_f32_16x16x128_f8f6f4 => product::<16>,
        Op::v_mfma_f32_32x32x64_f8f6f4 | Op::v_mfma_scale_f32_32x32x64_f8f6f4 => product::<32>,
        _ => return None,
    };
    let are_formats =
        [inst.mods.cbsz, inst.mods.blgp].into_iter().all(|field| Format::of_field(field).is_some());
    are_formats.then(|| Compilations::scalar(handler))
}

fn product<const M: usize>(core: &mut Core<'_>, step: &Step) -> Flow {
    let wave = &mut *core.wave;
    let mods = &step.inst.mods;
    let [Some(a), Some(b)] = [mods.cbsz, mods.blgp].map(Format::of_field) else { return Flow::Next };
    let a = elements::<M>(wave, step.src[0], a);
    let b = elements::<M>(wave, step.src[1], b);
    let scales = [scales(wave, step.src[3], mods, 0), scales(wave, by_number(step), mods, 1)];
    start(wave, step, M * M / LANES);
    for row in 0..M {
        let (register, first) = place::<M>(0, row);
        for column in 0..M {
            let blocks = a[row].chunks(BLOCK).zip(b[column].chunks(BLOCK)).enumerate();
            let sum: f64 = blocks
                .map(|(block, (a, b))| {
                    let sum: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    sum * scales[0][block * M + row] * scales[1][block * M + column]
                })
                .sum();
            let total = &mut wave.v[(usize::from(step.dst) + register) & (VECTORS - 1)][first + column];
            let sum = (sum + f64::from(f32::from_bits(*total))) as f32;
            *total = if sum.is_nan() { 0x7fc0_0000 } else { sum.to_bits() };
        }
    }
    Flow::Next
}

/// The source that holds the scales of B.
fn by_number(step: &Step) -> Source {
    vector_number(step.inst.sdst).map_or(Source::None, Source::Vector)
}

/// The factor of each lane's scale; without scales one.
fn scales(wave: &Wave, source: Source, mods: &crate::isa::Mods, index: u8) -> [f64; LANES] {
    let Source::Vector(number) = source else { return [1.0; LANES] };
    let byte = (mods.op_sel_hi >> index & 1) << 1 | mods.op_sel >> index & 1;
    wave.row(number).map(|word| match word >> (8 * byte) & 0xff {
        0xff => f64::NAN,
        scale => power(scale as i32 - 127),
    })
}

/// The elements of each row of A, or of each column of B.
fn elements<const M: usize>(wave: &Wave, source: Source, format: Format) -> Vec<Vec<f64>> {
    let Source::Vector(first) = source else { return vec![vec![0.0; BLOCK * LANES / M]; M] };
    let bits = format.bits();
    let rows: Vec<&Row> = (0..BLOCK * bits / 32).map(|at| wave.row(first + at as u16)).collect();
    let groups = LANES / M;
    let mut elements = vec![vec![0.0; BLOCK * groups]; M];
    for lane in 0..LANES {
        let group = lane / M;
        for index in 0..BLOCK {
            let bit = index * bits;
            let word = |at: usize| u64::from(rows.get(at).map_or(0, |row| row[lane]));
            let pair = word(bit / 32) | word(bit / 32 + 1) << 32;
            let code = (pair >> (bit % 32)) as u32 & ((1 << bits) - 1);
            let inner = match bits {
                8 => index / 16 * (16 * groups) + group * 16 + index % 16,
                _ => group * BLOCK + index,
            };
            elements[lane % M][inner] = format.widened(code);
        }
    }
    elements
}
