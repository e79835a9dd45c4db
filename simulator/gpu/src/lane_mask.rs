// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets of lanes of a wave.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// A set of lanes: EXEC, VCC, the result of a compare. A wave of 32 lanes has none from 32 on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LaneMask(u64);

impl LaneMask {
    /// All lanes of a wave of 32.
    pub(crate) const WAVE32: Self = Self(0xffff_ffff);
    /// All lanes of a wave of 64.
    pub(crate) const WAVE64: Self = Self(u64::MAX);

    /// The lanes whose bit is set.
    #[inline(always)]
    pub(crate) const fn of_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The first `count` lanes.
    pub(crate) const fn first_lanes(count: u32) -> Self {
        if count >= 64 { Self::WAVE64 } else { Self((1 << count) - 1) }
    }

    /// A lane alone.
    #[inline(always)]
    pub(crate) const fn of_lane(lane: usize) -> Self {
        Self(1 << (lane % 64))
    }

    /// A lane alone if a flag is set, else none.
    #[inline(always)]
    pub(crate) const fn of_flag(lane: usize, flag: bool) -> Self {
        Self((flag as u64) << (lane % 64))
    }

    /// A bit for each lane, the lowest for lane 0.
    #[inline(always)]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// The bits of the lanes below 32, and of the others.
    #[inline(always)]
    pub(crate) const fn halves(self) -> [u32; 2] {
        [self.0 as u32, (self.0 >> 32) as u32]
    }

    /// Whether no lane is in it.
    #[inline(always)]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a lane is in it.
    #[inline(always)]
    pub(crate) const fn has(self, lane: usize) -> bool {
        self.0 >> lane & 1 != 0
    }

    /// The number of lanes.
    #[inline(always)]
    pub(crate) const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The lowest lane, 0 if there is none: instructions that read one lane read that one.
    #[inline(always)]
    pub(crate) const fn first(self) -> usize {
        self.0.trailing_zeros() as usize % 64
    }

    /// The numbers of the lanes, lowest first.
    #[inline(always)]
    pub(crate) fn lanes(self) -> Lanes {
        Lanes(self.0)
    }
}

impl BitAnd for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitAndAssign for LaneMask {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Self) {
        self.0 &= other.0;
    }
}

impl BitOr for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for LaneMask {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl Not for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// The numbers of the lanes in a mask, lowest first.
#[derive(Clone, Copy)]
pub(crate) struct Lanes(u64);

impl Iterator for Lanes {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lane = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(lane)
    }
}
