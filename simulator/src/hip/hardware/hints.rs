// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hints that clients give for memory. They change no result; HIP tells them to clients who ask.

use std::collections::{BTreeMap, BTreeSet};

/// Hints hold for whole pages.
const PAGE: u64 = 4096;

/// `hipInvalidDeviceId`: no device was named.
pub(crate) const NOWHERE: i32 = -2;

/// The hints for one allocation.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// Whether copies and fills of the memory are to wait.
    pub(crate) waits: bool,
    /// The advice from a page on, by the first byte of that page in the allocation. Pages before the first entry have none.
    advice: BTreeMap<u64, Advice>,
}

/// The clients' advice for a page of managed memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) read_mostly: bool,
    /// A device, or the host.
    pub(crate) preferred: i32,
    pub(crate) accessed_by: BTreeSet<i32>,
    pub(crate) prefetched: i32,
    pub(crate) coarse: bool,
}

impl Default for Advice {
    fn default() -> Self {
        Self {
            read_mostly: false,
            preferred: NOWHERE,
            accessed_by: BTreeSet::new(),
            prefetched: NOWHERE,
            coarse: false,
        }
    }
}

impl Hints {
    /// Changes the advice for each page with a byte from `start` to `end`.
    pub(crate) fn advise(&mut self, start: u64, end: u64, change: impl Fn(&mut Advice)) {
        let (start, end) = (start - start % PAGE, end.next_multiple_of(PAGE));
        for edge in [start, end] {
            let there = self.at(edge);
            self.advice.insert(edge, there);
        }
        self.advice.range_mut(start..end).for_each(|(_, advice)| change(advice));
        // Equal neighbours are one.
        let mut before = Advice::default();
        self.advice.retain(|_, advice| {
            let is_news = *advice != before;
            before.clone_from(advice);
            is_news
        });
    }

    /// The advice that all pages with a byte from `start` to `end` have in common.
    pub(crate) fn common(&self, start: u64, end: u64) -> Advice {
        let mut common = self.at(start);
        for (_, other) in self.advice.range(start.saturating_add(1)..end.max(start.saturating_add(1))) {
            common.read_mostly &= other.read_mostly;
            common.accessed_by.retain(|device| other.accessed_by.contains(device));
            common.coarse &= other.coarse;
            for (place, other) in
                [(&mut common.preferred, other.preferred), (&mut common.prefetched, other.prefetched)]
            {
                if *place != other {
                    *place = NOWHERE;
                }
            }
        }
        common
    }

    fn at(&self, offset: u64) -> Advice {
        self.advice.range(..=offset).next_back().map(|(_, advice)| advice.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_holds_for_pages_and_a_range_has_what_all_of_its_pages_have() {
        let mut hints = Hints::default();
        hints.advise(5000, 9000, |advice| advice.read_mostly = true);
        assert!(hints.common(4096, 12288).read_mostly);
        assert!(!hints.common(4095, 12288).read_mostly);
        assert!(!hints.common(4096, 12289).read_mostly);
        hints.advise(8192, 8193, |advice| advice.preferred = 1);
        assert_eq!(hints.common(8192, 12288).preferred, 1);
        assert_eq!(hints.common(4096, 12288).preferred, NOWHERE);
        hints.advise(0, 20000, |advice| *advice = Advice::default());
        assert!(hints.advice.is_empty());
    }
}
