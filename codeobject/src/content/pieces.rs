// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pieces of a file that stay in memory, for readers that want slices.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

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
