// SPDX-License-Identifier: MIT OR Apache-2.0
//! The characters of a YAML note, and how many of them its parser may read before it gives something back.
//!
//! A parser holds what it cannot place yet: an inline list that may become a key, or one long scalar. So what it reads
//! ahead bounds what it takes.

use std::cell::Cell;
use std::rc::Rc;

use crate::bytes::escaped;

/// So many letters and blanks may be read ahead, or marks of which each counts as many letters. Compilers write no more
/// than a few hundred of both between two values.
const MOST: u32 = 1 << 16;
const MARK: u32 = 16;

/// What may still be read ahead.
#[derive(Clone)]
pub(super) struct Lookahead(Rc<Cell<u32>>);

impl Lookahead {
    pub(super) fn new() -> Lookahead {
        Lookahead(Rc::new(Cell::new(MOST)))
    }

    /// The parser gave something back.
    pub(super) fn renew(&self) {
        self.0.set(MOST);
    }

    /// Whether the parser wanted more than it may have. The characters end there.
    pub(super) fn is_exhausted(&self) -> bool {
        self.0.get() == 0
    }

    /// The characters of `note`; bytes that are not UTF-8 are written as [`text`](crate::bytes::text) writes them.
    pub(super) fn characters<'n>(&self, note: &'n [u8]) -> impl Iterator<Item = char> + use<'n> {
        let left = Rc::clone(&self.0);
        let all = note
            .utf8_chunks()
            .flat_map(|chunk| chunk.valid().chars().chain(chunk.invalid().iter().copied().flat_map(escaped)));
        all.map_while(move |character| {
            let is_letter = character.is_ascii_alphanumeric() || "_.$@ \n\r".contains(character);
            left.set(left.get().saturating_sub(if is_letter { 1 } else { MARK }));
            (left.get() > 0).then_some(character)
        })
    }
}
