// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stores of many small code objects: AOTriton's images (`.aks2`) and MIOpen's databases (`.kdb`).
//!
//! A store counts as one bundle. It serves a target if it has a code object for it.

use std::collections::BTreeMap;

use windlass_codeobject::{Budget, EntryTarget, Error, File, Options, TargetId};

use super::{examine, unit::Unit};
use crate::command::code;

/// The most bytes of one code object, or of all images of a file of AOTriton's: far more than any has.
pub(super) const LARGEST: u64 = 1 << 30;
/// At most this many problems are kept of a store.
const MAX_PROBLEMS: usize = 64;

/// The code objects of a store: one for each target.
pub(super) struct Store {
    kind: &'static str,
    stored_size: u64,
    unpacked_size: u64,
    images: BTreeMap<TargetId, Vec<u8>>,
    problems: Vec<String>,
    budget: Budget,
}

impl Store {
    /// The code objects that are added come from the budget.
    pub(super) fn new(kind: &'static str, stored_size: u64, budget: &Budget) -> Self {
        let (images, problems) = (BTreeMap::new(), Vec::new());
        Self { kind, stored_size, unpacked_size: 0, images, problems, budget: budget.clone() }
    }

    /// Adds a code object, or a bundle of them, under its name in the store.
    pub(super) fn add(&mut self, name: &str, bytes: &[u8]) {
        self.unpacked_size = self.unpacked_size.saturating_add(bytes.len() as u64);
        if let Err(error) = self.add_bundles(name, bytes) {
            self.problem(name, &error.to_string());
        }
    }

    fn add_bundles(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.budget.take("a code object", bytes.len() as u64)?;
        let mut options = Options::default();
        options.budget = self.budget.clone();
        let file = File::parse(bytes, &options)?;
        for bundle in file.bundles() {
            for (index, entry) in bundle.entries().iter().enumerate() {
                let EntryTarget::Gpu(target) = entry.target() else { continue };
                let image = bundle.extract(index)?;
                match code::read(&image).problem {
                    Some(problem) => self.problem(name, &problem),
                    None => drop(self.images.entry(target.clone()).or_insert(image)),
                }
            }
        }
        Ok(())
    }

    /// Adds a problem of the part of that name.
    pub(super) fn problem(&mut self, name: &str, problem: &str) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(format!("{name}: {problem}"));
        }
    }

    /// Judges the store under its path.
    pub(super) fn judge(
        self,
        path: &str,
        targets: &[TargetId],
        options: &Options,
    ) -> Result<Option<Unit>, String> {
        if self.images.is_empty() {
            return if self.problems.is_empty() { Ok(None) } else { Err(self.problems.join("; ")) };
        }
        let bundle = bundle(&self.images);
        let file = File::parse(&bundle, options).map_err(|error| error.to_string())?;
        let mut unit = examine::file(path, &file, targets, options);
        if let Some(unit) = &mut unit {
            unit.kind = self.kind.to_owned();
            unit.stored_size = self.stored_size;
            unit.unpacked_size = self.unpacked_size;
            unit.problems.extend(self.problems);
        }
        Ok(unit)
    }
}

/// An offload bundle of code objects. A store may hold code for `gfx90a` beside code for `gfx90a:xnack-`, which the
/// writer of bundles refuses.
fn bundle(images: &BTreeMap<TargetId, Vec<u8>>) -> Vec<u8> {
    const ALIGN: usize = 4096;
    let ids: Vec<_> = images.keys().map(|target| format!("hipv4-amdgcn-amd-amdhsa--{target}")).collect();
    let mut head = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    head.extend((images.len() as u64).to_le_bytes());
    let size = head.len() + ids.iter().map(|id| 24 + id.len()).sum::<usize>();
    let mut content = Vec::new();
    let start = size.next_multiple_of(ALIGN);
    for (id, image) in ids.iter().zip(images.values()) {
        content.resize(content.len().next_multiple_of(ALIGN), 0);
        for number in [start + content.len(), image.len(), id.len()] {
            head.extend((number as u64).to_le_bytes());
        }
        head.extend(id.as_bytes());
        content.extend(image);
    }
    head.resize(start, 0);
    head.extend(content);
    head
}
