// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hash tables by which a loader finds symbols: every walk must stay in the table and come to an end.

use crate::bytes::{array, u32_at};
use crate::code::elf::Elf;
use crate::error::Error;

fn malformed(address: u64, problem: &str) -> Error {
    Error::malformed("the hash table of the symbols", address, problem)
}

/// The table of System V, for `symbols` symbols: buckets that begin chains, which a zero ends.
pub(super) fn check(elf: &Elf<'_>, address: u64, symbols: u64) -> Result<(), Error> {
    let outside = || malformed(address, "no segment holds it");
    let head = elf.memory(address, 8).ok_or_else(outside)?;
    let [buckets, chains] = [0, 4].map(|at| u64::from(u32_at(head, at).unwrap_or_default()));
    if buckets == 0 || chains > symbols {
        return Err(malformed(address, "it has no buckets, or more chains than there are symbols"));
    }
    let table = elf.memory(address, 8 + 4 * (buckets + chains)).ok_or_else(outside)?;
    let word = |index: u64| u64::from(u32_at(table, 8 + 4 * index).unwrap_or_default());
    let mut left = chains;
    for bucket in 0..buckets {
        let mut symbol = word(bucket);
        while symbol != 0 {
            // A chain belongs to one bucket, so all of them together are no longer than the table.
            left = left.checked_sub(1).ok_or_else(|| malformed(address, "a chain has no end"))?;
            if symbol >= chains {
                return Err(malformed(address, "a chain leads to a symbol that is not there"));
            }
            symbol = word(buckets + symbol);
        }
    }
    Ok(())
}

/// The table of GNU, for `symbols` symbols: a filter, then buckets that begin runs of hashes, whose last is marked.
pub(super) fn check_gnu(elf: &Elf<'_>, address: u64, symbols: u64) -> Result<(), Error> {
    let outside = || malformed(address, "no segment holds it");
    let head = elf.memory(address, 16).ok_or_else(outside)?;
    let [buckets, first, words, shift] =
        [0, 4, 8, 12].map(|at| u64::from(u32_at(head, at).unwrap_or_default()));
    if buckets == 0 || !words.is_power_of_two() || shift >= 64 || first == 0 {
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
        return Ok(());
    }
    let size = start + 4 * (buckets + symbols - first);
    let table = elf.memory(address, size).ok_or_else(outside)?;
    match array(table, size - 4).map(u32::from_le_bytes) {
        Some(last) if last & 1 == 1 => Ok(()),
        _ => Err(malformed(address, "its last chain has no end")),
    }
}
