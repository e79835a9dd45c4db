// SPDX-License-Identifier: MIT OR Apache-2.0
//! LLVM offload binaries, which `clang-offload-packager` and the new driver write.

use crate::bytes::{range, text, u16_at, u32_at, u64_at};
use crate::container::room::Room;
use crate::container::table::MAX_ENTRIES;
use crate::decode;
use crate::entry::Entry;
use crate::error::Error;
use crate::words::method::Method;
use crate::words::source::Source;

const WHAT: &str = "the LLVM offload binary";
const ENTRY_SIZE: u64 = 40;
const MAX_STRINGS: u64 = 64;
const LONGEST_STRING: u64 = 256;
/// Entries and strings precede the images. A string further back would have a compressed binary unpacked up to there,
/// only to be listed.
const LARGEST_TABLE: u64 = 16 << 20;

/// The header of an offload binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) version: u32,
    /// The stored size in bytes, header included.
    pub(crate) size: u64,
    /// The size of the header itself; the payload follows it.
    pub(crate) header_size: u64,
    /// The unpacked size with the header, if the payload is compressed.
    pub(crate) unpacked_size: Option<u64>,
    first: u64,
    count: u64,
}

impl Header {
    /// The size of the header of a version, in bytes.
    pub(crate) fn size_of(version: u32, offset: u64) -> Result<u64, Error> {
        match version {
            1 | 2 => Ok(32),
            3 => Ok(40),
            _ => {
                let advice =
                    "v1 to v3 are read; take the image out with the llvm-offload-binary that made it";
                Err(Error::unsupported(format!("LLVM offload binary v{version}"), offset, advice))
            }
        }
    }

    /// Reads the header at the head of `rest`, which lies at `offset` of its file.
    pub(crate) fn read(rest: &[u8], offset: u64) -> Result<Header, Error> {
        let cut = |needed| Error::truncated(WHAT, offset, needed, rest.len() as u64);
        let version = u32_at(rest, 4).ok_or_else(|| cut(8))?;
        let header_size = Header::size_of(version, offset)?;
        let header = range(rest, 0, header_size).ok_or_else(|| cut(header_size))?;
        let field = |at| u64_at(header, at).unwrap_or_default();
        let size = field(8);
        if size < header_size {
            return Err(Error::malformed(WHAT, offset, format!("it says that it has {size} bytes")));
        }
        // Version 1 has one entry and states its size there; later versions state the number of entries.
        let count = if version == 1 { 1 } else { field(24) };
        let unpacked_size = Some(field(32)).filter(|size| version >= 3 && *size != 0);
        if let Some(unpacked) = unpacked_size.filter(|unpacked| *unpacked < header_size) {
            return Err(Error::malformed(
                WHAT,
                offset,
                format!("it says that it unpacks to {unpacked} bytes"),
            ));
        }
        Ok(Header { version, size, header_size, unpacked_size, first: field(16), count })
    }

    /// The compression method of the payload, by its first bytes.
    pub(crate) fn method(payload: &[u8], offset: u64) -> Result<Method, Error> {
        decode::method_of(payload).ok_or_else(|| {
            let problem = "its compressed payload is neither zstd nor zlib";
            Error::malformed(WHAT, offset, problem)
        })
    }

    /// The entries. Offsets in `source` and in the entries count from the header, and end at `end`.
    pub(crate) fn entries(
        &self,
        source: &dyn Source,
        end: u64,
        offset: u64,
        room: &mut Room,
    ) -> Result<Vec<Entry>, Error> {
        let most_entries = room.entries.min(MAX_ENTRIES) as u64;
        if self.count > most_entries {
            let advice = "no tool writes this many; the input is damaged".to_owned();
            let what = format!("the table of {} (entries)", &WHAT[4..]);
            return Err(Error::Limit { what, offset, value: self.count, limit: most_entries, advice });
        }
        let mut ids = room.ids(offset);
        let mut table = Table {
            room,
            offset,
            source,
            end,
            strings_end: if self.unpacked_size.is_some() { end.min(LARGEST_TABLE) } else { end },
            first: self.header_size,
            stride: if self.version == 1 { 16 } else { 24 },
        };
        let mut entries = Vec::new();
        for index in 0..self.count {
            let malformed =
                |problem: &str| Error::malformed(format!("entry {index} of {WHAT}"), offset, problem);
            let mut entry = [0; ENTRY_SIZE as usize];
            let at = index.checked_mul(ENTRY_SIZE).and_then(|at| self.first.checked_add(at));
            if !table.bytes(at, &mut entry)? {
                return Err(malformed("it lies outside"));
            }
            let entry = table.entry(&entry)?.ok_or_else(|| malformed("its strings lie outside"))?;
            ids.take(entry.id().len() as u64)?;
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// The source of entries and strings.
struct Table<'s> {
    room: &'s mut Room,
    /// The offset of the binary in its file.
    offset: u64,
    source: &'s dyn Source,
    end: u64,
    strings_end: u64,
    first: u64,
    stride: u64,
}

impl Table<'_> {
    fn entry(&mut self, entry: &[u8]) -> Result<Option<Entry>, Error> {
        let field = |at| u64_at(entry, at).unwrap_or_default();
        let (strings, count, image, size) = (field(8), field(16), field(24), field(32));
        let mut triple = Vec::new();
        let mut arch = Vec::new();
        for index in 0..count.min(MAX_STRINGS) {
            let mut pair = [0; 16];
            if !self.bytes(strings.checked_add(index * self.stride), &mut pair)? {
                return Ok(None);
            }
            let key = self.string(u64_at(&pair, 0).unwrap_or_default())?;
            let value = self.string(u64_at(&pair, 8).unwrap_or_default())?;
            let (Some(key), Some(value)) = (key, value) else { return Ok(None) };
            match &*key {
                b"triple" => triple = value,
                b"arch" => arch = value,
                _ => {}
            }
        }
        // The number of HIP differs between versions of LLVM, the other numbers do not.
        let kind = match u16_at(entry, 2).unwrap_or_default() {
            1 => "openmp",
            2 => "cuda",
            8 => "sycl",
            _ => "hip",
        };
        let id = format!("{kind}-{}--{}", text(&triple), text(&arch));
        let outside =
            image < self.first || image.checked_add(size).is_none_or(|image_end| image_end > self.end);
        let problem = outside.then(|| {
            let end = self.end;
            format!("its image at {image:#x} of {size:#x} bytes is not inside the offload binary of {end:#x}")
        });
        Ok(Some(Entry::new(id.into_bytes(), image, size, problem)))
    }

    /// Fills `out`; `false` if that lies outside.
    fn bytes(&mut self, at: Option<u64>, out: &mut [u8]) -> Result<bool, Error> {
        let end = at.and_then(|at| at.checked_add(out.len() as u64));
        let (Some(at), Some(end)) = (at, end) else { return Ok(false) };
        if at < self.first || end > self.strings_end {
            return Ok(false);
        }
        self.room.work(out.len() as u64, self.offset)?;
        self.source.read(at, out).map(|()| true)
    }

    /// The string at an offset without its NUL; `None` if it lies outside or has no end.
    fn string(&mut self, at: u64) -> Result<Option<Vec<u8>>, Error> {
        let size = self.strings_end.saturating_sub(at).min(LONGEST_STRING);
        let mut string = vec![0; size as usize];
        if !self.bytes(Some(at), &mut string)? {
            return Ok(None);
        }
        let end = string.iter().position(|byte| *byte == 0);
        Ok(end.map(|end| {
            string.truncate(end);
            string
        }))
    }
}
