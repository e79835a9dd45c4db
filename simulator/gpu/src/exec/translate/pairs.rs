// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic of a block on 64-bit numbers, in pairs of registers.

use super::assembler::{Shift, Ymm};
use super::emitter::Emitter;
use super::inputs::{EXTRA, FILLED, Input, SPARE, constant, fill, fill_high, high_input, input, load};
use super::vex;
use crate::exec::machine::step::Step;

/// The sum of 64-bit numbers, the first shifted to the left by a constant.
pub(super) fn wide_sum(emitter: &mut Emitter, step: &Step) -> bool {
    let Some(by) = constant(step.src[1]) else { return false };
    let by = by as u8 & 7;
    for index in [0, 2] {
        fill(emitter, step, index);
        fill_high(emitter, step, index);
    }
    let (low_in, high_in) = (input(step, 0), high_input(step, 0));
    let (low_add, high_add) = (input(step, 2), high_input(step, 2));
    // Vectors of other sources: source 1 is a constant.
    let (ones, no_carry) = (Ymm(FILLED + 2), EXTRA);
    emitter.asm.op(vex::PCMPEQD, ones, ones, ones);
    // One more, which is taken back where there is no carry.
    if let Input::Filled(vector) = high_add {
        emitter.asm.op(vex::PSUBD, vector, vector, ones);
    }
    for group in 0..emitter.groups() {
        let (low, high) = (Ymm(2 * (group as u8 & 3)), Ymm(2 * (group as u8 & 3) + 1));
        emitter.asm.load_vector(low, low_in.group(group));
        emitter.asm.load_vector(high, high_in.group(group));
        if by != 0 {
            emitter.asm.shift_words(Shift::Left, high, high, by);
            emitter.asm.shift_words(Shift::Right, SPARE, low, 32 - by);
            emitter.asm.op(vex::POR, high, high, SPARE);
            emitter.asm.shift_words(Shift::Left, low, low, by);
        }
        // The sum is at least the addend unless it wrapped.
        emitter.asm.op(vex::PADDD, SPARE, low, low_add.group(group));
        emitter.asm.op(vex::PMAXUD, no_carry, SPARE, low);
        emitter.asm.op(vex::PCMPEQD, no_carry, no_carry, SPARE);
        emitter.asm.op(vex::PADDD, high, high, high_add.group(group));
        if let Input::Register(_) = high_add {
            emitter.asm.op(vex::PSUBD, high, high, ones);
        }
        emitter.asm.op(vex::PADDD, high, high, no_carry);
        emitter.asm.store_vector(Emitter::group(step.dst, group), SPARE);
        emitter.asm.store_vector(Emitter::group(step.dst.wrapping_add(1), group), high);
    }
    true
}

/// A 64-bit number, shifted to the left by a constant.
pub(super) fn wide_shift(emitter: &mut Emitter, step: &Step) -> bool {
    let Some(by) = constant(step.src[0]) else { return false };
    let by = by as u8 & 63;
    fill(emitter, step, 1);
    fill_high(emitter, step, 1);
    for group in 0..emitter.groups() {
        let (low, high) = (Ymm(2 * (group as u8 & 3)), Ymm(2 * (group as u8 & 3) + 1));
        emitter.asm.load_vector(low, input(step, 1).group(group));
        emitter.asm.load_vector(high, high_input(step, 1).group(group));
        match by {
            0 => {}
            1..32 => {
                emitter.asm.shift_words(Shift::Left, high, high, by);
                emitter.asm.shift_words(Shift::Right, SPARE, low, 32 - by);
                emitter.asm.op(vex::POR, high, high, SPARE);
                emitter.asm.shift_words(Shift::Left, low, low, by);
            }
            _ => {
                emitter.asm.shift_words(Shift::Left, high, low, by - 32);
                emitter.asm.op(vex::PXOR, low, low, low);
            }
        }
        emitter.asm.store_vector(Emitter::group(step.dst, group), low);
        emitter.asm.store_vector(Emitter::group(step.dst.wrapping_add(1), group), high);
    }
    true
}

/// The product of 32-bit numbers, and a 64-bit number added to it.
pub(super) fn wide_product(emitter: &mut Emitter, step: &Step) -> bool {
    if !step.inst.sdst.is_none() {
        return false;
    }
    for index in 0..3 {
        fill(emitter, step, index);
    }
    fill_high(emitter, step, 2);
    let [a, b, low, high, odd, odd_b, ones] = [0, 1, 2, 3, 4, 5, 6].map(Ymm);
    emitter.asm.op(vex::PCMPEQD, ones, ones, ones);
    for group in 0..emitter.groups() {
        let a = load(emitter, input(step, 0), group, a);
        let b = load(emitter, input(step, 1), group, b);
        emitter.asm.op(vex::PMULLD, low, a, b);
        // The processor multiplies even words to 64 bits.
        emitter.asm.op(vex::PMULUDQ, high, a, b);
        emitter.asm.odd_words(high, high);
        emitter.asm.odd_words(odd, a);
        emitter.asm.odd_words(odd_b, b);
        emitter.asm.op(vex::PMULUDQ, odd, odd, odd_b);
        emitter.asm.merge_words(high, high, odd);
        // The sum is at least the product unless it wrapped. One more is taken back where there is no carry.
        emitter.asm.op(vex::PADDD, SPARE, low, input(step, 2).group(group));
        emitter.asm.op(vex::PMAXUD, EXTRA, SPARE, low);
        emitter.asm.op(vex::PCMPEQD, EXTRA, EXTRA, SPARE);
        emitter.asm.op(vex::PADDD, high, high, high_input(step, 2).group(group));
        emitter.asm.op(vex::PSUBD, high, high, ones);
        emitter.asm.op(vex::PADDD, high, high, EXTRA);
        emitter.asm.store_vector(Emitter::group(step.dst, group), SPARE);
        emitter.asm.store_vector(Emitter::group(step.dst.wrapping_add(1), group), high);
    }
    true
}
