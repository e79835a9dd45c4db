// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entries that have bytes in common, in one bundle or in several. A file may name the same bytes thousands of times: who
//! reads each entry asks here first, and so reads no more than there is.

use std::collections::HashMap;

use windlass_codeobject::{Bundle, Entry};

/// What is known of the bytes of the entries of a file.
pub(crate) struct Ranges {
    /// The bytes of the file, by their addresses.
    stored: Pieces,
    /// What compressed bytes unpack to, by where those lie.
    unpacked: HashMap<Place, Unpacked>,
}

/// Where bytes begin, and how many they are.
type Place = (u64, u64);

/// An entry: the number of its bundle, and its own in there.
pub(crate) type Owner = (usize, usize);

struct Unpacked {
    pieces: Pieces,
    /// Whether it may be unpacked, once somebody has asked.
    is_taken: Option<bool>,
}

/// Whether the bytes of an entry are to be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// They were not read yet.
    New,
    /// They are the very bytes of that entry, which was read.
    SameAs(Owner),
    /// Entries that were read have so many of them that all would be more than there are.
    Overlapping,
}

impl Ranges {
    /// Of one bundle, or of all bundles of a file.
    pub(crate) fn of(bundles: &[Bundle<'_>]) -> Self {
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

    /// Asks for an entry, which counts as read where its bytes are new.
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

/// Where the bytes lie that an entry comes from; nothing where there are none.
fn place(bundle: &Bundle<'_>, index: usize) -> Option<Place> {
    let has_bytes = bundle.entries().get(index).is_some_and(|entry| entry.size() > 0);
    let bytes = bundle.stored_bytes(index).filter(|_| has_bytes)?;
    Some((bytes.as_ptr().addr() as u64, bytes.len() as u64))
}

/// Where an entry lies in what its compressed bytes unpack to.
fn inside(entry: &Entry) -> Place {
    (entry.offset(), entry.size())
}

/// Ranges, those that overlap together.
struct Pieces {
    /// The first entry that has these bytes.
    known: HashMap<Place, Owner>,
    /// Where a piece that ranges cover begins and ends, and how many of its bytes may yet be read.
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
