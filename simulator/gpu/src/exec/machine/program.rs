// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoded code, and a wave's place in it.
//!
//! `load` decodes a [`Region`] when a wave first enters it. Data between functions and unused code are not
//! decoded, so they cost no time and cannot fail.

use super::debug::Debug;
use super::step::Step;
use crate::exec::translate::Blocks;
use crate::isa::InstructionSet;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// The code of one segment of a module.
pub(crate) struct Program {
    set: &'static InstructionSet,
    base: u64,
    words: Arc<[u32]>,
    /// The region of each address that was entered, and the index of its first step there.
    regions: RwLock<HashMap<u64, Position>>,
    debug: Arc<Debug>,
}

/// All code that an entry reaches without calls, in the order of addresses.
pub(crate) struct Region {
    /// The address of the code segment. Offsets of steps count from it.
    pub(crate) base: u64,
    /// The instructions. The last one does not fall through.
    pub(crate) steps: Vec<Step>,
    /// Instructions that cannot be executed; their steps stop the wave.
    pub(crate) problems: Vec<Problem>,
    /// Their translations.
    pub(crate) blocks: Blocks,
}

/// An instruction in a region.
#[derive(Clone)]
pub(crate) struct Position {
    /// The region.
    pub(crate) region: Arc<Region>,
    /// The index of its step.
    pub(crate) index: usize,
}

/// A wave's place in the code.
#[derive(Default)]
pub(crate) struct Counter {
    /// The next instruction; `None` before the start.
    pub(crate) position: Option<Position>,
    /// The program that the wave is in, if it is another module's than the kernel's.
    pub(crate) visited: Option<Arc<Program>>,
}

impl Counter {
    /// The program that the wave is in. `program` is its kernel's.
    pub(crate) fn code<'p>(&'p self, program: &'p Program) -> &'p Program {
        self.visited.as_deref().unwrap_or(program)
    }
}

/// An instruction that cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Byte offset in the segment.
    pub(crate) offset: u64,
    /// The instruction, and the reason.
    pub(crate) text: String,
    /// Its words.
    pub(crate) words: Vec<u32>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at offset {:#x}, bytes", self.text, self.offset)?;
        self.words.iter().flat_map(|word| word.to_le_bytes()).try_for_each(|byte| write!(f, " {byte:02x}"))
    }
}

impl Program {
    /// Code that lies at `base` in device memory.
    pub(crate) fn new(set: &'static InstructionSet, base: u64, words: impl Into<Arc<[u32]>>) -> Self {
        Self { set, base, words: words.into(), debug: Arc::default(), regions: RwLock::default() }
    }

    /// The same code, with the names and lines that reports show.
    pub(crate) fn with_debug(self, debug: Arc<Debug>) -> Self {
        Self { debug, ..self }
    }

    /// The names and lines of its code.
    pub(crate) fn debug(&self) -> &Debug {
        &self.debug
    }

    /// The instruction set of its words.
    pub(crate) fn set(&self) -> &'static InstructionSet {
        self.set
    }

    /// Address of the first word.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// The words of the segment.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Whether an address is in this code.
    pub(crate) fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.words.len() as u64 * 4
    }

    /// The instruction at a byte offset, in LLVM's syntax.
    pub(crate) fn disassemble(&self, offset: u32) -> String {
        let words = self.words.get(offset as usize / 4..).unwrap_or_default();
        match self.set.decode(words) {
            Ok(inst) => inst.disassemble(offset.into()),
            Err(error) => error.to_string(),
        }
    }

    /// The position of an address that was entered before.
    pub(crate) fn entered(&self, address: u64) -> Option<Position> {
        self.regions.read().unwrap_or_else(PoisonError::into_inner).get(&address).cloned()
    }

    /// Keeps the position of an address, unless another thread has decoded it meanwhile.
    pub(crate) fn enter(&self, address: u64, position: &Position) {
        let mut regions = self.regions.write().unwrap_or_else(PoisonError::into_inner);
        regions.entry(address).or_insert_with(|| position.clone());
    }
}
