// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entries that share bytes, within a bundle or across bundles. A file may name the same bytes thousands of times.
//! Readers of all entries ask here first, so that they read no more bytes than there are.

use std::collections::HashMap;

use windlass_codeobject::{Bundle, Entry};

/// The byte ranges of a file's entries, and which were read.
pub(crate) struct Ranges {
    /// Ranges of the file, by their places.
    stored: Pieces,
    /// Ranges within unpacked streams, by the place of the compressed bytes.
    unpacked: HashMap<Place, Unpacked>,
}

/// A start and a size in bytes.
type Place = (u64, u64);

/// An entry: the index of its bundle, and its own index there.
pub(crate) type Owner = (usize, usize);

struct Unpacked {
    pieces: Pieces,
    /// Whether the stream may be unpacked; `None` until an entry of it is asked for.
    is_taken: Option<bool>,
}

/// Whether an entry is to be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// Its bytes were not read yet.
    New,
    /// Its bytes are those of that entry, which was read.
    SameAs(Owner),
    /// It overlaps entries that were read. Reading it would exceed the total number of bytes.
    Overlapping,
}

impl Ranges {
    /// Collects the ranges of bundles of one file.
    pub(crate) fn new(bundles: &[Bundle<'_>]) -> Self {
        let mut stored = Vec::new();
        let mut unpacked: HashMap<Place, Vec<Place>> = HashMap::new();
        for bundle in bundles {
            for (index, entry) in bundle.entries().iter().enumerate() {
                let Some(place) = place(bundle, index) else { continue };
                if bundle.is_compressed() {
                    unpacked.entry(place).or_default().push(inside(entry));
                } else {
                    stored.push(place);
                }
            }
        }
        stored.extend(unpacked.keys());
        let of_stream = |(place, inside)| (place, Unpacked { pieces: Pieces::new(inside), is_taken: None });
        Self { stored: Pieces::new(stored), unpacked: unpacked.into_iter().map(of_stream).collect() }
    }

    /// Asks whether to read an entry. An answer of [`Bytes::New`] counts the entry as read.
    pub(crate) fn take(&mut self, bundle: &Bundle<'_>, index: usize) -> Bytes {
        let owner = (bundle.index(), index);
        let (Some(place), Some(entry)) = (place(bundle, index), bundle.entries().get(index)) else {
            return Bytes::New;
        };
        match self.unpacked.get_mut(&place).filter(|_| bundle.is_compressed()) {
            None => self.stored.take(owner, place),
            Some(unpacked) => {
                let take = || self.stored.take(owner, place) == Bytes::New;
                if *unpacked.is_taken.get_or_insert_with(take) {
                    unpacked.pieces.take(owner, inside(entry))
                } else {
                    Bytes::Overlapping
                }
            }
        }
    }
}

/// The range of the stored bytes of an entry; `None` if the entry is empty.
fn place(bundle: &Bundle<'_>, index: usize) -> Option<Place> {
    let has_bytes = bundle.entries().get(index).is_some_and(|entry| entry.size() > 0);
    let place = bundle.stored_place(index).filter(|_| has_bytes)?;
    Some((place.start, place.end.saturating_sub(place.start)))
}

/// The range of an entry within its unpacked stream.
fn inside(entry: &Entry) -> Place {
    (entry.offset(), entry.size())
}

/// Ranges, grouped into pieces of overlapping ones.
struct Pieces {
    /// The first entry that was read, for each range.
    known: HashMap<Place, Owner>,
    /// The start and the end of each piece, and how many of its bytes may still be read.
    covered: Vec<(u64, u64, u64)>,
}

impl Pieces {
    fn new(mut ranges: Vec<Place>) -> Self {
        ranges.sort_unstable();
        let mut covered: Vec<(u64, u64, u64)> = Vec::new();
        for (start, size) in ranges {
            let end = start.saturating_add(size);
            match covered.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                _ => covered.push((start, end, 0)),
            }
        }
        for (start, end, left) in &mut covered {
            *left = *end - *start;
        }
        Self { known: HashMap::new(), covered }
    }

    fn take(&mut self, owner: Owner, place: Place) -> Bytes {
        if let Some(first) = self.known.get(&place) {
            return Bytes::SameAs(*first);
        }
        let behind = self.covered.partition_point(|(start, ..)| *start <= place.0);
        let piece = behind.checked_sub(1).and_then(|last| self.covered.get_mut(last));
        let Some((_, _, left)) = piece.filter(|(_, _, left)| place.1 <= *left) else {
            return Bytes::Overlapping;
        };
        *left -= place.1;
        self.known.insert(place, owner);
        Bytes::New
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_there_is() {
        let mut ranges = Pieces::new(vec![(0, 100), (100, 20), (1, 99), (50, 20), (40, 1)]);
        assert_eq!(ranges.covered, [(0, 100, 100), (100, 120, 20)]);
        assert_eq!(ranges.take((0, 0), (0, 100)), Bytes::New);
        assert_eq!(ranges.take((0, 1), (1, 99)), Bytes::Overlapping);
        assert_eq!(ranges.take((0, 2), (0, 100)), Bytes::SameAs((0, 0)));
        assert_eq!(ranges.take((1, 3), (100, 20)), Bytes::New, "others overlap, this one does not");
        assert_eq!(ranges.take((2, 4), (100, 20)), Bytes::SameAs((1, 3)));
    }
}
