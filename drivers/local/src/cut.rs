// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cuts work into the parts that threads claim.

use std::ops::Range;

use crate::dispatch;

/// The bytes of a part of a transfer.
const TRANSFER: u64 = 1 << 20;

/// The parts of a grid for each thread. Claiming a part costs some tens of nanoseconds. At the end the other threads
/// wait for one part at most.
const PARTS_OF_A_THREAD: u64 = 16;

/// A number of workgroups or bytes, and the number of them in a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    size: u64,
    part: u64,
}

impl Cut {
    /// Cuts the workgroups of a grid for `threads` threads.
    pub(crate) fn grid(count: [u32; 3], threads: usize) -> Self {
        let size = dispatch::workgroups(count);
        let parts = if threads > 1 { PARTS_OF_A_THREAD * threads as u64 } else { 1 };
        Self { size, part: size.div_ceil(parts).max(1) }
    }

    /// Cuts the bytes of a transfer for `threads` threads.
    pub(crate) fn bytes(size: u64, threads: usize) -> Self {
        Self { size, part: if threads > 1 { TRANSFER } else { size.max(1) } }
    }

    /// The number of parts. No work has no parts.
    pub(crate) fn parts(self) -> u64 {
        self.size.div_ceil(self.part)
    }

    /// The range of a part.
    pub(crate) fn range(self, part: u64) -> Range<u64> {
        let start = part * self.part;
        start..(start + self.part).min(self.size)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole() {
        let cuts = [
            Cut::grid([7, 5, 3], 4),
            Cut::grid([1, 1, 1], 8),
            Cut::grid([100_000, 1, 1], 2),
            Cut::grid([3, 1, 1], 1),
            Cut::bytes((5 << 20) + 3, 2),
            Cut::bytes(5 << 20, 1),
            Cut::bytes(1, 2),
        ];
        for cut in cuts {
            let mut end = 0;
            for part in 0..cut.parts() {
                let range = cut.range(part);
                assert!(range.start == end && range.end > end, "{cut:?}: part {part} is {range:?}");
                end = range.end;
            }
            assert_eq!(end, cut.size, "{cut:?}");
        }
        assert_eq!(Cut::bytes(0, 2).parts(), 0);
        assert_eq!(Cut::grid([3, 1, 1], 1).parts(), 1);
    }
}
