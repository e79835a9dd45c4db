// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which bundles of a file are there for the same purpose: what one target gets from any of them counts for all.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use windlass_codeobject::{Bundle, CodeObject, Container, EntryTarget, FileKind};

use super::{
    examine,
    unit::{self, Slot},
};

/// The slots of a file, as its bundles come in.
#[derive(Default)]
pub(super) struct Slots {
    parts: Vec<Part>,
    all: BTreeMap<String, Slot>,
}

/// Bundles that were put together.
struct Part {
    purpose: String,
    /// Its name among the slots.
    name: String,
    targets: BTreeSet<String>,
    kernels: BTreeSet<String>,
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
    pub(super) fn add(&mut self, kind: FileKind, bundle: &Bundle<'_>, slot: Slot) {
        let (purpose, bond) = purpose(kind, bundle);
        let targets = targets(bundle);
        let kernels = if bond == Bond::Kernels { kernels(bundle) } else { BTreeSet::new() };
        let known = self.find(&purpose, bond, &targets, &kernels);
        let part = match known.and_then(|index| self.parts.get_mut(index)) {
            Some(part) => part,
            None => {
                let name = match (self.all.contains_key(&purpose), purpose.as_str()) {
                    (false, purpose) => purpose.to_owned(),
                    (true, "") => format!("bundle {}", bundle.index()),
                    (true, purpose) => format!("{purpose}, bundle {}", bundle.index()),
                };
                let (targets, kernels) = (BTreeSet::new(), BTreeSet::new());
                self.parts.push(Part { purpose, name, targets, kernels });
                let Some(part) = self.parts.last_mut() else { return };
                part
            }
        };
        part.targets.extend(targets);
        part.kernels.extend(kernels);
        unit::add(&mut self.all, part.name.clone(), slot);
    }

    pub(super) fn finish(self) -> BTreeMap<String, Slot> {
        self.all
    }

    /// The part that a bundle belongs to: of several, the first with most of its kernels.
    fn find(
        &self,
        purpose: &str,
        bond: Bond,
        targets: &BTreeSet<String>,
        kernels: &BTreeSet<String>,
    ) -> Option<usize> {
        let shared = |part: &Part| part.kernels.intersection(kernels).count();
        let fits = |part: &Part| {
            let is_apart = part.targets.is_disjoint(targets);
            let is_empty = part.kernels.is_empty() || kernels.is_empty();
            match bond {
                Bond::None => false,
                Bond::Name => true,
                Bond::Targets => is_apart,
                Bond::Kernels => is_apart && (is_empty || shared(part) > 0),
            }
        };
        let parts = self.parts.iter().enumerate().filter(|(_, part)| part.purpose == purpose && fits(part));
        parts.min_by_key(|(_, part)| Reverse(shared(part))).map(|(index, _)| index)
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
fn kernels(bundle: &Bundle<'_>) -> BTreeSet<String> {
    let code = |index| bundle.with_image(index, CodeObject::parse).and_then(|code| code).ok();
    let codes = (0..bundle.entries().len()).filter_map(code);
    codes
        .flat_map(|code| code.kernels().iter().map(|kernel| kernel.name.clone()).collect::<Vec<_>>())
        .collect()
}
