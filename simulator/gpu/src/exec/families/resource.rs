// SPDX-License-Identifier: MIT OR Apache-2.0
//! A buffer resource: the place, the size and the elements of a buffer, in four scalar registers.

use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::{SCRATCH_WINDOW, Wave};
use crate::exec::values::format::Format;
use crate::isa::{InstructionSet, ResourceLayout};

/// A buffer resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource {
    words: [u32; 4],
    layout: ResourceLayout,
}

/// What RDNA compares with the number of records.
const STRUCTURES: u32 = 0;
const RECORDS: u32 = 1;
const NOTHING: u32 = 2;

impl Resource {
    /// The resource in the registers of a source.
    pub(crate) fn read(wave: &Wave, step: &Step, index: usize) -> Self {
        let first = match step.src[index] {
            Source::Scalar(number) => usize::from(number),
            _ => 0,
        };
        let words = std::array::from_fn(|index| wave.s[(first + index) & 127]);
        Self { words, layout: step.inst.set.resources }
    }

    /// Its first address.
    pub(crate) fn base(&self) -> u64 {
        u64::from(self.words[0]) | u64::from(self.words[1] & 0xffff) << 32
    }

    /// Bytes from one record to the next; 0 for a raw buffer.
    pub(crate) fn stride(&self) -> u64 {
        let low = self.words[1] >> 16 & 0x3fff;
        // In GFX9, if lanes are added to the index, the data format holds more bits of the stride.
        let extended = self.layout == ResourceLayout::Gfx9 && self.adds_lane();
        let high = if extended { self.words[3] >> 15 & 15 } else { 0 };
        u64::from(high << 14 | low)
    }

    /// The format of its elements.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn format(&self, set: &InstructionSet) -> Result<Format, &'static str> {
        let word = self.words[3];
        let codes = match self.layout {
            ResourceLayout::Gfx9 => Some((word >> 15, word >> 12)),
            ResourceLayout::Gfx10 | ResourceLayout::Gfx11 => set.buffer_format(word >> 12 & 0x7f),
        };
        let (data, number) = codes.ok_or("an invalid data format")?;
        Format::from_codes(data, number)
    }

    /// The code of the source of a component.
    pub(crate) fn select(&self, component: usize) -> u32 {
        self.words[3] >> (3 * component) & 7
    }

    /// Records; bytes in a raw buffer.
    pub(crate) fn records(&self) -> u64 {
        self.words[2].into()
    }

    /// Its length in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.records() * self.stride().max(1)
    }

    pub(crate) fn is_swizzled(&self) -> bool {
        match self.layout {
            ResourceLayout::Gfx9 | ResourceLayout::Gfx10 => self.words[1] >> 31 != 0,
            ResourceLayout::Gfx11 => self.words[1] >> 30 != 0,
        }
    }

    /// Bytes that stay together in a swizzled buffer.
    pub(crate) fn element(&self) -> u64 {
        match self.layout {
            ResourceLayout::Gfx9 | ResourceLayout::Gfx10 => 4,
            ResourceLayout::Gfx11 => 2 << (self.words[1] >> 30),
        }
    }

    pub(crate) fn adds_lane(&self) -> bool {
        self.words[3] >> 23 & 1 != 0
    }

    /// Whether an instruction without an index counts bytes.
    pub(crate) fn counts_bytes(&self) -> bool {
        self.layout == ResourceLayout::Gfx9 || self.counted() > NOTHING
    }

    /// What RDNA compares with the number of records.
    fn counted(&self) -> u32 {
        self.words[3] >> 28 & 3
    }

    /// Whether it is the resource of private memory, with the dwords of the wave's lanes side by side.
    pub(crate) fn is_private(&self, wave: &Wave) -> bool {
        let interleaves = self.is_swizzled() && self.adds_lane() && self.index_stride() == wave.size() as u64;
        interleaves && self.stride() == 0 && self.base() >> 32 == SCRATCH_WINDOW >> 32
    }

    /// The number of records that are interleaved in a swizzled buffer.
    fn index_stride(&self) -> u64 {
        8 << (self.words[3] >> 21 & 3)
    }

    /// Address of a byte of a record.
    pub(crate) fn address(&self, index: u64, offset: u64, scalar: u64) -> u64 {
        let start = self.base().wrapping_add(scalar);
        if !self.is_swizzled() {
            return start.wrapping_add(index.wrapping_mul(self.stride())).wrapping_add(offset);
        }
        let (group, element) = (self.index_stride(), self.element());
        let major = (index / group).wrapping_mul(self.stride()).wrapping_add(offset / element * element);
        start
            .wrapping_add(major.wrapping_mul(group))
            .wrapping_add(index % group * element)
            .wrapping_add(offset % element)
    }

    /// The number of bytes, of `size` at an offset of a record, that lie in the buffer; whole dwords if
    /// `size` is more than one. `scalar` is the scalar offset. `is_indexed` tells whether
    /// the instruction has an index.
    pub(crate) fn available(&self, index: u64, is_indexed: bool, offset: u64, scalar: u64, size: u64) -> u64 {
        let within = |limit: u64, offset: u64| {
            let left = limit.saturating_sub(offset);
            if left >= size { size } else { left / 4 * 4 }
        };
        if self.layout == ResourceLayout::Gfx9 {
            // The buffer's length counts records for an instruction with an index, else bytes.
            if !is_indexed || self.stride() == 0 {
                return within(self.records(), offset.saturating_add(scalar));
            }
            let inside = index < self.records()
                && (!self.is_swizzled() || offset.checked_add(size).is_some_and(|end| end <= self.stride()));
            return if inside { size } else { 0 };
        }
        let is_record = index < self.records();
        match self.counted() {
            RECORDS => {
                if is_record {
                    size
                } else {
                    0
                }
            }
            NOTHING => {
                if self.records() != 0 {
                    size
                } else {
                    0
                }
            }
            counted if counted == STRUCTURES || self.is_swizzled() && self.stride() != 0 => {
                if is_record {
                    within(self.stride(), offset)
                } else {
                    0
                }
            }
            _ => {
                let before = index.saturating_mul(self.stride());
                within(self.records(), before.saturating_add(offset).saturating_add(scalar))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(stride: u32, records: u32, swizzle: bool) -> Resource {
        let words = [0x1000, stride << 16 | u32::from(swizzle) << 31, records, 0x0002_7000];
        Resource { words, layout: ResourceLayout::Gfx9 }
    }

    /// A resource of RDNA 3 with 20 records of 12 bytes, by the field that says what is counted.
    fn counting(what: u32) -> Resource {
        Resource { words: [0x1000, 12 << 16, 20, what << 28], layout: ResourceLayout::Gfx11 }
    }

    #[test]
    fn a_field_of_rdna_says_what_is_counted() {
        // Structures: the record and the place in it.
        assert_eq!(counting(0).available(19, true, 8, 0, 4), 4);
        assert_eq!(counting(0).available(19, true, 12, 0, 4), 0);
        assert_eq!(counting(0).available(19, true, 4, 0, 16), 8, "dword by dword");
        assert_eq!(counting(0).available(20, true, 0, 0, 4), 0);
        // The record alone.
        assert_eq!(counting(1).available(19, true, 400, 0, 4), 4);
        assert_eq!(counting(1).available(20, true, 0, 0, 4), 0);
        // Whether there is any.
        assert_eq!(counting(2).available(999, true, 999, 0, 4), 4);
        let none = Resource { words: [0x1000, 0, 0, 2 << 28], layout: ResourceLayout::Gfx11 };
        assert_eq!(none.available(0, false, 0, 0, 4), 0);
        // Bytes, with those of the records before.
        assert_eq!(counting(3).available(1, true, 4, 0, 4), 4);
        assert_eq!(counting(3).available(1, true, 8, 0, 4), 0);
        assert_eq!(counting(3).available(0, false, 12, 4, 16), 4);
    }

    #[test]
    fn elements_of_rdna_3_have_a_size() {
        // Two interleaved groups of eight records: elements of 8 bytes.
        let words = [0x1000, 2 << 30 | 16 << 16, 64, 0];
        let swizzled = Resource { words, layout: ResourceLayout::Gfx11 };
        assert!(swizzled.is_swizzled());
        assert_eq!(swizzled.element(), 8);
        let sixteen = Resource { words: [0x1000, 3 << 30, 64, 0], ..swizzled };
        assert_eq!(sixteen.element(), 16);
        assert_eq!(Resource { layout: ResourceLayout::Gfx10, ..sixteen }.element(), 4);
        assert_eq!(swizzled.address(1, 4, 0), 0x1000 + 8 + 4);
        assert_eq!(swizzled.address(8, 8, 0), 0x1000 + (16 + 8) * 8);
        let plain = Resource { words: [0x1000, 1 << 30, 64, 0], layout: ResourceLayout::Gfx10 };
        assert!(!plain.is_swizzled(), "the bit is of a cache");
    }

    #[test]
    fn a_stride_of_rdna_has_fourteen_bits() {
        let words = [0, 4 << 16, 0, 1 << 23 | 0xf << 15];
        let stride = |layout| Resource { words, layout }.stride();
        assert_eq!(stride(ResourceLayout::Gfx9), 0xf << 14 | 4);
        assert_eq!(stride(ResourceLayout::Gfx11), 4);
    }

    #[test]
    fn raw_buffers_end_dword_by_dword() {
        let raw = resource(0, 22, false);
        assert_eq!(raw.available(0, false, 0, 0, 16), 16);
        assert_eq!(raw.available(0, false, 8, 0, 16), 12);
        assert_eq!(raw.available(0, false, 8, 8, 16), 4);
        assert_eq!(raw.available(0, false, 20, 0, 2), 2);
        assert_eq!(raw.available(0, false, 20, 0, 4), 0);
        assert_eq!(raw.available(0, false, 0x8000_0000, 0, 4), 0);
        assert_eq!(raw.bytes(), 22);
    }

    #[test]
    fn records_are_counted_where_there_is_a_stride() {
        let records = resource(16, 4, false);
        assert_eq!(records.available(3, true, 12, 0, 4), 4);
        assert_eq!(records.available(4, true, 0, 0, 4), 0);
        assert_eq!(records.available(0, false, 4, 0, 4), 0, "without an index there are 4 bytes");
        assert_eq!(records.address(3, 12, 100), 0x1000 + 48 + 12 + 100);
        assert_eq!(records.bytes(), 64);
        let swizzled = resource(16, 64, true);
        assert_eq!(swizzled.available(0, true, 14, 0, 4), 0);
        // Eight records interleave their dwords.
        assert_eq!(swizzled.address(1, 0, 0), 0x1004);
        assert_eq!(swizzled.address(0, 4, 0), 0x1000 + 4 * 8);
        assert_eq!(swizzled.address(8, 1, 0), 0x1000 + 16 * 8 + 1);
    }
}
