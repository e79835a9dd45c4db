// SPDX-License-Identifier: MIT OR Apache-2.0
//! LLVM's offload binary: what `clang-offload-packager` and the new driver's objects hold.

use crate::bytes::{array, range, text, u16_at, u32_at, u64_at};
use crate::entry::Entry;
use crate::error::Error;
use crate::table::MAX_ENTRIES;

pub(crate) const OFFLOAD_BINARY_MAGIC: &[u8] = b"\x10\xff\x10\xad";
const HEADER_SIZE: u64 = 32;
const ENTRY_SIZE: u64 = 40;
const MAX_STRINGS: u64 = 64;

/// One offload binary.
pub(crate) struct OffloadBinary {
    pub(crate) version: u32,
    pub(crate) size: u64,
    pub(crate) entries: Vec<Entry>,
}

/// Reads the offload binary at the head of `rest`, which lies at `offset` of its file.
pub(crate) fn read(rest: &[u8], offset: u64) -> Result<OffloadBinary, Error> {
    let what = "the LLVM offload binary";
    let header: [u8; HEADER_SIZE as usize] =
        array(rest, 0).ok_or_else(|| Error::truncated(what, offset, HEADER_SIZE, rest.len() as u64))?;
    let version = u32_at(&header, 4).unwrap_or_default();
    if !matches!(version, 1 | 2) {
        let advice = "versions 1 and 2 are read; take the image out with clang-offload-packager --image";
        return Err(Error::unsupported(
            format!("version {version} of an LLVM offload binary"),
            offset,
            advice,
        ));
    }
    let size = u64_at(&header, 8).unwrap_or_default();
    if size < HEADER_SIZE {
        return Err(Error::malformed(what, offset, format!("it says that it has {size} bytes")));
    }
    let binary =
        range(rest, 0, size).ok_or_else(|| Error::truncated(what, offset, size, rest.len() as u64))?;
    let first = u64_at(&header, 16).unwrap_or_default();
    // Version 1 has one entry and states its size there, version 2 states how many there are.
    let count = if version == 1 { 1 } else { u64_at(&header, 24).unwrap_or_default() };
    if count > MAX_ENTRIES as u64 {
        let advice = "no tool writes so many, the input is damaged".to_owned();
        let what = "the table of the LLVM offload binary (entries)".to_owned();
        return Err(Error::Limit { what, offset, value: count, limit: MAX_ENTRIES as u64, advice });
    }
    let mut entries = Vec::new();
    for index in 0..count {
        let malformed = |problem: &str| Error::malformed(format!("entry {index} of {what}"), offset, problem);
        let at = first
            .checked_add(index * ENTRY_SIZE)
            .and_then(|at| range(binary, at, ENTRY_SIZE))
            .ok_or_else(|| malformed("it lies outside"))?;
        entries.push(read_entry(binary, at, version).ok_or_else(|| malformed("its strings lie outside"))?);
    }
    Ok(OffloadBinary { version, size, entries })
}

fn read_entry(binary: &[u8], entry: &[u8], version: u32) -> Option<Entry> {
    let kind = u16_at(entry, 2)?;
    let (strings, count) = (u64_at(entry, 8)?, u64_at(entry, 16)?);
    let (image, size) = (u64_at(entry, 24)?, u64_at(entry, 32)?);
    let mut triple = &b""[..];
    let mut arch = &b""[..];
    let stride = if version == 1 { 16 } else { 24 };
    for index in 0..count.min(MAX_STRINGS) {
        let pair = strings.checked_add(index * stride)?;
        let key = string(binary, u64_at(binary, pair)?)?;
        let value = string(binary, u64_at(binary, pair.checked_add(8)?)?)?;
        match key {
            b"triple" => triple = value,
            b"arch" => arch = value,
            _ => {}
        }
    }
    // The number of HIP changed between versions of LLVM, those of the others did not.
    let kind = match kind {
        1 => "openmp",
        2 => "cuda",
        _ => "hip",
    };
    let id = format!("{kind}-{}--{}", text(triple), text(arch));
    let problem = range(binary, image, size).is_none().then(|| {
        format!(
            "its image at {image:#x} of {size:#x} bytes reaches past the offload binary's {:#x}",
            binary.len()
        )
    });
    Some(Entry::new(id.as_bytes(), image, size, problem))
}

fn string(binary: &[u8], offset: u64) -> Option<&[u8]> {
    const LONGEST: usize = 256;
    let rest = binary.get(usize::try_from(offset).ok()?..)?;
    let end = rest.iter().take(LONGEST).position(|byte| *byte == 0)?;
    rest.get(..end)
}
