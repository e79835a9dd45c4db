// SPDX-License-Identifier: MIT OR Apache-2.0
//! A set of queues of one device.

/// The queues that may take an operation: bit `n` stands for queue `n`, and the device picks one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueAffinity(u64);

impl QueueAffinity {
    /// Any queue.
    pub const ANY: Self = Self(u64::MAX);

    /// A set of queues as a bitmap; an empty one means any.
    pub const fn from_bits(bits: u64) -> Self {
        if bits == 0 { Self::ANY } else { Self(bits) }
    }

    /// One queue. No device has more than 64; a greater number means any queue.
    pub const fn queue(index: u32) -> Self {
        if index < 64 { Self(1 << index) } else { Self::ANY }
    }

    /// The queues that are in both sets; those of `self` where none is.
    pub const fn intersection(self, other: Self) -> Self {
        if self.0 & other.0 == 0 { self } else { Self(self.0 & other.0) }
    }

    /// The bitmap.
    pub const fn bits(self) -> u64 {
        self.0
    }
}
