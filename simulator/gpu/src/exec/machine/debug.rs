// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of functions and lines of source, for reports. A code object has lines if it was compiled with `-g` or
//! `-gline-tables-only`. They are read when a fault is reported; malformed debug information is ignored.

use object::read::elf::ElfFile64;
use object::{
    CompressionFormat, LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind,
};
use std::fmt;

/// The most frames of inlined functions that are reported.
const FRAMES: usize = 8;

/// A line of a kernel's source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceLine {
    /// The file, as it was named to the compiler.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if it is not known.
    pub column: u32,
    /// The function, as the compiler names it; empty if it is not known.
    pub function: String,
}

/// Names and lines of the code of one module.
#[derive(Default)]
pub(crate) struct Debug {
    /// The address that the module is loaded at.
    base: u64,
    /// First address, end and name of each function, in the order of addresses; relative to the base.
    functions: Vec<(u64, u64, Box<str>)>,
    /// The file, if it has line numbers.
    elf: Option<Box<[u8]>>,
}

type Elf<'e> = ElfFile64<'e, LittleEndian>;

impl Debug {
    /// The names and lines of a code object that is loaded at `base`.
    pub(crate) fn new(elf: &[u8], base: u64) -> Self {
        let Ok(file) = Elf::parse(elf) else { return Self { base, ..Self::default() } };
        let mut functions: Vec<_> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text)
            .filter_map(|symbol| {
                let end = symbol.address().checked_add(symbol.size())?;
                Some((symbol.address(), end, symbol.name().ok()?.into()))
            })
            .collect();
        functions.sort_unstable();
        let has_lines = file.section_by_name(".debug_line").is_some();
        Self { base, functions, elf: has_lines.then(|| elf.into()) }
    }

    /// The function that an address is in, and the offset from its start.
    pub(crate) fn function(&self, address: u64) -> Option<(String, u64)> {
        let at = address.wrapping_sub(self.base);
        let before = self.functions.partition_point(|(start, ..)| *start <= at);
        let (start, end, name) = self.functions.get(before.checked_sub(1)?)?;
        (at < *end).then(|| (name.to_string(), at - start))
    }

    /// The lines of source that an address comes from, the innermost first.
    pub(crate) fn lines(&self, address: u64) -> Vec<SourceLine> {
        let Some(elf) = &self.elf else { return Vec::new() };
        lines(elf, address.wrapping_sub(self.base)).unwrap_or_else(|error| {
            tracing::debug!(target: "windlass::sim", %error, "debug information cannot be read");
            Vec::new()
        })
    }
}

fn lines(elf: &[u8], address: u64) -> Result<Vec<SourceLine>, gimli::Error> {
    let file = Elf::parse(elf).map_err(|_| gimli::Error::Io)?;
    let section = |id: gimli::SectionId| -> Result<_, gimli::Error> {
        let found = file.section_by_name(id.name()).and_then(|section| section.compressed_data().ok());
        let plain = found.filter(|section| section.format == CompressionFormat::None);
        Ok(gimli::EndianSlice::new(plain.map_or(&[], |section| section.data), gimli::LittleEndian))
    };
    let context = addr2line::Context::from_dwarf(gimli::Dwarf::load(section)?)?;
    let mut frames = context.find_frames(address).skip_all_loads()?;
    let mut lines = Vec::new();
    while let Some(frame) = frames.next()?
        && lines.len() < FRAMES
    {
        let function = frame.function.and_then(|function| Some(function.raw_name().ok()?.into_owned()));
        let Some(location) = frame.location else { continue };
        lines.push(SourceLine {
            file: location.file.map_or("?", |file| file.strip_prefix("./").unwrap_or(file)).to_owned(),
            line: location.line.unwrap_or(0),
            column: location.column.unwrap_or(0),
            function: function.unwrap_or_default(),
        });
    }
    Ok(lines)
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column != 0 {
            write!(f, ":{}", self.column)?;
        }
        if !self.function.is_empty() {
            write!(f, " ({})", self.function)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Debug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { functions, elf, .. } = self;
        f.debug_struct("Debug").field("functions", &functions.len()).field("lines", &elf.is_some()).finish()
    }
}
