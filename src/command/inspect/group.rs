// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups the entries of a bundle with equal content, so that it is shown once.

use std::collections::{BTreeMap, HashMap};

use super::report::{EntryReport, KernelReport};

/// Entries with equal content.
pub(super) struct Group<'r> {
    pub(super) entries: Vec<&'r EntryReport>,
}

/// Groups the entries with equal keys, in their order. Entries without a key, and entries that share the bytes of
/// another bundle's entry, are left out.
pub(super) fn by<'r, K: Ord>(
    entries: &'r [EntryReport],
    key: impl Fn(&'r EntryReport) -> Option<K>,
) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'r>> = Vec::new();
    let mut known: BTreeMap<K, usize> = BTreeMap::new();
    let mut of_entries: HashMap<usize, usize> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.same_as_bundle.is_none()) {
        let group = match entry.same_as {
            Some(first) => of_entries.get(&first).copied(),
            None => key(entry).map(|key| *known.entry(key).or_insert(groups.len())),
        };
        let Some(group) = group else { continue };
        of_entries.insert(entry.index, group);
        match groups.get_mut(group) {
            Some(known) => known.entries.push(entry),
            None => groups.push(Group { entries: vec![entry] }),
        }
    }
    groups
}

impl<'r> Group<'r> {
    /// The numbers of the entries: `entry 1`, `entries 1 to 4 and 7`.
    pub(super) fn numbers(&self) -> String {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for entry in &self.entries {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == entry.index => *last = entry.index,
                _ => ranges.push((entry.index, entry.index)),
            }
        }
        let words: Vec<String> = ranges
            .iter()
            .map(|(first, last)| match last - first {
                0 => first.to_string(),
                1 => format!("{first}, {last}"),
                _ => format!("{first} to {last}"),
            })
            .collect();
        format!("{} {}", if self.entries.len() == 1 { "entry" } else { "entries" }, words.join(", "))
    }

    /// A number of a kernel over all entries: the value, or the minimum and the maximum.
    pub(super) fn span(&self, kernel: usize, number: impl Fn(&KernelReport) -> u32) -> String {
        let numbers = self.entries.iter().filter_map(|entry| entry.code.kernels.get(kernel)).map(number);
        let (least, most) =
            numbers.fold((u32::MAX, 0), |(least, most), number| (least.min(number), most.max(number)));
        if least == most { most.to_string() } else { format!("{least}-{most}") }
    }

    /// The entry that represents the group.
    pub(super) fn first(&self) -> Option<&'r EntryReport> {
        self.entries.first().copied()
    }
}
