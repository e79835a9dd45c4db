// SPDX-License-Identifier: MIT OR Apache-2.0
//! Moving data between registers and an address space, lane by lane.

use super::lds::Lds;
use super::shape::{Part, Place};
use super::state::{Lanes, POISON, Row, VECTORS};
use crate::memory::access::Span;

/// The addresses of all lanes; those of inactive lanes mean nothing.
pub(crate) type Addresses = [u64; 64];

/// Something that lanes read and write. Accesses are in bounds or harmless.
pub(crate) trait Space {
    /// One byte.
    fn load8(&self, lane: usize, address: u64) -> u8;
    /// Two bytes.
    fn load16(&self, lane: usize, address: u64) -> u16;
    /// Four bytes.
    fn load32(&self, lane: usize, address: u64) -> u32;
    /// One byte.
    fn store8(&mut self, lane: usize, address: u64, value: u8);
    /// Two bytes.
    fn store16(&mut self, lane: usize, address: u64, value: u16);
    /// Four bytes.
    fn store32(&mut self, lane: usize, address: u64, value: u32);
}

impl Space for Span<'_> {
    #[inline(always)]
    fn load8(&self, _: usize, address: u64) -> u8 {
        self.load(address)
    }

    #[inline(always)]
    fn load16(&self, _: usize, address: u64) -> u16 {
        self.load(address)
    }

    #[inline(always)]
    fn load32(&self, _: usize, address: u64) -> u32 {
        self.load(address)
    }

    #[inline(always)]
    fn store8(&mut self, _: usize, address: u64, value: u8) {
        self.store(address, value);
    }

    #[inline(always)]
    fn store16(&mut self, _: usize, address: u64, value: u16) {
        self.store(address, value);
    }

    #[inline(always)]
    fn store32(&mut self, _: usize, address: u64, value: u32) {
        self.store(address, value);
    }
}

impl Space for Lds {
    #[inline(always)]
    fn load8(&self, _: usize, address: u64) -> u8 {
        u8::from_le_bytes(self.load(address))
    }

    #[inline(always)]
    fn load16(&self, _: usize, address: u64) -> u16 {
        u16::from_le_bytes(self.load(address))
    }

    #[inline(always)]
    fn load32(&self, _: usize, address: u64) -> u32 {
        u32::from_le_bytes(self.load(address))
    }

    #[inline(always)]
    fn store8(&mut self, _: usize, address: u64, value: u8) {
        self.store(address, value.to_le_bytes());
    }

    #[inline(always)]
    fn store16(&mut self, _: usize, address: u64, value: u16) {
        self.store(address, value.to_le_bytes());
    }

    #[inline(always)]
    fn store32(&mut self, _: usize, address: u64, value: u32) {
        self.store(address, value.to_le_bytes());
    }
}

/// Private memory: one row per dword, so that all lanes of a dword lie together.
pub(crate) struct Private<'a>(pub(crate) &'a mut Vec<Row>);

impl Private<'_> {
    fn byte(&self, lane: usize, address: u64) -> u8 {
        let word = self.0.get((address / 4) as usize).map_or(0, |row| row[lane]);
        (word >> (address % 4 * 8)) as u8
    }

    fn set_byte(&mut self, lane: usize, address: u64, value: u8) {
        if let Some(row) = self.0.get_mut((address / 4) as usize) {
            let shift = address % 4 * 8;
            row[lane] = row[lane] & !(0xff << shift) | u32::from(value) << shift;
        }
    }

    /// Makes room for a lane's first `size` bytes.
    pub(crate) fn grow(&mut self, size: u64) {
        let rows = (size as usize).div_ceil(4);
        if self.0.len() < rows {
            self.0.resize(rows, [POISON; 64]);
        }
    }
}

impl Space for Private<'_> {
    #[inline(always)]
    fn load8(&self, lane: usize, address: u64) -> u8 {
        self.byte(lane, address)
    }

    #[inline(always)]
    fn load16(&self, lane: usize, address: u64) -> u16 {
        u16::from_le_bytes([self.byte(lane, address), self.byte(lane, address + 1)])
    }

    #[inline(always)]
    fn load32(&self, lane: usize, address: u64) -> u32 {
        if address.is_multiple_of(4) {
            return self.0.get((address / 4) as usize).map_or(0, |row| row[lane]);
        }
        u32::from_le_bytes([0, 1, 2, 3].map(|index| self.byte(lane, address + index)))
    }

    #[inline(always)]
    fn store8(&mut self, lane: usize, address: u64, value: u8) {
        self.set_byte(lane, address, value);
    }

    #[inline(always)]
    fn store16(&mut self, lane: usize, address: u64, value: u16) {
        for (index, byte) in (0..).zip(value.to_le_bytes()) {
            self.set_byte(lane, address + index, byte);
        }
    }

    #[inline(always)]
    fn store32(&mut self, lane: usize, address: u64, value: u32) {
        if address.is_multiple_of(4) {
            if let Some(row) = self.0.get_mut((address / 4) as usize) {
                row[lane] = value;
            }
            return;
        }
        for (index, byte) in (0..).zip(value.to_le_bytes()) {
            self.set_byte(lane, address + index, byte);
        }
    }
}

/// Loads a part at each lane's address into the registers from `dst` on.
#[inline(always)]
pub(crate) fn load(
    space: &impl Space,
    vectors: &mut [Row; VECTORS],
    dst: u16,
    part: Part,
    addresses: &Addresses,
    mask: u64,
) {
    let number = |index: usize| (usize::from(dst) + index) & (VECTORS - 1);
    match part {
        Part::Dwords(count) => {
            for index in 0..usize::from(count) {
                let row = &mut vectors[number(index)];
                let offset = index as u64 * 4;
                if mask == !0 {
                    for lane in 0..64 {
                        row[lane] = space.load32(lane, addresses[lane].wrapping_add(offset));
                    }
                } else {
                    for lane in Lanes(mask) {
                        row[lane] = space.load32(lane, addresses[lane].wrapping_add(offset));
                    }
                }
            }
        }
        Part::Byte(place) => {
            let row = &mut vectors[number(0)];
            for lane in Lanes(mask) {
                let byte = space.load8(lane, addresses[lane]);
                row[lane] = match place {
                    Place::Unsigned => byte.into(),
                    Place::Signed => byte as i8 as u32,
                    Place::LowHalf { signed } => row[lane] & 0xffff_0000 | extended(byte, signed),
                    Place::HighHalf { signed } => row[lane] & 0xffff | extended(byte, signed) << 16,
                };
            }
        }
        Part::Short(place) => {
            let row = &mut vectors[number(0)];
            for lane in Lanes(mask) {
                let short = space.load16(lane, addresses[lane]);
                row[lane] = match place {
                    Place::Unsigned => short.into(),
                    Place::Signed => short as i16 as u32,
                    Place::LowHalf { .. } => row[lane] & 0xffff_0000 | u32::from(short),
                    Place::HighHalf { .. } => row[lane] & 0xffff | u32::from(short) << 16,
                };
            }
        }
    }
}

/// Stores a part of the registers from `src` on at each lane's address.
#[inline(always)]
pub(crate) fn store(
    space: &mut impl Space,
    vectors: &[Row; VECTORS],
    src: u16,
    part: Part,
    addresses: &Addresses,
    mask: u64,
) {
    let row = |index: usize| &vectors[(usize::from(src) + index) & (VECTORS - 1)];
    let high = |place| if matches!(place, Place::HighHalf { .. }) { 16 } else { 0 };
    match part {
        // Lane by lane: where lanes overlap, the last one wins as a whole.
        Part::Dwords(count) => {
            for lane in Lanes(mask) {
                for index in 0..usize::from(count) {
                    let address = addresses[lane].wrapping_add(index as u64 * 4);
                    space.store32(lane, address, row(index)[lane]);
                }
            }
        }
        Part::Byte(place) => {
            for lane in Lanes(mask) {
                space.store8(lane, addresses[lane], (row(0)[lane] >> high(place)) as u8);
            }
        }
        Part::Short(place) => {
            for lane in Lanes(mask) {
                space.store16(lane, addresses[lane], (row(0)[lane] >> high(place)) as u16);
            }
        }
    }
}

fn extended(byte: u8, signed: bool) -> u32 {
    if signed { u32::from(byte as i8 as i16 as u16) } else { byte.into() }
}
