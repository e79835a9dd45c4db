// SPDX-License-Identifier: MIT OR Apache-2.0
//! Moving data between registers and an address space, lane by lane.

use crate::exec::machine::lds::Lds;
use crate::exec::machine::shape::{RegisterPlace, Width};
use crate::exec::machine::wave::VECTORS;
use crate::exec::values::row::{POISON, Row, each_lane};
use crate::lane_mask::LaneMask;
use crate::memory::access::Span;

/// The addresses of all lanes. The addresses of inactive lanes are not used.
pub(crate) type Addresses = [u64; 64];

/// Memory that lanes read and write. Accesses out of bounds are harmless.
pub(crate) trait Space {
    /// One byte.
    fn load8(&self, lane: usize, address: u64) -> u8;
    /// Two bytes.
    fn load16(&self, lane: usize, address: u64) -> u16;
    /// Four bytes.
    fn load32(&self, lane: usize, address: u64) -> u32;
    /// `N` consecutive dwords.
    #[inline(always)]
    fn load_dwords<const N: usize>(&self, lane: usize, address: u64) -> [u32; N] {
        let mut dwords = [0; N];
        for (index, dword) in dwords.iter_mut().enumerate() {
            *dword = self.load32(lane, address.wrapping_add(index as u64 * 4));
        }
        dwords
    }
    /// One byte.
    fn store8(&mut self, lane: usize, address: u64, value: u8);
    /// Two bytes.
    fn store16(&mut self, lane: usize, address: u64, value: u16);
    /// Four bytes.
    fn store32(&mut self, lane: usize, address: u64, value: u32);
    /// Writes `N` consecutive dwords.
    #[inline(always)]
    fn store_dwords<const N: usize>(&mut self, lane: usize, address: u64, dwords: [u32; N]) {
        for (index, dword) in dwords.into_iter().enumerate() {
            self.store32(lane, address.wrapping_add(index as u64 * 4), dword);
        }
    }
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
    fn load_dwords<const N: usize>(&self, _: usize, address: u64) -> [u32; N] {
        Span::load_dwords(self, address)
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

    #[inline(always)]
    fn store_dwords<const N: usize>(&mut self, _: usize, address: u64, dwords: [u32; N]) {
        Span::store_dwords(self, address, dwords);
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
    fn load_dwords<const N: usize>(&self, _: usize, address: u64) -> [u32; N] {
        Lds::load_dwords(self, address)
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

/// Private memory: one row per dword, so that a dword's lanes are contiguous.
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

    /// Grows the memory to a lane's first `size` bytes.
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

/// The address of each lane. It may be in a register that the instruction overwrites lane by lane.
pub(crate) trait Address {
    /// The address of a lane.
    fn of_lane(&self, vectors: &[Row; VECTORS], lane: usize) -> u64;
}

impl Address for Addresses {
    #[inline(always)]
    fn of_lane(&self, _: &[Row; VECTORS], lane: usize) -> u64 {
        self[lane]
    }
}

/// An address in a 32-bit register, and an offset whose addition wraps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InRegister {
    /// The register. Without one the address is the offset.
    pub(crate) number: Option<u16>,
    /// The offset.
    pub(crate) offset: u32,
}

impl Address for InRegister {
    #[inline(always)]
    fn of_lane(&self, vectors: &[Row; VECTORS], lane: usize) -> u64 {
        let base = self.number.map_or(0, |number| vectors[usize::from(number) & (VECTORS - 1)][lane]);
        base.wrapping_add(self.offset).into()
    }
}

/// Loads a part at each lane's address into the registers from `dst` on.
#[inline(always)]
pub(crate) fn load(
    space: &impl Space,
    vectors: &mut [Row; VECTORS],
    dst: u16,
    part: Width,
    addresses: &impl Address,
    mask: LaneMask,
) {
    let number = |index: usize| (usize::from(dst) + index) & (VECTORS - 1);
    let place = |old: u32, place, value: u32, signed: u32| {
        let half = |is_signed| if is_signed { signed & 0xffff } else { value };
        match place {
            RegisterPlace::Unsigned => value,
            RegisterPlace::Signed => signed,
            RegisterPlace::LowHalf { signed, keeps } => {
                half(signed) | if keeps { old & 0xffff_0000 } else { 0 }
            }
            RegisterPlace::HighHalf { signed, keeps } => {
                half(signed) << 16 | if keeps { old & 0xffff } else { 0 }
            }
        }
    };
    match part {
        Width::Dwords(1) => load_dwords::<1>(space, vectors, dst, addresses, mask),
        Width::Dwords(2) => load_dwords::<2>(space, vectors, dst, addresses, mask),
        Width::Dwords(3) => load_dwords::<3>(space, vectors, dst, addresses, mask),
        Width::Dwords(_) => load_dwords::<4>(space, vectors, dst, addresses, mask),
        Width::Byte(at) => each_lane!(mask, |lane| {
            let byte = space.load8(lane, addresses.of_lane(vectors, lane));
            let word = &mut vectors[number(0)][lane];
            *word = place(*word, at, byte.into(), byte as i8 as u32);
        }),
        Width::Short(at) => each_lane!(mask, |lane| {
            let short = space.load16(lane, addresses.of_lane(vectors, lane));
            let word = &mut vectors[number(0)][lane];
            *word = place(*word, at, short.into(), short as i16 as u32);
        }),
    }
}

/// Loads `N` dwords at each lane's address.
#[inline(always)]
pub(crate) fn load_dwords<const N: usize>(
    space: &impl Space,
    vectors: &mut [Row; VECTORS],
    dst: u16,
    addresses: &impl Address,
    mask: LaneMask,
) {
    let mut numbers = [0; N];
    for (index, number) in numbers.iter_mut().enumerate() {
        *number = (usize::from(dst) + index) & (VECTORS - 1);
    }
    each_lane!(mask, |lane| {
        let dwords = space.load_dwords::<N>(lane, addresses.of_lane(vectors, lane));
        for index in 0..N {
            vectors[numbers[index]][lane] = dwords[index];
        }
    })
}

/// Stores `N` dwords at each lane's address.
#[inline(always)]
pub(crate) fn store_dwords<const N: usize>(
    space: &mut impl Space,
    vectors: &[Row; VECTORS],
    src: u16,
    addresses: &impl Address,
    mask: LaneMask,
) {
    let mut numbers = [0; N];
    for (index, number) in numbers.iter_mut().enumerate() {
        *number = (usize::from(src) + index) & (VECTORS - 1);
    }
    each_lane!(mask, |lane| {
        let mut dwords = [0; N];
        for index in 0..N {
            dwords[index] = vectors[numbers[index]][lane];
        }
        space.store_dwords(lane, addresses.of_lane(vectors, lane), dwords);
    })
}

/// Stores a part of the registers from `src` on at each lane's address. If lanes overlap, all bytes are the
/// last lane's.
#[inline(always)]
pub(crate) fn store(
    space: &mut impl Space,
    vectors: &[Row; VECTORS],
    src: u16,
    part: Width,
    addresses: &impl Address,
    mask: LaneMask,
) {
    let row = |index: usize| &vectors[(usize::from(src) + index) & (VECTORS - 1)];
    let shift = |place| if matches!(place, RegisterPlace::HighHalf { .. }) { 16 } else { 0 };
    match part {
        Width::Dwords(1) => store_dwords::<1>(space, vectors, src, addresses, mask),
        Width::Dwords(2) => store_dwords::<2>(space, vectors, src, addresses, mask),
        Width::Dwords(3) => store_dwords::<3>(space, vectors, src, addresses, mask),
        Width::Dwords(_) => store_dwords::<4>(space, vectors, src, addresses, mask),
        Width::Byte(place) => each_lane!(mask, |lane| {
            space.store8(lane, addresses.of_lane(vectors, lane), (row(0)[lane] >> shift(place)) as u8);
        }),
        Width::Short(place) => each_lane!(mask, |lane| {
            space.store16(lane, addresses.of_lane(vectors, lane), (row(0)[lane] >> shift(place)) as u16);
        }),
    }
}
