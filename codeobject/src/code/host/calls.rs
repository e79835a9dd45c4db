// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a loader calls when it loads an object and when it unloads it: all of it must be code.

use std::collections::HashSet;

use crate::bytes::u64_at;
use crate::code::elf::{Elf, ElfSymbol};
use crate::code::host::loadable::{DYNAMIC, Tables, tag};
use crate::code::host::relocations::{self, Written};
use crate::error::Error;

/// Checks the functions and the tables of functions. Loaders call each word of a table as it is, 0 and -1 too.
pub(super) fn check(elf: &Elf<'_>, tables: &Tables<'_>, symbols: &[ElfSymbol<'_>]) -> Result<(), Error> {
    let malformed = |address, problem: &str| Err(Error::malformed(DYNAMIC, address, problem));
    for function in [tag::INIT, tag::FINI] {
        match tables.value(function) {
            Some(address) if !elf.is_code(address) => {
                return malformed(address, "a constructor or destructor lies in no executable segment");
            }
            _ => {}
        }
    }
    for (table, size) in [(tag::INIT_ARRAY, tag::INIT_ARRAYSZ), (tag::FINI_ARRAY, tag::FINI_ARRAYSZ)] {
        let Some(address) = tables.value(table) else { continue };
        let size = tables.value(size).unwrap_or(u64::MAX);
        if size == 0 {
            continue;
        }
        if !size.is_multiple_of(8) || !address.is_multiple_of(8) || !elf.is_writable(address, size) {
            return malformed(address, "a table of constructors or destructors lies in no writable segment");
        }
        check_table(elf, tables, symbols, (address, size))?;
    }
    match tables.value(tag::PLTGOT) {
        // The loader keeps three words of its own there.
        Some(address) if relocations::has_plt(tables) && !elf.is_writable(address, 24) => {
            malformed(address, "the table of procedures lies in no writable segment")
        }
        _ => Ok(()),
    }
}

fn check_table(
    elf: &Elf<'_>,
    tables: &Tables<'_>,
    symbols: &[ElfSymbol<'_>],
    (start, size): (u64, u64),
) -> Result<(), Error> {
    let malformed = |place, problem: &str| Err(Error::malformed(DYNAMIC, place, problem));
    let mut places = HashSet::new();
    let is_known =
        relocations::for_each_written(elf, tables, symbols, start..start + size, |place, what| {
            let is_code = match what {
                // Where the word is in no bytes of the file, it is 0.
                Written::Moved => elf
                    .memory(place, 8)
                    .and_then(|word| u64_at(word, 0))
                    .is_some_and(|word| elf.is_code(word)),
                Written::Own(address) => elf.is_code(address),
                Written::Elsewhere => true,
                Written::Other => false,
            };
            if !is_code || !place.is_multiple_of(8) {
                return malformed(place, "a constructor or destructor lies in no executable segment");
            }
            places.insert(place);
            Ok(())
        })?;
    match !is_known || places.len() as u64 == size / 8 {
        true => Ok(()),
        false => malformed(start, "a constructor or destructor is not moved to where the object is loaded"),
    }
}
