// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a list, and of its recording. A thread keeps some memory of the lists that it drops for its next
//! recordings. So a command buffer that is recorded for one submission needs few allocations.

use std::{cell::RefCell, mem};

use crate::driver::command_list::{Position, SlotRequirement, index::Index, tables::Tables};

/// Everything in a list.
#[derive(Default)]
pub(crate) struct Contents {
    /// The packed commands.
    pub(crate) block: Vec<u8>,
    /// The number of commands.
    pub(crate) length: usize,
    pub(crate) tables: Tables,
    pub(crate) slots: Vec<SlotRequirement>,
    /// Copies and groups of collective operations that involve slots. Only the table can show whether their ranges overlap.
    pub(crate) slot_pairs: Vec<Position>,
    pub(crate) known: Known,
}

/// The numbers of the objects that a list has. They are used while it is recorded.
#[derive(Default)]
pub(crate) struct Known {
    /// The allocations by their address in the host's memory.
    pub(crate) buffers: Index<usize, u32>,
    /// The functions by the address of their executable's object, and their index there.
    pub(crate) functions: Index<(usize, u32), u32>,
}

/// What an empty list has.
pub(super) static NOTHING: Contents = Contents {
    block: Vec::new(),
    length: 0,
    tables: Tables::NONE,
    slots: Vec::new(),
    slot_pairs: Vec::new(),
    known: Known { buffers: Index::NONE, functions: Index::NONE },
};

/// The most contents that a thread keeps, and the most bytes of commands and of other entries in each of them.
const KEPT: usize = 4;
const KEPT_BYTES: usize = 256 * 1024;
const KEPT_ENTRIES: usize = 256;

thread_local! {
    #[allow(clippy::vec_box, reason = "the boxes are used again too")]
    static OWN: RefCell<Vec<Box<Contents>>> = const { RefCell::new(Vec::new()) };
}

/// Empty contents.
pub(super) fn take() -> Box<Contents> {
    // A thread that is ending has none.
    OWN.try_with(|own| own.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// Drops all objects of contents, and keeps the memory if there is room.
pub(super) fn give_back(mut contents: Box<Contents>) {
    // Dropped objects may record, so the thread's list is not borrowed here.
    contents.clear();
    let mut contents = Some(contents);
    let _ = OWN.try_with(|own| {
        let mut own = own.borrow_mut();
        if own.len() < KEPT {
            own.extend(contents.take());
        }
    });
}

impl Contents {
    /// The same commands and objects, for a list of its own.
    pub(super) fn copy(&self) -> Self {
        Self {
            block: self.block.clone(),
            length: self.length,
            tables: self.tables.clone(),
            slots: self.slots.clone(),
            slot_pairs: self.slot_pairs.clone(),
            known: Known::default(),
        }
    }

    /// Gives back memory that the finished list does not need, where it is worth a copy.
    pub(super) fn trim(&mut self) {
        const SPARE: usize = 4096;
        for bytes in [&mut self.block, &mut self.tables.data] {
            if bytes.capacity() - bytes.len() > SPARE {
                bytes.shrink_to_fit();
            }
        }
        self.known.buffers.clear();
        self.known.functions.clear();
    }

    fn clear(&mut self) {
        let Self { block, length, tables, slots, slot_pairs, known } = self;
        *length = 0;
        empty(block, KEPT_BYTES);
        tables.clear();
        empty(slots, KEPT_ENTRIES);
        empty(slot_pairs, KEPT_ENTRIES);
        known.buffers.clear();
        known.functions.clear();
    }
}

impl Tables {
    fn clear(&mut self) {
        let Self { functions, buffers, counts, ranges, events, groups, collectives, data } = self;
        empty(functions, KEPT_ENTRIES);
        empty(buffers, KEPT_ENTRIES);
        empty(counts, KEPT_ENTRIES);
        empty(events, KEPT_ENTRIES);
        empty(ranges, 0);
        empty(groups, 0);
        empty(collectives, 0);
        empty(data, KEPT_BYTES);
    }
}

/// Removes everything, and keeps the memory up to a number of elements.
fn empty<T>(list: &mut Vec<T>, most: usize) {
    if list.capacity() > most {
        drop(mem::take(list));
    } else {
        list.clear();
    }
}
