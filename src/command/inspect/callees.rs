// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of what kernels may call. Each of a thousand kernels may call the same thousand functions, so that the lists of
//! a small file are long, or empty and a long way to go: both have a bound.

use std::{collections::HashMap, rc::Rc};

use windlass_codeobject::{Callee, Calls, CodeObject, Kernel};

/// How many bytes the lists can have of any file, beside as many as its code has; and how many addresses can be followed
/// for them.
const LEAST: usize = 1 << 22;
/// What an item of a list takes beside its letters.
const ITEM: usize = 64;

/// What is left for the lists of a file.
pub(super) struct Room {
    bytes: usize,
    work: u64,
}

impl Default for Room {
    fn default() -> Self {
        Self { bytes: LEAST, work: LEAST as u64 }
    }
}

impl Room {
    /// Adds what a code object of so many bytes may take.
    pub(super) fn widen(&mut self, size: usize) {
        self.bytes = self.bytes.saturating_add(size);
        self.work = self.work.saturating_add(size as u64);
    }

    /// Whether there is room for a list; after the first for which there is none, there is none for any.
    fn take(&mut self, list: &[String]) -> bool {
        let size = list.iter().map(|name| name.len() + ITEM).sum::<usize>();
        let left = self.bytes.checked_sub(size);
        self.bytes = left.unwrap_or(0);
        left.is_some()
    }
}

/// The lists of a code object. Kernels that begin at the same place share theirs.
pub(super) struct Lists<'c> {
    code: &'c CodeObject,
    calls: &'c Calls,
    room: &'c mut Room,
    names: HashMap<u64, &'c str>,
    /// By where a kernel begins.
    known: HashMap<u64, Option<Rc<[String]>>>,
}

impl<'c> Lists<'c> {
    pub(super) fn new(code: &'c CodeObject, calls: &'c Calls, room: &'c mut Room) -> Self {
        let names = code.functions().map(|function| (function.address, function.name.as_str())).collect();
        Self { code, calls, room, names, known: HashMap::new() }
    }

    /// What a kernel may call; an address where the symbol is gone. Nothing where there is no room for it.
    pub(super) fn of(&mut self, kernel: &Kernel) -> Option<Rc<[String]>> {
        if self.room.bytes == 0 {
            return None;
        }
        let entry = kernel.entry_address;
        if !self.known.contains_key(&entry) {
            let list = self.make(entry);
            self.known.insert(entry, list);
        }
        let list = Rc::clone(self.known.get(&entry)?.as_ref()?);
        self.room.take(&list).then_some(list)
    }

    fn make(&mut self, entry: u64) -> Option<Rc<[String]>> {
        let name = |callee| match callee {
            Callee::At(address) if address == entry => None,
            Callee::At(address) => {
                let name = self.names.get(&address);
                Some(name.map_or_else(|| format!("{address:#x}"), |name| (*name).to_owned()))
            }
            Callee::Undefined(symbol) => self.code.symbols().get(symbol).map(|symbol| symbol.name.clone()),
            _ => None,
        };
        let callees = self.calls.reached_within(entry, &mut self.room.work)?;
        Some(callees.into_iter().filter_map(name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_where_their_room_does() {
        let mut room = Room { bytes: 1000, work: 0 };
        let list = vec!["f".repeat(236); 2];
        assert!(room.take(&list));
        assert!(room.take(&[]));
        assert!(!room.take(&list));
        assert_eq!(room.bytes, 0);
    }

    #[test]
    fn kernels_that_begin_at_the_same_place_share_a_list() {
        let image = include_bytes!("../../../cts/kernels/bundles/saxpy.gfx942.co");
        let code = CodeObject::parse(image).unwrap();
        let calls = code.calls(image);
        let mut room = Room::default();
        let mut lists = Lists::new(&code, &calls, &mut room);
        let [first, other] = code.kernels() else { panic!("{code:?}") };
        let list = lists.of(first).unwrap();
        assert!(Rc::ptr_eq(&list, &lists.of(&first.clone()).unwrap()));
        assert!(!Rc::ptr_eq(&list, &lists.of(other).unwrap()));
        lists.room.bytes = 0;
        assert!(lists.of(first).is_none());
    }
}
