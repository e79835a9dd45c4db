// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that a stream is unpacked to: one piece that can become an image.

use std::ops::Range;

use crate::error::Error;
use crate::image::{Image, PAGE};

/// A decoder that writes into all of the output at once needs this room behind the declared size: the largest block of
/// zstd, so that a block which begins before the end fits.
pub(super) const OVERSHOOT: usize = 1 << 17;

/// Unpacked bytes. If they were reserved in one piece, they begin at a page, so an entry that is aligned in its bundle
/// is aligned in memory.
#[derive(Default)]
pub(super) struct Output {
    memory: Vec<u8>,
    /// The index of the first unpacked byte.
    base: usize,
}

impl Output {
    pub(super) fn len(&self) -> usize {
        self.memory.len() - self.base
    }

    pub(super) fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        self.memory.get(self.base..)?.get(range)
    }

    /// Whether the memory is used up.
    pub(super) fn is_full(&self) -> bool {
        self.memory.capacity() == self.memory.len()
    }

    /// Reserves memory for `capacity` unpacked bytes in all.
    pub(super) fn reserve(&mut self, capacity: usize) -> Result<(), Error> {
        // One page to align the first byte, one to pad the last.
        let room = capacity.saturating_add(2 * PAGE);
        self.memory
            .try_reserve_exact(room.saturating_sub(self.memory.len()))
            .map_err(|_| Error::Memory { what: "the unpacked bundle", bytes: capacity as u64 })?;
        if self.memory.is_empty() {
            self.base = self.memory.as_ptr().align_offset(PAGE);
            self.memory.resize(self.base, 0);
        }
        Ok(())
    }

    /// The memory for a decoder, which appends to it within its capacity.
    pub(super) fn memory(&mut self) -> &mut Vec<u8> {
        &mut self.memory
    }

    /// Turns the memory into the image of a part of it.
    pub(super) fn into_image(self, part: Range<usize>) -> Result<Image, Error> {
        Image::within(self.memory, self.base + part.start..self.base + part.end)
    }
}
