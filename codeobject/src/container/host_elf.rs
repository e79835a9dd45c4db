// SPDX-License-Identifier: MIT OR Apache-2.0
//! The places in a host object, library or executable that hold GPU code.

use std::ops::Range;

use object::LittleEndian;
use object::elf::{FileHeader64, SHT_NOBITS, SectionHeader64, SectionType};
use object::read::elf::{FileHeader, SectionHeader};

use crate::bytes::range;
use crate::container::room::{Ids, Room};
use crate::container::table::MAX_ENTRIES;
use crate::container::wrapper;
use crate::entry::Entry;
use crate::error::Error;
use crate::words::magic::{Format, begins_bundle};

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
pub(crate) fn code_places(bytes: &[u8], base: u64, room: &Room) -> Result<CodePlaces, Error> {
    let malformed = |error: object::Error| Error::malformed("the host ELF", base, error.to_string());
    let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(malformed)?;
    let sections = header.section_headers(LittleEndian, bytes).map_err(malformed)?;
    let names = header.shstrndx(LittleEndian, bytes).ok().and_then(|index| sections.get(index as usize));
    let names = names.and_then(|names| names.data(LittleEndian, bytes).ok()).unwrap_or_default();
    let mut found = CodePlaces::default();
    let (most_entries, mut ids) = (room.entries.min(MAX_ENTRIES), room.ids(base));
    let mut is_full = false;
    let mut is_emptied = false;
    for section in sections {
        let name = name_at(names, section.sh_name(LittleEndian));
        if section.sh_type(LittleEndian) == SHT_NOBITS {
            is_emptied |= name == b".hip_fatbin";
            continue;
        }
        let offloads =
            name == b".llvm.offloading" || section.sh_type(LittleEndian) == SectionType(SHT_LLVM_OFFLOADING);
        if name == b".hip_fatbin" || offloads {
            match section_range(bytes, base, name, section) {
                Ok(place) => found.rows.push(place),
                Err(error) => found.problem(error),
            }
        } else if let Some(id) = name.strip_prefix(Format::Bundle.magic()) {
            match section_range(bytes, base, name, section) {
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
        found.wrapped = wrapper::bundles(bytes);
    } else if found.is_empty() {
        // Renamed or removed sections leave the wrappers, by which the program itself finds its code.
        let begins = |start: &u64| usize::try_from(*start).ok().and_then(|start| bytes.get(start..));
        found.wrapped = wrapper::bundles(bytes);
        found.wrapped.retain(|start| begins(start).is_some_and(begins_bundle));
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
    bytes: &'a [u8],
    header: &FileHeader64<LittleEndian>,
    wanted: &[u8],
) -> Option<&'a [u8]> {
    let sections = header.section_headers(LittleEndian, bytes).ok()?;
    let names = sections.get(usize::try_from(header.shstrndx(LittleEndian, bytes).ok()?).ok()?)?;
    let names = names.data(LittleEndian, bytes).ok()?;
    let section = sections.iter().find(|section| {
        section.sh_type(LittleEndian) != SHT_NOBITS && name_at(names, section.sh_name(LittleEndian)) == wanted
    })?;
    section.data(LittleEndian, bytes).ok()
}

/// The name of a section; empty for none, and for one that is too long.
fn name_at(names: &[u8], offset: u32) -> &[u8] {
    let rest = usize::try_from(offset).ok().and_then(|start| names.get(start..)).unwrap_or_default();
    let end = rest.iter().take(LONGEST_NAME).position(|byte| *byte == 0);
    end.and_then(|end| rest.get(..end)).unwrap_or_default()
}

fn section_range(
    bytes: &[u8],
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
    if range(bytes, start, size).is_none() {
        let available = (bytes.len() as u64).saturating_sub(start);
        return Err(Error::truncated(what(), place, size, available));
    }
    Ok(start..end)
}
