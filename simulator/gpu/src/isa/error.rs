// SPDX-License-Identifier: MIT OR Apache-2.0
//! The error of the decoder.

use super::inst::Encoding;
use super::set::InstructionSet;

/// The reason why bytes are no instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// The bytes end inside the instruction.
    Truncated {
        /// The number of words that were given.
        have: usize,
        /// The least number of words that the instruction needs.
        need: usize,
    },
    /// No instruction of the set is encoded like this.
    Unknown {
        /// The set.
        set: &'static InstructionSet,
        /// The first words, 0 where the bytes end.
        words: [u32; 2],
        /// The format, if the first bits are those of one.
        encoding: Option<Encoding>,
    },
}
