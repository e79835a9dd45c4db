// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `audit` finds out, as JSON has it. Sizes are bytes.

use std::{collections::BTreeSet, rc::Rc};

use serde::Serialize;
use windlass_codeobject::{Fit, Options, TargetId};

use super::{
    modes::Modes,
    search::Found,
    unit::{self, Service, Unit},
};
use crate::command::{
    failure::{Failure, Outcome},
    input::count,
};

/// The whole of it.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) targets: Vec<String>,
    /// Whether code of another processor of the same family counted.
    pub(super) compat: bool,
    /// How many files were looked at, those without GPU code too, and members of wheels.
    pub(super) looked_at: usize,
    /// How many of these are members of wheels.
    pub(super) members: usize,
    pub(super) files: Vec<FileReport>,
    /// Files that could not be read.
    pub(super) problems: Vec<Problem>,
    /// Files of a kind that is not looked into.
    pub(super) notes: Vec<Problem>,
}

/// A file with GPU code, or files that differ in the target that they are for.
#[derive(Serialize)]
pub(super) struct FileReport {
    pub(super) path: String,
    /// How many files the path stands for.
    pub(super) files: usize,
    pub(super) kind: String,
    /// How many bundles, binaries or code objects must serve each target.
    pub(super) bundles: usize,
    pub(super) stored_size: u64,
    pub(super) unpacked_size: u64,
    /// The targets that it has code for.
    pub(super) has: Vec<String>,
    pub(super) targets: Vec<TargetReport>,
    pub(super) problems: Vec<String>,
}

/// What a target gets of a file.
#[derive(Serialize)]
pub(super) struct TargetReport {
    pub(super) target: String,
    /// `exact`, `generic`, `compatible`: the worst of all bundles; `none` where no mode has code in all of them.
    pub(super) verdict: &'static str,
    /// How well the code fits that there is: `exact`, `generic`, `compatible`.
    pub(super) fit: Option<&'static str>,
    /// How many of the bundles have code for it.
    pub(super) served: usize,
    /// The modes of features that have code in all bundles that have any, where others have none.
    pub(super) only: Vec<String>,
    /// Bytes of its code.
    pub(super) size: u64,
    pub(super) kernels: usize,
    /// Kernels that it lacks, and that another of the targets has.
    pub(super) missing_kernels: Vec<String>,
    pub(super) unserved: Vec<Unserved>,
}

/// A bundle without code for a target, or for some of its modes.
#[derive(Serialize)]
pub(super) struct Unserved {
    pub(super) bundle: String,
    /// The modes without code; none are named where no mode has any.
    pub(super) modes: Vec<String>,
    /// Why entries for this processor do not fit, where there are any.
    pub(super) reasons: Vec<String>,
    /// The entry that `--compat` would count.
    pub(super) compatible: Option<String>,
}

/// A file that could not be read, or is not looked into, and why.
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
        }
    }

    /// Whether all is well.
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
    // Where everything is damaged there is nothing to serve anybody, and the problems say so.
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

/// The kernels of all; images that several get are looked at once.
fn kernels<'u>(services: impl Iterator<Item = &'u Service>) -> BTreeSet<&'u str> {
    let mut seen = BTreeSet::new();
    let images = services.flat_map(Service::used).flat_map(|code| &code.kernels);
    let images = images.filter(|kernels| seen.insert(Rc::as_ptr(kernels)));
    images.flat_map(|kernels| kernels.iter().map(|kernel| &**kernel)).collect()
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
    // A mode is served where all bundles that serve any serve it.
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
        size: services().flat_map(|(_, service)| service.used()).map(|code| code.size).sum(),
        kernels: kernels.len(),
        missing_kernels: missing.map(|kernel| (*kernel).to_owned()).collect(),
        unserved: services().filter(|(_, service)| !service.modes.is_whole()).map(unserved).collect(),
    }
}
