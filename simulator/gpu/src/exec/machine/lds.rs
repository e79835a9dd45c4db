// SPDX-License-Identifier: MIT OR Apache-2.0
//! LDS, the memory that a workgroup shares. As on hardware, reads past its end give zero and writes there
//! have no effect. If a limit is set, instructions check it first, and an access past it is a fault.

use crate::exec::machine::barrier::WorkgroupBarrier;
use crate::exec::values::row::{POISON, Row};
use crate::memory::groups::GroupOffsets;
use crate::memory::lanes::{LaneOffsets, Vectors};

/// The most LDS that a workgroup has on any part, in bytes.
pub(crate) const MAX_LDS: usize = 160 * 1024;
/// Bytes past the end. They are always zero, so that a read past the end needs no branch.
const BEYOND: usize = 16;

/// The LDS of one workgroup.
pub(crate) struct Lds {
    /// All bytes of the largest LDS; zero from `size` on.
    bytes: Box<[u8; MAX_LDS + BEYOND]>,
    size: usize,
    /// An access that ends past this offset is a fault.
    limit: u64,
    /// The workgroup's barrier, which its waves share too.
    pub(crate) barrier: WorkgroupBarrier,
}

impl Lds {
    /// LDS of no size.
    pub(crate) fn new() -> Self {
        Self {
            bytes: Box::new([0; MAX_LDS + BEYOND]),
            size: 0,
            limit: u64::MAX,
            barrier: WorkgroupBarrier::of(1),
        }
    }

    /// Sets its size in bytes, and fills it with poison.
    pub(crate) fn reset(&mut self, size: usize) {
        let size = size.min(MAX_LDS);
        self.bytes[..size].fill(POISON as u8);
        if size < self.size {
            self.bytes[size..self.size].fill(0);
        }
        self.size = size;
        self.limit = u64::MAX;
    }

    /// Makes an access that ends past the first `limit` bytes a fault.
    pub(crate) fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// The offset at which accesses must end.
    #[inline(always)]
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Its size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.size
    }

    /// `N` bytes at an address, at most 16; zero past the end.
    #[inline(always)]
    pub(crate) fn load<const N: usize>(&self, address: u64) -> [u8; N] {
        const { assert!(N <= BEYOND) };
        let start = address.min(MAX_LDS as u64) as usize;
        std::array::from_fn(|index| self.bytes[start + index])
    }

    /// `N` times four bytes at an address, at most 16; zero past the end.
    #[inline(always)]
    pub(crate) fn load_dwords<const N: usize>(&self, address: u64) -> [u32; N] {
        const { assert!(4 * N <= BEYOND) };
        let start = address.min(MAX_LDS as u64) as usize;
        let bytes = &self.bytes[start..start + 4 * N];
        let mut dwords = [0; N];
        for (dword, bytes) in dwords.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *dword = u32::from_le_bytes(*bytes);
        }
        dwords
    }

    /// Whether `N` dwords at each lane's offset are in bounds, and no fault.
    #[inline(always)]
    pub(crate) fn holds<const N: usize>(&self, lanes: &LaneOffsets<'_, N>) -> bool {
        u64::from(lanes.least()) + lanes.len() <= self.limit.min(self.size as u64)
    }

    /// Reads `N` dwords at each lane's offset into rows. Reads nothing and returns `false` unless [`holds`](Self::holds) says
    /// that they are there.
    #[inline(always)]
    pub(crate) fn load_lanes<const N: usize>(
        &self,
        lanes: &LaneOffsets<'_, N>,
        rows: &mut [Row; N],
        vectors: impl Vectors,
    ) -> bool {
        let bytes = self.bytes.get(lanes.least() as usize..self.size).unwrap_or_default();
        self.holds(lanes) && lanes.load_slice(bytes, rows, vectors)
    }

    /// Whether the dwords `distance` bytes behind each lane's offset are in bounds, and no fault.
    #[inline(always)]
    pub(crate) fn holds_whole<const GROUPS: usize>(
        &self,
        lanes: &GroupOffsets<GROUPS>,
        distance: u32,
    ) -> bool {
        let first = u64::from(lanes.least()) + u64::from(distance);
        distance.is_multiple_of(4) && first + lanes.len() <= self.limit.min(self.size as u64)
    }

    /// Reads a dword for each lane, `distance` bytes behind the lane's offset. Reads nothing and returns `false` unless
    /// [`holds_whole`](Self::holds_whole) says that they are there.
    #[inline(always)]
    pub(crate) fn load_whole<const GROUPS: usize>(
        &self,
        lanes: &GroupOffsets<GROUPS>,
        distance: u32,
        row: &mut Row,
        vectors: impl Vectors,
    ) -> bool {
        if !self.holds_whole(lanes, distance) {
            return false;
        }
        let first = lanes.least() as usize + distance as usize;
        lanes.load_slice(self.bytes.get(first..self.size).unwrap_or_default(), row, vectors)
    }

    /// Writes a dword for each lane, `distance` bytes behind the lane's offset. Writes nothing and returns `false` unless
    /// [`holds_whole`](Self::holds_whole) says that they are there.
    #[inline(always)]
    pub(crate) fn store_whole<const GROUPS: usize>(
        &mut self,
        lanes: &GroupOffsets<GROUPS>,
        distance: u32,
        row: &Row,
        vectors: impl Vectors,
    ) -> bool {
        if !self.holds_whole(lanes, distance) {
            return false;
        }
        let first = lanes.least() as usize + distance as usize;
        lanes.store_slice(self.bytes.get_mut(first..self.size).unwrap_or_default(), row, vectors)
    }

    /// Writes `N` dwords at each lane's offset, lane by lane. Writes nothing and returns `None` unless
    /// [`holds`](Self::holds) says that they are there.
    #[inline(always)]
    pub(crate) fn store_lanes<const N: usize>(
        &mut self,
        lanes: &LaneOffsets<'_, N>,
        rows: [&Row; N],
        vectors: impl Vectors,
    ) -> Option<()> {
        if !self.holds(lanes) {
            return None;
        }
        lanes.store_slice(self.bytes.get_mut(lanes.least() as usize..self.size)?, rows, vectors)
    }

    /// Writes `N` bytes at an address, if all of them are in bounds.
    #[inline(always)]
    pub(crate) fn store<const N: usize>(&mut self, address: u64, value: [u8; N]) {
        let inside = self.size.checked_sub(N).is_some_and(|last| address <= last as u64);
        if inside {
            let start = (address as usize).min(MAX_LDS);
            self.bytes[start..start + N].copy_from_slice(&value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_is_zero_and_stays_so() {
        let mut lds = Lds::new();
        lds.reset(1024);
        assert_eq!(lds.load(1020), [POISON as u8; 4]);
        lds.store(1020, [1, 2, 3, 4]);
        lds.store(1022, [9; 4]);
        lds.store(u64::MAX, [9; 4]);
        assert_eq!(lds.load(1020), [1, 2, 3, 4]);
        assert_eq!(lds.load(1022), [3, 4, 0, 0]);
        assert_eq!(lds.load(MAX_LDS as u64 - 2), [0; 4]);
        assert_eq!(lds.load(u64::MAX), [0; 8]);
        lds.reset(512);
        assert_eq!(lds.load(1020), [0; 4], "a smaller workgroup must not see data of a larger one");
        lds.reset(0);
        lds.store(0, [1]);
        assert_eq!(lds.load(0), [0; 4]);
    }

    #[test]
    fn every_part_has_all_its_bytes() {
        for part in crate::Part::all() {
            let last = u64::from(part.lds) - 4;
            let mut lds = Lds::new();
            lds.reset(part.lds as usize);
            lds.store(last, [1, 2, 3, 4]);
            assert_eq!(lds.load(last), [1, 2, 3, 4], "{}", part.name());
        }
    }
}
