// SPDX-License-Identifier: MIT OR Apache-2.0
//! A set of queues of one device.

/// The queues that may take an operation. Bit `n` stands for queue `n`. The device picks one of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueAffinity(u64);

impl QueueAffinity {
    /// All queues.
    pub const ANY: Self = Self(u64::MAX);

    /// A set of queues as a bitmap. Zero means all queues.
    pub const fn from_bits(bits: u64) -> Self {
        if bits == 0 { Self::ANY } else { Self(bits) }
    }

    /// One queue. A device has at most 64, so a greater number means all queues.
    pub const fn queue(index: u32) -> Self {
        if index < 64 { Self(1 << index) } else { Self::ANY }
    }

    /// The queues that are in both sets, or `self` where there are none.
    pub const fn intersection(self, other: Self) -> Self {
        if self.0 & other.0 == 0 { self } else { Self(self.0 & other.0) }
    }

    /// The bitmap.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl Default for QueueAffinity {
    /// Any queue.
    fn default() -> Self {
        Self::ANY
    }
}
