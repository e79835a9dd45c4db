// SPDX-License-Identifier: MIT OR Apache-2.0
//! The accesses of all lanes of a wave to one range of bytes: checked together, and moved together where lanes lie side by
//! side.
//!
//! The rules of [`access`](super::access) hold here too. On x86-64, groups of lanes are moved by machine code of this
//! module. Unlike plain reads and writes of Rust, it may race with other threads: the processor moves each aligned dword at
//! once.

use super::access::Span;
use crate::lane_mask::LaneMask;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::arch::{
    asm,
    x86_64::{
        _mm256_add_epi32, _mm256_loadu_si256, _mm256_or_si256, _mm256_set1_epi32, _mm256_setzero_si256,
        _mm256_sub_epi32, _mm256_testz_si256, _mm256_xor_si256,
    },
};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

const LANES: usize = 64;
/// Lanes that are moved together.
pub(super) const GROUP: usize = 8;

pub(super) type Row = [u32; LANES];

/// How the offsets of a group follow the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// By the given steps.
    Steps,
    /// They are the same.
    None,
    /// In another way.
    Other,
}

/// The groups of a row.
#[inline(always)]
pub(super) fn groups(row: &Row) -> &[[u32; GROUP]] {
    row.as_chunks().0
}

/// A group of lanes at a time, by the vectors of a processor.
pub(crate) trait Vectors: Copy {
    /// Whether each lane's word is that of the lane before it plus `distance`, modulo 2^32.
    #[inline(always)]
    fn is_spaced<const COUNT: usize>(self, row: &[u32; COUNT], distance: u32) -> bool {
        let mut wrong = 0;
        for (lane, word) in (0..).zip(row) {
            wrong |= word ^ row[0].wrapping_add(distance.wrapping_mul(lane));
        }
        wrong == 0
    }

    /// How the offsets of a group follow the first one.
    #[inline(always)]
    fn spacing(self, offsets: &[u32; GROUP], steps: &[u32; GROUP]) -> Spacing {
        let (mut unlike, mut uneven) = (0, 0);
        for (offset, step) in offsets.iter().zip(steps) {
            let distance = offset.wrapping_sub(offsets[0]);
            unlike |= distance;
            uneven |= distance ^ step;
        }
        match (uneven, unlike) {
            (0, _) => Spacing::Steps,
            (_, 0) => Spacing::None,
            _ => Spacing::Other,
        }
    }

    /// Reads a group.
    ///
    /// # Safety
    /// `from` is aligned to four bytes, and valid for reads of the group under the module's rules.
    #[inline(always)]
    unsafe fn move_group(self, to: &mut [u32; GROUP], from: *mut u32) {
        for (index, word) in to.iter_mut().enumerate() {
            // SAFETY: by contract.
            *word = unsafe { load(from.wrapping_add(index)) };
        }
    }

    /// Writes a group.
    ///
    /// # Safety
    /// `to` is aligned to four bytes, and valid for writes of the group under the module's rules.
    #[inline(always)]
    unsafe fn put_group(self, to: *mut u32, from: &[u32; GROUP]) {
        for (index, word) in from.iter().enumerate() {
            // SAFETY: by contract.
            unsafe { store(to.wrapping_add(index), *word) };
        }
    }
}

/// Dword by dword, on every processor.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Vectors for Portable {}

/// By the vectors of AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// For code that runs only where AVX2 is.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

#[cfg(all(target_arch = "x86_64", miri))]
impl Vectors for Avx2 {}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Vectors for Avx2 {
    #[inline(always)]
    fn is_spaced<const COUNT: usize>(self, row: &[u32; COUNT], distance: u32) -> bool {
        let steps = steps(distance);
        // SAFETY: the processor has AVX2, as this value proves, and each array has the size of a vector.
        unsafe {
            let between = _mm256_set1_epi32((GROUP as u32 * distance) as i32);
            let first = _mm256_set1_epi32(row[0] as i32);
            let mut expected = _mm256_add_epi32(first, _mm256_loadu_si256(steps.as_ptr().cast()));
            let mut wrong = _mm256_setzero_si256();
            for group in row.as_chunks::<GROUP>().0 {
                let found = _mm256_loadu_si256(group.as_ptr().cast());
                wrong = _mm256_or_si256(wrong, _mm256_xor_si256(found, expected));
                expected = _mm256_add_epi32(expected, between);
            }
            _mm256_testz_si256(wrong, wrong) != 0
        }
    }

    #[inline(always)]
    fn spacing(self, offsets: &[u32; GROUP], steps: &[u32; GROUP]) -> Spacing {
        // SAFETY: the processor has AVX2, as this value proves, and both arrays have the size of a vector.
        unsafe {
            let first = _mm256_set1_epi32(offsets[0] as i32);
            let distances = _mm256_sub_epi32(_mm256_loadu_si256(offsets.as_ptr().cast()), first);
            let uneven = _mm256_xor_si256(distances, _mm256_loadu_si256(steps.as_ptr().cast()));
            if _mm256_testz_si256(uneven, uneven) != 0 {
                return Spacing::Steps;
            }
            if _mm256_testz_si256(distances, distances) != 0 { Spacing::None } else { Spacing::Other }
        }
    }

    #[inline(always)]
    unsafe fn move_group(self, to: &mut [u32; GROUP], from: *mut u32) {
        // SAFETY: the processor has AVX2, as this value proves. The caller vouches for the source.
        unsafe {
            asm!(
                "vmovdqu {group:y}, [{from}]",
                "vmovdqu [{to}], {group:y}",
                group = out(xmm_reg) _,
                from = in(reg) from,
                to = in(reg) to,
                options(nostack, preserves_flags),
            );
        }
    }

    #[inline(always)]
    unsafe fn put_group(self, to: *mut u32, from: &[u32; GROUP]) {
        // SAFETY: the processor has AVX2, as this value proves. The caller vouches for the destination.
        unsafe {
            asm!(
                "vmovdqu {group:y}, [{from}]",
                "vmovdqu [{to}], {group:y}",
                group = out(xmm_reg) _,
                from = in(reg) from,
                to = in(reg) to,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// How the offsets of all lanes follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The accesses of the lanes lie side by side.
    Run,
    /// All lanes have the same offset.
    Same,
    /// Any other.
    Mixed,
}

/// The offset of each active lane's access of `N` dwords from a common address, all multiples of four.
pub(crate) struct LaneOffsets<'a, const N: usize> {
    offsets: &'a Row,
    lanes: LaneMask,
    order: Order,
    /// No offset of an active lane is less.
    least: u32,
    /// No offset of an active lane is greater.
    greatest: u32,
}

impl<'a, const N: usize> LaneOffsets<'a, N> {
    /// The bytes of a lane's access.
    const SIZE: u32 = 4 * N as u32;

    /// The offsets of the lanes in a mask. `None` without lanes, or if an offset is no multiple of four.
    #[inline(always)]
    pub(crate) fn new(offsets: &'a Row, lanes: LaneMask, vectors: impl Vectors) -> Option<Self> {
        if lanes.is_empty() {
            return None;
        }
        let ordered = match lanes {
            LaneMask::WAVE64 => Self::ordered(offsets, vectors),
            LaneMask::WAVE32 => Self::ordered(offsets.first_chunk::<32>()?, vectors),
            _ => None,
        };
        if let Some((order, least, greatest)) = ordered {
            return Some(Self { offsets, lanes, order, least, greatest });
        }
        let (mut least, mut greatest, mut bits) = (u32::MAX, 0, 0);
        if lanes == LaneMask::WAVE64 {
            for offset in offsets {
                least = least.min(*offset);
                greatest = greatest.max(*offset);
                bits |= *offset;
            }
        } else {
            for (offsets, lanes) in offsets.as_chunks::<32>().0.iter().zip(lanes.halves()) {
                for (lane, offset) in offsets.iter().enumerate() {
                    let active = 0u32.wrapping_sub(lanes >> lane & 1);
                    least = least.min(offset | !active);
                    greatest = greatest.max(offset & active);
                    bits |= offset & active;
                }
            }
        }
        if bits % 4 != 0 {
            return None;
        }
        Some(Self { offsets, lanes, order: Order::Mixed, least, greatest })
    }

    /// The order of all lanes of a wave, if they lie side by side or have the same offset; the least offset, and the greatest.
    #[inline(always)]
    fn ordered<const COUNT: usize>(
        offsets: &[u32; COUNT],
        vectors: impl Vectors,
    ) -> Option<(Order, u32, u32)> {
        let [first, last] = [offsets[0], offsets[COUNT - 1]];
        if !first.is_multiple_of(4) {
            return None;
        }
        let run = first.checked_add(Self::SIZE * (COUNT as u32 - 1)) == Some(last);
        if run && vectors.is_spaced(offsets, Self::SIZE) {
            return Some((Order::Run, first, last));
        }
        (first == last && vectors.is_spaced(offsets, 0)).then_some((Order::Same, first, first))
    }

    /// The least offset.
    #[inline(always)]
    pub(crate) fn least(&self) -> u32 {
        self.least
    }

    /// The bytes from the least offset to the end of the last access.
    #[inline(always)]
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.greatest - self.least) + u64::from(Self::SIZE)
    }

    /// Reads `N` dwords for each active lane into rows, from a span whose first byte is at the least offset. Other lanes may
    /// change. Reads nothing and returns `false` if the span is too short or its bytes are not aligned.
    #[inline(always)]
    pub(crate) fn load(&self, span: &Span<'_>, rows: &mut [Row; N], vectors: impl Vectors) -> bool {
        let (first, len) = span.raw();
        if len < self.len() || !first.addr().is_multiple_of(4) {
            return false;
        }
        // SAFETY: the span holds the bytes of all lanes, as was just checked, under the module's rules.
        unsafe { self.load_from(first, rows, vectors) };
        true
    }

    /// Writes `N` dwords of each active lane, lane by lane, to a span whose first byte is at the least offset. Writes nothing
    /// and returns `None` if the span is too short or its bytes are not aligned.
    #[inline(always)]
    pub(crate) fn store(&self, span: &Span<'_>, rows: [&Row; N], vectors: impl Vectors) -> Option<()> {
        let (first, len) = span.raw();
        if len < self.len() || !first.addr().is_multiple_of(4) {
            return None;
        }
        // SAFETY: the span holds the bytes of all lanes, as was just checked, under the module's rules.
        unsafe { self.store_to(first, rows, vectors) };
        Some(())
    }

    /// As [`load`](Self::load), from bytes of the host.
    #[inline(always)]
    pub(crate) fn load_slice(&self, bytes: &[u8], rows: &mut [Row; N], vectors: impl Vectors) -> bool {
        if (bytes.len() as u64) < self.len() || !bytes.as_ptr().addr().is_multiple_of(4) {
            return false;
        }
        // SAFETY: the slice holds the bytes of all lanes, as was just checked.
        unsafe { self.load_from(bytes.as_ptr().cast_mut(), rows, vectors) };
        true
    }

    /// As [`store`](Self::store), to bytes of the host.
    #[inline(always)]
    pub(crate) fn store_slice(&self, bytes: &mut [u8], rows: [&Row; N], vectors: impl Vectors) -> Option<()> {
        if (bytes.len() as u64) < self.len() || !bytes.as_ptr().addr().is_multiple_of(4) {
            return None;
        }
        // SAFETY: the slice holds the bytes of all lanes, as was just checked.
        unsafe { self.store_to(bytes.as_mut_ptr(), rows, vectors) };
        Some(())
    }

    /// The place of a lane's access.
    #[inline(always)]
    fn place(&self, bytes: *mut u8, lane: usize) -> *mut u32 {
        bytes.wrapping_add(self.offsets[lane].wrapping_sub(self.least) as usize).cast()
    }

    /// The offsets of the wave's groups, if all its lanes are active, and the offsets of no group can wrap.
    #[inline(always)]
    fn whole(&self) -> Option<&'a [[u32; GROUP]]> {
        let groups = match self.lanes {
            LaneMask::WAVE64 => groups(self.offsets),
            LaneMask::WAVE32 => &groups(self.offsets)[..32 / GROUP],
            _ => return None,
        };
        (self.greatest <= u32::MAX - Self::SIZE * GROUP as u32).then_some(groups)
    }

    /// # Safety
    /// `bytes` is aligned to four bytes, and valid for reads of [`len`](Self::len) bytes under the module's rules.
    #[inline(always)]
    unsafe fn load_from<V: Vectors>(&self, bytes: *mut u8, rows: &mut [Row; N], vectors: V) {
        let Some(groups) = self.whole() else {
            // SAFETY: by contract.
            return unsafe { self.load_each(bytes, rows) };
        };
        if self.order == Order::Same {
            for (index, row) in rows.iter_mut().enumerate() {
                // SAFETY: a dword of every lane.
                *row = [unsafe { load(self.place(bytes, 0).wrapping_add(index)) }; LANES];
            }
            return;
        }
        let run = self.order == Order::Run;
        for (group, offsets) in groups.iter().enumerate() {
            let first = group * GROUP;
            let steps = const { &steps(Self::SIZE) };
            let spacing = if run { Spacing::Steps } else { vectors.spacing(offsets, steps) };
            let from = self.place(bytes, first);
            match (spacing, rows.as_mut_slice()) {
                (Spacing::Steps, [row]) => {
                    // SAFETY: the accesses of the group's lanes follow each other, so these dwords are theirs.
                    unsafe { vectors.move_group(&mut row.as_chunks_mut().0[group], from) };
                }
                (Spacing::Steps, rows) => {
                    let mut words = [[0; GROUP]; N];
                    for (part, words) in words.iter_mut().enumerate() {
                        // SAFETY: as above.
                        unsafe { vectors.move_group(words, from.wrapping_add(part * GROUP)) };
                    }
                    let words = words.as_flattened();
                    for lane in 0..GROUP {
                        for (index, row) in rows.iter_mut().enumerate() {
                            row[first + lane] = words[lane * N + index];
                        }
                    }
                }
                (Spacing::None, rows) => {
                    for (index, row) in rows.iter_mut().enumerate() {
                        // SAFETY: a dword of each lane of the group.
                        row[first..][..GROUP].fill(unsafe { load(from.wrapping_add(index)) });
                    }
                }
                (Spacing::Other, rows) => {
                    for lane in first..first + GROUP {
                        for (index, row) in rows.iter_mut().enumerate() {
                            // SAFETY: a dword of an active lane.
                            row[lane] = unsafe { load(self.place(bytes, lane).wrapping_add(index)) };
                        }
                    }
                }
            }
        }
    }

    /// # Safety
    /// As for [`load_from`](Self::load_from).
    #[inline(never)]
    unsafe fn load_each(&self, bytes: *mut u8, rows: &mut [Row; N]) {
        for lane in 0..LANES {
            if !self.lanes.has(lane) {
                continue;
            }
            for (index, row) in rows.iter_mut().enumerate() {
                // SAFETY: a dword of an active lane.
                row[lane] = unsafe { load(self.place(bytes, lane).wrapping_add(index)) };
            }
        }
    }

    /// # Safety
    /// `bytes` is aligned to four bytes, and valid for writes of [`len`](Self::len) bytes under the module's rules.
    #[inline(always)]
    unsafe fn store_to<V: Vectors>(&self, bytes: *mut u8, rows: [&Row; N], vectors: V) {
        let groups = match self.whole() {
            Some(groups) if self.order != Order::Same => groups,
            // SAFETY: by contract.
            _ => return unsafe { self.store_each(bytes, 0..LANES, rows) },
        };
        let run = self.order == Order::Run;
        for (group, offsets) in groups.iter().enumerate() {
            let first = group * GROUP;
            let steps = const { &steps(Self::SIZE) };
            if !run && vectors.spacing(offsets, steps) != Spacing::Steps {
                // SAFETY: by contract.
                unsafe { self.store_each(bytes, first..first + GROUP, rows) };
                continue;
            }
            let to = self.place(bytes, first);
            if let [row] = rows.as_slice() {
                // SAFETY: the accesses of the group's lanes follow each other, so these dwords are theirs.
                unsafe { vectors.put_group(to, &row.as_chunks().0[group]) };
                continue;
            }
            let mut words = [[0; GROUP]; N];
            let flat = words.as_flattened_mut();
            for lane in 0..GROUP {
                for (index, row) in rows.iter().enumerate() {
                    flat[lane * N + index] = row[first + lane];
                }
            }
            for (part, words) in words.iter().enumerate() {
                // SAFETY: as above.
                unsafe { vectors.put_group(to.wrapping_add(part * GROUP), words) };
            }
        }
    }

    /// # Safety
    /// As for [`store_to`](Self::store_to).
    #[inline(never)]
    unsafe fn store_each(&self, bytes: *mut u8, lanes: Range<usize>, rows: [&Row; N]) {
        for lane in lanes {
            if !self.lanes.has(lane) {
                continue;
            }
            for (index, row) in rows.iter().enumerate() {
                // SAFETY: a dword of an active lane.
                unsafe { store(self.place(bytes, lane).wrapping_add(index), row[lane]) };
            }
        }
    }
}

/// The distance of each lane of a group from its first lane, for lanes that are `distance` apart.
pub(super) const fn steps(distance: u32) -> [u32; GROUP] {
    let mut steps = [0; GROUP];
    let mut lane = 0;
    while lane < GROUP {
        steps[lane] = distance * lane as u32;
        lane += 1;
    }
    steps
}

/// # Safety
/// `from` is aligned, and valid for reads under the module's rules.
#[inline(always)]
pub(super) unsafe fn load(from: *mut u32) -> u32 {
    // SAFETY: by contract.
    unsafe { AtomicU32::from_ptr(from) }.load(Ordering::Relaxed)
}

/// # Safety
/// `to` is aligned, and valid for writes under the module's rules.
#[inline(always)]
pub(super) unsafe fn store(to: *mut u32, word: u32) {
    // SAFETY: by contract.
    unsafe { AtomicU32::from_ptr(to) }.store(word, Ordering::Relaxed);
}
