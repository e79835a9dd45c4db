// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wave matrix products of RDNA: D = A * B + C with 16 rows and columns. EXEC is ignored.
//!
//! Lane `l` of sixteen holds elements of row `l` of A and of column `l` of B. A register of C and D holds a row, or two rows of 16
//! bits, in each sixteen lanes. Where the inner elements and the rows lie is a [`Layout`].
//!
//! A product is sparse if it has twice as many elements of B as of A for a lane. Two of each four elements of A are stored, the
//! third source has their indices, and D is added to.

use crate::exec::families::sparse;
use crate::exec::families::tile::{Input, ROWS, Sum, accumulate, widen};
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::Wave;
use crate::exec::operands::source::scalar32;
use crate::exec::values::row::LANES;
use crate::isa::{Inst, Operand};

/// Rows and columns.
pub(crate) const SIDE: usize = 16;

/// Whether A, B and the indices of a sparse A are in vector registers. The encoding has place for others.
pub(crate) fn is_in_vectors(inst: &Inst) -> bool {
    let sources = if inst.set.is_sparse(inst.op) { &inst.src[..3] } else { &inst.src[..2] };
    sources.iter().all(|source| matches!(source, Operand::Vgpr(_)))
}

/// The elements of C or D by row and column.
type Tile<T> = [[T; SIDE]; SIDE];

/// The place of each element in the registers of a family of GPUs.
pub(crate) trait Layout {
    /// The parts of the inner dimension, each in its sixteen lanes.
    const PARTS: usize;

    /// Whether sparse products have the second half of a part of B in the lanes from 32 on.
    const IS_B_WIDER: bool = false;

    /// The place of a row of C or D in a wave of `size` lanes.
    fn whole(size: usize, row: usize) -> Place;

    /// The same for elements of 16 bits, in the half of a register that the instruction selects if both are not used.
    fn half(size: usize, row: usize, selected: usize) -> Place;
}

/// The place of a row of C or D.
pub(crate) struct Place {
    /// The register, counted from the first.
    pub(crate) register: usize,
    /// The first of its sixteen lanes.
    pub(crate) lane: usize,
    /// The lowest bit.
    pub(crate) shift: usize,
}

/// A product of floats with single sums, of `OF_A` elements of A and `OF_B` of B for each lane of a part.
#[inline(always)]
pub(crate) fn singles<L: Layout, A: Input<f32>, B: Input<f32>, const OF_A: usize, const OF_B: usize>(
    core: &mut Core<'_>,
    step: &Step,
) -> Flow {
    let (size, wave) = (core.wave.size(), &mut *core.wave);
    let added = read(wave, added(step, OF_B > OF_A), |row| L::whole(size, row));
    let sums = floats::<L, A, B, OF_A, OF_B>(wave, step, added.map(|row| row.map(f32::from_bits)));
    for (row, sums) in sums.iter().enumerate() {
        let to = lanes(wave, step, &L::whole(size, row));
        for (to, sum) in to.iter_mut().zip(sums) {
            *to = Sum::to_bits(*sum);
        }
    }
    Flow::Next
}

/// A product of floats of 16 bits whose sums are `rounded` to their type.
#[inline(always)]
pub(crate) fn shorts<L: Layout, A: Input<f32>, const OF_A: usize, const OF_B: usize>(
    core: &mut Core<'_>,
    step: &Step,
    rounded: impl Fn(f32) -> u32,
) -> Flow {
    let (size, wave) = (core.wave.size(), &mut *core.wave);
    let selected = usize::from(step.inst.mods.op_sel >> 2 & 1);
    let place = |row| L::half(size, row, selected);
    let added = read(wave, added(step, OF_B > OF_A), place);
    let sums = floats::<L, A, A, OF_A, OF_B>(
        wave,
        step,
        added.map(|row| row.map(|bits| A::widen(bits & 0xffff, 0))),
    );
    for (row, sums) in sums.iter().enumerate() {
        let place = place(row);
        let to = lanes(wave, step, &place);
        for (to, sum) in to.iter_mut().zip(sums) {
            *to = *to & !(0xffff << place.shift) | rounded(*sum) << place.shift;
        }
    }
    Flow::Next
}

/// A product of integers, which the sign modifiers make signed.
#[inline(always)]
pub(crate) fn integers<L: Layout, A: Input<i32>, const OF_A: usize, const OF_B: usize>(
    core: &mut Core<'_>,
    step: &Step,
) -> Flow {
    let (size, wave) = (core.wave.size(), &mut *core.wave);
    let mods = step.inst.mods;
    let unused = 32 - 32 / A::PER_REGISTER as u32;
    let (mut a, mut b) = ([[0; LANES]; OF_A], [[0; LANES]; OF_B]);
    factors::<L, i32, A, A>(wave, step, &mut a, &mut b);
    for (index, elements) in [&mut a[..], &mut b].into_iter().enumerate() {
        if mods.neg >> index & 1 != 0 {
            elements.iter_mut().flatten().for_each(|value| *value = *value << unused >> unused);
        }
    }
    let mut sums = [[0; SIDE]; SIDE];
    product::<L, i32>(wave, step, &a, &b, &mut sums);
    let added = read(wave, added(step, OF_B > OF_A), |row| L::whole(size, row));
    for (row, (sums, added)) in sums.iter().zip(&added).enumerate() {
        let to = lanes(wave, step, &L::whole(size, row));
        for (to, (sum, added)) in to.iter_mut().zip(sums.iter().zip(added)) {
            let added = *added as i32;
            *to = (if mods.clamp { sum.saturating_add(added) } else { sum.wrapping_add(added) }) as u32;
        }
    }
    Flow::Next
}

/// The sums of floats, which begin with C.
#[inline(always)]
fn floats<L: Layout, A: Input<f32>, B: Input<f32>, const OF_A: usize, const OF_B: usize>(
    wave: &Wave,
    step: &Step,
    mut sums: Tile<f32>,
) -> Tile<f32> {
    let mods = step.inst.mods;
    let (mut a, mut b) = ([[0.0; LANES]; OF_A], [[0.0; LANES]; OF_B]);
    factors::<L, f32, A, B>(wave, step, &mut a, &mut b);
    if mods.neg | mods.neg_hi != 0 {
        for (index, elements) in [&mut a[..], &mut b].into_iter().enumerate() {
            for (at, values) in elements.iter_mut().enumerate() {
                // The halves of a register have signs of their own.
                let negated = if at % 2 == 0 { mods.neg } else { mods.neg_hi } >> index & 1 != 0;
                if negated {
                    values.iter_mut().for_each(|value| *value = -*value);
                }
            }
        }
        let (absolute, negated) = (mods.neg_hi >> 2 & 1 != 0, mods.neg >> 2 & 1 != 0);
        for sum in sums.iter_mut().flatten() {
            *sum = if absolute { sum.abs() } else { *sum };
            *sum = if negated { -*sum } else { *sum };
        }
    }
    product::<L, f32>(wave, step, &a, &b, &mut sums);
    sums
}

/// Reads the elements of A and B.
#[inline(always)]
fn factors<L: Layout, S: Sum, A: Input<S>, B: Input<S>>(
    wave: &Wave,
    step: &Step,
    a: &mut [[S; LANES]],
    b: &mut [[S; LANES]],
) {
    widen::<S, A>(wave, step.src[0], a);
    if L::IS_B_WIDER && b.len() > a.len() {
        let (first, second) = b.split_at_mut(b.len() / 2);
        widen::<S, B>(wave, step.src[1], first);
        for (first, second) in first.iter().zip(second) {
            second[..LANES / 2].copy_from_slice(&first[LANES / 2..]);
        }
    } else {
        widen::<S, B>(wave, step.src[1], b);
    }
}

/// Adds the product of A and B.
#[inline(always)]
fn product<L: Layout, S: Sum>(
    wave: &Wave,
    step: &Step,
    a: &[[S; LANES]],
    b: &[[S; LANES]],
    sums: &mut Tile<S>,
) {
    if b.len() > a.len() {
        // A register holds several sets of indices.
        let shift = 2 * a.len() * usize::from(step.inst.mods.op_sel);
        let Source::Vector(indices) = step.src[2] else { return };
        let indices = wave.row(indices).map(|word| word >> shift);
        for (row, sums) in sums.iter_mut().enumerate() {
            sparse::accumulate(sums, a, b, &indices, row, L::PARTS);
        }
        return;
    }
    for (number, sums) in sums.as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
        accumulate(sums, a, b, number * ROWS, (0..L::PARTS).map(|part| (part, part)));
    }
}

/// The place of C, which sparse products have in D.
#[inline(always)]
fn added(step: &Step, is_sparse: bool) -> Source {
    if is_sparse { Source::Vector(step.dst) } else { step.src[2] }
}

/// The elements of C. All are read before the first of D is written, which may begin within the registers of C.
#[inline(always)]
fn read(wave: &Wave, source: Source, place: impl Fn(usize) -> Place) -> Tile<u32> {
    let Source::Vector(first) = source else {
        // A constant is the same in both halves of a register.
        return [[scalar32(wave, source); SIDE]; SIDE];
    };
    std::array::from_fn(|row| {
        let Place { register, lane, shift } = place(row);
        let from = wave.row(first + register as u16).as_chunks::<SIDE>().0[lane / SIDE];
        from.map(|bits| bits >> shift)
    })
}

/// The sixteen lanes of a row of D.
#[inline(always)]
fn lanes<'a>(wave: &'a mut Wave, step: &Step, place: &Place) -> &'a mut [u32; SIDE] {
    &mut wave.row_mut(step.dst + place.register as u16).as_chunks_mut().0[place.lane / SIDE]
}
