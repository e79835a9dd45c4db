// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies and fills: which side lies where, and the moving of bytes.

use crate::memory::{Memory, MemoryError, Place};

use super::work::WorkError;

/// The reason why a copy or a fill is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// An address is null or was freed, a range leaves its allocation, or a side does not suit the direction.
    Range,
    /// Rows or planes overlap.
    Pitch,
    /// No memory is left to keep the bytes.
    OutOfMemory,
}

/// Rows of bytes at a distance from each other, in planes at a distance from each other. A plain range is one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    width: u64,
    count: u64,
    pitch: u64,
    planes: u64,
    plane_pitch: u64,
}

impl Rows {
    /// One range of bytes.
    pub(crate) fn line(width: u64) -> Self {
        Self { width, count: 1, pitch: width, planes: 1, plane_pitch: width }
    }

    /// # Errors
    /// [`Misfit::Pitch`] where rows would overlap.
    pub(crate) fn new(width: u64, count: u64, pitch: u64) -> Result<Self, Misfit> {
        if count > 1 && pitch < width {
            return Err(Misfit::Pitch);
        }
        let plane_pitch = count.checked_mul(pitch).ok_or(Misfit::Range)?;
        Ok(Self { width, count, pitch, planes: 1, plane_pitch })
    }

    /// The same rows in each of `planes` planes.
    ///
    /// # Errors
    /// [`Misfit::Pitch`] where planes would overlap.
    pub(crate) fn in_planes(self, planes: u64, plane_pitch: u64) -> Result<Self, Misfit> {
        if planes > 1 && plane_pitch < self.plane_extent()? {
            return Err(Misfit::Pitch);
        }
        Ok(Self { planes, plane_pitch, ..self })
    }

    pub(crate) fn is_empty(self) -> bool {
        self.width == 0 || self.count == 0 || self.planes == 0
    }

    /// Bytes of a row, rows of a plane, planes.
    pub(crate) fn extents(self) -> [u64; 3] {
        [self.width, self.count, self.planes]
    }

    /// Bytes from row to row, and from plane to plane.
    pub(crate) fn pitches(self) -> [u64; 2] {
        [self.pitch, self.plane_pitch]
    }

    fn is_line(self) -> bool {
        self.count == 1 && self.planes == 1
    }

    fn plane_extent(self) -> Result<u64, Misfit> {
        let gaps = self.count.saturating_sub(1).checked_mul(self.pitch).ok_or(Misfit::Range)?;
        gaps.checked_add(self.width).ok_or(Misfit::Range)
    }

    /// Bytes from the first to the last one touched.
    fn extent(self) -> Result<u64, Misfit> {
        let gaps = self.planes.saturating_sub(1).checked_mul(self.plane_pitch).ok_or(Misfit::Range)?;
        gaps.checked_add(self.plane_extent()?).ok_or(Misfit::Range)
    }

    /// The same rows without gaps.
    fn packed(self) -> Self {
        let plane_pitch = self.width.wrapping_mul(self.count);
        Self { pitch: self.width, plane_pitch, ..self }
    }

    fn offsets(self) -> impl Iterator<Item = u64> {
        // Rows without bytes may have a count that no integer holds.
        let planes = if self.is_empty() { 0 } else { self.planes };
        let planes = (0..planes).map(move |plane| plane.wrapping_mul(self.plane_pitch));
        planes.flat_map(move |plane| (0..self.count).map(move |row| plane + row.wrapping_mul(self.pitch)))
    }
}

/// Which sides of a copy must be memory that the simulator knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    Any,
}

/// A copy in a client's terms: two places of equally many rows of equal width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyCall {
    pub(crate) to: (u64, Rows),
    pub(crate) from: (u64, Rows),
    pub(crate) direction: Direction,
}

/// A value of 1, 2 or 4 bytes that is repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    pub(crate) value: u32,
    pub(crate) size: usize,
}

/// A fill in a client's terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FillCall {
    pub(crate) address: u64,
    pub(crate) rows: Rows,
    pub(crate) pattern: Pattern,
}

/// One side of a copy.
#[derive(Debug)]
enum Side {
    /// An address that the simulator knows: device, pinned, managed or registered memory.
    Known(u64),
    /// The client's own memory.
    Pageable(*mut u8),
    /// Bytes read from the client's memory, row after row.
    Captured(Vec<u8>),
}

impl Side {
    /// Splits off the part from byte `at` on, and returns it.
    fn split(&mut self, at: u64) -> Self {
        match self {
            Self::Known(address) => Self::Known(address.wrapping_add(at)),
            Self::Pageable(address) => Self::Pageable(address.wrapping_add(at as usize)),
            Self::Captured(bytes) => Self::Captured(bytes.split_off(bytes.len().min(at as usize))),
        }
    }
}

/// A copy in two steps is cut at a multiple of this many bytes.
const PIECE: u64 = 16;

/// A copy.
#[derive(Debug)]
pub(crate) struct Transfer {
    to: Side,
    to_rows: Rows,
    from: Side,
    from_rows: Rows,
}

// SAFETY: pageable sides are the client's memory, which must stay valid and unused by others until the transfer has
// run. A call of HIP waits for its transfer (see `needs_waiting`). For a transfer of a graph, HIP makes this the
// client's duty until the graph has run; for an asynchronous copy, HSA does so until its completion signal.
unsafe impl Send for Transfer {}

impl Transfer {
    /// Checks and prepares a copy.
    ///
    /// # Errors
    /// [`Misfit::Range`] for null or freed addresses, ranges that leave their allocation, and addresses that do not
    /// suit the direction.
    pub(crate) fn new(memory: &Memory, copy: &CopyCall) -> Result<Self, Misfit> {
        let CopyCall { to, from, direction } = *copy;
        let known = |side: &Side| matches!(side, Side::Known(_));
        let (to_rows, from_rows) = (to.1, from.1);
        let to = locate(memory, to.0, to_rows)?;
        let from = locate(memory, from.0, from_rows)?;
        let suits = match direction {
            Direction::HostToHost | Direction::Any => true,
            Direction::HostToDevice => known(&to),
            Direction::DeviceToHost => known(&from),
            Direction::DeviceToDevice => known(&to) && known(&from),
        };
        if !suits {
            return Err(Misfit::Range);
        }
        Ok(Self { to, to_rows, from, from_rows })
    }

    /// Copies the bytes of a pageable source now, so that the client may reuse it at once.
    ///
    /// # Errors
    /// [`Misfit::OutOfMemory`] where no memory is left for them.
    ///
    /// # Safety
    /// A pageable source is readable.
    pub(crate) unsafe fn capture(&mut self) -> Result<(), Misfit> {
        let Side::Pageable(source) = self.from else { return Ok(()) };
        let rows = self.from_rows;
        let size = rows.width.checked_mul(rows.count).and_then(|size| size.checked_mul(rows.planes));
        let size = size.and_then(|size| usize::try_from(size).ok()).ok_or(Misfit::OutOfMemory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| Misfit::OutOfMemory)?;
        for offset in rows.offsets() {
            // SAFETY: the caller guarantees the rows.
            let row = unsafe { std::slice::from_raw_parts(source.add(offset as usize), rows.width as usize) };
            bytes.extend_from_slice(row);
        }
        self.from = Side::Captured(bytes);
        self.from_rows = rows.packed();
        Ok(())
    }

    /// Whether the source is the client's memory and the target is not, so that [`capture`](Self::capture) lets the
    /// call return early.
    pub(crate) fn reads_pageable_only(&self) -> bool {
        matches!((&self.to, &self.from), (Side::Known(_), Side::Pageable(_)))
    }

    /// Whether the call must not return before the copy is done, because the client may use the memory again
    /// after the call.
    pub(crate) fn needs_waiting(&self) -> bool {
        matches!((&self.to, &self.from), (Side::Pageable(_), _) | (_, Side::Pageable(_)))
    }

    /// The number of places at which [`cut`](Self::cut) can cut the copy; zero where it must be done in one
    /// step.
    pub(crate) fn places(&self) -> usize {
        let width = self.to_rows.width;
        let one_row = self.to_rows.is_line() && self.from_rows.is_line();
        let apart = match (&self.to, &self.from) {
            // A copy within one range must read the source as it was.
            (Side::Known(to), Side::Known(from)) => to.abs_diff(*from) >= width,
            (Side::Pageable(to), Side::Pageable(from)) => to.addr().abs_diff(from.addr()) as u64 >= width,
            _ => true,
        };
        if one_row && apart {
            usize::try_from(width / PIECE).unwrap_or(usize::MAX).saturating_sub(1)
        } else {
            0
        }
    }

    /// Cuts the copy in two at a place, from 0 on. Returns the second part.
    pub(crate) fn cut(&mut self, place: usize) -> Self {
        let at = (place as u64 + 1) * PIECE;
        let rows = Rows::line(self.to_rows.width.saturating_sub(at));
        let rest = Self { to: self.to.split(at), to_rows: rows, from: self.from.split(at), from_rows: rows };
        self.to_rows = Rows::line(at);
        self.from_rows = self.to_rows;
        rest
    }

    /// Moves the bytes.
    pub(crate) fn run(&self, memory: &Memory) -> Result<(), WorkError> {
        let moved = self.to_rows.offsets().zip(self.from_rows.offsets());
        for (to, from) in moved {
            self.run_row(memory, to, from).map_err(|error| WorkError::Memory("a copy", error))?;
        }
        Ok(())
    }

    fn run_row(&self, memory: &Memory, to: u64, from: u64) -> Result<(), MemoryError> {
        let width = self.to_rows.width;
        match (&self.to, &self.from) {
            (Side::Known(target), Side::Known(source)) => {
                memory.copy(target.wrapping_add(to), source.wrapping_add(from), width)
            }
            // SAFETY: the client's row is valid until the transfer has run; see `Send`.
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

/// A fill.
#[derive(Debug)]
pub(crate) struct Fill(FillCall);

impl Fill {
    /// Checks and prepares a fill.
    ///
    /// # Errors
    /// [`Misfit::Range`] unless all rows lie in one allocation.
    pub(crate) fn new(memory: &Memory, fill: &FillCall) -> Result<Self, Misfit> {
        match locate(memory, fill.address, fill.rows)? {
            Side::Known(_) => Ok(Self(*fill)),
            _ => Err(Misfit::Range),
        }
    }

    /// The start and the number of bytes that it writes, if its rows have no gaps.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        let Self(FillCall { address, rows, .. }) = self;
        rows.is_line().then_some((*address, rows.width))
    }

    /// Writes the bytes.
    pub(crate) fn run(self, memory: &Memory) -> Result<(), WorkError> {
        let Self(FillCall { address, rows, pattern }) = self;
        let bytes = pattern.value.to_le_bytes();
        let bytes = bytes.get(..pattern.size).unwrap_or_default();
        for offset in rows.offsets() {
            let filled = memory.fill(address.wrapping_add(offset), bytes, rows.width);
            filled.map_err(|error| WorkError::Memory("a fill", error))?;
        }
        Ok(())
    }
}

/// Finds the side of a copy that rows lie on. Known memory must hold all of them, in one allocation or in mappings without
/// a gap.
fn locate(memory: &Memory, address: u64, rows: Rows) -> Result<Side, Misfit> {
    let extent = rows.extent()?;
    let end = address.checked_add(extent).filter(|_| address != 0).ok_or(Misfit::Range)?;
    if memory.lookup(address).is_some() {
        return if memory.holds(address, end - address) {
            Ok(Side::Known(address))
        } else {
            Err(Misfit::Range)
        };
    }
    // Neither is the client's memory: device addresses fault on the host, and freed memory is gone.
    let reserved = memory.device_range().contains(&address);
    if reserved || matches!(memory.place(address), Place::Freed(..)) {
        return Err(Misfit::Range);
    }
    Ok(Side::Pageable(address as *mut u8))
}
