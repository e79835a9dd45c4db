// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is judged as one: a file, or files that differ in the target that they are for.

use std::collections::{BTreeMap, BTreeSet};

use super::{images::Kernels, modes::Modes};

/// A file with GPU code, or several of them.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Its path; of several, the path with `*` for the target.
    pub(super) path: String,
    /// The path with `*` for the target, where it names the one that all its code is for.
    pub(super) pattern: Option<String>,
    pub(super) files: usize,
    pub(super) kind: String,
    /// Bytes of its bundles in the file.
    pub(super) stored_size: u64,
    /// Bytes of its bundles unpacked.
    pub(super) unpacked_size: u64,
    /// The targets that it has code for.
    pub(super) has: BTreeSet<String>,
    /// What must serve each target, by its name in the file.
    pub(super) slots: BTreeMap<String, Slot>,
    /// The host binaries that kpack archives in it hold code for.
    pub(super) binaries: BTreeSet<String>,
    pub(super) problems: Vec<String>,
}

/// A bundle, or what several hold for the same purpose: for each requested target, what it gets.
#[derive(Clone, Debug)]
pub(super) struct Slot(pub(super) Vec<Service>);

/// What a target gets.
#[derive(Clone, Debug, Default)]
pub(super) struct Service {
    /// How well its code fits, in each mode of the features that the file tells apart (`xnack+`).
    pub(super) modes: Modes,
    /// The code for it, of which it gets what fits best in some mode.
    pub(super) codes: Vec<Code>,
    /// Why entries for this processor were refused, where all were, or all for some mode.
    pub(super) refusals: Vec<String>,
    /// The entry that it would get if code of the same family counted, where it gets none.
    pub(super) compatible: Option<String>,
}

/// What one bundle has for a target, or several that are used together.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    modes: Modes,
    /// Bytes of the entries.
    pub(super) size: u64,
    /// The kernels of each image.
    pub(super) kernels: Vec<Kernels>,
}

/// How what two bundles have for the same purpose goes together.
#[derive(Clone, Copy)]
pub(super) enum Joint {
    /// A target gets what fits it better.
    Choice,
    /// A target gets both.
    Sum,
}

impl Service {
    /// The code that the target gets.
    pub(super) fn used(&self) -> impl Iterator<Item = &Code> {
        self.codes.iter().filter(|code| code.modes.are_best_in_some(&self.modes))
    }

    /// Says that entries of so many bytes with these kernels are the code for these modes.
    pub(super) fn of(modes: Modes, size: u64, kernels: Vec<Kernels>) -> Self {
        let codes = vec![Code { modes: modes.clone(), size, kernels }];
        Self { modes, codes, ..Self::default() }
    }

    fn add(&mut self, other: Service, joint: Joint) {
        self.modes = self.modes.either(&other.modes);
        match (joint, self.codes.first_mut()) {
            (Joint::Sum, Some(all)) => other.codes.into_iter().for_each(|code| all.add(code)),
            _ => self.codes.extend(other.codes),
        }
        self.refusals.extend(other.refusals);
        self.compatible = self.compatible.take().or(other.compatible);
        if self.modes.is_served() {
            self.compatible = None;
        }
        if self.modes.is_whole() {
            self.refusals.clear();
        }
    }
}

impl Code {
    fn add(&mut self, other: Code) {
        self.modes = self.modes.either(&other.modes);
        self.size += other.size;
        self.kernels.extend(other.kernels);
    }
}

impl Slot {
    /// What another bundle has for the same purpose counts as well.
    fn add(&mut self, other: Slot, joint: Joint) {
        for (service, other) in self.0.iter_mut().zip(other.0) {
            service.add(other, joint);
        }
    }
}

impl Unit {
    fn add(&mut self, other: Unit) {
        self.files += other.files;
        self.stored_size += other.stored_size;
        self.unpacked_size += other.unpacked_size;
        self.has.extend(other.has);
        self.binaries.extend(other.binaries);
        self.problems.extend(other.problems);
        for (name, slot) in other.slots {
            add(&mut self.slots, name, slot, Joint::Choice);
        }
    }
}

/// Puts a slot to those of its name.
pub(super) fn add(slots: &mut BTreeMap<String, Slot>, name: String, slot: Slot, joint: Joint) {
    match slots.get_mut(&name) {
        Some(known) => known.add(slot, joint),
        None => drop(slots.insert(name, slot)),
    }
}

/// Puts files together whose paths differ in the target that they are for, in the place of the first.
pub(super) fn group(units: Vec<Unit>) -> Vec<Unit> {
    let mut groups: Vec<Unit> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for unit in units {
        let index = unit.pattern.as_ref().and_then(|pattern| known.get(pattern).copied());
        match (index.and_then(|index| groups.get_mut(index)), &unit.pattern) {
            (Some(group), Some(pattern)) => {
                group.path.clone_from(pattern);
                group.add(unit);
            }
            (_, pattern) => {
                known.extend(pattern.clone().map(|pattern| (pattern, groups.len())));
                groups.push(unit);
            }
        }
    }
    groups
}

/// A path with `*` for a processor and the modes behind it; nothing where the path does not name the processor.
pub(super) fn pattern(path: &str, processor: &str) -> Option<String> {
    let mut pattern = String::new();
    let mut rest = path;
    let mut named = false;
    while let Some(at) = rest.find(processor) {
        let (before, from) = rest.split_at(at);
        let behind = from.get(processor.len()..)?;
        pattern.push_str(before);
        if before.ends_with(is_word) || behind.starts_with(is_word) {
            pattern.push_str(processor);
            rest = behind;
        } else {
            pattern.push('*');
            rest = without_modes(behind);
            named = true;
        }
    }
    pattern.push_str(rest);
    named.then_some(pattern)
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric()
}

/// What is behind `-xnack+` and its like.
fn without_modes(text: &str) -> &str {
    let mut rest = text;
    while let Some(feature) = rest.strip_prefix(['-', '_', ':']) {
        let Some(mode) = feature.strip_prefix("xnack").or(feature.strip_prefix("sramecc")) else { break };
        let Some(behind) = mode.strip_prefix(['+', '-']) else { break };
        rest = behind;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_name_their_target() {
        for (path, processor, expected) in [
            ("library/Kernels.so-000-gfx90a-xnack+.hsaco", "gfx90a", Some("library/Kernels.so-000-*.hsaco")),
            ("library/Kernels.so-000-gfx90a.hsaco", "gfx90a", Some("library/Kernels.so-000-*.hsaco")),
            ("gfx942/a_gfx942.co", "gfx942", Some("*/a_*.co")),
            (".kpack/blas_lib_gfx1201.kpack", "gfx1201", Some(".kpack/blas_lib_*.kpack")),
            ("a_gfx1030.co", "gfx103", None),
            ("a_xgfx942.co", "gfx942", None),
            ("a.co", "gfx942", None),
            ("a_gfx942-xnack.co", "gfx942", Some("a_*-xnack.co")),
        ] {
            assert_eq!(pattern(path, processor).as_deref(), expected, "{path}");
        }
    }
}
