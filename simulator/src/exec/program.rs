// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code made ready to run.
//!
//! Code is decoded when it is first entered, following branches from there, so that data between functions and code
//! that is never called cost nothing and cannot fail. What one entry reaches without calls is a [`Region`].

use super::reach::{NoInstruction, Reached, branch_target, ends_flow, reach};
use super::state::Position;
use super::step::Step;
use super::table;
use crate::engine::Debug;
use crate::isa::{Inst, InstructionSet, Op};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// The code of one segment of a module.
pub(crate) struct Program {
    /// What its words mean.
    set: &'static InstructionSet,
    /// Address of the first word.
    base: u64,
    words: Vec<u32>,
    regions: RwLock<HashMap<u64, (Arc<Region>, usize)>>,
    debug: Arc<Debug>,
}

/// All code that an entry reaches without calls, in the order of addresses.
pub(crate) struct Region {
    /// The instructions. One that does not fall through comes last.
    pub(crate) steps: Vec<Step>,
    /// Instructions that cannot be executed; their steps stop the wave.
    pub(crate) problems: Vec<Problem>,
    entry: usize,
}

/// An instruction that cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Byte offset in the segment.
    pub(crate) offset: u64,
    /// What it is, and why not.
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

/// The code of every module in one memory: a kernel may call a function of another module.
#[derive(Default)]
pub(crate) struct Programs(RwLock<BTreeMap<u64, Weak<Program>>>);

impl Programs {
    /// Makes code known until nobody holds it any more.
    pub(crate) fn add(&self, program: &Arc<Program>) {
        let mut programs = self.0.write().unwrap_or_else(PoisonError::into_inner);
        programs.retain(|_, program| program.strong_count() > 0);
        programs.insert(program.base, Arc::downgrade(program));
    }

    /// The code that holds an address.
    pub(crate) fn at(&self, address: u64) -> Option<Arc<Program>> {
        let programs = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (_, program) = programs.range(..=address).next_back()?;
        program.upgrade().filter(|program| program.contains(address))
    }

    /// Where to go on for a jump to an address, and the code that it is in.
    pub(crate) fn find(&self, address: u64) -> Option<(Arc<Program>, Position)> {
        let program = self.at(address)?;
        let position = program.find(address)?;
        Some((program, position))
    }
}

impl Program {
    /// Code that lies at `base` in device memory.
    pub(crate) fn new(set: &'static InstructionSet, base: u64, words: Vec<u32>) -> Self {
        Self { set, base, words, debug: Arc::default(), regions: RwLock::default() }
    }

    /// The same, with what the code object says about it.
    pub(crate) fn with_debug(self, debug: Arc<Debug>) -> Self {
        Self { debug, ..self }
    }

    /// What the code object says about its code.
    pub(crate) fn debug(&self) -> &Debug {
        &self.debug
    }

    /// The instruction at a byte offset, in LLVM's syntax.
    pub(crate) fn disassemble(&self, offset: u32) -> String {
        let words = self.words.get(offset as usize / 4..).unwrap_or_default();
        match self.set.decode(words) {
            Ok(inst) => inst.disassemble(offset.into()),
            Err(error) => error.to_string(),
        }
    }

    /// Address of the first word.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Whether an address is in this code.
    pub(crate) fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.words.len() as u64 * 4
    }

    /// Where to go on for a jump to an address; `None` if that is not in this code.
    pub(crate) fn find(&self, address: u64) -> Option<Position> {
        let known = |regions: &HashMap<u64, (Arc<Region>, usize)>| {
            regions.get(&address).map(|(region, index)| Position { region: region.clone(), index: *index })
        };
        if let Some(position) = known(&self.regions.read().unwrap_or_else(PoisonError::into_inner)) {
            return Some(position);
        }
        let offset = address.wrapping_sub(self.base);
        if !offset.is_multiple_of(4) || !self.contains(address) {
            return None;
        }
        let region = Arc::new(self.decode(offset / 4));
        let position = Position { index: region.entry, region };
        let mut regions = self.regions.write().unwrap_or_else(PoisonError::into_inner);
        regions.entry(address).or_insert_with(|| (position.region.clone(), position.index));
        Some(position)
    }

    /// Decodes what is reached from a word.
    fn decode(&self, entry: u64) -> Region {
        let mut found = BTreeMap::new();
        reach(self.set, &self.words, entry, &mut found);
        let mut region = lay_out(found, entry);
        for problem in &mut region.problems {
            let at = (problem.offset / 4) as usize;
            let count = problem.words.len();
            problem.words = self.words.iter().skip(at).take(count).copied().collect();
        }
        region
    }
}

impl Reached for BTreeMap<u64, Result<Inst, NoInstruction>> {
    fn has(&self, word: u64) -> bool {
        self.contains_key(&word)
    }

    fn add(&mut self, word: u64, found: Result<Inst, NoInstruction>) {
        self.insert(word, found);
    }
}

/// Orders decoded instructions so that the one behind a step follows it, and resolves branches.
fn lay_out(found: BTreeMap<u64, Result<Inst, NoInstruction>>, entry: u64) -> Region {
    let mut steps = Vec::with_capacity(found.len());
    let mut problems = Vec::new();
    let mut index_of = HashMap::with_capacity(found.len());
    let mut gotos = Vec::new();
    // Compilers turn indexing on and off in one piece of code.
    let mut indexed = false;
    let mut decoded = found.iter().peekable();
    while let Some((&at, inst)) = decoded.next() {
        // A branch may lead past what a step's offset can hold only in code of more than 4 GiB.
        let offset = u32::try_from(at * 4).unwrap_or(u32::MAX);
        index_of.insert(at, steps.len());
        match inst.as_ref().map(|inst| inst.op) {
            Ok(Op::s_set_gpr_idx_on) => indexed = true,
            Ok(Op::s_set_gpr_idx_off) => indexed = false,
            _ => {}
        }
        let reason = match inst {
            Ok(inst) if indexed && table::ignores_indexing(inst) => {
                steps.push(Step::new(table::unsupported, *inst, offset));
                Some(format!("{} (registers by index)", inst.disassemble(at * 4)))
            }
            Ok(inst) => match table::handler(inst) {
                Ok(handler) => {
                    steps.push(Step::new(handler, *inst, offset));
                    None
                }
                Err(reason) => {
                    steps.push(Step::new(table::unsupported, *inst, offset));
                    Some(format!("{} ({reason})", inst.disassemble(at * 4)))
                }
            },
            Err(reason) => {
                steps.push(Step::new(table::unsupported, table::placeholder(), offset));
                Some(reason.to_string())
            }
        };
        if let Some(text) = reason {
            let count = inst.as_ref().map_or(1, |inst| usize::from(inst.size) / 4);
            problems.push(Problem { offset: at * 4, text, words: vec![0; count] });
        } else if let Ok(inst) = inst
            && !ends_flow(inst)
        {
            let next = at + u64::from(inst.size) / 4;
            if decoded.peek().is_none_or(|(following, _)| **following != next) {
                // Code that is also entered in the middle of an instruction.
                gotos.push((steps.len(), next));
                steps.push(Step::new(table::goto, table::placeholder(), offset));
            }
        }
    }
    for (&at, inst) in &found {
        if let Ok(inst) = inst
            && let Some(target) = branch_target(inst, at)
            && let (Some(&from), Some(&to)) = (index_of.get(&at), index_of.get(&target))
        {
            steps[from].target = to as u32;
        }
    }
    for (from, next) in gotos {
        steps[from].target = index_of.get(&next).map_or(u32::MAX, |&to| to as u32);
    }
    // The loop of an atomic begins with a load of the dword that it will swap.
    if steps.iter().any(Step::is_compare_and_swap) {
        steps.iter_mut().filter(|step| step.loads_dwords()).for_each(|step| step.widened = true);
    }
    Region { entry: index_of.get(&entry).copied().unwrap_or(0), steps, problems }
}
