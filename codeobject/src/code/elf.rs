// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ELF of a code object or of a shared object, read with every number checked.

use std::collections::HashSet;
use std::ops::Range;

use object::LittleEndian;
use object::elf::{
    DT_GNU_HASH, DT_HASH, DT_JMPREL, DT_NEEDED, DT_NULL, DT_PLTRELSZ, DT_REL, DT_RELA, DT_RELASZ, DT_RELR,
    DT_STRSZ, DT_STRTAB, DT_SYMTAB, DynamicTag, EM_AMDGPU, FileHeader64, PF_R, PF_W, PF_X, PT_DYNAMIC,
    PT_GNU_RELRO, PT_LOAD, PT_NOTE, ProgramHeader64, Rela64, SHT_DYNSYM, SHT_NOTE, SHT_RELA, SHT_SYMTAB,
    Sym64,
};
use object::pod::slice_from_bytes;
use object::read::elf::{
    Dyn, FileHeader, GnuHashTable, HashTable, ProgramHeader, Rela, SectionHeader, SectionTable, Sym,
};

use crate::bytes::range;
use crate::code::layout::Segment;
use crate::code::notes::{MetadataNote, NoteSearch};
use crate::error::Error;
use crate::warnings::Warnings;

type Header = FileHeader64<LittleEndian>;
const ENDIAN: LittleEndian = LittleEndian;
/// Limits. Linkers write a dozen program headers, of which four or five are loaded.
const MAX_HEADERS: u64 = 1024;
const MAX_SEGMENTS: u64 = 256;
/// The description of a symbol takes several times its size in the file. The tables of real libraries, with tens of
/// thousands of kernels, are far shorter.
const MAX_SYMBOLS: u64 = 1 << 20;
const MAX_RELOCATIONS: u64 = 1 << 22;
const SYMBOL_SIZE: u64 = 24;
const SECTION_HEADER_SIZE: u64 = 64;

/// A linked ELF of 64 bits, for amdgpu or for a host.
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
    header: &'a Header,
    program: &'a [ProgramHeader64<LittleEndian>],
    sections: SectionTable<'a, Header>,
    dynamic: Dynamic,
    pub(crate) segments: Vec<Segment>,
}

/// The dynamic section's addresses and sizes.
#[derive(Default)]
struct Dynamic {
    symbols: Option<u64>,
    strings: Option<u64>,
    strings_size: u64,
    hash: Option<u64>,
    gnu_hash: Option<u64>,
    rela: Option<u64>,
    rela_size: u64,
    plt_rela: Option<u64>,
    plt_rela_size: u64,
}

/// A symbol of the ELF.
pub(crate) struct ElfSymbol<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) symbol: &'a Sym64<LittleEndian>,
    pub(crate) exported: bool,
}

/// A relocation. Symbol 0 stands for none.
pub(crate) struct ElfRelocation {
    pub(crate) offset: u64,
    pub(crate) kind: u32,
    pub(crate) symbol: u32,
    pub(crate) addend: i64,
}

impl<'a> Elf<'a> {
    pub(crate) fn parse(bytes: &'a [u8], warnings: &mut Warnings) -> Result<Elf<'a>, Error> {
        let header = Header::parse(bytes).map_err(|error| malformed("the ELF header", 0, error))?;
        let program = header
            .program_headers(ENDIAN, bytes)
            .map_err(|error| malformed("the program headers", header.e_phoff(ENDIAN), error))?;
        check_count("the program headers", header.e_phoff(ENDIAN), program.len() as u64, MAX_HEADERS)?;
        // A loader needs no section headers, so damaged ones cost at most the debugger's symbols.
        let sections = header.sections(ENDIAN, bytes).unwrap_or_else(|error| {
            warnings.push(|| format!("the section headers cannot be read: {error}"));
            SectionTable::default()
        });
        let mut elf =
            Elf { bytes, header, program, sections, dynamic: Dynamic::default(), segments: Vec::new() };
        elf.segments = elf.read_segments()?;
        elf.dynamic = elf.read_dynamic()?;
        Ok(elf)
    }

    /// The bytes in the file for the memory at an address.
    pub(crate) fn memory(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        self.bytes.get(self.file_range(address, size)?)
    }

    /// The range of the file for the memory at an address.
    pub(crate) fn file_range(&self, address: u64, size: u64) -> Option<Range<usize>> {
        let segment = self.segments.iter().find(|segment| segment.holds(address, size))?;
        let start = segment.offset.checked_add(address - segment.address)?;
        byte_range(start, size).filter(|range| range.end <= self.bytes.len())
    }

    /// The bytes in the file for the memory from an address to the end of its segment.
    fn memory_from(&self, address: u64) -> Option<&'a [u8]> {
        let segment = self.segments.iter().find(|segment| segment.holds(address, 0))?;
        self.memory(address, segment.file_size - (address - segment.address))
    }

    fn read_segments(&self) -> Result<Vec<Segment>, Error> {
        let mut segments = Vec::new();
        for header in self.program.iter().filter(|header| header.p_type(ENDIAN) == PT_LOAD) {
            let offset = header.p_offset(ENDIAN);
            let flags = header.p_flags(ENDIAN);
            let segment = Segment {
                address: header.p_vaddr(ENDIAN),
                offset,
                file_size: header.p_filesz(ENDIAN),
                memory_size: header.p_memsz(ENDIAN),
                alignment: header.p_align(ENDIAN),
                readable: flags.0 & PF_R.0 != 0,
                writable: flags.0 & PF_W.0 != 0,
                executable: flags.0 & PF_X.0 != 0,
            };
            let what = || format!("segment {} of the ELF", segments.len());
            if range(self.bytes, offset, segment.file_size).is_none() {
                let available = (self.bytes.len() as u64).saturating_sub(offset);
                return Err(Error::truncated(what(), offset, segment.file_size, available));
            }
            if segment.memory_size < segment.file_size {
                return Err(Error::malformed(what(), offset, "it takes less memory than file"));
            }
            if segment.address.checked_add(segment.memory_size).is_none() {
                return Err(Error::malformed(what(), offset, "its address and size overflow"));
            }
            segments.push(segment);
            let what = "the program headers (loaded segments)";
            check_count(what, self.header.e_phoff(ENDIAN), segments.len() as u64, MAX_SEGMENTS)?;
        }
        Ok(segments)
    }

    fn read_dynamic(&self) -> Result<Dynamic, Error> {
        let mut dynamic = Dynamic::default();
        for header in self.program {
            let entries = header
                .dynamic(ENDIAN, self.bytes)
                .map_err(|error| malformed("the dynamic section", header.p_offset(ENDIAN), error))?;
            let Some(entries) = entries else { continue };
            for entry in entries {
                let value = entry.d_val(ENDIAN);
                match entry.d_tag(ENDIAN) {
                    DT_NULL => break,
                    DT_SYMTAB => dynamic.symbols = Some(value),
                    DT_STRTAB => dynamic.strings = Some(value),
                    DT_STRSZ => dynamic.strings_size = value,
                    DT_HASH => dynamic.hash = Some(value),
                    DT_GNU_HASH => dynamic.gnu_hash = Some(value),
                    DT_RELA => dynamic.rela = Some(value),
                    DT_RELASZ => dynamic.rela_size = value,
                    DT_JMPREL => dynamic.plt_rela = Some(value),
                    DT_PLTRELSZ => dynamic.plt_rela_size = value,
                    DT_REL | DT_RELR if self.header.e_machine(ENDIAN) == EM_AMDGPU => {
                        let advice =
                            "link with lld's defaults for amdgpu, which write relocations with addends";
                        return Err(Error::unsupported(
                            "a table of relocations without addends",
                            value,
                            advice,
                        ));
                    }
                    _ => {}
                }
            }
            // A loader looks at one dynamic section only.
            break;
        }
        Ok(dynamic)
    }

    /// The notes with kernel metadata, from the segments or else the sections. A linker leaves one for each object that it
    /// links.
    pub(crate) fn metadata_notes(&self, warnings: &mut Warnings) -> Result<Vec<MetadataNote<'a>>, Error> {
        let mut search = NoteSearch::new(self.bytes);
        for header in self.program.iter().filter(|header| header.p_type(ENDIAN) == PT_NOTE) {
            if let Some(notes) = header.notes(ENDIAN, self.bytes).ok().flatten() {
                search.through(notes, header.p_offset(ENDIAN), warnings)?;
            }
        }
        if search.found.is_empty() {
            for section in self.sections.iter().filter(|section| section.sh_type(ENDIAN) == SHT_NOTE) {
                if let Some(notes) = section.notes(ENDIAN, self.bytes).ok().flatten() {
                    search.through(notes, section.sh_offset(ENDIAN), warnings)?;
                }
            }
        }
        Ok(search.found)
    }

    /// The offset and the size in the file of each area of notes that a program header names.
    pub(crate) fn note_areas(&self) -> impl Iterator<Item = (u64, u64)> {
        let notes = self.program.iter().filter(|header| header.p_type(ENDIAN) == PT_NOTE);
        notes.map(|header| (header.p_offset(ENDIAN), header.p_filesz(ENDIAN)))
    }

    /// Whether an executable segment has code at an address.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.segments.iter().any(|segment| segment.executable && segment.holds(address, 1))
    }

    /// Whether the memory at an address stays writable once the file is loaded. A loader makes the part that
    /// `PT_GNU_RELRO` names read-only.
    pub(crate) fn stays_writable(&self, address: u64, size: u64) -> bool {
        let mut writable = self.segments.iter().filter(|segment| segment.writable);
        let mut protected = self.program.iter().filter(|header| header.p_type(ENDIAN) == PT_GNU_RELRO);
        let end = address.saturating_add(size);
        writable.any(|segment| segment.spans(address, size))
            && !protected.any(|header| {
                let start = header.p_vaddr(ENDIAN);
                address < start.saturating_add(header.p_memsz(ENDIAN)) && start < end
            })
    }

    /// Tags and values of the dynamic section, up to its end.
    pub(crate) fn dynamic_entries(&self) -> impl Iterator<Item = (DynamicTag, u64)> {
        let header = self.program.iter().find(|header| header.p_type(ENDIAN) == PT_DYNAMIC);
        let entries = header.and_then(|header| header.dynamic(ENDIAN, self.bytes).ok().flatten());
        let tags = entries.unwrap_or_default().iter();
        tags.map(|entry| (entry.d_tag(ENDIAN), entry.d_val(ENDIAN))).take_while(|(tag, _)| *tag != DT_NULL)
    }

    /// The libraries that the dynamic section asks for, each once.
    pub(crate) fn needed(&self) -> Result<Vec<&'a [u8]>, Error> {
        let strings = self.dynamic_strings().unwrap_or_default();
        let mut names = NameBudget::new(self.bytes.len());
        let mut needed = Vec::new();
        let mut known = HashSet::new();
        for (_, offset) in self.dynamic_entries().filter(|(tag, _)| *tag == DT_NEEDED) {
            let name = names.take(strings, offset)?;
            needed.extend(known.insert(name).then_some(name));
        }
        Ok(needed)
    }

    /// The string table of the dynamic symbols.
    pub(crate) fn dynamic_strings(&self) -> Option<&'a [u8]> {
        self.memory(self.dynamic.strings?, self.dynamic.strings_size)
    }

    /// The dynamic symbols without the first, which is none.
    pub(crate) fn dynamic_symbols(&self) -> Result<Vec<ElfSymbol<'a>>, Error> {
        self.read_dynamic_symbols(&mut NameBudget::new(self.bytes.len()))
    }

    fn read_dynamic_symbols(&self, names: &mut NameBudget) -> Result<Vec<ElfSymbol<'a>>, Error> {
        let mut symbols = Vec::new();
        if let (Some(table), Some(strings)) = (self.dynamic.symbols, self.dynamic.strings) {
            let missing = |what: &str, address| Error::malformed(what, address, "no segment holds it");
            let strings_bytes = self
                .memory(strings, self.dynamic.strings_size)
                .ok_or_else(|| missing("the dynamic string table", strings))?;
            let count = self.dynamic_symbol_count(table, strings);
            check_count("the dynamic symbols of the ELF", table, count, MAX_SYMBOLS)?;
            let table_bytes = count
                .checked_mul(SYMBOL_SIZE)
                .and_then(|size| self.memory(table, size))
                .ok_or_else(|| missing("the dynamic symbol table", table))?;
            for symbol in pod_slice::<Sym64<LittleEndian>>(table_bytes).iter().skip(1) {
                let name = names.take(strings_bytes, symbol.st_name(ENDIAN))?;
                symbols.push(ElfSymbol { name, symbol, exported: true });
            }
        }
        Ok(symbols)
    }

    /// The dynamic symbols without the first, which is none, then those that only the section headers lead to.
    pub(crate) fn symbols(&self, warnings: &mut Warnings) -> Result<Vec<ElfSymbol<'a>>, Error> {
        let mut names = NameBudget::new(self.bytes.len());
        let mut symbols = self.read_dynamic_symbols(&mut names)?;
        if let Ok(table) = self.sections.symbols(ENDIAN, self.bytes, SHT_SYMTAB) {
            let section = self.sections.section(table.string_section());
            let strings = section.and_then(|section| section.data(ENDIAN, self.bytes)).unwrap_or_default();
            let room = (MAX_SYMBOLS as usize).saturating_sub(symbols.len());
            if table.len() > room {
                warnings
                    .push(|| format!("of the debugger's {} symbols the first {room} are read", table.len()));
            }
            for symbol in table.iter().take(room).skip(1) {
                match names.take(strings, symbol.st_name(ENDIAN)) {
                    Ok(name) => symbols.push(ElfSymbol { name, symbol, exported: false }),
                    // An unreadable name in the debugger's table costs that symbol only.
                    Err(Error::Malformed { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(symbols)
    }

    /// The number of dynamic symbols, which the dynamic section does not state. A hash table does, else the section
    /// headers, else the string table, which linkers put behind the symbols.
    fn dynamic_symbol_count(&self, table: u64, strings: u64) -> u64 {
        let hash = self.dynamic.hash.and_then(|address| self.memory_from(address));
        if let Some(Ok(hash)) = hash.map(|bytes| HashTable::<Header>::parse(ENDIAN, bytes)) {
            return hash.symbol_table_length().into();
        }
        let hash = self.dynamic.gnu_hash.and_then(|address| self.memory_from(address));
        if let Some(Ok(hash)) = hash.map(|bytes| GnuHashTable::<Header>::parse(ENDIAN, bytes)) {
            return hash.symbol_table_length(ENDIAN).unwrap_or(hash.symbol_base()).into();
        }
        match self.sections.symbols(ENDIAN, self.bytes, SHT_DYNSYM) {
            Ok(symbols) if !symbols.is_empty() => symbols.len() as u64,
            _ => strings.saturating_sub(table) / SYMBOL_SIZE,
        }
    }

    /// Address and size of the relocations, and of those for calls.
    pub(crate) fn relocation_tables(&self) -> [Option<(u64, u64)>; 2] {
        let dynamic = &self.dynamic;
        [
            dynamic.rela.map(|address| (address, dynamic.rela_size)),
            dynamic.plt_rela.map(|address| (address, dynamic.plt_rela_size)),
        ]
    }

    /// The range of the file with the value of a tag of the dynamic section. The last one counts.
    pub(crate) fn dynamic_value(&self, tag: DynamicTag) -> Option<Range<usize>> {
        let mut found = None;
        let header = self.program.iter().find(|header| header.p_type(ENDIAN) == PT_DYNAMIC)?;
        let entries = header.dynamic(ENDIAN, self.bytes).ok().flatten()?;
        for (index, entry) in (0_u64..).zip(entries) {
            match entry.tag(ENDIAN) {
                DT_NULL => break,
                other if other == tag => {
                    found = byte_range(header.p_offset(ENDIAN).checked_add(index * 16 + 8)?, 8)
                }
                _ => {}
            }
        }
        found
    }

    /// The ranges of the file in which section headers state the size of the relocations at an address.
    pub(crate) fn relocation_section_sizes(&self, address: u64) -> impl Iterator<Item = Range<usize>> {
        let headers = self.header.e_shoff(ENDIAN);
        let sections = (0_u64..).zip(self.sections.iter());
        let ours = sections.filter(move |(_, section)| {
            section.sh_type(ENDIAN) == SHT_RELA && section.sh_addr(ENDIAN) == address
        });
        ours.filter_map(move |(index, _)| {
            byte_range(headers.checked_add(index * SECTION_HEADER_SIZE + 32)?, 8)
        })
    }

    /// The relocations that a loader applies.
    pub(crate) fn relocations(&self) -> Result<Vec<ElfRelocation>, Error> {
        let mut relocations = Vec::new();
        for (address, size) in self.relocation_tables().into_iter().flatten() {
            const WHAT: &str = "the table of relocations";
            let count = relocations.len() as u64 + size / size_of::<Rela64<LittleEndian>>() as u64;
            check_count(WHAT, address, count, MAX_RELOCATIONS)?;
            let bytes = self
                .memory(address, size)
                .ok_or_else(|| Error::malformed(WHAT, address, "no segment holds it"))?;
            relocations.extend(pod_slice::<Rela64<LittleEndian>>(bytes).iter().map(|rela| ElfRelocation {
                offset: rela.r_offset(ENDIAN),
                kind: rela.r_type(ENDIAN, false).0,
                symbol: rela.r_sym(ENDIAN, false),
                addend: rela.r_addend(ENDIAN),
            }));
        }
        Ok(relocations)
    }
}

/// Bounds the total length of the names that are read: symbols may share bytes of the string table.
struct NameBudget {
    left: usize,
    limit: usize,
}

impl NameBudget {
    fn new(file_size: usize) -> NameBudget {
        let limit = file_size.saturating_mul(4).max(1 << 20);
        NameBudget { left: limit, limit }
    }

    /// The name at an offset. The bytes that are searched count against the budget, even if the name has no end.
    fn take<'a>(&mut self, strings: &'a [u8], offset: impl Into<u64>) -> Result<&'a [u8], Error> {
        let offset = offset.into();
        let outside = || {
            let problem = "a name is not in it, or has no end";
            Error::malformed("the string table", offset, problem)
        };
        let start = usize::try_from(offset).map_err(|_| outside())?;
        let rest = strings.get(start..).ok_or_else(outside)?;
        let search = rest.get(..self.left).unwrap_or(rest);
        let end = search.iter().position(|byte| *byte == 0);
        self.left -= end.unwrap_or(search.len());
        match end {
            Some(end) => rest.get(..end).ok_or_else(outside),
            None if search.len() == rest.len() => Err(outside()),
            None => Err(Error::Limit {
                what: "reading the names of all symbols".to_owned(),
                offset,
                value: self.limit as u64 + 1,
                limit: self.limit as u64,
                advice: "no linker shares bytes like this; the input is damaged".to_owned(),
            }),
        }
    }
}

fn check_count(what: &str, offset: u64, value: u64, limit: u64) -> Result<(), Error> {
    if value <= limit {
        return Ok(());
    }
    let advice = "no tool writes this many; the input is damaged".to_owned();
    Err(Error::Limit { what: what.to_owned(), offset, value, limit, advice })
}

fn byte_range(start: u64, size: u64) -> Option<Range<usize>> {
    Some(usize::try_from(start).ok()?..usize::try_from(start.checked_add(size)?).ok()?)
}

/// The whole values in `bytes`.
pub(crate) fn pod_slice<T: object::pod::Pod>(bytes: &[u8]) -> &[T] {
    let count = bytes.len() / size_of::<T>();
    slice_from_bytes(bytes, count).map(|(slice, _)| slice).unwrap_or_default()
}

fn malformed(what: &str, offset: u64, error: object::Error) -> Error {
    Error::malformed(what, offset, error.to_string())
}
