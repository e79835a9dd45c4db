// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hash tables by which a loader finds symbols: every walk must stay in the table and come to an end, and lead to each
//! exported function and variable on its way.

use std::collections::HashSet;

use crate::bytes::{array, text, u32_at, u64_at};
use crate::code::elf::{Elf, ElfSymbol};
use crate::code::host::is_found_by_name;
use crate::error::Error;

fn malformed(address: u64, problem: &str) -> Error {
    Error::malformed("the hash table of the symbols", address, problem)
}

/// Succeeds where a table leads to every name that a loader is asked for. `is_reached` gets the name's symbol.
fn check_names<'a>(
    elf: &Elf<'_>,
    address: u64,
    symbols: &[ElfSymbol<'a>],
    mut is_reached: impl FnMut(u64, &'a [u8]) -> bool,
) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for (index, symbol) in symbols.iter().enumerate() {
        let is_first = is_found_by_name(elf, symbol) && seen.insert(symbol.name);
        if is_first && !is_reached(index as u64 + 1, symbol.name) {
            return Err(malformed(
                address,
                &format!("it does not lead to the symbol `{}`", text(symbol.name)),
            ));
        }
    }
    Ok(())
}

/// The hash of a name, as System V has it.
fn hash(name: &[u8]) -> u32 {
    name.iter().fold(0, |hash: u32, byte| {
        let hash = (hash << 4).wrapping_add((*byte).into());
        (hash ^ (hash >> 24 & 0xf0)) & 0x0fff_ffff
    })
}

/// The hash of a name, as GNU has it.
fn gnu_hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add((*byte).into()))
}

/// The table of System V: buckets that begin chains, which a zero ends.
pub(super) fn check(elf: &Elf<'_>, address: u64, names: &[ElfSymbol<'_>]) -> Result<(), Error> {
    let symbols = names.len() as u64 + 1;
    let outside = || malformed(address, "no segment holds it");
    let head = elf.memory(address, 8).ok_or_else(outside)?;
    let [buckets, chains] = [0, 4].map(|at| u64::from(u32_at(head, at).unwrap_or_default()));
    if buckets == 0 || chains > symbols {
        return Err(malformed(address, "it has no buckets, or more chains than there are symbols"));
    }
    let table = elf.memory(address, 8 + 4 * (buckets + chains)).ok_or_else(outside)?;
    let word = |index: u64| u64::from(u32_at(table, 8 + 4 * index).unwrap_or_default());
    let mut left = chains;
    // The bucket from which each symbol is reached.
    let mut reached = vec![None; names.len() + 1];
    for bucket in 0..buckets {
        let mut symbol = word(bucket);
        while symbol != 0 {
            // A chain belongs to one bucket, so all of them together are no longer than the table.
            left = left.checked_sub(1).ok_or_else(|| malformed(address, "a chain has no end"))?;
            if symbol >= chains {
                return Err(malformed(address, "a chain leads to a symbol that is not there"));
            }
            reached[symbol as usize] = Some(bucket);
            symbol = word(buckets + symbol);
        }
    }
    check_names(elf, address, names, |symbol, name| {
        reached[symbol as usize] == Some(u64::from(hash(name)) % buckets)
    })
}

/// The table of GNU: a filter, then buckets that begin runs of hashes, whose last is marked.
pub(super) fn check_gnu(elf: &Elf<'_>, address: u64, names: &[ElfSymbol<'_>]) -> Result<(), Error> {
    let symbols = names.len() as u64 + 1;
    let outside = || malformed(address, "no segment holds it");
    let head = elf.memory(address, 16).ok_or_else(outside)?;
    let [buckets, first, words, shift] =
        [0, 4, 8, 12].map(|at| u64::from(u32_at(head, at).unwrap_or_default()));
    if buckets == 0 || !words.is_power_of_two() || shift >= 32 || first == 0 {
        return Err(malformed(address, "its sizes make no sense"));
    }
    let start = 16 + 8 * words;
    let table = elf.memory(address, start + 4 * buckets).ok_or_else(outside)?;
    let mut is_used = false;
    for bucket in 0..buckets {
        match u64::from(u32_at(table, start + 4 * bucket).unwrap_or_default()) {
            0 => {}
            symbol if symbol < first || symbol >= symbols => {
                return Err(malformed(address, "a bucket leads to a symbol that is not there"));
            }
            _ => is_used = true,
        }
    }
    if !is_used {
        return check_names(elf, address, names, |_, _| false);
    }
    let size = start + 4 * (buckets + symbols - first);
    let table = elf.memory(address, size).ok_or_else(outside)?;
    if array(table, size - 4).map(u32::from_le_bytes).is_none_or(|last| last & 1 == 0) {
        return Err(malformed(address, "its last chain has no end"));
    }
    let word = |at: u64| u32_at(table, at).unwrap_or_default();
    let entry = |symbol: u64| word(start + 4 * (buckets + symbol - first));
    // Names come by ascending symbols: `run` begins the one of the last symbol, `next` is behind that.
    let (mut run, mut next) = (first, first);
    check_names(elf, address, names, |symbol, name| {
        while next < symbol {
            if entry(next) & 1 == 1 {
                run = next + 1;
            }
            next += 1;
        }
        let hash = gnu_hash(name);
        let filter = u64_at(table, 16 + 8 * (u64::from(hash) / 64 % words)).unwrap_or_default();
        let passes = |bit: u32| filter >> (bit % 64) & 1 == 1;
        let begin = u64::from(word(start + 4 * (u64::from(hash) % buckets)));
        symbol >= first
            && passes(hash)
            && passes(hash >> shift)
            && (run..=symbol).contains(&begin)
            && entry(symbol) | 1 == hash | 1
    })
}

#[cfg(test)]
mod tests {
    use super::{gnu_hash, hash};

    #[test]
    fn names_have_the_hashes_of_the_abi() {
        assert_eq!([hash(b""), hash(b"printf"), hash(b"flapenguin.me")], [0, 0x0779_05a6, 0x0398_7915]);
        assert_eq!(
            [gnu_hash(b""), gnu_hash(b"printf"), gnu_hash(b"syscall")],
            [5381, 0x156b_2bb8, 0xbac2_12a0]
        );
    }
}
