// SPDX-License-Identifier: MIT OR Apache-2.0
//! Register indexing: `s_set_gpr_idx_on` adds an index to the vector registers of an instruction.

use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::{FIRST_AGPR, Wave};

/// The source with the index of `s_set_gpr_idx_on` added.
#[inline]
pub(crate) fn indexed(wave: &Wave, step: &Step, index: usize) -> Source {
    match (step.src[index], wave.indexing) {
        (Source::Vector(number), Some((operands, by)))
            if operands >> index & 1 != 0 && number < FIRST_AGPR =>
        {
            Source::Vector(number + u16::from(by))
        }
        (source, _) => source,
    }
}

/// The destination with the index of `s_set_gpr_idx_on` added.
#[inline]
pub(crate) fn destination(wave: &Wave, step: &Step) -> u16 {
    match wave.indexing {
        Some((operands, by)) if operands & 8 != 0 && step.dst < FIRST_AGPR => step.dst + u16::from(by),
        _ => step.dst,
    }
}
