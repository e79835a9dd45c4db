// SPDX-License-Identifier: MIT OR Apache-2.0
//! The places in a host object, library or executable that hold GPU code.

use std::borrow::Cow;
use std::ops::Range;

use object::LittleEndian;
use object::elf::{FileHeader64, SHT_NOBITS, SectionHeader64, SectionType};
use object::read::elf::{FileHeader, SectionHeader};

use crate::container::room::{Ids, Room};
use crate::container::table::MAX_ENTRIES;
use crate::container::wrapper;
use crate::content::Content;
use crate::content::elf_bytes::ElfBytes;
use crate::content::pieces::Pieces;
use crate::entry::Entry;
use crate::error::Error;
use crate::words::magic::{Format, HEAD, begins_bundle};

/// Sections may share names without end, so a search for the ends of all names must have a limit.
const LONGEST_NAME: usize = 256;
const MAX_PROBLEMS: usize = 16;
/// The flag of a section that is compressed in the file.
const SHF_COMPRESSED: u64 = 1 << 11;
/// The type of a section with offload binaries.
const SHT_LLVM_OFFLOADING: u32 = 0x6fff_4c0b;

/// The GPU code of a host ELF, which may hold code in several ways.
#[derive(Default)]
pub(crate) struct CodePlaces {
    /// Ranges of the ELF with bundles or offload binaries in a row. They do not overlap.
    pub(crate) rows: Vec<Range<u64>>,
    /// One section per entry, named after its id (`-fgpu-rdc`).
    pub(crate) entries: Vec<Entry>,
    /// The offsets of bundles to which only wrappers in the host's data point.
    pub(crate) wrapped: Vec<u64>,
    /// Problems of some of the code.
    pub(crate) problems: Vec<Error>,
}

impl CodePlaces {
    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.entries.is_empty() && self.wrapped.is_empty() && self.problems.is_empty()
    }

    fn problem(&mut self, error: Error) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(error);
        }
    }

    /// Adds an entry, within the limits.
    fn entry(&mut self, id: &[u8], place: &Range<u64>, most: usize, ids: &mut Ids) -> Result<(), Error> {
        if self.entries.len() >= most {
            return Err(Error::Limit {
                what: "the number of sections of the host ELF with an entry".to_owned(),
                offset: place.start,
                value: most as u64 + 1,
                limit: most as u64,
                advice: "no tool writes this many; the input is damaged".to_owned(),
            });
        }
        ids.take(id.len() as u64)?;
        self.entries.push(Entry::new(id.to_vec(), place.start, place.end - place.start, None));
        Ok(())
    }
}

/// Finds the GPU code of an ELF at `base` of its file, as much as `room` allows to list.
pub(crate) fn code_places(content: Content<'_>, base: u64, room: &Room) -> Result<CodePlaces, Error> {
    let pieces = Pieces::default();
    let bytes = ElfBytes { content, pieces: &pieces };
    let malformed = |error: object::Error| Error::malformed("the host ELF", base, error.to_string());
    let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(malformed)?;
    let sections = header.section_headers(LittleEndian, bytes).map_err(malformed)?;
    let names = names(bytes, header, sections);
    let mut found = CodePlaces::default();
    let (most_entries, mut ids) = (room.entries.min(MAX_ENTRIES), room.ids(base));
    let mut is_full = false;
    let mut is_emptied = false;
    for section in sections {
        let name = &*name_at(names, section.sh_name(LittleEndian))?;
        if section.sh_type(LittleEndian) == SHT_NOBITS {
            is_emptied |= name == b".hip_fatbin";
            continue;
        }
        let offloads =
            name == b".llvm.offloading" || section.sh_type(LittleEndian) == SectionType(SHT_LLVM_OFFLOADING);
        if name == b".hip_fatbin" || offloads {
            match section_range(content, base, name, section) {
                Ok(place) => found.rows.push(place),
                Err(error) => found.problem(error),
            }
        } else if let Some(id) = name.strip_prefix(Format::Bundle.magic()) {
            match section_range(content, base, name, section) {
                Ok(_) if is_full => {}
                Ok(place) => {
                    if let Err(error) = found.entry(id, &place, most_entries, &mut ids) {
                        found.problem(error);
                        is_full = true;
                    }
                }
                Err(error) => found.problem(error),
            }
        }
    }
    found.rows = united(found.rows);
    if sections.is_empty() {
        found.wrapped = wrapper::bundles(content)?;
    } else if found.is_empty() {
        // Renamed or removed sections leave the wrappers, by which the program itself finds its code.
        let begins = |start: &u64| content.from(*start).head(HEAD).is_ok_and(|head| begins_bundle(&head));
        found.wrapped = wrapper::bundles(content)?;
        found.wrapped.retain(begins);
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let present = if is_emptied {
        "that section is empty, as in files with debug information alone; give the library itself"
    } else if sections.is_empty() {
        "its section headers were stripped, and no wrapper in its data points to a bundle; give the library before \
         stripping"
    } else {
        "it carries no HIP code; give the library or object that does"
    };
    Err(Error::NotFound {
        what: "section .hip_fatbin in the host ELF".to_owned(),
        present: present.to_owned(),
    })
}

/// Sorts the rows, and joins those that overlap: headers may claim the same bytes many times.
fn united(mut rows: Vec<Range<u64>>) -> Vec<Range<u64>> {
    rows.sort_by_key(|row| row.start);
    let mut united: Vec<Range<u64>> = Vec::new();
    for row in rows {
        match united.last_mut() {
            Some(last) if row.start < last.end => last.end = last.end.max(row.end),
            _ => united.push(row),
        }
    }
    united
}

/// The content of the first section of a name that lies in the file.
pub(crate) fn section_data<'a>(
    bytes: ElfBytes<'_, 'a>,
    header: &FileHeader64<LittleEndian>,
    wanted: &[u8],
) -> Result<Option<Content<'a>>, Error> {
    let sections = header.section_headers(LittleEndian, bytes).unwrap_or_default();
    let names = names(bytes, header, sections);
    for section in sections.iter().filter(|section| section.sh_type(LittleEndian) != SHT_NOBITS) {
        if *name_at(names, section.sh_name(LittleEndian))? == *wanted {
            let (start, size) = section.file_range(LittleEndian).unwrap_or_default();
            return Ok(bytes.content.part(start, size));
        }
    }
    Ok(None)
}

/// Whether an ELF may have a dynamic symbol whose name begins so: the names in `.dynstr` are searched. True for bytes in
/// memory, and for an ELF without section headers.
pub(crate) fn may_name(content: Content<'_>, beginning: &[u8]) -> Result<bool, Error> {
    let pieces = Pieces::default();
    let bytes = ElfBytes { content, pieces: &pieces };
    let header = FileHeader64::<LittleEndian>::parse(bytes);
    let sections = header.ok().and_then(|header| {
        let sections = header.section_headers(LittleEndian, bytes).ok()?;
        (!sections.is_empty()).then_some(header)
    });
    let (Content::File { .. }, Some(header)) = (content, sections) else { return Ok(true) };
    let Some(names) = section_data(bytes, header, b".dynstr")? else { return Ok(false) };
    let overlap = beginning.len().saturating_sub(1);
    let found = names.search(0, overlap, |_, chunk| {
        chunk.windows(beginning.len()).any(|name| name == beginning).then_some(())
    });
    Ok(found?.is_some())
}

/// The names of the sections; empty if they cannot be read.
fn names<'a>(
    bytes: ElfBytes<'_, 'a>,
    header: &FileHeader64<LittleEndian>,
    sections: &[SectionHeader64<LittleEndian>],
) -> Content<'a> {
    let names = header.shstrndx(LittleEndian, bytes).ok().and_then(|index| sections.get(index as usize));
    let range = names.and_then(|names| names.file_range(LittleEndian));
    range.and_then(|(start, size)| bytes.content.part(start, size)).unwrap_or(Content::EMPTY)
}

/// The name of a section; empty for none, and for one that is too long.
fn name_at(names: Content<'_>, offset: u32) -> Result<Cow<'_, [u8]>, Error> {
    let mut name = names.from(offset.into()).head(LONGEST_NAME)?;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or_default();
    match &mut name {
        Cow::Borrowed(name) => *name = name.get(..end).unwrap_or_default(),
        Cow::Owned(name) => name.truncate(end),
    }
    Ok(name)
}

fn section_range(
    content: Content<'_>,
    base: u64,
    name: &[u8],
    section: &SectionHeader64<LittleEndian>,
) -> Result<Range<u64>, Error> {
    let what = || format!("the section {} of the host ELF", crate::bytes::text(name));
    if section.sh_flags(LittleEndian).0 & SHF_COMPRESSED != 0 {
        let advice = format!(
            "unpack it with `llvm-objcopy --compress-sections {}=none`, or leave compression to the compiler \
             (--offload-compress)",
            crate::bytes::text(name)
        );
        let what = format!("a section {} that objcopy compressed", crate::bytes::text(name));
        return Err(Error::unsupported(what, base.saturating_add(section.sh_offset(LittleEndian)), advice));
    }
    let (start, size) = section.file_range(LittleEndian).unwrap_or_default();
    let place = base.saturating_add(start);
    let end = start
        .checked_add(size)
        .ok_or_else(|| Error::malformed(what(), place, format!("its size {size:#x} overflows")))?;
    if content.part(start, size).is_none() {
        let available = content.size().saturating_sub(start);
        return Err(Error::truncated(what(), place, size, available));
    }
    Ok(start..end)
}
