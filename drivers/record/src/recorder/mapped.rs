// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mapped memory: its bytes as the recording knows them, and the changes since then.
//!
//! A program writes mapped memory through a pointer, which no wrapper sees. So the recorder compares the memory with its
//! own copy. New memory, whose contents are undefined, is filled with zeros, as a replay's memory is.

use std::ops::Range;

use windlass_hal::Mapping;

use crate::format::{coding::Bytes, event::Change};

/// Equal bytes between two changes that are not worth a change of their own.
const GAP: usize = 32;
/// The bytes that are compared at once.
const BLOCK: u64 = 1 << 16;

/// The changes in these ranges of a mapping since `known`, which becomes the present bytes.
pub(super) fn changes(mapping: &Mapping, known: &mut [u8], ranges: &[Range<u64>]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut block = vec![0; BLOCK as usize];
    for range in ranges {
        let mut at = range.start;
        while at < range.end.min(known.len() as u64) {
            let length = BLOCK.min(range.end.min(known.len() as u64) - at) as usize;
            let now = &mut block[..length];
            let before = &mut known[at as usize..at as usize + length];
            if mapping.read(at, now).is_ok() && *now != *before {
                compare(at, now, before, &mut changes);
                before.copy_from_slice(now);
            }
            at += length as u64;
        }
    }
    changes
}

/// Fills a mapping with zeros.
pub(super) fn clear(mapping: &Mapping) {
    let zeros = vec![0; BLOCK.min(mapping.len()) as usize];
    let mut at = 0;
    while at < mapping.len() {
        let length = BLOCK.min(mapping.len() - at);
        if mapping.write(at, &zeros[..length as usize]).is_err() {
            return;
        }
        at += length;
    }
}

fn compare(start: u64, now: &[u8], before: &[u8], changes: &mut Vec<Change>) {
    let mut at = 0;
    while let Some(first) = (at..now.len()).find(|index| now[*index] != before[*index]) {
        let mut end = first + 1;
        let mut next = end;
        while next < now.len() && next < end + GAP {
            if now[next] != before[next] {
                end = next + 1;
            }
            next += 1;
        }
        let offset = start + first as u64;
        let bytes = &now[first..end];
        changes.push(match bytes.iter().all(|byte| *byte == 0) {
            true => Change::Zero { offset, length: bytes.len() as u64 },
            false => Change::Bytes { offset, bytes: Bytes::Here(bytes.to_vec()) },
        });
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_changes_are_one_and_zeros_are_short() {
        let before = vec![7; 200];
        let mut now = before.clone();
        now[3] = 1;
        now[20] = 2;
        now[100..150].fill(0);
        let mut changes = Vec::new();
        compare(1000, &now, &before, &mut changes);
        let ranges: Vec<_> = changes.iter().map(Change::range).collect();
        assert_eq!(ranges, [(1003, 18), (1100, 50)]);
        assert!(matches!(changes[1], Change::Zero { .. }));
    }
}
