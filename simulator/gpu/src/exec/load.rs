// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decodes the code that an entry reaches into steps: finds the handler of each instruction, and resolves
//! branches.

use super::families;
use super::machine::program::{Position, Problem, Program, Region};
use super::machine::step::{Handler, Step};
use super::reach::{NoInstruction, Reached, branch_target, ends_flow, reach};
use super::translate::Blocks;
use crate::isa::{Element, Encoding, Inst, Op, Operand, OperandType};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

impl Program {
    /// The position of a jump to an address, decoded on the first jump; `None` if the address is not in this code.
    pub(crate) fn find(&self, address: u64) -> Option<Position> {
        if let Some(position) = self.entered(address) {
            return Some(position);
        }
        let offset = address.wrapping_sub(self.base());
        if !offset.is_multiple_of(4) || !self.contains(address) {
            return None;
        }
        let position = decode(self, offset / 4);
        self.enter(address, &position);
        Some(position)
    }
}

/// Decodes the code that is reached from a word.
fn decode(program: &Program, entry: u64) -> Position {
    let mut found = BTreeMap::new();
    reach(program.set(), program.words(), entry, &mut found);
    let (mut region, index) = lay_out(found, program, entry);
    for problem in &mut region.problems {
        let at = (problem.offset / 4) as usize;
        let count = problem.words.len();
        problem.words = program.words().iter().skip(at).take(count).copied().collect();
    }
    Position { region: Arc::new(region), index }
}

impl Reached for BTreeMap<u64, Result<Inst, NoInstruction>> {
    fn has(&self, word: u64) -> bool {
        self.contains_key(&word)
    }

    fn add(&mut self, word: u64, found: Result<Inst, NoInstruction>) {
        self.insert(word, found);
    }
}

/// The instructions to execute in turn for one of the code: itself, or the two halves of a VOPD instruction, of which neither
/// reads the other's result.
fn in_turn(inst: &Inst) -> SmallVec<[Inst; 1]> {
    let Some([first, mut second]) = inst.halves() else { return smallvec::smallvec![*inst] };
    let reads = |half: &Inst, other: &Inst| half.src.contains(&other.dst);
    if !reads(&second, &first) {
        return smallvec::smallvec![first, second];
    }
    if !reads(&first, &second) {
        return smallvec::smallvec![second, first];
    }
    // The families that have VOPD have no accumulation registers, so the last of these is free for the old value.
    let old = Operand::Agpr(u8::MAX);
    let word = OperandType { element: Element::B32, dwords: 1 };
    let mut copy = Inst { op: Op::v_mov_b32, encoding: Encoding::Vop1, dst: old, dst_type: word, ..first };
    (copy.src, copy.src_type) = ([Operand::None; 4], [OperandType::default(); 4]);
    (copy.src[0], copy.src_type[0]) = (first.dst, word);
    for source in second.src.iter_mut().filter(|source| **source == first.dst) {
        *source = old;
    }
    smallvec::smallvec![copy, first, second]
}

/// The handlers of the instructions to execute in turn for one of the code, each with its instruction.
///
/// # Errors
/// The part of the instruction that is not executed.
pub(crate) fn handlers(inst: &Inst) -> Result<SmallVec<[(Handler, Inst); 1]>, &'static str> {
    in_turn(inst).into_iter().map(|part| Ok((families::handler(&part)?, part))).collect()
}

/// Makes steps of decoded instructions, in the order of the code, and resolves branches. Also returns the
/// index of the entry's step.
fn lay_out(
    found: BTreeMap<u64, Result<Inst, NoInstruction>>,
    program: &Program,
    entry: u64,
) -> (Region, usize) {
    let mut steps = Vec::with_capacity(found.len());
    let mut problems = Vec::new();
    let mut index_of = HashMap::with_capacity(found.len());
    let mut gotos = Vec::new();
    // Compilers turn indexing on and off in one basic block.
    let mut indexed = false;
    let mut decoded = found.iter().peekable();
    while let Some((&at, inst)) = decoded.next() {
        // Only code of more than 4 GiB has offsets that do not fit.
        let offset = u32::try_from(at * 4).unwrap_or(u32::MAX);
        index_of.insert(at, steps.len());
        match inst.as_ref().map(|inst| inst.op) {
            Ok(Op::s_set_gpr_idx_on) => indexed = true,
            Ok(Op::s_set_gpr_idx_off) => indexed = false,
            _ => {}
        }
        let reason = match inst {
            Ok(inst) if indexed && families::ignores_indexing(inst) => {
                steps.push(Step::new(families::unsupported, *inst, offset));
                Some(format!("{} (registers by index)", inst.disassemble(at * 4)))
            }
            Ok(inst) => match handlers(inst) {
                Ok(parts) => {
                    steps.extend(parts.into_iter().map(|(handler, part)| Step::new(handler, part, offset)));
                    None
                }
                Err(reason) => {
                    steps.push(Step::new(families::unsupported, *inst, offset));
                    Some(format!("{} ({reason})", inst.disassemble(at * 4)))
                }
            },
            Err(reason) => {
                steps.push(Step::new(families::unsupported, families::placeholder(), offset));
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
                // The code is also entered in the middle of an instruction.
                gotos.push((steps.len(), next));
                steps.push(Step::new(families::goto, families::placeholder(), offset));
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
    let blocks = Blocks::new(steps.len(), program.set().wave_size());
    (Region { base: program.base(), steps, problems, blocks }, index_of.get(&entry).copied().unwrap_or(0))
}
