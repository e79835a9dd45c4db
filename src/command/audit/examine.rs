// SPDX-License-Identifier: MIT OR Apache-2.0
//! Judges one file: the code that each target gets from each bundle.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use windlass_codeobject::{Bundle, Container, Entry, EntryTarget, Error, File, Options, Selection, TargetId};

use super::{
    images::{Images, Kernels},
    slot::Slots,
    unit::{Code, Service, Slot, Unit},
};
use crate::command::{
    asked::{Asked, gpus},
    modes::{self, Modes},
};

/// At most this many refusal reasons are kept for each bundle.
const MAX_REFUSALS: usize = 8;

/// Judges a file for the targets. `None` if the file has no entry for an AMD GPU.
pub(super) fn file(path: &str, file: &File<'_>, targets: &[TargetId], options: &Options) -> Option<Unit> {
    let bundles: Vec<_> = file.bundles().iter().filter(|bundle| is_for_gpus(bundle)).collect();
    let mut problems: Vec<_> = file.problems().iter().map(ToString::to_string).collect();
    problems.extend(file.bundles().iter().flat_map(not_understood));
    if bundles.is_empty() && problems.is_empty() {
        return None;
    }
    let mut unit = Unit {
        path: path.to_owned(),
        processor: None,
        pattern: None,
        files: 1,
        kind: file.kind().to_string(),
        stored_size: 0,
        unpacked_size: 0,
        has: BTreeSet::new(),
        slots: BTreeMap::new(),
        binaries: BTreeSet::new(),
        problems,
    };
    let processors: BTreeSet<_> =
        bundles.iter().flat_map(|bundle| gpus(bundle)).map(TargetId::processor).collect();
    if let [processor] = Vec::from_iter(&processors)[..] {
        unit.processor = Some((*processor).to_owned());
    }
    let mut slots = Slots::new(file.kind());
    let images = Images::new(file.bundles());
    for bundle in file.bundles() {
        if !is_for_gpus(bundle) {
            slots.pass_over(bundle);
            continue;
        }
        unit.stored_size += bundle.stored_size();
        unit.unpacked_size += bundle.unpacked_size().unwrap_or_default();
        unit.has.extend(gpus(bundle).map(ToString::to_string));
        let binary = bundle.member().filter(|_| matches!(bundle.container(), Container::Kpack { .. }));
        unit.binaries.extend(binary.map(str::to_owned));
        let (slot, problems) = examine(bundle, targets, options, &images);
        unit.problems.extend(problems);
        slots.add(bundle, slot);
    }
    unit.slots = slots.finish();
    // Last, because it unpacks more than the targets need, and the bundles of a file share a budget.
    if unit.problems.is_empty() {
        unit.problems.extend(file.bundles().iter().filter(|bundle| is_for_gpus(bundle)).filter_map(damage));
    }
    Some(unit)
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

/// The entries whose id names an AMD target that cannot be parsed, with the reason.
fn not_understood<'b>(bundle: &'b Bundle<'_>) -> impl Iterator<Item = String> + use<'b> {
    let place = place(bundle);
    bundle.entries().iter().filter(|entry| is_of_amd(entry)).filter_map(move |entry| match entry.target() {
        EntryTarget::Unknown(why) => {
            Some(format!("{place}, {}: its id is not understood: {why}", entry.id_text()))
        }
        _ => None,
    })
}

/// The name of a bundle in problems.
pub(super) fn place(bundle: &Bundle<'_>) -> String {
    match bundle.member() {
        Some(member) => member.to_owned(),
        None => format!("bundle {}", bundle.index()),
    }
}

impl Asked<'_> {
    fn service(&self, bundle: &Bundle<'_>, codes: &Codes, options: &Options, images: &Images) -> Service {
        let (mut size, mut kernels) = (0, Vec::new());
        let mut taken = BTreeSet::new();
        let mut unserved = Vec::new();
        let modes = Modes::with_fits(self.features.iter().map(String::as_str), |mode| {
            let (agent, choice) = self.choices.get(&modes::name(mode))?;
            let Some(best) = choice.best.filter(|best| codes.kernels.contains_key(best)) else {
                unserved.push((agent, choice));
                return None;
            };
            if taken.insert(best) {
                size += bundle.entries().get(best).map_or(0, |entry| entry.size());
                kernels.extend(codes.kernels.get(&best).map(Rc::clone));
            }
            choice.fit()
        });
        let is_served = modes.is_served();
        let refusals = self.refusals(bundle, &unserved, codes, options, is_served);
        let compatible =
            if is_served { None } else { compatible(bundle, self.target, codes, options, images) };
        let codes = vec![Code { modes: modes.clone(), size, kernels, is_used: false }];
        Service { modes, codes, refusals, compatible }
    }

    /// The reasons why entries for this processor were refused, each in a mode that the entry claims to serve.
    fn refusals(
        &self,
        bundle: &Bundle<'_>,
        unserved: &[(&TargetId, &Selection)],
        codes: &Codes,
        options: &Options,
        is_served: bool,
    ) -> Vec<String> {
        let Some(first) = unserved.first() else { return Vec::new() };
        let reason = |(index, entry): (usize, &Entry)| {
            let claims = |agent: &TargetId| match entry.target() {
                EntryTarget::Gpu(code) => {
                    agent.processor_fit(code, options).is_some()
                        && code.features().all(|(feature, on)| agent.feature(feature) == Some(on))
                }
                _ => false,
            };
            let is_near = match entry.target() {
                EntryTarget::Gpu(code) => self.target.processor_fit(code, options).is_some(),
                EntryTarget::SpirV => true,
                _ => false,
            };
            let claimed = unserved.iter().find(|(agent, _)| claims(agent));
            let (_, choice) = claimed.or((!is_served && is_near).then_some(first))?;
            let reason =
                codes.unusable.get(&index).or(choice.verdicts.get(index).map(|verdict| &verdict.reason));
            Some(format!("{}: {}", entry.id_text(), reason?))
        };
        bundle.entries().iter().enumerate().filter_map(reason).take(MAX_REFUSALS).collect()
    }
}

fn ask<'t>(bundle: &Bundle<'_>, target: &'t TargetId, options: &Options, images: &Images) -> Asked<'t> {
    Asked::new(bundle, target, options, |index| images.read(bundle, index).target.clone())
}

/// The service of each target by a bundle, and the bundle's problems.
fn examine(
    bundle: &Bundle<'_>,
    targets: &[TargetId],
    options: &Options,
    images: &Images,
) -> (Slot, Vec<String>) {
    let asked: Vec<_> = targets.iter().map(|target| ask(bundle, target, options, images)).collect();
    let codes = Codes::read(bundle, asked.iter().flat_map(Asked::chosen).collect(), images);
    let services = asked.iter().map(|asked| asked.service(bundle, &codes, options, images)).collect();
    (Slot(services), codes.problems)
}

/// The damage that a compressed bundle has outside of the entries that were read, or that decoding does not notice. Content
/// that is too large to be unpacked as a whole is not examined.
fn damage(bundle: &Bundle<'_>) -> Option<String> {
    match bundle.check_hash() {
        Ok(()) | Err(Error::Limit { .. } | Error::Memory { .. }) => None,
        Err(error) => Some(format!("{}: {error}", place(bundle))),
    }
}

/// The entry that some mode would get with `--compat`.
fn compatible(
    bundle: &Bundle<'_>,
    target: &TargetId,
    codes: &Codes,
    options: &Options,
    images: &Images,
) -> Option<String> {
    if options.compatible_families {
        return None;
    }
    let mut options = options.clone();
    options.compatible_families = true;
    let asked = ask(bundle, target, &options, images);
    let best = asked.chosen().find(|best| !codes.unusable.contains_key(best))?;
    bundle.entries().get(best).map(|entry| entry.id_text())
}

/// The content of the selected entries.
#[derive(Default)]
struct Codes {
    kernels: BTreeMap<usize, Kernels>,
    /// Entries that fit but cannot be loaded, with the reason.
    unusable: BTreeMap<usize, String>,
    problems: Vec<String>,
}

impl Codes {
    /// Reads entries in the order of their offsets, so that a compressed bundle is unpacked once.
    fn read(bundle: &Bundle<'_>, wanted: BTreeSet<usize>, images: &Images) -> Self {
        let mut wanted: Vec<_> =
            wanted.into_iter().filter_map(|index| Some((bundle.entries().get(index)?, index))).collect();
        wanted.sort_by_key(|(entry, _)| entry.offset());
        let mut codes = Self::default();
        let place = place(bundle);
        for (entry, index) in wanted {
            let image = images.read(bundle, index);
            let id = entry.id_text();
            match &image.problem {
                None => {
                    let rejected = image.take_rejected().into_iter();
                    codes.problems.extend(rejected.map(|kernel| format!("{place}, {id}: {kernel}")));
                    codes.kernels.insert(index, Rc::clone(&image.kernels));
                }
                Some(problem) => {
                    codes.problems.push(format!("{place}, {id}: {problem}"));
                    codes.unusable.insert(index, problem.clone());
                }
            }
        }
        codes
    }
}
