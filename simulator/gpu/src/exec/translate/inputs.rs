// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sources of a block's vector instructions: registers in groups of eight lanes, and vectors that hold scalars.

use super::assembler::{Place, RAX, Ymm};
use super::emitter::Emitter;
use super::vex;
use crate::exec::machine::step::{Source, Step};

/// A source: the register of a group, or the vector that holds a scalar.
#[derive(Clone, Copy)]
pub(super) enum Input {
    Register(u16),
    Filled(Ymm),
}

impl Input {
    pub(super) fn group(self, group: usize) -> Place {
        match self {
            Self::Register(number) => Emitter::group(number, group),
            Self::Filled(vector) => vector.into(),
        }
    }
}

/// Vectors that hold scalar sources: the low and the high words of each source.
pub(super) const FILLED: u8 = 8;
pub(super) const SPARE: Ymm = Ymm(14);
pub(super) const EXTRA: Ymm = Ymm(15);

/// The value of a constant source.
pub(super) fn constant(source: Source) -> Option<u32> {
    match source {
        Source::Constant(value) => Some(value as u32),
        _ => None,
    }
}

/// The number of the first scalar register of a lane mask.
pub(super) fn mask_number(source: Source) -> Option<u8> {
    match source {
        Source::Scalar(number) if number < 127 => Some(number),
        _ => None,
    }
}

/// Whether the translator reads a source.
pub(super) fn is_known(source: Source) -> bool {
    match source {
        Source::Vector(_) | Source::Constant(_) => true,
        Source::Scalar(number) => number < 127,
        _ => false,
    }
}

/// The source `index` of a step, whose scalars [`fill`] has filled.
pub(super) fn input(step: &Step, index: usize) -> Input {
    match step.src[index] {
        Source::Vector(number) => Input::Register(number),
        _ => Input::Filled(Ymm(FILLED + 2 * index as u8)),
    }
}

/// The high words of the same.
pub(super) fn high_input(step: &Step, index: usize) -> Input {
    match step.src[index] {
        Source::Vector(number) => Input::Register(number.wrapping_add(1)),
        _ => Input::Filled(Ymm(FILLED + 2 * index as u8 + 1)),
    }
}

/// Fills a vector with a scalar source.
pub(super) fn fill(emitter: &mut Emitter, step: &Step, index: usize) {
    let vector = Ymm(FILLED + 2 * index as u8);
    match step.src[index] {
        Source::Scalar(number) => emitter.asm.broadcast(vector, Emitter::scalar_place(number)),
        Source::Constant(value) => fill_constant(emitter, vector, value as u32),
        _ => {}
    }
}

/// Fills a vector with the high words of a scalar source.
pub(super) fn fill_high(emitter: &mut Emitter, step: &Step, index: usize) {
    let vector = Ymm(FILLED + 2 * index as u8 + 1);
    match step.src[index] {
        Source::Scalar(number) => emitter.asm.broadcast(vector, Emitter::scalar_place(number + 1)),
        Source::Constant(value) => fill_constant(emitter, vector, (value >> 32) as u32),
        _ => {}
    }
}

fn fill_constant(emitter: &mut Emitter, vector: Ymm, value: u32) {
    match value {
        0 => emitter.asm.op(vex::PXOR, vector, vector, vector),
        u32::MAX => emitter.asm.op(vex::PCMPEQD, vector, vector, vector),
        _ => {
            emitter.asm.constant(RAX, value.into());
            emitter.asm.move_to_vector(vector, RAX);
            emitter.asm.broadcast(vector, vector);
        }
    }
}

/// The vector that holds a group: the filled one, or `to` after a load.
pub(super) fn load(emitter: &mut Emitter, input: Input, group: usize, to: Ymm) -> Ymm {
    match input {
        Input::Filled(vector) => vector,
        Input::Register(_) => {
            emitter.asm.load_vector(to, input.group(group));
            to
        }
    }
}
