// SPDX-License-Identifier: MIT OR Apache-2.0
//! Judging one file: what each target gets from each of its bundles.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use windlass_codeobject::{Bundle, Container, Entry, EntryTarget, File, Options, Selection, TargetId};

use super::{
    images::{Images, Kernels},
    modes::{self, Modes},
    slots::Slots,
    unit::{self, Service, Slot, Unit},
};

/// So many features that entries state are listed; [`Modes`] tells fewer apart.
const LISTED: usize = 64;
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
        binaries: BTreeSet::new(),
        problems,
    };
    let processors: BTreeSet<_> =
        bundles.iter().flat_map(|bundle| gpus(bundle)).map(TargetId::processor).collect();
    if let [processor] = Vec::from_iter(&processors)[..] {
        unit.pattern = unit::pattern(path, processor);
    }
    let mut slots = Slots::default();
    let images = Images::of(file.bundles());
    for bundle in bundles {
        unit.stored_size += bundle.stored_size();
        unit.unpacked_size += bundle.unpacked_size().unwrap_or_default();
        unit.has.extend(gpus(bundle).map(ToString::to_string));
        let binary = bundle.member().filter(|_| matches!(bundle.container(), Container::Kpack { .. }));
        unit.binaries.extend(binary.map(str::to_owned));
        let (slot, problems) = examine(bundle, targets, options, &images);
        unit.problems.extend(problems);
        slots.add(file.kind(), bundle, slot, &images);
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

/// What a target gets of a bundle, in each of its modes.
struct Asked<'t> {
    target: &'t TargetId,
    features: BTreeSet<String>,
    /// By the name of the mode, the target in that mode, and what it gets.
    choices: BTreeMap<String, (TargetId, Selection)>,
}

impl<'t> Asked<'t> {
    /// Asks for each mode of the features that the target leaves open and that entries for it state, in their ids or in
    /// the flags of their ELFs.
    fn new(bundle: &Bundle<'_>, target: &'t TargetId, options: &Options, images: &Images) -> Self {
        let ids = gpus(bundle).filter(|code| target.processor_fit(code, options).is_some());
        let mut asked = Self { target, features: open_features(ids, target), choices: BTreeMap::new() };
        asked.choose(bundle, options);
        // Flags count where the id states nothing, and only where nothing else serves.
        if asked.choices.values().any(|(_, choice)| choice.best.is_none()) {
            let elfs = elfs(bundle, target, options, images);
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
        // The fits are of no matter yet: it may turn out that what was chosen cannot be loaded.
        Modes::of(features.iter().map(String::as_str), |mode| {
            let name = modes::name(mode);
            let colon = if name.is_empty() { "" } else { ":" };
            let agent: TargetId = format!("{target}{colon}{name}").parse().unwrap_or_else(|_| target.clone());
            let choice = bundle.select(&agent, options);
            choices.insert(name, (agent, choice));
            None
        });
    }

    /// The entries that some mode gets.
    fn chosen(&self) -> impl Iterator<Item = usize> {
        self.choices.values().filter_map(|(_, choice)| choice.best)
    }

    fn service(&self, bundle: &Bundle<'_>, codes: &Codes, options: &Options, images: &Images) -> Service {
        let (mut size, mut kernels) = (0, Vec::new());
        let mut taken = BTreeSet::new();
        let mut unserved = Vec::new();
        let modes = Modes::of(self.features.iter().map(String::as_str), |mode| {
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
        let mut service = Service::of(modes, size, kernels);
        service.refusals = self.refusals(bundle, &unserved, codes, options, service.modes.is_served());
        if !service.modes.is_served() {
            service.compatible = compatible(bundle, self.target, codes, options, images);
        }
        service
    }

    /// Why entries were refused that are not simply for another processor: each in a mode that it claims to serve.
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
        bundle.entries().iter().enumerate().filter_map(reason).take(REFUSALS).collect()
    }
}

/// The features that code states and that a target leaves open.
fn open_features<'c>(codes: impl Iterator<Item = &'c TargetId>, target: &TargetId) -> BTreeSet<String> {
    let features = codes.flat_map(TargetId::features).map(|(feature, _)| feature);
    features.filter(|feature| target.feature(feature).is_none()).map(str::to_owned).take(LISTED).collect()
}

/// What the flags of the ELFs say that are for a target by their ids.
fn elfs(bundle: &Bundle<'_>, target: &TargetId, options: &Options, images: &Images) -> Vec<TargetId> {
    let mut near: Vec<(usize, &Entry)> = bundle.entries().iter().enumerate().collect();
    near.retain(|(_, entry)| {
        let is_near = |code| target.processor_fit(code, options).is_some();
        entry.size() > 0 && matches!(entry.target(), EntryTarget::Gpu(code) if is_near(code))
    });
    near.sort_by_key(|(_, entry)| entry.offset());
    let mut elfs: Vec<_> =
        near.iter().filter_map(|(index, _)| images.read(bundle, *index).target.clone()).collect();
    elfs.dedup();
    elfs
}

/// What each target gets from a bundle, and what is wrong with the bundle.
fn examine(
    bundle: &Bundle<'_>,
    targets: &[TargetId],
    options: &Options,
    images: &Images,
) -> (Slot, Vec<String>) {
    let asked: Vec<_> = targets.iter().map(|target| Asked::new(bundle, target, options, images)).collect();
    let codes = Codes::read(bundle, asked.iter().flat_map(Asked::chosen).collect(), images);
    let services = asked.iter().map(|asked| asked.service(bundle, &codes, options, images)).collect();
    (Slot(services), codes.problems)
}

/// The entry that would be taken, in some mode, if code of the same family counted.
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
    let asked = Asked::new(bundle, target, &options, images);
    let best = asked.chosen().find(|best| !codes.unusable.contains_key(best))?;
    bundle.entries().get(best).map(|entry| entry.id_text())
}

/// What is in the entries that somebody gets.
#[derive(Default)]
struct Codes {
    kernels: BTreeMap<usize, Kernels>,
    /// Entries that fit, and that nobody can load.
    unusable: BTreeMap<usize, String>,
    problems: Vec<String>,
}

impl Codes {
    /// Reads entries in the order in which a compressed bundle unpacks them.
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
