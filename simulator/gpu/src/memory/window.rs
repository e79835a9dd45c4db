// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocations that workgroups accessed last, remembered by the thread that runs them, so that most accesses need no look at the map.

/// A range of addresses in one allocation, or in mappings that follow each other, with one distance to their bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) base: u64,
    pub(super) size: u64,
    /// The distance from an address to its byte.
    pub(super) delta: u64,
}

impl Window {
    /// A window that holds nothing.
    const EMPTY: Self = Self { base: 0, size: 0, delta: 0 };

    #[inline(always)]
    fn holds(&self, address: u64, len: u64) -> bool {
        // A range of no bytes is in none.
        address.wrapping_sub(self.base) < self.size.saturating_sub(len.wrapping_sub(1))
    }
}

/// A kernel's use of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryUse {
    /// Read.
    Read,
    /// Write, and perhaps read.
    Write,
}

/// A mask of all devices.
pub const ALL_DEVICES: u64 = !0;

/// The memory that a kernel may use, by masks of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grants {
    /// The device that the kernel runs on.
    pub own: u64,
    /// The devices whose allocations it may use: its own, and those with peer access.
    pub peers: u64,
}

impl Grants {
    /// Everything.
    pub const ALL: Self = Self { own: ALL_DEVICES, peers: ALL_DEVICES };

    /// The memory of one device.
    pub fn of_device(index: usize) -> Self {
        Self { own: 1 << (index & 63), peers: 1 << (index & 63) }
    }
}

/// A few remembered ranges, about as many as a kernel uses in turn.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// The memory that the kernel may use.
    reach: Grants,
    /// [`Memory::generation`](super::Memory) at the time of the look-ups. The windows count only while it is the same.
    generation: u64,
    /// Windows for reads, and windows for writes.
    known: [[Window; 4]; 2],
    oldest: [usize; 2],
    /// Instructions by their offset, and the addresses that they accessed last.
    visits: [(u32, u64); 4],
}

impl Default for Windows {
    fn default() -> Self {
        Self::new(Grants::ALL)
    }
}

impl Windows {
    /// For a kernel of this reach.
    pub(crate) fn new(reach: Grants) -> Self {
        Self { reach, generation: 0, known: [[Window::EMPTY; 4]; 2], oldest: [0; 2], visits: [(0, 0); 4] }
    }

    /// The memory that the kernel may use.
    #[inline]
    pub(crate) fn reach(&self) -> Grants {
        self.reach
    }

    /// The distance from a range to its bytes, if a window around it is remembered.
    #[inline(always)]
    pub(super) fn find(&self, address: u64, len: u64, usage: MemoryUse, generation: u64) -> Option<u64> {
        if self.generation != generation {
            return None;
        }
        let known = &self.known[usage as usize];
        known.iter().find(|window| window.holds(address, len)).map(|window| window.delta)
    }

    /// The distance from the last access of an instruction to this one; zero if that is not known.
    #[inline(always)]
    pub(crate) fn distance(&mut self, instruction: u32, address: u64) -> u64 {
        let visit = &mut self.visits[(instruction / 8) as usize % 4];
        let (last, place) = std::mem::replace(visit, (instruction, address));
        if last == instruction { address.wrapping_sub(place) } else { 0 }
    }

    /// Remembers a window of this generation in place of the oldest, and forgets those of other generations.
    pub(super) fn remember(&mut self, window: Window, usage: MemoryUse, generation: u64) {
        if self.generation != generation {
            (self.generation, self.known) = (generation, [[Window::EMPTY; 4]; 2]);
        }
        let usage = usage as usize;
        let oldest = &mut self.oldest[usage];
        self.known[usage][*oldest % 4] = window;
        *oldest = oldest.wrapping_add(1);
    }
}
