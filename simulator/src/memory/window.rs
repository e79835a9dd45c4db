// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocations that a workgroup hit last, remembered so that most accesses need no look at the map.

/// A remembered range of addresses, valid while no allocation is freed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) base: u64,
    pub(super) size: u64,
    /// What to add to an address to find its byte.
    pub(super) delta: u64,
    /// [`Memory::generation`](super::Memory) when it was found.
    pub(super) generation: u64,
}

impl Window {
    /// A window that contains nothing.
    const EMPTY: Self = Self { base: 0, size: 0, delta: 0, generation: u64::MAX };

    #[inline]
    fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset <= self.size && len <= self.size - offset
    }
}

/// What a kernel wants with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// To read it.
    Read,
    /// To write it, and perhaps to read it.
    Write,
}

/// A few remembered ranges: as many as a kernel usually touches in turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// For reading, for writing.
    known: [[Window; 4]; 2],
    oldest: [usize; 2],
}

impl Default for Windows {
    fn default() -> Self {
        Self { known: [[Window::EMPTY; 4]; 2], oldest: [0; 2] }
    }
}

impl Windows {
    /// What is remembered around a range.
    #[inline]
    pub(super) fn find(&self, address: u64, len: u64, usage: Use, generation: u64) -> Option<Window> {
        let known = &self.known[usage as usize];
        known.iter().find(|window| window.generation == generation && window.holds(address, len)).copied()
    }

    /// Remembers a window in the place of the oldest.
    pub(super) fn remember(&mut self, window: Window, usage: Use) {
        let usage = usage as usize;
        let oldest = &mut self.oldest[usage];
        self.known[usage][*oldest % 4] = window;
        *oldest = oldest.wrapping_add(1);
    }
}
