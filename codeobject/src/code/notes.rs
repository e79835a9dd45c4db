// SPDX-License-Identifier: MIT OR Apache-2.0
//! The notes of an ELF that hold kernel metadata.

use std::collections::HashSet;

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::NoteIterator;

use crate::error::Error;
use crate::warnings::Warnings;

const ENDIAN: LittleEndian = LittleEndian;
/// The limit of notes that are searched. Libraries that are linked of assembly have a note for each of some thousand
/// kernels.
const MAX_NOTES: u64 = 1 << 16;

/// A note with kernel metadata.
#[derive(Debug)]
pub(crate) enum MetadataNote<'a> {
    /// MessagePack, from code object version 3 on.
    MessagePack(&'a [u8]),
    /// YAML of code object version 2, which is not read.
    Version2,
}

/// A search through areas of notes, which may overlap.
pub(crate) struct NoteSearch<'a> {
    file: &'a [u8],
    /// The notes so far, each once.
    pub(crate) found: Vec<MetadataNote<'a>>,
    places: HashSet<*const u8>,
    searched: u64,
    size: u64,
}

impl<'a> NoteSearch<'a> {
    pub(crate) fn new(file: &'a [u8]) -> NoteSearch<'a> {
        NoteSearch { file, found: Vec::new(), places: HashSet::new(), searched: 0, size: 0 }
    }

    /// Adds the metadata of the notes of one area, which begins at `offset` of the file.
    pub(crate) fn through(
        &mut self,
        mut notes: NoteIterator<'a, FileHeader64<LittleEndian>>,
        offset: u64,
        warnings: &mut Warnings,
    ) -> Result<(), Error> {
        const NT_AMD_HSA_METADATA: u32 = 10;
        const NT_AMDGPU_METADATA: u32 = 32;
        loop {
            let note = match notes.next() {
                Ok(Some(note)) => note,
                Ok(None) => return Ok(()),
                Err(error) => {
                    warnings.push(|| format!("the notes at offset {offset:#x} break off: {error}"));
                    return Ok(());
                }
            };
            self.searched += 1;
            limit("the notes of the ELF", offset, self.searched, MAX_NOTES)?;
            match (note.name(), note.n_type(ENDIAN).0) {
                (b"AMDGPU", NT_AMDGPU_METADATA) if self.places.insert(note.desc().as_ptr()) => {
                    // Notes that share bytes could make the reader's work a multiple of the file.
                    self.size += note.desc().len() as u64;
                    limit("all kernel metadata", offset, self.size, self.file.len() as u64)?;
                    self.found.push(MetadataNote::MessagePack(note.desc()));
                }
                (b"AMD", NT_AMD_HSA_METADATA) => self.found.push(MetadataNote::Version2),
                _ => {}
            }
        }
    }
}

fn limit(what: &str, offset: u64, value: u64, limit: u64) -> Result<(), Error> {
    if value <= limit {
        return Ok(());
    }
    let advice = "no linker writes this; the input is damaged".to_owned();
    Err(Error::Limit { what: what.to_owned(), offset, value, limit, advice })
}
