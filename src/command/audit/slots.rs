// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which bundles of a file are there for the same purpose: what one target gets from any of them counts for all.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
    rc::Rc,
};

use windlass_codeobject::{Bundle, Container, EntryTarget, FileKind};

use super::{
    examine,
    images::Images,
    unit::{self, Joint, Slot},
};

/// So many parts are compared with a bundle: a row may have ten thousands that share a kernel.
const COMPARED: usize = 64;
/// So many parts are looked at for those.
const LOOKED_AT: usize = 256;

/// The slots of a file, as its bundles come in.
#[derive(Default)]
pub(super) struct Slots {
    parts: Vec<Part>,
    purposes: HashMap<String, Purpose>,
    all: BTreeMap<String, Slot>,
}

/// Bundles that were put together.
#[derive(Default)]
struct Part {
    /// Its name among the slots.
    name: String,
    targets: BTreeSet<String>,
    kernels: BTreeSet<Rc<str>>,
}

/// The parts of one purpose.
#[derive(Default)]
struct Purpose {
    all: Row,
    /// Those without kernels.
    empty: Row,
    with_kernel: HashMap<Rc<str>, Row>,
}

/// Parts in their order, by their numbers.
#[derive(Default)]
struct Row {
    parts: Vec<usize>,
    /// For each target, how many of the first parts are closed for it.
    closed: HashMap<String, usize>,
}

/// What makes two bundles one.
#[derive(Clone, Copy, PartialEq)]
enum Bond {
    /// Nothing does.
    None,
    /// The name.
    Name,
    /// The name, where no target is in both: who compiles a file twice for one target has two files.
    Targets,
    /// The same, and a kernel that is in both: of several sources in a row, nothing else tells them apart.
    Kernels,
}

impl Slots {
    pub(super) fn add(&mut self, kind: FileKind, bundle: &Bundle<'_>, slot: Slot, images: &Images) {
        let (purpose, bond) = purpose(kind, bundle);
        let kernels = if bond == Bond::Kernels { kernels(bundle, images) } else { BTreeSet::new() };
        let number = bundle.index();
        let name = self.part(purpose, bond, targets(bundle), kernels, number);
        // The executables of a module are different kernels, and a program has them all.
        let is_module = matches!(kind, FileKind::IreeModule | FileKind::IreeExecutable);
        unit::add(&mut self.all, name, slot, if is_module { Joint::Sum } else { Joint::Choice });
    }

    pub(super) fn finish(self) -> BTreeMap<String, Slot> {
        self.all
    }

    /// The name of the part that a bundle belongs to, which may be new.
    fn part(
        &mut self,
        purpose: String,
        bond: Bond,
        targets: BTreeSet<String>,
        kernels: BTreeSet<Rc<str>>,
        bundle: usize,
    ) -> String {
        let known = self.purposes.contains_key(&purpose);
        let group = self.purposes.entry(purpose.clone()).or_default();
        let found = match bond {
            Bond::None => None,
            Bond::Name => group.all.parts.first().copied(),
            Bond::Targets => group.all.open(&self.parts, &targets, |_| true).next(),
            Bond::Kernels => group.find(&self.parts, &targets, &kernels),
        };
        let index = found.unwrap_or(self.parts.len());
        if found.is_none() {
            let name = match (known, purpose.as_str()) {
                (false, purpose) => purpose.to_owned(),
                (true, "") => format!("bundle {bundle}"),
                (true, purpose) => format!("{purpose}, bundle {bundle}"),
            };
            self.parts.push(Part { name, ..Part::default() });
            group.all.parts.push(index);
            if kernels.is_empty() {
                group.empty.parts.push(index);
            }
        }
        let Some(part) = self.parts.get_mut(index) else { return String::new() };
        part.targets.extend(targets);
        for kernel in kernels {
            if part.kernels.insert(kernel.clone()) {
                group.with_kernel.entry(kernel).or_default().parts.push(index);
            }
        }
        part.name.clone()
    }
}

impl Purpose {
    /// The part that a bundle belongs to: of several, the first with most of its kernels, else one that has none.
    fn find(
        &mut self,
        parts: &[Part],
        targets: &BTreeSet<String>,
        kernels: &BTreeSet<Rc<str>>,
    ) -> Option<usize> {
        let mut shared: Vec<(usize, &Rc<str>)> = kernels
            .iter()
            .filter_map(|kernel| Some((self.with_kernel.get(kernel)?.parts.len(), kernel)))
            .collect();
        // Kernels that few parts have tell more.
        shared.sort_unstable();
        let mut candidates = BTreeSet::new();
        for (_, kernel) in shared {
            let Some(row) = self.with_kernel.get_mut(kernel) else { continue };
            candidates.extend(row.open(parts, targets, |_| true).take(COMPARED - candidates.len()));
            if candidates.len() == COMPARED {
                break;
            }
        }
        let number =
            |index: &usize| parts.get(*index).map_or(0, |part| part.kernels.intersection(kernels).count());
        let best = candidates.into_iter().min_by_key(|index| (Reverse(number(index)), *index));
        best.or_else(|| match kernels.is_empty() {
            true => self.all.open(parts, targets, |_| true).next(),
            false => self.empty.open(parts, targets, |part| part.kernels.is_empty()).next(),
        })
    }
}

impl Row {
    /// The parts that have none of the targets, and are as `is_such` says; of these only some, where there are many.
    /// What is closed once must stay so.
    fn open<'p>(
        &mut self,
        parts: &'p [Part],
        targets: &'p BTreeSet<String>,
        is_such: impl Fn(&Part) -> bool + Copy + 'p,
    ) -> impl Iterator<Item = usize> {
        let mut start = 0;
        for target in targets {
            if !self.closed.contains_key(target) {
                self.closed.insert(target.clone(), 0);
            }
            let Some(closed) = self.closed.get_mut(target) else { continue };
            let is_closed = |part: &Part| part.targets.contains(target) || !is_such(part);
            while self.parts.get(*closed).and_then(|index| parts.get(*index)).is_some_and(is_closed) {
                *closed += 1;
            }
            start = start.max(*closed);
        }
        let rest = self.parts.get(start..).unwrap_or_default().iter().take(LOOKED_AT);
        rest.copied().filter(move |index| {
            parts.get(*index).is_some_and(|part| part.targets.is_disjoint(targets) && is_such(part))
        })
    }
}

/// What a bundle is for, and what must hold for others to be for the same. The executables of a module are one thing:
/// each has code for one target.
fn purpose(kind: FileKind, bundle: &Bundle<'_>) -> (String, Bond) {
    let member = bundle.member().map(str::to_owned);
    match (kind, bundle.container(), member) {
        (FileKind::CodeObject | FileKind::IreeModule | FileKind::IreeExecutable, ..) => {
            (String::new(), Bond::Name)
        }
        (_, Container::Kpack { .. }, Some(member)) => (member, Bond::Name),
        // Each holds one image, mostly; those in a row belong together.
        (_, Container::OffloadBinary { .. }, member) => (member.unwrap_or_default(), Bond::Kernels),
        (_, Container::RawElf, Some(member)) => {
            let pattern =
                examine::gpus(bundle).next().and_then(|target| unit::pattern(&member, target.processor()));
            pattern.map_or((member, Bond::None), |pattern| (pattern, Bond::Targets))
        }
        _ => (format!("bundle {}", bundle.index()), Bond::None),
    }
}

fn targets(bundle: &Bundle<'_>) -> BTreeSet<String> {
    let entries = bundle.entries().iter();
    entries
        .filter_map(|entry| match entry.target() {
            EntryTarget::Gpu(target) => Some(target.to_string()),
            EntryTarget::SpirV => Some(entry.id_text()),
            _ => None,
        })
        .collect()
}

/// The kernels of all entries, of those too that nobody asks for.
fn kernels(bundle: &Bundle<'_>, images: &Images) -> BTreeSet<Rc<str>> {
    let mut kernels = BTreeSet::new();
    let mut last = None;
    for index in (0..bundle.entries().len()).filter(|index| has_bytes(bundle, *index)) {
        let image = images.read(bundle, index);
        if last.as_ref().is_none_or(|last| !Rc::ptr_eq(last, &image.kernels)) {
            kernels.extend(image.kernels.iter().map(Rc::clone));
            last = Some(Rc::clone(&image.kernels));
        }
    }
    kernels
}

fn has_bytes(bundle: &Bundle<'_>, index: usize) -> bool {
    bundle.entries().get(index).is_some_and(|entry| entry.size() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<T: Ord + for<'t> From<&'t str>>(names: &[&str]) -> BTreeSet<T> {
        names.iter().map(|name| T::from(name)).collect()
    }

    fn part(slots: &mut Slots, target: &str, kernels: &[&str], bundle: usize) -> String {
        slots.part(String::new(), Bond::Kernels, set(&[target]), set(kernels), bundle)
    }

    #[test]
    fn a_bundle_goes_to_the_part_with_most_of_its_kernels() {
        let mut slots = Slots::default();
        let names: Vec<String> = (0..200).map(|source| format!("kernel {source}")).collect();
        for (bundle, own) in names.iter().enumerate() {
            let name = part(&mut slots, "gfx942", &["fill", own], bundle);
            assert_eq!(name, if bundle == 0 { String::new() } else { format!("bundle {bundle}") });
        }
        // All share a kernel, and one has its own too, far behind those that are compared.
        assert_eq!(part(&mut slots, "gfx1100", &["fill", "kernel 150"], 200), "bundle 150");
        assert_eq!(part(&mut slots, "gfx1100", &["fill"], 201), "");
        assert_eq!(part(&mut slots, "gfx1100", &["fill"], 202), "bundle 1");
        assert_eq!(part(&mut slots, "gfx1100", &["other"], 203), "bundle 203");
        assert_eq!(part(&mut slots, "gfx942", &[], 204), "bundle 203");
        assert_eq!(part(&mut slots, "gfx1100", &[], 205), "bundle 2");
    }

    #[test]
    fn parts_that_have_a_target_are_not_looked_at_again() {
        let mut slots = Slots::default();
        for bundle in 0..500 {
            part(&mut slots, "gfx942", &[], bundle);
        }
        assert_eq!(slots.parts.len(), 500);
        let all = &slots.purposes[""].all;
        assert_eq!((all.parts.len(), all.closed["gfx942"]), (500, 499));
    }
}
