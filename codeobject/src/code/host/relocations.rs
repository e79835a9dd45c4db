// SPDX-License-Identifier: MIT OR Apache-2.0
//! Relocations of shared objects: a loader writes wherever they say.

use object::elf::STT_TLS;

use crate::bytes::u64_at;
use crate::code::elf::{Elf, ElfSymbol};
use crate::code::host::HostMachine;
use crate::code::host::loadable::{Tables, tag};
use crate::error::Error;

const WHAT: &str = "a relocation";

/// Whether calls of other objects go through a table of their own.
pub(super) fn has_plt(tables: &Tables<'_>) -> bool {
    tables.value(tag::JMPREL).is_some()
}

/// Checks all of them.
pub(super) fn check(elf: &Elf<'_>, tables: &Tables<'_>, symbols: &[ElfSymbol<'_>]) -> Result<(), Error> {
    let kinds = Kinds::of(HostMachine::from_elf(elf.machine()));
    for (table, size) in [(tag::RELA, tag::RELASZ), (tag::JMPREL, tag::PLTRELSZ)] {
        let Some(bytes) = table_bytes(elf, tables, table, size, 24)? else { continue };
        for relocation in bytes.chunks_exact(24) {
            let words = [0, 8, 16].map(|at| u64_at(relocation, at).unwrap_or_default());
            check_one((elf, tables), &kinds, words, symbols)?;
        }
    }
    if let Some(bytes) = table_bytes(elf, tables, tag::RELR, tag::RELRSZ, 8)? {
        check_packed(elf, bytes)?;
    }
    Ok(())
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
    /// Are about thread-local variables.
    thread_local: [u64; 4],
}

impl Kinds {
    fn of(machine: HostMachine) -> Kinds {
        match machine {
            HostMachine::X86_64 => Kinds { copy: 5, call: 37, pair: 36, thread_local: [16, 17, 18, 36] },
            HostMachine::Aarch64 => {
                Kinds { copy: 1024, call: 1032, pair: 1031, thread_local: [1028, 1029, 1030, 1031] }
            }
            HostMachine::Riscv64 => Kinds { copy: 4, call: 58, pair: 12, thread_local: [7, 9, 11, 12] },
            HostMachine::Other(_) => {
                Kinds { copy: u64::MAX, call: u64::MAX, pair: u64::MAX, thread_local: [u64::MAX; 4] }
            }
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
    let named = symbol.checked_sub(1).and_then(|index| symbols.get(usize::try_from(index).ok()?));
    if symbol != 0 && named.is_none() {
        return malformed("it refers to a symbol that is not there");
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
    if !elf.is_writable(place, if kind == kinds.pair { 16 } else { 8 }) {
        return malformed("it changes bytes that are in no writable segment");
    }
    if kind == kinds.copy {
        return malformed("it copies a variable, as only a program's may");
    }
    if kind == kinds.call && !elf.is_code(addend) {
        return malformed("it calls what lies in no executable segment");
    }
    Ok(())
}

/// Packed ones: an even word is a place, an odd one a map of the 63 words that follow the last place.
fn check_packed(elf: &Elf<'_>, bytes: &[u8]) -> Result<(), Error> {
    let outside = |place| Error::malformed(WHAT, place, "it changes bytes that are in no writable segment");
    let mut next = None;
    for word in bytes.chunks_exact(8).map(|word| u64_at(word, 0).unwrap_or_default()) {
        if word & 1 == 0 {
            if !elf.is_writable(word, 8) {
                return Err(outside(word));
            }
            next = word.checked_add(8);
            continue;
        }
        let start = next.ok_or_else(|| outside(word))?;
        for bit in (1..64).filter(|bit| word >> bit & 1 == 1) {
            let place = start.checked_add(8 * (bit - 1)).ok_or_else(|| outside(start))?;
            if !elf.is_writable(place, 8) {
                return Err(outside(place));
            }
        }
        next = start.checked_add(8 * 63);
    }
    Ok(())
}
