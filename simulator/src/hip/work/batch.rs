// SPDX-License-Identifier: MIT OR Apache-2.0
//! Batches of waits for words of memory, and writes of them: hipStreamBatchMemOp.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::item::Work;
use super::word::{AwaitedWord, MemoryWord, Until};
use crate::hip::hardware::machine::Machine;
use crate::packet::Edge;

/// One operation of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WordOperation {
    Wait(MemoryWord, Until),
    Write(MemoryWord, u64),
}

impl WordOperation {
    /// The work of a device's stream, and the edge that it waits for.
    pub(crate) fn prepare(self, machine: &Arc<Machine>, device: usize) -> (Work, Option<Edge>) {
        match self {
            Self::Wait(word, until) => {
                let awaited = AwaitedWord { machine: machine.clone(), device, word, until };
                (Work::Nothing, Some(Edge::Condition(Arc::new(awaited))))
            }
            Self::Write(word, value) => (Work::Write(word, value), None),
        }
    }
}

/// Operations that take place one after the other, with the parameters by which the client described them.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) operations: Vec<WordOperation>,
    /// The context that the client named.
    pub(crate) context: u64,
    /// A copy of the client's list, which it may read and write.
    list: Box<[AtomicU64]>,
}

impl Batch {
    pub(crate) fn new(operations: Vec<WordOperation>, context: u64, list: Vec<[u64; 6]>) -> Self {
        let list = list.into_iter().flatten().map(AtomicU64::new).collect();
        Self { operations, context, list }
    }

    /// The address of the list.
    pub(crate) fn list(&self) -> u64 {
        self.list.as_ptr() as u64
    }
}
