// SPDX-License-Identifier: MIT OR Apache-2.0
//! Symbol versions: lists that a loader follows by offsets, and an index for each symbol into what they hold.

use std::collections::HashSet;

use crate::bytes::{u16_at, u32_at};
use crate::code::elf::{Elf, NameBudget};
use crate::code::host::loadable::Tables;
use crate::error::Error;

const VERSYM: i64 = 0x6fff_fff0;
const VERDEF: i64 = 0x6fff_fffc;
const VERDEFNUM: i64 = 0x6fff_fffd;
const VERNEED: i64 = 0x6fff_fffe;
const VERNEEDNUM: i64 = 0x6fff_ffff;
const WHAT: &str = "the table of symbol versions";
/// What an index has beside the version's number.
const HIDDEN: u16 = 1 << 15;

/// How a kind of record is laid out: where it has what, and how many bytes.
struct Layout {
    size: u64,
    /// The name of the library.
    name: Option<u64>,
    number: Option<u64>,
    /// Where its parts and the next record are. How many parts it says to have loaders do not ask.
    parts: u64,
    next: u64,
    part_size: u64,
    part_name: u64,
    part_number: Option<u64>,
    part_next: u64,
}

const NEED: Layout = Layout {
    size: 16,
    name: Some(4),
    number: None,
    parts: 8,
    next: 12,
    part_size: 16,
    part_name: 8,
    part_number: Some(6),
    part_next: 12,
};
const DEFINITION: Layout = Layout {
    size: 20,
    name: None,
    number: Some(4),
    parts: 12,
    next: 16,
    part_size: 8,
    part_name: 0,
    part_number: None,
    part_next: 4,
};

/// Checks the tables for `symbols` symbols.
pub(super) fn check(
    elf: &Elf<'_>,
    tables: &Tables<'_>,
    names: &mut NameBudget,
    symbols: u64,
) -> Result<(), Error> {
    let mut highest = None;
    for (table, layout) in [(VERNEED, NEED), (VERDEF, DEFINITION)] {
        if let Some(address) = tables.value(table) {
            highest = highest.max(Some(walk(elf, tables, names, address, &layout)?));
        }
    }
    for (table, count) in [(VERNEED, VERNEEDNUM), (VERDEF, VERDEFNUM)] {
        if tables.value(table).is_some() != tables.value(count).is_some() {
            return Err(Error::malformed(
                WHAT,
                0,
                "a list of versions without a count, or a count without a list",
            ));
        }
    }
    let Some(address) = tables.value(VERSYM) else {
        return match highest {
            None => Ok(()),
            Some(_) => Err(Error::malformed(WHAT, 0, "there are lists of versions, and no symbol has one")),
        };
    };
    let malformed = |problem: &str| Error::malformed(WHAT, address, problem);
    let indices = elf.memory(address, 2 * symbols).ok_or_else(|| malformed("no segment holds it"))?;
    // 0 and 1 stand for no version, where there is a list at all.
    let highest = highest.ok_or_else(|| malformed("it refers to lists that are not there"))?.max(1);
    match indices.chunks_exact(2).all(|index| u16_at(index, 0).unwrap_or_default() & !HIDDEN <= highest) {
        true => Ok(()),
        false => Err(malformed("a symbol has a version that is not there")),
    }
}

/// Follows a list of records, each with a list of parts; gives the highest number of a version in it.
fn walk(
    elf: &Elf<'_>,
    tables: &Tables<'_>,
    names: &mut NameBudget,
    start: u64,
    layout: &Layout,
) -> Result<u16, Error> {
    let needed: HashSet<&[u8]> = tables.needed.iter().copied().collect();
    let read = |address: u64, size| {
        elf.memory(address, size).ok_or_else(|| Error::malformed(WHAT, address, "no segment holds it"))
    };
    let follow = |address: u64, by: u32| {
        address.checked_add(by.into()).ok_or_else(|| Error::malformed(WHAT, address, "it leads nowhere"))
    };
    let word = |bytes: &[u8], at: u64| u32_at(bytes, at).unwrap_or_default();
    let number =
        |bytes: &[u8], at: Option<u64>| at.and_then(|at| u16_at(bytes, at)).unwrap_or_default() & !HIDDEN;
    // Records may share their parts, but not without end.
    let mut left: u32 = 1 << 20;
    let mut step = || {
        left = left.checked_sub(1).ok_or_else(|| Error::malformed(WHAT, start, "its lists have no end"))?;
        Ok(())
    };
    let mut highest = 0;
    let mut address = start;
    loop {
        step()?;
        let record = read(address, layout.size)?;
        highest = highest.max(number(record, layout.number));
        if let Some(name) = layout.name {
            // A loader looks for it among what it has loaded for the object, and ends the process where it is not.
            let name = tables.string(names, word(record, name).into())?;
            if !needed.contains(name) {
                return Err(Error::malformed(
                    WHAT,
                    address,
                    "it wants versions of a library that is not asked for",
                ));
            }
        }
        let mut part_address = follow(address, word(record, layout.parts))?;
        loop {
            step()?;
            let part = read(part_address, layout.part_size)?;
            tables.string(names, word(part, layout.part_name).into())?;
            highest = highest.max(number(part, layout.part_number));
            match word(part, layout.part_next) {
                0 => break,
                next => part_address = follow(part_address, next)?,
            }
        }
        match word(record, layout.next) {
            0 => return Ok(highest),
            next => address = follow(address, next)?,
        }
    }
}
