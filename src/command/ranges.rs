// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entries of a bundle that have bytes in common. A table may name the same bytes thousands of times: who reads each
//! entry asks here first, and so reads no more than the bundle has.

use std::collections::HashMap;

use windlass_codeobject::{Bundle, Container, Entry};

/// What is known of the bytes of a bundle's entries.
pub(crate) struct Ranges {
    /// The first entry that has the bytes from there, so many.
    known: HashMap<(u64, u64), usize>,
    /// How many bytes may yet be read; nothing for entries that have bytes of their own for certain.
    left: Option<u64>,
}

/// Whether the bytes of an entry are to be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// They were not read yet.
    New,
    /// They are the very bytes of that entry, which was read.
    SameAs(usize),
    /// Entries that were read have so many of them that all would be more than the bundle has.
    Overlapping,
}

impl Ranges {
    pub(crate) fn of(bundle: &Bundle<'_>) -> Self {
        let is_apart = matches!(bundle.container(), Container::Kpack { method: Some(_) });
        let ranges = bundle.entries().iter().filter(|entry| has_bytes(entry)).map(place);
        Self { known: HashMap::new(), left: (!is_apart).then(|| covered(ranges.collect())) }
    }

    /// Asks for an entry, which counts as read where its bytes are new.
    pub(crate) fn take(&mut self, index: usize, entry: &Entry) -> Bytes {
        if has_bytes(entry) { self.take_range(index, place(entry)) } else { Bytes::New }
    }

    fn take_range(&mut self, index: usize, place: (u64, u64)) -> Bytes {
        let Some(left) = &mut self.left else { return Bytes::New };
        if let Some(first) = self.known.get(&place) {
            return Bytes::SameAs(*first);
        }
        match left.checked_sub(place.1) {
            Some(rest) => {
                *left = rest;
                self.known.insert(place, index);
                Bytes::New
            }
            None => Bytes::Overlapping,
        }
    }
}

fn has_bytes(entry: &Entry) -> bool {
    entry.size() > 0 && entry.problem().is_none()
}

fn place(entry: &Entry) -> (u64, u64) {
    (entry.offset(), entry.size())
}

/// How many bytes lie in at least one of the ranges, which are starts and sizes.
fn covered(mut ranges: Vec<(u64, u64)>) -> u64 {
    ranges.sort_unstable();
    let mut end = 0;
    let mut sum = 0_u64;
    for (start, size) in ranges {
        let next = start.saturating_add(size);
        sum = sum.saturating_add(next.saturating_sub(start.max(end)));
        end = end.max(next);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_there_is() {
        assert_eq!(covered(vec![(10, 10), (0, 5), (15, 10), (12, 2), (40, 1)]), 5 + 15 + 1);
        let mut ranges =
            Ranges { known: HashMap::new(), left: Some(covered(vec![(0, 100), (100, 20), (1, 99)])) };
        assert_eq!(ranges.take_range(0, (0, 100)), Bytes::New);
        assert_eq!(ranges.take_range(1, (1, 99)), Bytes::Overlapping);
        assert_eq!(ranges.take_range(2, (0, 100)), Bytes::SameAs(0));
        assert_eq!(ranges.take_range(3, (100, 20)), Bytes::New);
        assert_eq!(ranges.take_range(4, (100, 20)), Bytes::SameAs(3));
        let mut apart = Ranges { known: HashMap::new(), left: None };
        assert_eq!(apart.take_range(0, (0, 9)), Bytes::New);
        assert_eq!(apart.take_range(1, (0, 9)), Bytes::New);
    }
}
