// SPDX-License-Identifier: MIT OR Apache-2.0
//! A row: one 32-bit register of all lanes, and the loops over lanes.

use crate::lane_mask::LaneMask;
use std::mem::MaybeUninit;

/// Lanes in a wave.
pub(crate) const LANES: usize = 64;

/// One 32-bit vector register.
pub(crate) type Row = [u32; LANES];

/// Eight lanes of a register: as many as a vector of AVX2 has.
pub(crate) type Group = [u32; LANES / GROUPS];

/// Groups of a register.
pub(crate) const GROUPS: usize = 8;

/// The content of registers and LDS that were never written.
pub(crate) const POISON: u32 = 0xCBCB_CBCB;

/// A row that is being written lane by lane.
///
/// Hot loops use this rather than closures. A closure that the optimiser does not inline is compiled for the baseline
/// processor.
pub(crate) struct RowBuilder(MaybeUninit<Row>);

impl RowBuilder {
    /// An unwritten row.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// Writes a lane.
    #[inline(always)]
    pub(crate) fn put(&mut self, lane: usize, value: u32) {
        let words: *mut u32 = self.0.as_mut_ptr().cast();
        // SAFETY: the index is below the row's length.
        unsafe { words.add(lane % LANES).write(value) };
    }

    /// The finished row.
    ///
    /// # Safety
    /// Every lane has been written.
    #[inline(always)]
    pub(crate) unsafe fn done(&self) -> &Row {
        // SAFETY: the caller guarantees that every lane is written.
        unsafe { self.0.assume_init_ref() }
    }

    /// The finished row, mutable.
    ///
    /// # Safety
    /// Every lane has been written.
    #[inline(always)]
    pub(crate) unsafe fn done_mut(&mut self) -> &mut Row {
        // SAFETY: the caller guarantees that every lane is written.
        unsafe { self.0.assume_init_mut() }
    }
}

/// Computes a row: `row!(|lane| expression)`.
macro_rules! row {
    (|$lane:ident| $value:expr) => {{
        let mut row = $crate::exec::values::row::RowBuilder::new();
        for $lane in 0..$crate::exec::values::row::LANES {
            let value: u32 = $value;
            row.put($lane, value);
        }
        // SAFETY: the loop wrote every lane.
        unsafe { *row.done() }
    }};
}
pub(crate) use row;

/// Computes a lane mask from a condition: `mask!(|lane| condition)`.
macro_rules! mask {
    (|$lane:ident| $condition:expr) => {{
        let mut flags = [0u8; $crate::exec::values::row::LANES];
        for $lane in 0..$crate::exec::values::row::LANES {
            let flag: bool = $condition;
            flags[$lane] = flag.into();
        }
        $crate::exec::values::row::gathered(&flags)
    }};
}
pub(crate) use mask;

/// A mask of the lanes whose byte is one; the others are zero.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn gathered(flags: &[u8; LANES]) -> LaneMask {
    use std::arch::x86_64::{_mm_movemask_epi8, _mm_set_epi64x, _mm_slli_epi16};
    let mut mask = 0;
    for (index, sixteen) in flags.as_chunks::<16>().0.iter().enumerate() {
        let [low, high] = [0, 8].map(|at| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&sixteen[at..at + 8]);
            i64::from_le_bytes(eight)
        });
        // The lowest bit of each byte becomes its sign.
        // SAFETY: every processor of this architecture has SSE2.
        let signs = unsafe { _mm_movemask_epi8(_mm_slli_epi16::<7>(_mm_set_epi64x(high, low))) };
        mask |= u64::from(signs as u16) << (16 * index);
    }
    LaneMask::of_bits(mask)
}

/// A mask of the lanes whose byte is one; the others are zero.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn gathered(flags: &[u8; LANES]) -> LaneMask {
    let mut mask = 0;
    for (index, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        // The multiplication gathers the low bits of eight bytes in the top byte.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * index);
    }
    LaneMask::of_bits(mask)
}

/// Runs a statement for every lane in a mask.
macro_rules! each_lane {
    ($mask:expr, |$lane:ident| $body:block) => {
        if $mask == $crate::lane_mask::LaneMask::WAVE64 {
            for $lane in 0..$crate::exec::values::row::LANES {
                $body
            }
        } else {
            for $lane in $mask.lanes() {
                $body
            }
        }
    };
}
pub(crate) use each_lane;
