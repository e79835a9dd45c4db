// SPDX-License-Identifier: MIT OR Apache-2.0
//! The slots of a file: each must have code for a target, or the file does not serve it. A bundle is a slot of its own,
//! except where a tool writes one bundle per GPU: the executables of an IREE module, the entries of one binary in a kpack
//! archive, and LLVM offload binaries that directly follow each other.

use std::collections::BTreeMap;

use windlass_codeobject::{Bundle, Container, FileKind};

use super::{
    examine,
    unit::{self, Slot},
};

/// The slots of one file, filled bundle by bundle in the order of the file.
pub(super) struct Slots {
    kind: FileKind,
    slots: BTreeMap<String, Slot>,
    /// The offset of the end of the last bundle, if it is an offload binary, and the name of its slot.
    row: Option<(u64, String)>,
}

impl Slots {
    pub(super) fn new(kind: FileKind) -> Self {
        Self { kind, slots: BTreeMap::new(), row: None }
    }

    pub(super) fn add(&mut self, bundle: &Bundle<'_>, slot: Slot) {
        let name = self.name(bundle);
        self.row = matches!(bundle.container(), Container::OffloadBinary { .. })
            .then(|| (bundle.offset().saturating_add(bundle.stored_size()), name.clone()));
        unit::add(&mut self.slots, name, slot);
    }

    pub(super) fn finish(self) -> BTreeMap<String, Slot> {
        self.slots
    }

    /// The name of a bundle's slot. The empty name stands for the whole file.
    fn name(&self, bundle: &Bundle<'_>) -> String {
        if let FileKind::CodeObject | FileKind::IreeModule | FileKind::IreeExecutable = self.kind {
            return String::new();
        }
        match (bundle.container(), &self.row) {
            (Container::Kpack { .. }, _) => return examine::place(bundle),
            (Container::OffloadBinary { .. }, Some((end, name))) if *end == bundle.offset() => {
                return name.clone();
            }
            _ => {}
        }
        let name = examine::place(bundle);
        // An archive may have several members of one name.
        match self.slots.contains_key(&name) {
            true => format!("{name}, bundle {}", bundle.index()),
            false => name,
        }
    }
}
