// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of `audit`, in the shape of its JSON. Sizes are in bytes.

use std::{collections::BTreeSet, rc::Rc};

use serde::Serialize;
use windlass_codeobject::{Fit, Options, TargetId};

use super::{
    search::Found,
    unit::{self, Service, Unit},
};
use crate::command::{
    failure::{Failure, Outcome},
    input::count,
    modes::Modes,
};

/// The whole report.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) targets: Vec<String>,
    /// Whether code of another processor of the same family counted.
    pub(super) compat: bool,
    /// The number of examined files, with those without GPU code and the members of wheels.
    pub(super) looked_at: usize,
    /// The number of members of wheels among them.
    pub(super) members: usize,
    pub(super) files: Vec<FileReport>,
    /// Files that could not be read.
    pub(super) problems: Vec<Problem>,
    /// Files of a kind that is not examined.
    pub(super) notes: Vec<Problem>,
    /// Files of the command line that have no GPU code.
    pub(super) without_code: Vec<String>,
}

/// A file with GPU code, or the files for one target each whose paths differ in the target alone.
#[derive(Serialize)]
pub(super) struct FileReport {
    pub(super) path: String,
    /// The number of files that the path stands for.
    pub(super) files: usize,
    pub(super) kind: String,
    /// The number of bundles, binaries or code objects that must each serve a target.
    pub(super) bundles: usize,
    pub(super) stored_size: u64,
    pub(super) unpacked_size: u64,
    /// The targets of all entries.
    pub(super) has: Vec<String>,
    pub(super) targets: Vec<TargetReport>,
    pub(super) problems: Vec<String>,
}

/// The code that a target gets from a file.
#[derive(Serialize)]
pub(super) struct TargetReport {
    pub(super) target: String,
    /// `exact`, `generic` or `compatible`, the worst of all bundles; `none` if no mode has code in all of them.
    pub(super) verdict: &'static str,
    /// The fit of the bundles that have code: `exact`, `generic` or `compatible`.
    pub(super) fit: Option<&'static str>,
    /// The number of bundles with code for the target.
    pub(super) served: usize,
    /// The modes that have code in every bundle that serves the target; empty if all modes have.
    pub(super) only: Vec<String>,
    /// The size of the code in bytes.
    pub(super) size: u64,
    pub(super) kernels: usize,
    /// The kernels that another of the targets has and this one lacks.
    pub(super) missing_kernels: Vec<String>,
    pub(super) unserved: Vec<Unserved>,
}

/// A bundle without code for a target, or for some of its modes.
#[derive(Serialize)]
pub(super) struct Unserved {
    pub(super) bundle: String,
    /// The modes without code; empty if no mode has code.
    pub(super) modes: Vec<String>,
    /// Why the entries for this processor do not fit.
    pub(super) reasons: Vec<String>,
    /// The entry that `--compat` would count.
    pub(super) compatible: Option<String>,
}

/// A file that could not be read, or is not examined, and the reason.
#[derive(Serialize)]
pub(super) struct Problem {
    pub(super) path: String,
    pub(super) problem: String,
}

impl Report {
    pub(super) fn new(targets: &[TargetId], options: &Options, found: Found) -> Self {
        let problem = |(path, problem)| Problem { path, problem };
        Self {
            targets: targets.iter().map(ToString::to_string).collect(),
            compat: options.compatible_families,
            looked_at: found.files + found.members,
            members: found.members,
            files: unit::group(found.units).iter().map(|unit| describe(unit, targets)).collect(),
            problems: found.problems.into_iter().map(problem).collect(),
            notes: found.notes.into_iter().map(problem).collect(),
            without_code: found.without_code,
        }
    }

    /// An error if a target is not served, or a file has a problem or was not examined.
    pub(super) fn judge(&self) -> Outcome {
        let with = |verdict: &str| -> Vec<String> {
            let files = |index| self.files.iter().filter(|file| file.is(index, verdict)).count();
            let targets = self.targets.iter().enumerate().map(|(index, target)| (target, files(index)));
            targets
                .filter(|(_, files)| *files > 0)
                .map(|(target, files)| format!("{target} in {}", count(files, "file", "files")))
                .collect()
        };
        let unserved = with("none");
        let damaged =
            self.problems.len() + self.files.iter().filter(|file| !file.problems.is_empty()).count();
        let mut wrong = Vec::new();
        if !unserved.is_empty() {
            wrong.push(format!("no code for {}", unserved.join(", for ")));
        }
        if damaged > 0 {
            wrong.push(format!("{} with problems", count(damaged, "file", "files")));
        }
        if !self.notes.is_empty() {
            wrong.push(format!("{} not examined", count(self.notes.len(), "file", "files")));
        }
        if !self.without_code.is_empty() && (!self.files.is_empty() || !wrong.is_empty()) {
            let files = count(self.without_code.len(), "named file", "named files");
            wrong.push(format!("{files} without GPU code"));
        }
        match (wrong.is_empty(), self.files.is_empty()) {
            (false, _) => Err(Failure::failed(wrong.join("; "))),
            (true, false) => Ok(()),
            (true, true) => Err(Failure::input(format!(
                "there is no AMD GPU code in {}",
                match self.looked_at {
                    1 => "the file".to_owned(),
                    many => format!("any of {}", count(many, "file", "files")),
                }
            ))),
        }
    }
}

impl FileReport {
    fn is(&self, target: usize, verdict: &str) -> bool {
        self.targets.get(target).is_some_and(|target| target.verdict == verdict)
    }
}

fn describe(unit: &Unit, targets: &[TargetId]) -> FileReport {
    let all = kernels(unit.slots.values().flat_map(|slot| &slot.0));
    // A file without any readable bundle gets no verdicts, only problems.
    let described = if unit.slots.is_empty() { &[][..] } else { targets };
    FileReport {
        path: unit.path.clone(),
        files: unit.files,
        kind: unit.kind.clone(),
        bundles: unit.slots.len(),
        stored_size: unit.stored_size,
        unpacked_size: unit.unpacked_size,
        has: unit.has.iter().cloned().collect(),
        targets: described
            .iter()
            .enumerate()
            .map(|(index, target)| describe_target(unit, index, target, &all))
            .collect(),
        problems: unit.problems.clone(),
    }
}

/// The kernels of all services. An image that several services share is visited once.
fn kernels<'u>(services: impl Iterator<Item = &'u Service>) -> BTreeSet<&'u str> {
    let mut seen = BTreeSet::new();
    let images = services.flat_map(|service| service.kernels());
    let images = images.filter(|kernels| seen.insert(Rc::as_ptr(kernels)));
    images.flat_map(|kernels| kernels.iter().map(String::as_str)).collect()
}

fn describe_target(unit: &Unit, index: usize, target: &TargetId, all: &BTreeSet<&str>) -> TargetReport {
    let services = || unit.slots.iter().filter_map(|(name, slot)| Some((name, slot.0.get(index)?)));
    let kernels = kernels(services().map(|(_, service)| service));
    let bundles = services().count();
    let served = services().filter(|(_, service)| service.modes.is_served()).count();
    let fit = services().filter_map(|(_, service)| service.modes.fit()).min().map(|fit| match fit {
        Fit::Exact => "exact",
        Fit::Generic => "generic",
        _ => "compatible",
    });
    // A mode counts as served if each bundle with code for the target has code for that mode.
    let serving = services().map(|(_, service)| &service.modes).filter(|modes| modes.is_served());
    let modes = serving.fold(None, |sum: Option<Modes>, modes| {
        Some(sum.map_or_else(|| modes.clone(), |sum| sum.both(modes)))
    });
    let is_whole = modes.as_ref().is_none_or(Modes::is_whole);
    let only = modes.filter(|_| !is_whole).map(|modes| modes.names(true)).unwrap_or_default();
    let missing = all.difference(&kernels).filter(|_| served > 0);
    let unserved = |(name, service): (&String, &Service)| Unserved {
        bundle: name.clone(),
        modes: if service.modes.is_served() { service.modes.names(false) } else { Vec::new() },
        reasons: service.refusals.clone(),
        compatible: service.compatible.clone(),
    };
    TargetReport {
        target: target.to_string(),
        verdict: match fit {
            Some(fit) if served == bundles && (is_whole || !only.is_empty()) => fit,
            _ => "none",
        },
        fit,
        served,
        only,
        size: services().map(|(_, service)| service.size()).sum(),
        kernels: kernels.len(),
        missing_kernels: missing.map(|kernel| (*kernel).to_owned()).collect(),
        unserved: services().filter(|(_, service)| !service.modes.is_whole()).map(unserved).collect(),
    }
}
