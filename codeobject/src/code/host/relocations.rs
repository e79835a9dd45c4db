// SPDX-License-Identifier: MIT OR Apache-2.0
//! Relocations of shared objects: a loader writes wherever they say.

use std::collections::HashSet;
use std::ops::Range;

use object::LittleEndian;
use object::elf::{PT_DYNAMIC, ProgramHeader64, STB_LOCAL, STT_TLS, STV_DEFAULT};
use object::read::elf::{ProgramHeader, Sym};

use crate::bytes::u64_at;
use crate::code::elf::{Elf, ElfSymbol};
use crate::code::host::HostMachine;
use crate::code::host::loadable::{Tables, tag};
use crate::error::Error;

const ENDIAN: LittleEndian = LittleEndian;
const WHAT: &str = "a relocation";
/// Bytes of an entry of a table with addends.
const ENTRY: u64 = 24;

/// Whether calls of other objects go through a table of their own.
pub(super) fn has_plt(tables: &Tables<'_>) -> bool {
    tables.value(tag::JMPREL).is_some()
}

/// Checks all of them.
pub(super) fn check(elf: &Elf<'_>, tables: &Tables<'_>, symbols: &[ElfSymbol<'_>]) -> Result<(), Error> {
    let kinds = Kinds::of(HostMachine::from_elf(elf.machine()));
    for relocation in listed(elf, tables)? {
        check_one((elf, tables), &kinds, relocation, symbols)?;
    }
    check_count(elf, tables, &kinds)?;
    for_each_packed(elf, tables, |place| check_place(elf, place, 8))
}

/// What a loader puts into a word.
pub(super) enum Written {
    /// What is there, plus where the object is loaded.
    Moved,
    /// An address of this object.
    Own(u64),
    /// Code that another object or a function of this one tells.
    Elsewhere,
    /// No address.
    Other,
}

/// Tells what a loader puts where the range is touched, and the places; `false` for machines whose relocations are not known.
pub(super) fn for_each_written(
    elf: &Elf<'_>,
    tables: &Tables<'_>,
    symbols: &[ElfSymbol<'_>],
    range: Range<u64>,
    mut tell: impl FnMut(u64, Written) -> Result<(), Error>,
) -> Result<bool, Error> {
    let kinds = Kinds::of(HostMachine::from_elf(elf.machine()));
    if kinds.relative == u64::MAX {
        return Ok(false);
    }
    let is_inside = |place: u64, size: u64| place < range.end && place.saturating_add(size) > range.start;
    for [place, info, addend] in listed(elf, tables)? {
        let (kind, symbol) = (info & 0xffff_ffff, named(info >> 32, symbols));
        let size = if kind == kinds.pair { 16 } else { 8 };
        if kind == 0 || !is_inside(place, size) {
            continue;
        }
        let what = match symbol {
            _ if kind == kinds.relative => Written::Own(addend),
            _ if kind == kinds.call => Written::Elsewhere,
            Some(symbol) if kind == kinds.absolute => match symbol.symbol.is_undefined(ENDIAN) {
                true => Written::Elsewhere,
                false => Written::Own(symbol.symbol.st_value(ENDIAN).wrapping_add(addend)),
            },
            _ => Written::Other,
        };
        tell(place, what)?;
    }
    for_each_packed(elf, tables, |place| match is_inside(place, 8) {
        true => tell(place, Written::Moved),
        false => Ok(()),
    })?;
    Ok(true)
}

/// The numbers of the symbols that a loader looks up, counted without the first, which is none.
pub(super) fn looked_up(elf: &Elf<'_>, tables: &Tables<'_>) -> Result<HashSet<u64>, Error> {
    Ok(listed(elf, tables)?.filter_map(|[_, info, _]| (info >> 32).checked_sub(1)).collect())
}

/// The entries of both tables: a place, the kind and the symbol, what to add.
fn listed<'a>(elf: &Elf<'a>, tables: &Tables<'_>) -> Result<impl Iterator<Item = [u64; 3]> + use<'a>, Error> {
    let mut all: [&'a [u8]; 2] = [&[], &[]];
    for (bytes, (table, size)) in all.iter_mut().zip([(tag::RELA, tag::RELASZ), (tag::JMPREL, tag::PLTRELSZ)])
    {
        *bytes = table_bytes(elf, tables, table, size, ENTRY)?.unwrap_or_default();
    }
    let entries = all.into_iter().flat_map(|bytes| bytes.chunks_exact(ENTRY as usize));
    Ok(entries.map(|entry| [0, 8, 16].map(|at| u64_at(entry, at).unwrap_or_default())))
}

/// Loaders take the first ones to be relative without a look at their kind, and some end the process where they are not.
fn check_count(elf: &Elf<'_>, tables: &Tables<'_>, kinds: &Kinds) -> Result<(), Error> {
    let Some(count) = tables.value(tag::RELACOUNT).filter(|_| kinds.relative != u64::MAX) else {
        return Ok(());
    };
    let bytes = table_bytes(elf, tables, tag::RELA, tag::RELASZ, ENTRY)?.unwrap_or_default();
    let mut entries = bytes.chunks_exact(ENTRY as usize).map(|entry| u64_at(entry, 8).unwrap_or_default());
    let relative = entries.position(|info| info & 0xffff_ffff != kinds.relative);
    if count <= relative.unwrap_or(bytes.len() / ENTRY as usize) as u64 {
        return Ok(());
    }
    let problem = "fewer relative ones are at its beginning than are stated";
    Err(Error::malformed("the table of relocations", tables.value(tag::RELA).unwrap_or(0), problem))
}

fn table_bytes<'a>(
    elf: &Elf<'a>,
    tables: &Tables<'_>,
    table: i64,
    size: i64,
    entry: u64,
) -> Result<Option<&'a [u8]>, Error> {
    let Some(address) = tables.value(table) else { return Ok(None) };
    let size = tables.value(size).unwrap_or(0);
    let bytes = elf.memory(address, size).filter(|_| size.is_multiple_of(entry));
    let problem = "no segment holds it, or it does not hold whole entries";
    bytes.map(Some).ok_or_else(|| Error::malformed("the table of relocations", address, problem))
}

/// The numbers of relocations that do more than to write a word.
struct Kinds {
    /// Copies a variable.
    copy: u64,
    /// Calls a function to learn what to write.
    call: u64,
    /// Writes two words.
    pair: u64,
    /// Writes an address of this object.
    relative: u64,
    /// Writes the address of a symbol.
    absolute: u64,
    /// Write the address of a symbol and nothing else.
    symbol: [u64; 2],
    /// Are about thread-local variables.
    thread_local: [u64; 4],
}

impl Kinds {
    /// Whether a loader meets it in shared objects. Others write less than a word, or more than the object's own.
    fn has(&self, kind: u64) -> bool {
        let one = [self.copy, self.call, self.pair, self.relative, self.absolute];
        let is_known = self.relative != u64::MAX;
        !is_known
            || kind == 0
            || one.contains(&kind)
            || self.symbol.contains(&kind)
            || self.thread_local.contains(&kind)
    }

    fn of(machine: HostMachine) -> Kinds {
        match machine {
            HostMachine::X86_64 => Kinds {
                copy: 5,
                call: 37,
                pair: 36,
                relative: 8,
                symbol: [6, 7],
                absolute: 1,
                thread_local: [16, 17, 18, 36],
            },
            HostMachine::Aarch64 => Kinds {
                copy: 1024,
                call: 1032,
                pair: 1031,
                relative: 1027,
                symbol: [1025, 1026],
                absolute: 257,
                thread_local: [1028, 1029, 1030, 1031],
            },
            HostMachine::Riscv64 => Kinds {
                copy: 4,
                call: 58,
                pair: 12,
                relative: 3,
                symbol: [5, 5],
                absolute: 2,
                thread_local: [7, 9, 11, 12],
            },
            HostMachine::Other(_) => Kinds {
                copy: u64::MAX,
                call: u64::MAX,
                pair: u64::MAX,
                relative: u64::MAX,
                symbol: [u64::MAX; 2],
                absolute: u64::MAX,
                thread_local: [u64::MAX; 4],
            },
        }
    }
}

fn check_one(
    (elf, tables): (&Elf<'_>, &Tables<'_>),
    kinds: &Kinds,
    relocation: [u64; 3],
    symbols: &[ElfSymbol<'_>],
) -> Result<(), Error> {
    let [place, info, addend] = relocation;
    let (kind, symbol) = (info & 0xffff_ffff, info >> 32);
    let malformed = |problem: &str| Err(Error::malformed(WHAT, place, problem));
    let named = named(symbol, symbols);
    if symbol != 0 && named.is_none() {
        return malformed("it refers to a symbol that is not there");
    }
    // Loaders look no symbol up that is local by its binding or its visibility, and take its value as it is.
    let is_own = |symbol: &ElfSymbol<'_>| {
        symbol.symbol.st_bind() == STB_LOCAL || symbol.symbol.st_visibility() != STV_DEFAULT
    };
    if named.is_some_and(|symbol| symbol.symbol.is_undefined(ENDIAN) && is_own(symbol)) {
        return malformed("it refers to a local symbol that is not defined");
    }
    if !kinds.has(kind) {
        return malformed("it is of a kind that no linker writes into shared objects");
    }
    if (kinds.symbol.contains(&kind) || kind == kinds.absolute) && symbol == 0 {
        return malformed("it wants the address of a symbol, and refers to none");
    }
    let is_thread_local = match named {
        Some(symbol) => symbol.symbol.st_type() == STT_TLS,
        None => tables.thread_local.is_some(),
    };
    if kinds.thread_local.contains(&kind) && !is_thread_local {
        return malformed("it wants a thread-local variable where there is none");
    }
    if kind == 0 {
        return Ok(());
    }
    check_place(elf, place, if kind == kinds.pair { 16 } else { 8 })?;
    if kind == kinds.copy {
        return malformed("it copies a variable, as only a program's may");
    }
    if kind == kinds.call && !elf.is_code(addend) {
        return malformed("it calls what lies in no executable segment");
    }
    Ok(())
}

/// A loader reads the dynamic section again when it has relocated all.
fn check_place(elf: &Elf<'_>, place: u64, size: u64) -> Result<(), Error> {
    let malformed = |problem: &str| Err(Error::malformed(WHAT, place, problem));
    if !elf.is_writable(place, size) {
        return malformed("it changes bytes that are in no writable segment");
    }
    let mut dynamic = elf.program().iter().filter(|header| header.p_type(ENDIAN) == PT_DYNAMIC);
    let is_in = |header: &ProgramHeader64<LittleEndian>| {
        let start = header.p_vaddr(ENDIAN);
        place < start.saturating_add(header.p_memsz(ENDIAN)) && start < place + size
    };
    if dynamic.any(is_in) { malformed("it changes the dynamic section") } else { Ok(()) }
}

fn named<'s, 'a>(symbol: u64, symbols: &'s [ElfSymbol<'a>]) -> Option<&'s ElfSymbol<'a>> {
    symbol.checked_sub(1).and_then(|index| symbols.get(usize::try_from(index).ok()?))
}

/// The places of packed ones: an even word is one, an odd one a map of the 63 words that follow the last place.
fn for_each_packed(
    elf: &Elf<'_>,
    tables: &Tables<'_>,
    mut tell: impl FnMut(u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let outside = |place| Error::malformed(WHAT, place, "it changes bytes that are in no writable segment");
    let bytes = table_bytes(elf, tables, tag::RELR, tag::RELRSZ, 8)?.unwrap_or_default();
    let mut next = None;
    for word in bytes.chunks_exact(8).map(|word| u64_at(word, 0).unwrap_or_default()) {
        if word & 1 == 0 {
            tell(word)?;
            next = word.checked_add(8);
            continue;
        }
        let start = next.ok_or_else(|| outside(word))?;
        for bit in (1..64).filter(|bit| word >> bit & 1 == 1) {
            tell(start.checked_add(8 * (bit - 1)).ok_or_else(|| outside(start))?)?;
        }
        next = start.checked_add(8 * 63);
    }
    Ok(())
}
