// SPDX-License-Identifier: MIT OR Apache-2.0
//! The slots of a file: each must have code for a target, or the file does not serve it. A bundle is a slot of its own,
//! except where a tool writes one bundle per GPU: the executables of an IREE module, the entries of one binary in a kpack
//! archive, and LLVM offload binaries that directly follow each other. An offload binary for a target that came before in
//! its row belongs to another source, so a slot of its own begins there.

use std::collections::{BTreeMap, BTreeSet};

use windlass_codeobject::{Bundle, Container, FileKind};

use super::{
    examine,
    unit::{self, Slot},
};

/// The slots of one file, filled bundle by bundle in the order of the file.
pub(super) struct Slots {
    kind: FileKind,
    slots: BTreeMap<String, Slot>,
    row: Option<Row>,
}

/// The offload binaries that directly follow each other and belong to one slot.
struct Row {
    slot: String,
    /// The archive member that holds them.
    member: Option<String>,
    /// The offset of the end of the last one.
    end: u64,
    /// The ids of the entries so far.
    ids: BTreeSet<Vec<u8>>,
}

impl Row {
    fn takes(&self, bundle: &Bundle<'_>) -> bool {
        self.end == bundle.offset()
            && self.member.as_deref() == bundle.member()
            && bundle.entries().iter().all(|entry| !self.ids.contains(entry.id()))
    }
}

impl Slots {
    pub(super) fn new(kind: FileKind) -> Self {
        Self { kind, slots: BTreeMap::new(), row: None }
    }

    pub(super) fn add(&mut self, bundle: &Bundle<'_>, mut slot: Slot) {
        let name = self.place(bundle);
        if matches!(self.kind, FileKind::IreeModule | FileKind::IreeExecutable) {
            let codes = slot.0.iter_mut().flat_map(|service| &mut service.codes);
            codes.for_each(|code| code.is_used = true);
        }
        unit::add(&mut self.slots, name, slot);
    }

    /// Notes a bundle without code for AMD GPUs, which may stand in a row of offload binaries.
    pub(super) fn pass_over(&mut self, bundle: &Bundle<'_>) {
        self.place(bundle);
    }

    /// The name of the slot to which a bundle belongs.
    fn place(&mut self, bundle: &Bundle<'_>) -> String {
        let is_offload_binary = matches!(bundle.container(), Container::OffloadBinary { .. });
        let row = self.row.take().filter(|row| is_offload_binary && row.takes(bundle));
        let name = row.as_ref().map_or_else(|| self.name(bundle), |row| row.slot.clone());
        if is_offload_binary {
            let mut ids = row.map(|row| row.ids).unwrap_or_default();
            ids.extend(bundle.entries().iter().map(|entry| entry.id().to_vec()));
            let end = bundle.offset().saturating_add(bundle.stored_size());
            let member = bundle.member().map(str::to_owned);
            self.row = Some(Row { slot: name.clone(), member, end, ids });
        }
        name
    }

    pub(super) fn finish(self) -> BTreeMap<String, Slot> {
        self.slots
    }

    /// The name of a new slot for a bundle, or of the slot that it shares. The empty name stands for the whole file.
    fn name(&self, bundle: &Bundle<'_>) -> String {
        if let FileKind::CodeObject | FileKind::IreeModule | FileKind::IreeExecutable = self.kind {
            return String::new();
        }
        let name = examine::place(bundle);
        if let Container::Kpack { .. } = bundle.container() {
            return name;
        }
        // An archive may have several members of one name.
        match self.slots.contains_key(&name) {
            true => format!("{name}, bundle {}", bundle.index()),
            false => name,
        }
    }
}
