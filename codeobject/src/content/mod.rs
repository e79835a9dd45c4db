// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of a file: in memory, or read by position when they are asked for.
//!
//! No file is mapped. A mapping raises a signal when another process cuts the file short, and Rust forbids a slice of bytes
//! that others write. A read by position has neither fault: a byte that is gone is an error.

pub(crate) mod elf_bytes;
#[cfg_attr(not(feature = "carriers"), expect(dead_code, reason = "only `Input` reads files by position"))]
pub(crate) mod file;
pub(crate) mod pieces;

use std::borrow::Cow;
use std::ops::Range;

use crate::bytes::range;
use crate::error::Error;
use crate::words::source::Source;
use file::{PositionedFile, memory};

/// The bytes that are read at a time where a whole file is searched.
pub(crate) const CHUNK: usize = 1 << 16;

/// Bytes in memory, or a part of a file that is read by position.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    Memory(&'a [u8]),
    #[cfg_attr(not(feature = "carriers"), expect(dead_code))]
    File {
        file: &'a PositionedFile,
        start: u64,
        size: u64,
    },
}

impl<'a> Content<'a> {
    pub(crate) const EMPTY: Content<'static> = Content::Memory(&[]);

    #[cfg(feature = "carriers")]
    pub(crate) fn of_file(file: &'a PositionedFile) -> Content<'a> {
        Content::File { file, start: 0, size: file.size() }
    }

    pub(crate) fn size(self) -> u64 {
        match self {
            Content::Memory(bytes) => bytes.len() as u64,
            Content::File { size, .. } => size,
        }
    }

    /// The part of that offset and size; `None` if it does not lie inside.
    pub(crate) fn part(self, offset: u64, size: u64) -> Option<Content<'a>> {
        match self {
            Content::Memory(bytes) => range(bytes, offset, size).map(Content::Memory),
            Content::File { file, start, size: all } => {
                offset.checked_add(size).filter(|end| *end <= all)?;
                Some(Content::File { file, start: start + offset, size })
            }
        }
    }

    /// The part from `offset` to the end.
    pub(crate) fn from(self, offset: u64) -> Content<'a> {
        self.part(offset, self.size().saturating_sub(offset)).unwrap_or(Content::EMPTY)
    }

    /// The first bytes, `most` at most.
    pub(crate) fn head(self, most: usize) -> Result<Cow<'a, [u8]>, Error> {
        self.part(0, self.size().min(most as u64)).unwrap_or(Content::EMPTY).load()
    }

    /// All bytes. Those of a file are read into memory of their own.
    pub(crate) fn load(self) -> Result<Cow<'a, [u8]>, Error> {
        match self {
            Content::Memory(bytes) => Ok(Cow::Borrowed(bytes)),
            Content::File { .. } => {
                let mut bytes = memory(self.size())?;
                self.read(0, &mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// All bytes, kept in memory as long as the file is open.
    pub(crate) fn keep(self) -> Result<&'a [u8], Error> {
        match self {
            Content::Memory(bytes) => Ok(bytes),
            Content::File { file, .. } => Ok(file.kept().keep(self.load()?.into_owned())),
        }
    }

    /// Calls `f` with all bytes. Those of a file are read into memory that serves again.
    pub(crate) fn with<R>(self, f: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        match self {
            Content::Memory(bytes) => Ok(f(bytes)),
            Content::File { file, start, size } => file.lend(start, size, f),
        }
    }

    /// Calls `f` with the bytes from `offset` on, [`CHUNK`] bytes at a time and their offset, until it returns a value.
    /// Each chunk begins with the last `overlap` bytes of the one before.
    pub(crate) fn search<R>(
        self,
        offset: u64,
        overlap: usize,
        mut f: impl FnMut(u64, &[u8]) -> Option<R>,
    ) -> Result<Option<R>, Error> {
        if let Content::Memory(bytes) = self {
            let rest = usize::try_from(offset).ok().and_then(|start| bytes.get(start..));
            return Ok(rest.and_then(|rest| f(offset, rest)));
        }
        let mut chunk = vec![0; CHUNK];
        let mut position = offset;
        while position < self.size() {
            let size = chunk.len().min(usize::try_from(self.size() - position).unwrap_or(usize::MAX));
            let bytes = &mut chunk[..size];
            self.read(position, bytes)?;
            if let Some(found) = f(position, bytes) {
                return Ok(Some(found));
            }
            if position + size as u64 >= self.size() {
                break;
            }
            position += (size - overlap) as u64;
        }
        Ok(None)
    }

    /// The offset of the first byte from `offset` on that is not zero.
    pub(crate) fn first_nonzero(self, offset: u64) -> Result<Option<u64>, Error> {
        self.search(offset, 0, |at, bytes| {
            bytes.iter().position(|byte| *byte != 0).map(|found| at + found as u64)
        })
    }

    /// The `N` bytes at `offset`; `None` if they do not lie inside.
    #[cfg(feature = "carriers")]
    pub(crate) fn array<const N: usize>(self, offset: u64) -> Result<Option<[u8; N]>, Error> {
        let Some(part) = self.part(offset, N as u64) else { return Ok(None) };
        let mut bytes = [0; N];
        part.read(0, &mut bytes)?;
        Ok(Some(bytes))
    }

    /// The range that the bytes take among those of all memory and all files of the process.
    pub(crate) fn place(self) -> Range<u64> {
        let start = match self {
            Content::Memory(bytes) => bytes.as_ptr().addr() as u64,
            Content::File { file, start, .. } => file.place().wrapping_add(start),
        };
        start..start.saturating_add(self.size())
    }
}

impl Source for Content<'_> {
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        let size = out.len() as u64;
        let outside = || Error::truncated("an entry of the bundle", offset, size, self.size());
        match self.part(offset, size).ok_or_else(outside)? {
            Content::Memory(bytes) => out.copy_from_slice(bytes),
            Content::File { file, start, .. } => file.read(start, out)?,
        }
        Ok(())
    }
}
