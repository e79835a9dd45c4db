// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads and stores of a dword of each lane of a wave whose groups of eight lie side by side or share one dword. The rules of
//! [`lanes`](super::lanes) hold.

use super::access::Span;
use super::lanes::{GROUP, Row, Spacing, Vectors, groups, load, steps, store};

/// The distance from the first lane of a group to its last, if they lie side by side.
const LAST: u32 = 4 * (GROUP as u32 - 1);

/// The offsets of all lanes from a common address, multiples of four. A wave has this many groups.
pub(crate) struct GroupOffsets<const GROUPS: usize> {
    /// The offset of each group's first lane.
    firsts: [u32; GROUPS],
    /// Whether the lanes of a group share their dword.
    shared: [bool; GROUPS],
    least: u32,
    len: u64,
}

impl<const GROUPS: usize> GroupOffsets<GROUPS> {
    /// `None` if an offset is no multiple of four, or if the lanes of a group lie in another way.
    #[inline(always)]
    pub(crate) fn new(offsets: &Row, vectors: impl Vectors) -> Option<Self> {
        let (mut firsts, mut shared) = ([0; GROUPS], [false; GROUPS]);
        let (mut least, mut greatest, mut bits) = (u32::MAX, 0, 0);
        for (group, offsets) in groups(offsets).iter().take(GROUPS).enumerate() {
            let first = offsets[0];
            let last = match vectors.spacing(offsets, const { &steps(4) }) {
                Spacing::Steps => first.checked_add(LAST)?,
                Spacing::None => first,
                Spacing::Other => return None,
            };
            (firsts[group], shared[group]) = (first, last == first);
            (least, greatest, bits) = (least.min(first), greatest.max(last), bits | first);
        }
        let len = u64::from(greatest - least) + 4;
        bits.is_multiple_of(4).then_some(Self { firsts, shared, least, len })
    }

    /// The least offset.
    #[inline(always)]
    pub(crate) fn least(&self) -> u32 {
        self.least
    }

    /// The bytes from the least offset to the end of the last access.
    #[inline(always)]
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads a dword for each lane, from a span whose first byte is at the least offset. Reads nothing and returns
    /// `false` if the span is too short or its bytes are not aligned.
    #[inline(always)]
    pub(crate) fn load(&self, span: &Span<'_>, row: &mut Row, vectors: impl Vectors) -> bool {
        let (bytes, len) = span.raw();
        if len < self.len || !bytes.addr().is_multiple_of(4) {
            return false;
        }
        // SAFETY: the span holds the bytes of all lanes, as was just checked, under the module's rules.
        unsafe { self.load_from(bytes, row, vectors) };
        true
    }

    /// As [`load`](Self::load), from bytes of the host.
    #[inline(always)]
    pub(crate) fn load_slice(&self, bytes: &[u8], row: &mut Row, vectors: impl Vectors) -> bool {
        if (bytes.len() as u64) < self.len || !bytes.as_ptr().addr().is_multiple_of(4) {
            return false;
        }
        // SAFETY: the slice holds the bytes of all lanes, as was just checked.
        unsafe { self.load_from(bytes.as_ptr().cast_mut(), row, vectors) };
        true
    }

    /// Writes a dword of each lane in their order, to a span whose first byte is at the least offset. Writes nothing and returns
    /// `false` if the span is too short or its bytes are not aligned.
    #[inline(always)]
    pub(crate) fn store(&self, span: &Span<'_>, row: &Row, vectors: impl Vectors) -> bool {
        let (bytes, len) = span.raw();
        if len < self.len || !bytes.addr().is_multiple_of(4) {
            return false;
        }
        // SAFETY: the span holds the bytes of all lanes, as was just checked, under the module's rules.
        unsafe { self.store_to(bytes, row, vectors) };
        true
    }

    /// As [`store`](Self::store), to bytes of the host.
    #[inline(always)]
    pub(crate) fn store_slice(&self, bytes: &mut [u8], row: &Row, vectors: impl Vectors) -> bool {
        if (bytes.len() as u64) < self.len || !bytes.as_ptr().addr().is_multiple_of(4) {
            return false;
        }
        // SAFETY: the slice holds the bytes of all lanes, as was just checked.
        unsafe { self.store_to(bytes.as_mut_ptr(), row, vectors) };
        true
    }

    /// # Safety
    /// `bytes` is aligned to four bytes, and valid for writes of [`len`](Self::len) bytes under the module's rules.
    #[inline(always)]
    unsafe fn store_to(&self, bytes: *mut u8, row: &Row, vectors: impl Vectors) {
        for (group, words) in groups(row).iter().take(GROUPS).enumerate() {
            let to = bytes.wrapping_add((self.firsts[group] - self.least) as usize).cast::<u32>();
            if self.shared[group] {
                // SAFETY: the dword of each lane of the group, of which the last one writes last.
                unsafe { store(to, words[GROUP - 1]) };
            } else {
                // SAFETY: the accesses of the group's lanes follow each other, so these dwords are theirs.
                unsafe { vectors.put_group(to, words) };
            }
        }
    }

    /// # Safety
    /// `bytes` is aligned to four bytes, and valid for reads of [`len`](Self::len) bytes under the module's rules.
    #[inline(always)]
    unsafe fn load_from(&self, bytes: *mut u8, row: &mut Row, vectors: impl Vectors) {
        for (group, words) in row.as_chunks_mut::<GROUP>().0.iter_mut().take(GROUPS).enumerate() {
            let from = bytes.wrapping_add((self.firsts[group] - self.least) as usize).cast::<u32>();
            if self.shared[group] {
                // SAFETY: the dword of each lane of the group.
                *words = [unsafe { load(from) }; GROUP];
            } else {
                // SAFETY: the accesses of the group's lanes follow each other, so these dwords are theirs.
                unsafe { vectors.move_group(words, from) };
            }
        }
    }
}
