// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pieces of a file that stay in memory, for readers that want slices.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use object::ReadRef;

use super::Content;

/// The most bytes that a reader of ELF headers gets in one piece of a file. Tables of real files are far smaller.
const LONGEST: u64 = 32 << 20;

/// Bytes that live as long as this list. Nothing is ever removed, so a borrowed piece stays.
#[derive(Debug)]
pub(crate) struct Pieces {
    count: AtomicUsize,
    /// Level N has 2^N pieces, and is never enlarged.
    levels: [OnceLock<Level>; usize::BITS as usize],
}

/// The places of pieces, each taken once.
type Level = Box<[OnceLock<Vec<u8>>]>;

impl Default for Pieces {
    fn default() -> Self {
        Pieces { count: AtomicUsize::new(0), levels: [const { OnceLock::new() }; usize::BITS as usize] }
    }
}

impl Pieces {
    /// Keeps the bytes.
    pub(crate) fn keep(&self, bytes: Vec<u8>) -> &[u8] {
        let number = self.count.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let level = number.ilog2();
        let pieces = self.levels[level as usize]
            .get_or_init(|| std::iter::repeat_with(OnceLock::new).take(1 << level).collect());
        pieces[number - (1 << level)].get_or_init(|| bytes)
    }
}

/// The bytes of an ELF for the readers of the `object` crate. Pieces of a file stay in memory as long as `pieces`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ElfBytes<'p, 'a> {
    pub(crate) content: Content<'a>,
    pub(crate) pieces: &'p Pieces,
}

impl<'p, 'a: 'p> ReadRef<'p> for ElfBytes<'p, 'a> {
    fn len(self) -> Result<u64, ()> {
        Ok(self.content.size())
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'p [u8], ()> {
        match self.content.part(offset, size).ok_or(())? {
            Content::Memory(bytes) => Ok(bytes),
            part if size <= LONGEST => {
                part.load().map(|bytes| self.pieces.keep(bytes.into_owned())).map_err(|_| ())
            }
            Content::File { .. } => Err(()),
        }
    }

    fn read_bytes_at_until(self, range: std::ops::Range<u64>, delimiter: u8) -> Result<&'p [u8], ()> {
        let all = self.read_bytes_at(range.start, range.end.saturating_sub(range.start))?;
        all.iter().position(|byte| *byte == delimiter).and_then(|end| all.get(..end)).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stay_while_others_come() {
        let pieces = Pieces::default();
        let first = pieces.keep(vec![1; 9]);
        let count = if cfg!(miri) { 10 } else { 10_000_usize };
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let pieces = &pieces;
                scope.spawn(move || {
                    let kept: Vec<_> = (0..count).map(|index| pieces.keep(vec![thread; index % 9])).collect();
                    for (index, piece) in kept.into_iter().enumerate() {
                        assert_eq!(piece, vec![thread; index % 9]);
                    }
                });
            }
        });
        assert_eq!(first, [1; 9]);
    }
}
