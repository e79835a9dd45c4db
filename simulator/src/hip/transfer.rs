// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies and fills: which side lies where, and the moving of bytes.

use crate::memory::{MemoryError, Place};

use super::code::{Code, Outcome};
use super::failure::Failure;
use super::machine::Machine;

/// Rows of bytes at a distance from each other. A plain range is one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) width: u64,
    pub(crate) count: u64,
    pub(crate) pitch: u64,
}

impl Rows {
    /// One range of bytes.
    pub(crate) fn line(width: u64) -> Self {
        Self { width, count: 1, pitch: width }
    }

    /// # Errors
    /// `INVALID_PITCH_VALUE` where rows would overlap.
    pub(crate) fn new(width: u64, count: u64, pitch: u64) -> Outcome<Self> {
        if count > 1 && pitch < width {
            return Err(Code::INVALID_PITCH_VALUE);
        }
        Ok(Self { width, count, pitch })
    }

    pub(crate) fn is_empty(self) -> bool {
        self.width == 0 || self.count == 0
    }

    /// Bytes from the first to the last one touched.
    fn extent(self) -> Outcome<u64> {
        let gaps = self.count.saturating_sub(1).checked_mul(self.pitch).ok_or(Code::INVALID_VALUE)?;
        gaps.checked_add(self.width).ok_or(Code::INVALID_VALUE)
    }

    fn offsets(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |row| row.wrapping_mul(self.pitch))
    }
}

/// hipMemcpyKind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    Any,
}

impl Direction {
    pub(crate) fn from_number(number: u32) -> Outcome<Self> {
        Ok(match number {
            0 => Self::HostToHost,
            1 => Self::HostToDevice,
            2 => Self::DeviceToHost,
            // 1024 is hipMemcpyDeviceToDeviceNoCU.
            3 | 1024 => Self::DeviceToDevice,
            4 => Self::Any,
            _ => return Err(Code::INVALID_MEMCPY_DIRECTION),
        })
    }
}

/// One side of a copy.
#[derive(Debug)]
enum Side {
    /// An address that the simulator knows: device, pinned, managed or registered memory.
    Known(u64),
    /// Memory of the client's.
    Pageable(*mut u8),
    /// Bytes taken from the client's memory, row after row.
    Captured(Vec<u8>),
}

/// A copy.
#[derive(Debug)]
pub(crate) struct Transfer {
    to: Side,
    to_rows: Rows,
    from: Side,
    from_rows: Rows,
}

// SAFETY: pageable sides are the client's memory. It stays valid and unused by others until the call that made the
// transfer returns, which waits for the transfer; see `needs_waiting`.
unsafe impl Send for Transfer {}

impl Transfer {
    /// A copy of equally many rows of equal width.
    ///
    /// # Errors
    /// `INVALID_VALUE` for null or freed addresses, ranges that leave their allocation, and addresses that do not
    /// suit the direction.
    pub(crate) fn new(
        machine: &Machine,
        to: (u64, Rows),
        from: (u64, Rows),
        direction: Direction,
    ) -> Outcome<Self> {
        let known = |side: &Side| matches!(side, Side::Known(_));
        let (to_rows, from_rows) = (to.1, from.1);
        let to = locate(machine, to.0, to_rows)?;
        let from = locate(machine, from.0, from_rows)?;
        let suits = match direction {
            Direction::HostToHost | Direction::Any => true,
            Direction::HostToDevice => known(&to),
            Direction::DeviceToHost => known(&from),
            Direction::DeviceToDevice => known(&to) && known(&from),
        };
        if !suits {
            return Err(Code::INVALID_VALUE);
        }
        Ok(Self { to, to_rows, from, from_rows })
    }

    /// Takes the bytes of a pageable source now, so that the client may reuse it at once.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY` where there is no room for them.
    ///
    /// # Safety
    /// A pageable source is readable.
    pub(crate) unsafe fn capture(&mut self) -> Outcome<()> {
        let Side::Pageable(source) = self.from else { return Ok(()) };
        let rows = self.from_rows;
        let size = rows.width.checked_mul(rows.count).and_then(|size| usize::try_from(size).ok());
        let size = size.ok_or(Code::OUT_OF_MEMORY)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| Code::OUT_OF_MEMORY)?;
        for offset in rows.offsets() {
            // SAFETY: the caller vouches for the rows.
            let row = unsafe { std::slice::from_raw_parts(source.add(offset as usize), rows.width as usize) };
            bytes.extend_from_slice(row);
        }
        self.from = Side::Captured(bytes);
        self.from_rows = Rows { pitch: rows.width, ..rows };
        Ok(())
    }

    /// Whether the source is the client's memory and the target is not, so that [`capture`](Self::capture) lets the
    /// call return early.
    pub(crate) fn reads_pageable_only(&self) -> bool {
        matches!((&self.to, &self.from), (Side::Known(_), Side::Pageable(_)))
    }

    /// Whether the call must not return before the copy is done: it touches memory that is the client's again after.
    pub(crate) fn needs_waiting(&self) -> bool {
        matches!((&self.to, &self.from), (Side::Pageable(_), _) | (_, Side::Pageable(_)))
    }

    /// Moves the bytes.
    pub(crate) fn run(self, machine: &Machine) -> Result<(), Failure> {
        let moved = self.to_rows.offsets().zip(self.from_rows.offsets());
        for (to, from) in moved {
            self.run_row(machine, to, from).map_err(|error| illegal("a copy", &error))?;
        }
        Ok(())
    }

    fn run_row(&self, machine: &Machine, to: u64, from: u64) -> Result<(), MemoryError> {
        let width = self.to_rows.width;
        let memory = &machine.memory;
        match (&self.to, &self.from) {
            (Side::Known(target), Side::Known(source)) => {
                memory.copy(target.wrapping_add(to), source.wrapping_add(from), width)
            }
            // SAFETY: the client's row is valid until the call returns, which waits.
            (Side::Known(target), Side::Pageable(source)) => unsafe {
                memory.write_raw(target.wrapping_add(to), source.add(from as usize), width)
            },
            // SAFETY: as above.
            (Side::Pageable(target), Side::Known(source)) => unsafe {
                memory.read_raw(source.wrapping_add(from), target.add(to as usize), width)
            },
            (Side::Known(target), Side::Captured(bytes)) => {
                let row = bytes.get(from as usize..).and_then(|rest| rest.get(..width as usize));
                memory.write(target.wrapping_add(to), row.unwrap_or_default())
            }
            // SAFETY: as above; the two may overlap.
            (Side::Pageable(target), Side::Pageable(source)) => unsafe {
                std::ptr::copy(source.add(from as usize), target.add(to as usize), width as usize);
                Ok(())
            },
            // Only a transfer towards known memory captures its source, and nothing writes to captured bytes.
            (Side::Pageable(_), Side::Captured(_)) | (Side::Captured(_), _) => Ok(()),
        }
    }
}

/// A fill with a repeated pattern.
#[derive(Debug)]
pub(crate) struct Fill {
    address: u64,
    rows: Rows,
    pattern: [u8; 4],
    pattern_size: usize,
}

impl Fill {
    /// Fills rows with a value of `pattern_size` bytes: 1, 2 or 4.
    ///
    /// # Errors
    /// `INVALID_VALUE` unless all rows lie in one allocation.
    pub(crate) fn new(
        machine: &Machine,
        address: u64,
        rows: Rows,
        value: u32,
        pattern_size: usize,
    ) -> Outcome<Self> {
        match locate(machine, address, rows)? {
            Side::Known(address) => Ok(Self { address, rows, pattern: value.to_le_bytes(), pattern_size }),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    /// Writes the bytes.
    pub(crate) fn run(self, machine: &Machine) -> Result<(), Failure> {
        let pattern = self.pattern.get(..self.pattern_size).unwrap_or_default();
        for offset in self.rows.offsets() {
            let filled = machine.memory.fill(self.address.wrapping_add(offset), pattern, self.rows.width);
            filled.map_err(|error| illegal("a fill", &error))?;
        }
        Ok(())
    }
}

/// Says where rows lie. Known memory must hold all of them.
fn locate(machine: &Machine, address: u64, rows: Rows) -> Outcome<Side> {
    let extent = rows.extent()?;
    let end = address.checked_add(extent).filter(|_| address != 0).ok_or(Code::INVALID_VALUE)?;
    if let Some(info) = machine.memory.lookup(address) {
        return if end <= info.base.saturating_add(info.size) {
            Ok(Side::Known(address))
        } else {
            Err(Code::INVALID_VALUE)
        };
    }
    // Neither is memory of the client's: the one faults, the other was given back.
    let reserved = machine.memory.device_range().contains(&address);
    if reserved || matches!(machine.memory.place(address), Place::Freed(..)) {
        return Err(Code::INVALID_VALUE);
    }
    Ok(Side::Pageable(address as *mut u8))
}

fn illegal(what: &str, error: &MemoryError) -> Failure {
    Failure::new(Code::ILLEGAL_ADDRESS, format!("{what} on a stream went wrong: {error}"))
}
