// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a system's loader may be shown a shared object: `dlopen` believes every number in it.
//!
//! | what a loader takes from the object | what it does with it | what is asked here |
//! |---|---|---|
//! | loaded segments | maps pages of the file, clears what is behind them | in the file, in order, none over another, places that fit the alignment |
//! | the dynamic section | looks every tag up, asserts some | one, loaded, with an end; entry sizes that exist |
//! | strings, symbols, hash tables, versions | follows offsets and indices without a check | loaded, ended, within each other's bounds, chains that end and lead to each exported name |
//! | relocations | writes to their places | eight bytes of writable memory outside of the dynamic section, symbols that exist, as many relative ones ahead as are stated |
//! | constructors, destructors | calls them | in code, tables in writable memory, each word moved to code |
//! | thread-local storage, memory to protect, notes | copies, protects, walks | in memory, of bounded size |

use std::collections::HashSet;

use object::LittleEndian;
use object::elf::{
    PF_X, PT_DYNAMIC, PT_GNU_PROPERTY, PT_GNU_RELRO, PT_GNU_STACK, PT_NOTE, PT_PHDR, PT_TLS, ProgramHeader64,
};
use object::read::elf::ProgramHeader;

use crate::bytes::{range, text, u32_at};
use crate::code::elf::{Elf, ElfSymbol, NameBudget};
use crate::code::host::{calls, hash, relocations, versions};
use crate::error::Error;

const ENDIAN: LittleEndian = LittleEndian;
const PAGE: u64 = 4096;
/// Every thread gets so much when it first asks, and a loader ends the process where it cannot.
const MAX_THREAD_LOCAL: u64 = 16 << 20;
/// Headers may claim the same notes. Tools write a handful.
const MAX_NOTES: u32 = 1 << 16;
pub(super) const DYNAMIC: &str = "the dynamic section";

/// Tags of the dynamic section.
pub(super) mod tag {
    pub(in super::super) const NEEDED: i64 = 1;
    pub(in super::super) const PLTRELSZ: i64 = 2;
    pub(in super::super) const PLTGOT: i64 = 3;
    pub(in super::super) const HASH: i64 = 4;
    pub(in super::super) const STRTAB: i64 = 5;
    pub(in super::super) const SYMTAB: i64 = 6;
    pub(in super::super) const RELA: i64 = 7;
    pub(in super::super) const RELASZ: i64 = 8;
    pub(in super::super) const RELAENT: i64 = 9;
    pub(in super::super) const STRSZ: i64 = 10;
    pub(in super::super) const SYMENT: i64 = 11;
    pub(in super::super) const INIT: i64 = 12;
    pub(in super::super) const FINI: i64 = 13;
    pub(in super::super) const SONAME: i64 = 14;
    pub(in super::super) const RPATH: i64 = 15;
    pub(in super::super) const SYMBOLIC: i64 = 16;
    pub(in super::super) const REL: i64 = 17;
    pub(in super::super) const PLTREL: i64 = 20;
    pub(in super::super) const TEXTREL: i64 = 22;
    pub(in super::super) const JMPREL: i64 = 23;
    pub(in super::super) const INIT_ARRAY: i64 = 25;
    pub(in super::super) const FINI_ARRAY: i64 = 26;
    pub(in super::super) const INIT_ARRAYSZ: i64 = 27;
    pub(in super::super) const FINI_ARRAYSZ: i64 = 28;
    pub(in super::super) const RUNPATH: i64 = 29;
    pub(in super::super) const FLAGS: i64 = 30;
    pub(in super::super) const RELRSZ: i64 = 35;
    pub(in super::super) const RELR: i64 = 36;
    pub(in super::super) const RELRENT: i64 = 37;
    pub(in super::super) const RELACOUNT: i64 = 0x6fff_fff9;
    pub(in super::super) const GNU_HASH: i64 = 0x6fff_fef5;
    pub(in super::super) const AUXILIARY: i64 = 0x7fff_fffd;
    pub(in super::super) const FILTER: i64 = 0x7fff_ffff;
}

const TOGETHER: [&[i64]; 5] = [
    &[tag::RELA, tag::RELASZ, tag::RELAENT],
    &[tag::RELR, tag::RELRSZ, tag::RELRENT],
    &[tag::JMPREL, tag::PLTRELSZ, tag::PLTREL],
    &[tag::INIT_ARRAY, tag::INIT_ARRAYSZ],
    &[tag::FINI_ARRAY, tag::FINI_ARRAYSZ],
];

/// The dynamic section's tables, which are all there.
pub(super) struct Tables<'a> {
    entries: Vec<(i64, u64)>,
    strings: &'a [u8],
    /// The libraries that are asked for, each once.
    pub(super) needed: Vec<&'a [u8]>,
    /// Bytes that each thread gets, where the object has thread-local variables.
    pub(super) thread_local: Option<u64>,
}

impl<'a> Tables<'a> {
    /// The value of a tag; the last one counts, as for a loader.
    pub(super) fn value(&self, tag: i64) -> Option<u64> {
        self.entries.iter().rev().find(|(known, _)| *known == tag).map(|(_, value)| *value)
    }

    /// The text at an offset in the string table, which ends with a zero.
    pub(super) fn string(&self, names: &mut NameBudget, offset: u64) -> Result<&'a [u8], Error> {
        names.take(self.strings, offset)
    }

    /// Whether the object's own definitions come before all others to it.
    pub(super) fn is_symbolic(&self) -> bool {
        const SYMBOLIC: u64 = 2;
        self.value(tag::SYMBOLIC).is_some() || self.value(tag::FLAGS).unwrap_or(0) & SYMBOLIC != 0
    }
}

/// Succeeds where a loader that follows what the object says stays within its bytes and its memory.
pub(super) fn check<'a>(bytes: &[u8], elf: &Elf<'a>, symbols: &[ElfSymbol<'a>]) -> Result<Tables<'a>, Error> {
    check_segments(elf)?;
    check_program(bytes, elf)?;
    let mut names = NameBudget::new(bytes.len());
    let tables = read_tables(elf, &mut names)?;
    let count = symbols.len() as u64 + 1;
    let hashes = [tables.value(tag::HASH), tables.value(tag::GNU_HASH)];
    if hashes == [None, None] {
        return Err(Error::malformed(DYNAMIC, 0, "it has no hash table, so that nobody finds a symbol"));
    }
    if let Some(address) = hashes[0] {
        hash::check(elf, address, symbols)?;
    }
    if let Some(address) = hashes[1] {
        hash::check_gnu(elf, address, symbols)?;
    }
    for symbol in symbols {
        check_symbol(elf, &tables, symbol)?;
    }
    versions::check(elf, &tables, &mut names, count)?;
    relocations::check(elf, &tables, symbols)?;
    calls::check(elf, &tables, symbols)?;
    Ok(tables)
}

fn check_segments(elf: &Elf<'_>) -> Result<(), Error> {
    if elf.segments.is_empty() {
        return Err(Error::malformed("the program headers", 0, "they load nothing"));
    }
    let mut end = 0;
    for (index, segment) in elf.segments.iter().enumerate() {
        let malformed = |problem: &str| {
            Err(Error::malformed(format!("segment {index} of the ELF"), segment.offset, problem))
        };
        if !segment.readable {
            return malformed("nobody may read it");
        }
        if segment.address < end {
            return malformed("it begins before the segment ahead of it ends");
        }
        end = segment.address + segment.memory_size;
        if !segment.alignment.is_power_of_two() || segment.alignment < PAGE {
            return malformed("its alignment is no multiple of a page");
        }
        if segment.address % segment.alignment != segment.offset % segment.alignment {
            return malformed("its place in the file and its address do not fit its alignment");
        }
    }
    Ok(())
}

fn check_program(bytes: &[u8], elf: &Elf<'_>) -> Result<(), Error> {
    let mut dynamic = 0;
    let mut has_stack = false;
    let mut notes = MAX_NOTES;
    for header in elf.program() {
        let (address, size) = (header.p_vaddr(ENDIAN), header.p_memsz(ENDIAN));
        let file_size = header.p_filesz(ENDIAN);
        let malformed =
            |what: &str, problem: &str| Err(Error::malformed(what, header.p_offset(ENDIAN), problem));
        match header.p_type(ENDIAN) {
            PT_DYNAMIC => {
                dynamic += 1;
                if !is_loaded(elf, header) {
                    return malformed(DYNAMIC, "no segment loads it from where it is in the file");
                }
            }
            PT_PHDR if !is_loaded(elf, header) => {
                return malformed(
                    "the program headers",
                    "no segment loads them from where they are in the file",
                );
            }
            PT_TLS => {
                let what = "the thread-local storage";
                if size > MAX_THREAD_LOCAL {
                    return Err(Error::Limit {
                        what: what.to_owned(),
                        offset: header.p_offset(ENDIAN),
                        value: size,
                        limit: MAX_THREAD_LOCAL,
                        advice: "keep large tables in ordinary variables".to_owned(),
                    });
                }
                let align = header.p_align(ENDIAN).max(1);
                if file_size > size || !align.is_power_of_two() || align > PAGE {
                    return malformed(what, "its sizes or its alignment make no sense");
                }
                if file_size > 0 && elf.memory(address, file_size).is_none() {
                    return malformed(what, "no segment loads what it begins with");
                }
            }
            PT_GNU_RELRO if !elf.is_memory(address, size) => {
                return malformed("the memory to protect after loading", "no segment holds it");
            }
            PT_GNU_STACK => {
                has_stack = true;
                if header.p_flags(ENDIAN).0 & PF_X.0 != 0 {
                    return Err(executable_stack(header.p_offset(ENDIAN)));
                }
            }
            PT_NOTE | PT_GNU_PROPERTY => check_notes(bytes, elf, header, &mut notes)?,
            _ => {}
        }
    }
    if dynamic != 1 {
        return Err(Error::malformed(
            "the program headers",
            0,
            format!("they have {dynamic} dynamic sections, not one"),
        ));
    }
    if has_stack { Ok(()) } else { Err(executable_stack(0)) }
}

/// Without a header about the stack, loaders take the object to want one that holds code.
fn executable_stack(offset: u64) -> Error {
    Error::unsupported(
        "a shared object that wants its stacks executable",
        offset,
        "link it with -z noexecstack",
    )
}

/// Whether what a header is about is loaded, from where it is in the file.
fn is_loaded(elf: &Elf<'_>, header: &ProgramHeader64<LittleEndian>) -> bool {
    let place = elf.file_range(header.p_vaddr(ENDIAN), header.p_memsz(ENDIAN).max(header.p_filesz(ENDIAN)));
    place.is_some_and(|place| place.start as u64 == header.p_offset(ENDIAN))
}

/// Whether memory can be written once the object is loaded: a loader takes that away from a part of it.
pub(super) fn stays_writable(elf: &Elf<'_>, address: u64, size: u64) -> bool {
    let mut protected = elf.program().iter().filter(|header| header.p_type(ENDIAN) == PT_GNU_RELRO);
    let end = address.saturating_add(size);
    elf.is_writable(address, size)
        && !protected.any(|header| {
            let start = header.p_vaddr(ENDIAN);
            address < start.saturating_add(header.p_memsz(ENDIAN)) && start < end
        })
}

/// Loaders add up the sizes of notes until they are past the end.
fn check_notes(
    bytes: &[u8],
    elf: &Elf<'_>,
    header: &ProgramHeader64<LittleEndian>,
    left: &mut u32,
) -> Result<(), Error> {
    let (offset, size) = (header.p_offset(ENDIAN), header.p_filesz(ENDIAN));
    let malformed = |problem| Err(Error::malformed("the notes of the ELF", offset, problem));
    let Some(notes) = range(bytes, offset, size).filter(|_| is_loaded(elf, header)) else {
        return malformed("no segment loads them from where they are in the file");
    };
    let align = if header.p_align(ENDIAN) == 8 { 8 } else { 4 };
    let mut position: u64 = 0;
    while position + 12 <= size {
        *left = match left.checked_sub(1) {
            Some(left) => left,
            None => return malformed("there are more than any tool writes"),
        };
        let at = |field| u32_at(notes, position + field).map_or(u64::MAX >> 2, u64::from);
        let content = (12 + at(0)).next_multiple_of(align);
        if position + content + at(4) > size {
            return malformed("a note is longer than what holds it");
        }
        position += (content + at(4)).next_multiple_of(align);
    }
    Ok(())
}

fn read_tables<'a>(elf: &Elf<'a>, names: &mut NameBudget) -> Result<Tables<'a>, Error> {
    let malformed = |problem: &str| Err(Error::malformed(DYNAMIC, 0, problem));
    let Some(entries) = elf.dynamic_entries() else {
        return malformed("it has no end");
    };
    let storage = elf.program().iter().find(|header| header.p_type(ENDIAN) == PT_TLS);
    let thread_local = storage.map(|header| header.p_memsz(ENDIAN));
    let mut tables = Tables { entries, strings: &[], needed: Vec::new(), thread_local };
    let (Some(strings), Some(size)) = (tables.value(tag::STRTAB), tables.value(tag::STRSZ)) else {
        return malformed("it has no string table");
    };
    tables.strings = match elf.memory(strings, size) {
        Some(strings) if strings.last() == Some(&0) => strings,
        _ => return malformed("no segment holds its string table, or that does not end with a zero"),
    };
    if tables.value(tag::SYMTAB).is_none() {
        return malformed("it has no symbol table");
    }
    // Where one is there, loaders take the others to be there too.
    for group in TOGETHER {
        let there = group.iter().filter(|tag| tables.value(**tag).is_some()).count();
        if there != 0 && there != group.len() {
            return malformed("it has a part of what tells of a table");
        }
    }
    // What the loader of glibc asserts, and ends the process for.
    for (tag, expected) in [(tag::SYMENT, 24), (tag::RELAENT, 24), (tag::RELRENT, 8), (tag::PLTREL, 7)] {
        if tables.value(tag).is_some_and(|value| value != expected) {
            return malformed("it states sizes or kinds of table entries that 64-bit ELFs do not have");
        }
    }
    const HAS_TEXT_RELOCATIONS: u64 = 4;
    let flags = tables.value(tag::FLAGS).unwrap_or(0);
    if tables.value(tag::TEXTREL).is_some() || flags & HAS_TEXT_RELOCATIONS != 0 {
        return Err(Error::unsupported("a shared object with text relocations", 0, "compile it with -fPIC"));
    }
    if tables.value(tag::REL).is_some() {
        let advice = "link it with a linker for this machine, which writes relocations with addends";
        return Err(Error::unsupported("a table of relocations without addends", 0, advice));
    }
    if [tag::AUXILIARY, tag::FILTER].iter().any(|tag| tables.value(*tag).is_some()) {
        let advice = "link it without -f and -F (--auxiliary, --filter)";
        return Err(Error::unsupported("a shared object that stands for another", 0, advice));
    }
    let mut known = HashSet::new();
    for (tag, name) in &tables.entries {
        match *tag {
            tag::NEEDED => {
                let name = tables.string(names, *name)?;
                tables.needed.extend(known.insert(name).then_some(name));
            }
            tag::SONAME | tag::RPATH | tag::RUNPATH => drop(tables.string(names, *name)?),
            _ => {}
        }
    }
    Ok(tables)
}

fn check_symbol(elf: &Elf<'_>, tables: &Tables<'_>, symbol: &ElfSymbol<'_>) -> Result<(), Error> {
    use object::elf::{SHN_ABS, STT_GNU_IFUNC, STT_TLS};
    use object::read::elf::Sym;

    let raw = symbol.symbol;
    let (address, size) = (raw.st_value(ENDIAN), raw.st_size(ENDIAN));
    let is_placed = match raw.st_type() {
        _ if raw.is_undefined(ENDIAN) || raw.st_shndx(ENDIAN) == SHN_ABS => true,
        STT_TLS => match (tables.thread_local, address.checked_add(size)) {
            (Some(storage), Some(end)) => end <= storage,
            _ => false,
        },
        // A loader calls it to learn where the function is.
        STT_GNU_IFUNC => elf.is_code(address),
        _ => elf.is_memory(address, size),
    };
    if is_placed {
        return Ok(());
    }
    Err(Error::malformed(format!("the symbol {}", text(symbol.name)), address, "no segment holds all of it"))
}
