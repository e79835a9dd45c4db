// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of an allocation that were ever written: a bit for each.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes whose bits one page holds. A page is made by the first write to one of its bytes.
const PAGE: u64 = 64 * 1024;
const WORDS: usize = (PAGE / 64) as usize;

type Page = [AtomicU64; WORDS];

/// The bits of one allocation. Threads may use it concurrently.
pub(super) struct Shadow {
    pages: Box<[OnceLock<Box<Page>>]>,
}

impl Shadow {
    /// A shadow of `size` bytes, none of them written.
    pub(super) fn new(size: u64) -> Self {
        Self { pages: (0..size.div_ceil(PAGE)).map(|_| OnceLock::new()).collect() }
    }

    fn word(&self, number: u64) -> Option<&AtomicU64> {
        let page = self.pages.get((number / WORDS as u64) as usize)?;
        let page = page.get_or_init(|| Box::new([const { AtomicU64::new(0) }; WORDS]));
        page.get((number % WORDS as u64) as usize)
    }

    /// The bits of 64 bytes, from byte `64 * number` on.
    fn bits(&self, number: u64) -> u64 {
        let page = self.pages.get((number / WORDS as u64) as usize).and_then(OnceLock::get);
        page.map_or(0, |page| page[(number % WORDS as u64) as usize].load(Ordering::Relaxed))
    }

    /// Marks bytes as written.
    pub(super) fn mark(&self, offset: u64, len: u64) {
        for (number, mask) in masks(offset, len) {
            if let Some(word) = self.word(number) {
                word.fetch_or(mask, Ordering::Relaxed);
            }
        }
    }

    /// The first byte of a range that was never written.
    pub(super) fn first_unwritten(&self, offset: u64, len: u64) -> Option<u64> {
        masks(offset, len).find_map(|(number, mask)| {
            let missing = mask & !self.bits(number);
            (missing != 0).then(|| number * 64 + u64::from(missing.trailing_zeros()))
        })
    }

    /// Copies the bits of bytes that were copied from another allocation, or from this one.
    pub(super) fn copy(&self, offset: u64, from: &Self, from_offset: u64, len: u64) {
        // Read before any bit changes: the two may overlap.
        let written: Vec<bool> =
            (0..len).map(|at| from.first_unwritten(from_offset + at, 1).is_none()).collect();
        for (at, written) in (offset..).zip(written) {
            if let Some(word) = self.word(at / 64) {
                let bit = 1 << (at % 64);
                if written {
                    word.fetch_or(bit, Ordering::Relaxed);
                } else {
                    word.fetch_and(!bit, Ordering::Relaxed);
                }
            }
        }
    }
}

/// The words that hold the bits of a range, each with the bits that belong to it.
fn masks(offset: u64, len: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = offset + len;
    (offset / 64..end.div_ceil(64)).map(move |number| {
        let from = offset.saturating_sub(number * 64).min(63);
        let to = (end - number * 64).min(64);
        (number, (!0 << from) & (!0 >> (64 - to)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_known_byte_by_byte() {
        let shadow = Shadow::new(200_000);
        assert_eq!(shadow.first_unwritten(0, 1), Some(0));
        assert_eq!(shadow.first_unwritten(5, 0), None);
        for (offset, len) in [(3, 1), (60, 8), (65_530, 140), (199_999, 1)] {
            shadow.mark(offset, len);
            assert_eq!(shadow.first_unwritten(offset, len), None);
            assert_eq!(shadow.first_unwritten(offset - 1, len), Some(offset - 1));
        }
        assert_eq!(shadow.first_unwritten(60, 9), Some(68));
    }

    #[test]
    fn copies_are_as_written_as_their_source() {
        let [from, to] = [(); 2].map(|()| Shadow::new(1000));
        from.mark(100, 50);
        to.mark(0, 1000);
        to.copy(500, &from, 90, 70);
        assert_eq!(to.first_unwritten(0, 500), None);
        assert_eq!(to.first_unwritten(500, 70), Some(500));
        assert_eq!(to.first_unwritten(510, 50), None);
        assert_eq!(to.first_unwritten(510, 60), Some(560));
        from.copy(101, &from, 100, 50);
        assert_eq!(from.first_unwritten(101, 51), Some(151));
    }
}
