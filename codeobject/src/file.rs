// SPDX-License-Identifier: MIT OR Apache-2.0
//! A whole file: what it is, and the bundles in it.

use std::fmt;

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader};

use crate::bundle::Bundle;
use crate::bytes::{glimpse, range};
use crate::ccob::{CCOB_MAGIC, CcobHeader};
use crate::decode;
use crate::elf_flags::{ELF_MAGIC, ElfHead};
use crate::error::Error;
use crate::foreign;
use crate::options::Options;
use crate::table::BUNDLE_MAGIC;

/// What a file is, seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// One code object: an ELF for amdgpu (`.co`, `.hsaco`).
    CodeObject,
    /// One or more offload bundles in a row (`.hipfb`, `.hip_fatbin`).
    FatBinary,
    /// A host object, library or executable with a `.hip_fatbin` section.
    HostElf,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::CodeObject => "code object",
            FileKind::FatBinary => "fat binary",
            FileKind::HostElf => "host ELF with a fat binary",
        })
    }
}

/// A file with AMD GPU code, read as far as listing its entries takes.
///
/// It borrows the bytes that it reads. It is `Send` and `Sync`.
#[derive(Debug)]
pub struct File<'a> {
    kind: FileKind,
    bundles: Vec<Bundle<'a>>,
    problems: Vec<Error>,
}

impl<'a> File<'a> {
    /// Finds the bundles in a file: a code object, bundles in a row (compressed ones too), or a host ELF with a
    /// `.hip_fatbin` section. Of a compressed bundle only the table is decoded.
    ///
    /// A file of which some bundles can be read is not an error; [`problems`](Self::problems) tells of the others.
    ///
    /// # Errors
    ///
    /// Where nothing can be read: what the file is instead, or the first of its problems.
    pub fn parse(bytes: &'a [u8], options: &Options) -> Result<File<'a>, Error> {
        let mut walk = Walk { options, bundles: Vec::new(), problems: Vec::new() };
        let kind = if bytes.starts_with(ELF_MAGIC) {
            walk.elf(bytes)?
        } else {
            if !begins_bundle(bytes) {
                foreign::refuse(bytes)?;
            }
            walk.row(bytes, 0);
            FileKind::FatBinary
        };
        if walk.bundles.is_empty() {
            let nothing = || Error::NotRecognised { offset: 0, found: glimpse(bytes) };
            return Err(walk.problems.into_iter().next().unwrap_or_else(nothing));
        }
        for problem in &walk.problems {
            tracing::debug!(target: "windlass::codeobject", %problem, "a part of the file was passed over");
        }
        Ok(File { kind, bundles: walk.bundles, problems: walk.problems })
    }

    /// What the file is.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// The bundles that could be read, in the order of the file; at least one.
    pub fn bundles(&self) -> &[Bundle<'a>] {
        &self.bundles
    }

    /// What could not be read beside them.
    pub fn problems(&self) -> &[Error] {
        &self.problems
    }
}

fn begins_bundle(bytes: &[u8]) -> bool {
    bytes.starts_with(CCOB_MAGIC) || bytes.starts_with(BUNDLE_MAGIC)
}

/// A walk over the bundles of a file.
struct Walk<'a, 'o> {
    options: &'o Options,
    bundles: Vec<Bundle<'a>>,
    problems: Vec<Error>,
}

impl<'a> Walk<'a, '_> {
    fn elf(&mut self, bytes: &'a [u8]) -> Result<FileKind, Error> {
        let head = ElfHead::read(bytes).ok_or_else(|| {
            let problem = "it is not 64-bit little-endian, or its header is cut short";
            Error::malformed("the ELF header", 0, problem)
        })?;
        if head.is_amdgpu() {
            self.bundles.push(Bundle::raw(bytes, 0)?);
            return Ok(FileKind::CodeObject);
        }
        let section = fat_binary_section(bytes)?;
        let offset = section.start;
        let content = range(bytes, offset, section.end - offset).ok_or_else(|| {
            Error::truncated("the section .hip_fatbin", offset, section.end - offset, bytes.len() as u64)
        })?;
        self.row(content, offset);
        Ok(FileKind::HostElf)
    }

    /// Reads bundles in a row with zero bytes between them. `bytes` lies at `base` of the file.
    fn row(&mut self, bytes: &'a [u8], base: u64) {
        let mut position = 0;
        while let Some(rest) = bytes.get(position..) {
            let Some(padding) = rest.iter().position(|byte| *byte != 0) else { break };
            let offset = base.saturating_add((position + padding) as u64);
            let Some(rest) = rest.get(padding..) else { break };
            match self.bundle(rest, offset) {
                Some(size) if size > 0 => position = position.saturating_add(padding).saturating_add(size),
                _ => break,
            }
        }
    }

    /// Reads the bundle at the head of `rest`; gives its size where that is known, whether it can be read or not.
    fn bundle(&mut self, rest: &'a [u8], offset: u64) -> Option<usize> {
        let (bundle, size) = if rest.starts_with(BUNDLE_MAGIC) {
            let bundle = Bundle::plain(rest, offset);
            let size = bundle.as_ref().map(Bundle::stored_size).ok();
            (bundle, size)
        } else if rest.starts_with(CCOB_MAGIC) {
            match self.stored(rest, offset) {
                Ok((header, stored)) => {
                    (Bundle::packed(stored, &header, offset, self.options), Some(stored.len() as u64))
                }
                Err(error) => (Err(error), None),
            }
        } else {
            (Err(Error::NotRecognised { offset, found: glimpse(rest) }), None)
        };
        match bundle {
            Ok(bundle) => self.bundles.push(bundle.numbered(self.bundles.len())),
            Err(error) => self.problems.push(error),
        }
        size.and_then(|size| usize::try_from(size).ok())
    }

    /// The header and the bytes of the compressed bundle at the head of `rest`.
    fn stored(&self, rest: &'a [u8], offset: u64) -> Result<(CcobHeader, &'a [u8]), Error> {
        let header = CcobHeader::read(rest, offset)?;
        let size = match header.stored_size {
            Some(size) => size,
            None => self.end_of_payload(rest, &header),
        };
        let cut = || Error::truncated("the compressed bundle (CCOB)", offset, size, rest.len() as u64);
        let stored = range(rest, 0, size).ok_or_else(cut)?;
        Ok((header, stored))
    }

    /// Version 1 does not say where it ends: the payload does. A payload that is broken takes the rest of the file.
    fn end_of_payload(&self, rest: &[u8], header: &CcobHeader) -> u64 {
        let all = rest.len() as u64;
        let payload =
            range(rest, header.header_size, all.saturating_sub(header.header_size)).unwrap_or_default();
        match decode::stored_size(header.method, payload, self.options.max_unpacked) {
            Ok(size) => header.header_size.saturating_add(size),
            Err(_) => all,
        }
    }
}

/// The range of the section with the fat binary in a host ELF.
fn fat_binary_section(bytes: &[u8]) -> Result<std::ops::Range<u64>, Error> {
    let malformed = |error: object::Error| Error::malformed("the host ELF", 0, error.to_string());
    let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(malformed)?;
    let endian = LittleEndian;
    let sections = header.sections(endian, bytes).map_err(malformed)?;
    let mut others = Vec::new();
    for section in sections.iter() {
        let name = sections.section_name(endian, section).unwrap_or_default();
        if name != b".hip_fatbin" {
            others.push(name);
            continue;
        }
        let (start, size) = section.file_range(endian).unwrap_or_default();
        let end = start.checked_add(size).ok_or_else(|| {
            Error::malformed("the section .hip_fatbin", start, format!("its size {size:#x} overflows"))
        })?;
        return Ok(start..end);
    }
    Err(foreign::host_elf(&others))
}
