// SPDX-License-Identifier: MIT OR Apache-2.0
//! A unit of the report: a file, or the files for one target each whose paths differ in the target alone. Without this
//! rule a library such as rocBLAS, which has a kernel file per GPU, would be reported as lacking every GPU in every file.

use std::collections::{BTreeMap, BTreeSet};

use super::images::Kernels;
use crate::command::modes::Modes;

/// A file with GPU code, or several such files.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The path; for several files, the path with `*` for the target.
    pub(super) path: String,
    /// The processor, if all code is for one.
    pub(super) processor: Option<String>,
    /// The path with `*` for the processor, if there is one and the path below the searched folder names it.
    pub(super) pattern: Option<String>,
    pub(super) files: usize,
    pub(super) kind: String,
    /// The stored size of the bundles in bytes.
    pub(super) stored_size: u64,
    /// The unpacked size of the bundles in bytes.
    pub(super) unpacked_size: u64,
    /// The targets of all entries.
    pub(super) has: BTreeSet<String>,
    /// The slots, by name. Each must serve a target for the unit to serve it.
    pub(super) slots: BTreeMap<String, Slot>,
    /// The host binaries whose code the unit's kpack archives hold.
    pub(super) binaries: BTreeSet<String>,
    pub(super) problems: Vec<String>,
}

/// A bundle, or bundles that are for one GPU each: the service of each requested target.
#[derive(Clone, Debug)]
pub(super) struct Slot(pub(super) Vec<Service>);

/// The code that a target gets from a slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Service {
    /// The best fit of the codes, in each mode of the features that they distinguish (`xnack+`).
    pub(super) modes: Modes,
    /// The code of each bundle.
    pub(super) codes: Vec<Code>,
    /// Why entries for this processor were refused, if some mode has no code.
    pub(super) refusals: Vec<String>,
    /// The entry that `--compat` would count, if no mode has code.
    pub(super) compatible: Option<String>,
}

/// The code that a target gets from one bundle.
#[derive(Clone, Debug)]
pub(super) struct Code {
    /// Its fit in each mode.
    pub(super) modes: Modes,
    /// The size of the entries in bytes.
    pub(super) size: u64,
    /// The kernels of each image.
    pub(super) kernels: Vec<Kernels>,
    /// Whether the target uses this code whatever else the slot has, as each executable of an IREE module.
    pub(super) is_used: bool,
}

impl Service {
    /// The codes that the target uses: without those that other codes of the slot surpass in every mode.
    fn used(&self) -> impl Iterator<Item = &Code> {
        self.codes.iter().filter(|code| code.is_used || code.modes.are_best_in_some(&self.modes))
    }

    /// The size in bytes of the code that the target uses.
    pub(super) fn size(&self) -> u64 {
        self.used().map(|code| code.size).sum()
    }

    /// The kernels of each image that the target uses.
    pub(super) fn kernels(&self) -> impl Iterator<Item = &Kernels> {
        self.used().flat_map(|code| &code.kernels)
    }

    /// Adds the service of another bundle in the same slot.
    fn add(&mut self, other: Service) {
        self.codes.extend(other.codes);
        self.modes = self.modes.either(&other.modes);
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

impl Unit {
    fn add(&mut self, other: Unit) {
        self.files += other.files;
        self.stored_size += other.stored_size;
        self.unpacked_size += other.unpacked_size;
        self.has.extend(other.has);
        self.binaries.extend(other.binaries);
        self.problems.extend(other.problems);
        for (name, slot) in other.slots {
            add(&mut self.slots, name, slot);
        }
    }
}

/// Adds a slot to the one of the same name, if there is one.
pub(super) fn add(slots: &mut BTreeMap<String, Slot>, name: String, slot: Slot) {
    match slots.get_mut(&name) {
        Some(known) => known.0.iter_mut().zip(slot.0).for_each(|(service, other)| service.add(other)),
        None => drop(slots.insert(name, slot)),
    }
}

/// Joins the units with the same pattern, in the place of the first.
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

/// The path with `*` for a processor and the modes behind it, both behind the folder that all examined files share; `None` if
/// this part of the path does not name the processor.
pub(super) fn pattern(path: &str, folder: usize, processor: &str) -> Option<String> {
    let (folder, mut rest) = path.split_at_checked(folder)?;
    let mut pattern = folder.to_owned();
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

/// The text behind modes such as `-xnack+`.
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
    use windlass_codeobject::Fit;

    use super::*;

    #[test]
    fn code_counts_if_it_is_the_best_in_some_mode() {
        let code = |fits: [Option<Fit>; 2], size| {
            let modes = Modes::with_fits(["xnack"], |mode| fits[usize::from(!mode[0].1)]);
            let code = Code { modes: modes.clone(), size, kernels: Vec::new(), is_used: false };
            Service { modes, codes: vec![code], ..Service::default() }
        };
        let size = |services: [Service; 2]| {
            let [mut first, second] = services;
            first.add(second);
            first.size()
        };
        let (exact, generic) = (Some(Fit::Exact), Some(Fit::Generic));
        assert_eq!(size([code([exact, None], 1), code([generic, generic], 2)]), 3);
        assert_eq!(size([code([exact, exact], 1), code([generic, generic], 2)]), 1);
        let mut executable = code([generic, generic], 2);
        executable.codes[0].is_used = true;
        assert_eq!(size([code([exact, exact], 1), executable]), 3);
    }

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
            assert_eq!(pattern(path, 0, processor).as_deref(), expected, "{path}");
        }
    }
}
