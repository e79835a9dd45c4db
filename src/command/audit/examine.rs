// SPDX-License-Identifier: MIT OR Apache-2.0
//! Judging one file: what each target gets from each of its bundles.

use std::collections::{BTreeMap, BTreeSet};

use windlass_codeobject::{Bundle, CodeObject, Entry, EntryTarget, File, Options, Selection, TargetId};

use super::{
    slots::Slots,
    unit::{self, Service, Slot, Unit},
};

/// Features beyond these are left open: each doubles the modes.
const FEATURES: usize = 3;
/// So many reasons are kept of a bundle.
const REFUSALS: usize = 8;

/// What a file holds for the targets; nothing where it has no entry for a GPU.
pub(super) fn file(path: &str, file: &File<'_>, targets: &[TargetId], options: &Options) -> Option<Unit> {
    let bundles: Vec<_> = file.bundles().iter().filter(|bundle| is_for_gpus(bundle)).collect();
    let mut problems: Vec<_> = file.problems().iter().map(ToString::to_string).collect();
    problems.extend(file.bundles().iter().flat_map(not_understood));
    if bundles.is_empty() && problems.is_empty() {
        return None;
    }
    let mut unit = Unit {
        path: path.to_owned(),
        pattern: None,
        files: 1,
        kind: file.kind().to_string(),
        stored_size: 0,
        unpacked_size: 0,
        has: BTreeSet::new(),
        slots: BTreeMap::new(),
        problems,
    };
    let processors: BTreeSet<_> =
        bundles.iter().flat_map(|bundle| gpus(bundle)).map(TargetId::processor).collect();
    if let [processor] = Vec::from_iter(&processors)[..] {
        unit.pattern = unit::pattern(path, processor);
    }
    let modes: Vec<_> = targets.iter().map(|target| modes(target, &bundles)).collect();
    let mut slots = Slots::default();
    for bundle in bundles {
        unit.stored_size += bundle.stored_size();
        unit.unpacked_size += bundle.unpacked_size().unwrap_or_default();
        unit.has.extend(gpus(bundle).map(ToString::to_string));
        let (slot, problems) = examine(bundle, targets, &modes, options);
        unit.problems.extend(problems);
        slots.add(file.kind(), bundle, slot);
    }
    unit.slots = slots.finish();
    Some(unit)
}

/// The targets that a bundle has entries for.
pub(super) fn gpus<'b>(bundle: &'b Bundle<'_>) -> impl Iterator<Item = &'b TargetId> {
    bundle.entries().iter().filter_map(|entry| match entry.target() {
        EntryTarget::Gpu(target) => Some(target),
        _ => None,
    })
}

/// Whether a bundle has code for AMD GPUs, compiled or, as SPIR-V, to be compiled.
fn is_for_gpus(bundle: &Bundle<'_>) -> bool {
    bundle.entries().iter().any(|entry| match entry.target() {
        EntryTarget::Gpu(_) => true,
        EntryTarget::SpirV => is_of_amd(entry),
        _ => false,
    })
}

/// Whether an id names something of AMD: offload bundles may hold code for others too.
fn is_of_amd(entry: &Entry) -> bool {
    let id = entry.id_text();
    ["amd", "gfx"].iter().any(|name| id.contains(name))
}

/// Entries for a GPU that nobody can tell.
fn not_understood<'b>(bundle: &'b Bundle<'_>) -> impl Iterator<Item = String> + use<'b> {
    let place = place(bundle);
    bundle.entries().iter().filter(|entry| is_of_amd(entry)).filter_map(move |entry| match entry.target() {
        EntryTarget::Unknown(why) => {
            Some(format!("{place}, {}: its id is not understood: {why}", entry.id_text()))
        }
        _ => None,
    })
}

/// What a bundle is called in problems.
fn place(bundle: &Bundle<'_>) -> String {
    match bundle.member() {
        Some(member) => member.to_owned(),
        None => format!("bundle {}", bundle.index()),
    }
}

/// A target in each mode of the features that it leaves open and that entries for it state.
fn modes(target: &TargetId, bundles: &[&Bundle<'_>]) -> Vec<(String, TargetId)> {
    let features: BTreeSet<_> = bundles
        .iter()
        .flat_map(|bundle| gpus(bundle))
        .filter(|code| code.processor() == target.processor() || code.is_generic())
        .flat_map(TargetId::features)
        .map(|(feature, _)| feature)
        .filter(|feature| target.feature(feature).is_none())
        .take(FEATURES)
        .collect();
    let mut modes = vec![(String::new(), target.clone())];
    for feature in features {
        modes = modes
            .into_iter()
            .flat_map(|(mode, target)| {
                ["+", "-"].map(|on| {
                    let colon = if mode.is_empty() { "" } else { ":" };
                    let stated = format!("{target}:{feature}{on}").parse();
                    (format!("{mode}{colon}{feature}{on}"), stated.unwrap_or_else(|_| target.clone()))
                })
            })
            .collect();
    }
    modes
}

/// What each target gets from a bundle, and what is wrong with the bundle.
fn examine(
    bundle: &Bundle<'_>,
    agents: &[TargetId],
    modes: &[Vec<(String, TargetId)>],
    options: &Options,
) -> (Slot, Vec<String>) {
    let choose = |(mode, agent): &(String, TargetId)| (mode.clone(), bundle.select(agent, options));
    let chosen: Vec<Vec<(String, Selection)>> =
        modes.iter().map(|modes| modes.iter().map(choose).collect()).collect();
    let (kernels, problems) = kernels(bundle, chosen.iter().flatten().filter_map(|(_, choice)| choice.best));
    let service = |(agent, choices): (&TargetId, &Vec<(String, Selection)>)| {
        let mut service = Service::default();
        let mut taken = BTreeSet::new();
        for (mode, choice) in choices {
            let best = choice.best.filter(|best| kernels.contains_key(best));
            let fit = best.and_then(|best| choice.verdicts.get(best)).and_then(|verdict| verdict.fit);
            service.modes.insert(mode.clone(), fit);
            if let Some(best) = best.filter(|best| taken.insert(*best)) {
                service.size += bundle.entries().get(best).map_or(0, |entry| entry.size());
                service.kernels.extend(kernels.get(&best).into_iter().flatten().cloned());
            }
        }
        if let (false, Some((_, choice))) = (service.is_served(), choices.first()) {
            service.refusals = refusals(bundle, agent, choice);
            service.compatible = compatible(bundle, agent, options);
        }
        service
    };
    (Slot(agents.iter().zip(&chosen).map(service).collect()), problems)
}

/// Why entries were refused that are not simply for another processor.
fn refusals(bundle: &Bundle<'_>, agent: &TargetId, choice: &Selection) -> Vec<String> {
    let is_near = |target: &EntryTarget| match target {
        EntryTarget::Gpu(target) => target.processor() == agent.processor(),
        EntryTarget::SpirV => true,
        _ => false,
    };
    let entries = bundle.entries().iter().zip(&choice.verdicts);
    entries
        .filter(|(entry, _)| is_near(entry.target()))
        .map(|(entry, verdict)| format!("{}: {}", entry.id_text(), verdict.reason))
        .take(REFUSALS)
        .collect()
}

/// The entry that would be taken if code of the same family counted.
fn compatible(bundle: &Bundle<'_>, agent: &TargetId, options: &Options) -> Option<String> {
    let mut options = options.clone();
    options.compatible_families = true;
    let best = bundle.select(agent, &options).best?;
    bundle.entries().get(best).map(|entry| entry.id_text())
}

/// The kernels in the entries that somebody gets, in the order in which a compressed bundle unpacks them.
fn kernels(
    bundle: &Bundle<'_>,
    wanted: impl Iterator<Item = usize>,
) -> (BTreeMap<usize, BTreeSet<String>>, Vec<String>) {
    let wanted: BTreeSet<usize> = wanted.collect();
    let mut wanted: Vec<_> =
        wanted.into_iter().filter_map(|index| Some((bundle.entries().get(index)?, index))).collect();
    wanted.sort_by_key(|(entry, _)| entry.offset());
    let (mut kernels, mut problems) = (BTreeMap::new(), Vec::new());
    let place = place(bundle);
    for (entry, index) in wanted {
        match bundle.with_image(index, CodeObject::parse).and_then(|code| code) {
            Ok(code) => {
                let rejected = code.rejected().iter();
                problems.extend(rejected.map(|kernel| {
                    format!("{place}, {}: kernel `{}`: {}", entry.id_text(), kernel.name, kernel.reason)
                }));
                kernels.insert(index, code.kernels().iter().map(|kernel| kernel.name.clone()).collect());
            }
            Err(error) => problems.push(format!("{place}, {}: {error}", entry.id_text())),
        }
    }
    (kernels, problems)
}
