// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocations that a workgroup accessed last, remembered so that most accesses need no look at the map.

/// A remembered range of addresses, valid while no allocation is freed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) base: u64,
    pub(super) size: u64,
    /// The distance from an address to its byte.
    pub(super) delta: u64,
    /// [`Memory::generation`](super::Memory) at the time of the look-up.
    pub(super) generation: u64,
}

impl Window {
    /// An empty window.
    const EMPTY: Self = Self { base: 0, size: 0, delta: 0, generation: u64::MAX };

    #[inline]
    fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset <= self.size && len <= self.size - offset
    }
}

/// A kernel's use of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryUse {
    /// Read.
    Read,
    /// Write, and perhaps read.
    Write,
}

/// A mask of all devices.
pub(crate) const ALL_DEVICES: u64 = !0;

/// A few remembered ranges, about as many as a kernel uses in turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// The devices whose memory the kernel may use, a bit each.
    reach: u64,
    /// Windows for reads, and windows for writes.
    known: [[Window; 4]; 2],
    oldest: [usize; 2],
}

impl Default for Windows {
    fn default() -> Self {
        Self::new(ALL_DEVICES)
    }
}

impl Windows {
    /// For a kernel that may use the memory of these devices, a bit each.
    pub(crate) fn new(reach: u64) -> Self {
        Self { reach, known: [[Window::EMPTY; 4]; 2], oldest: [0; 2] }
    }

    /// The devices whose memory the kernel may use, a bit each.
    #[inline]
    pub(crate) fn reach(&self) -> u64 {
        self.reach
    }

    /// The window around a range, if one is remembered.
    #[inline]
    pub(super) fn find(&self, address: u64, len: u64, usage: MemoryUse, generation: u64) -> Option<Window> {
        let known = &self.known[usage as usize];
        known.iter().find(|window| window.generation == generation && window.holds(address, len)).copied()
    }

    /// Remembers a window in place of the oldest.
    pub(super) fn remember(&mut self, window: Window, usage: MemoryUse) {
        let usage = usage as usize;
        let oldest = &mut self.oldest[usage];
        self.known[usage][*oldest % 4] = window;
        *oldest = oldest.wrapping_add(1);
    }
}
