// SPDX-License-Identifier: MIT OR Apache-2.0
//! The targets that the command line asks about, and the entries of a bundle that each gets. All subcommands give one
//! answer for one spelling.

use std::collections::{BTreeMap, BTreeSet};

use windlass_codeobject::{Bundle, Entry, EntryTarget, Options, Selection, TargetId};

use super::{
    failure::{Failure, Outcome},
    input,
    modes::{self, Modes},
};

/// This word among the targets means `--compat`.
const COMPAT: &str = "compat";
/// At most this many features of the entries are collected. [`Modes`] distinguishes fewer.
const MAX_FEATURES: usize = 64;

/// The distinct targets that an option names, and whether `compat` is among them.
pub(crate) fn targets(option: &str, texts: &[String]) -> Outcome<(Vec<TargetId>, bool)> {
    let mut targets: Vec<TargetId> = Vec::new();
    for text in texts.iter().filter(|text| *text != COMPAT) {
        let target = input::parse_target(option, text)?;
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    if targets.is_empty() && !texts.is_empty() {
        return Err(Failure::input(format!("{option}: name at least one GPU, such as gfx1031")));
    }
    Ok((targets, texts.iter().any(|text| text == COMPAT)))
}

/// The entries of a bundle that a target gets, one selection for each of the target's modes.
pub(crate) struct Asked<'t> {
    pub(crate) target: &'t TargetId,
    /// The features that the target leaves open and entries state.
    pub(crate) features: BTreeSet<String>,
    /// The target in each mode and its selection, by the name of the mode.
    pub(crate) choices: BTreeMap<String, (TargetId, Selection)>,
}

impl<'t> Asked<'t> {
    /// Selects for each mode of the features that the target leaves open and that the entries state, in their ids or in
    /// their ELF flags. `elf_target` gives the target that the ELF flags of an entry state.
    pub(crate) fn new(
        bundle: &Bundle<'_>,
        target: &'t TargetId,
        options: &Options,
        elf_target: impl Fn(usize) -> Option<TargetId>,
    ) -> Self {
        let ids = gpus(bundle).filter(|code| target.processor_fit(code, options).is_some());
        let mut asked = Self { target, features: open_features(ids, target), choices: BTreeMap::new() };
        asked.choose(bundle, options);
        // Reading ELF flags unpacks the entries, so it is done only if some mode has no code by the ids alone.
        if asked.choices.values().any(|(_, choice)| choice.best.is_none()) {
            let elfs = elfs(bundle, target, options, elf_target);
            let known = asked.features.len();
            asked.features.extend(open_features(elfs.iter(), target));
            if asked.features.len() > known {
                asked.choose(bundle, options);
            }
        }
        asked
    }

    fn choose(&mut self, bundle: &Bundle<'_>, options: &Options) {
        self.choices.clear();
        let Self { target, features, choices } = self;
        // The caller computes the fits: a selected entry may turn out not to be loadable.
        Modes::with_fits(features.iter().map(String::as_str), |mode| {
            let name = modes::name(mode);
            let colon = if name.is_empty() { "" } else { ":" };
            let agent: TargetId = format!("{target}{colon}{name}").parse().unwrap_or_else(|_| target.clone());
            let choice = bundle.select(&agent, options);
            choices.insert(name, (agent, choice));
            None
        });
    }

    /// The entries that at least one mode gets.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = usize> {
        self.choices.values().filter_map(|(_, choice)| choice.best)
    }
}

/// The targets that the entries of a bundle name.
pub(crate) fn gpus<'b>(bundle: &'b Bundle<'_>) -> impl Iterator<Item = &'b TargetId> {
    bundle.entries().iter().filter_map(|entry| match entry.target() {
        EntryTarget::Gpu(target) => Some(target),
        _ => None,
    })
}

/// The features that the code states and the target leaves open.
fn open_features<'c>(codes: impl Iterator<Item = &'c TargetId>, target: &TargetId) -> BTreeSet<String> {
    let features = codes.flat_map(TargetId::features).map(|(feature, _)| feature);
    features
        .filter(|feature| target.feature(feature).is_none())
        .map(str::to_owned)
        .take(MAX_FEATURES)
        .collect()
}

/// The targets that the ELF flags state, of the entries whose id fits a target.
fn elfs(
    bundle: &Bundle<'_>,
    target: &TargetId,
    options: &Options,
    elf_target: impl Fn(usize) -> Option<TargetId>,
) -> Vec<TargetId> {
    let mut near: Vec<(usize, &Entry)> = bundle.entries().iter().enumerate().collect();
    near.retain(|(_, entry)| {
        let is_near = |code| target.processor_fit(code, options).is_some();
        entry.size() > 0 && matches!(entry.target(), EntryTarget::Gpu(code) if is_near(code))
    });
    near.sort_by_key(|(_, entry)| entry.offset());
    let mut elfs: Vec<_> = near.iter().filter_map(|(index, _)| elf_target(*index)).collect();
    elfs.dedup();
    elfs
}
