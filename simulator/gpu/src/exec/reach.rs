// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instructions that are reached from an entry by branches, without calls.

use crate::isa::{DecodeError, Inst, InstructionSet, Op};

/// The trap for a debugger. Without a debugger it has no effect.
pub(crate) const BREAKPOINT: u8 = 3;

/// The reason why there is no instruction at a reached word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoInstruction {
    /// Its bits are not an instruction.
    Undecodable(DecodeError),
    /// The word is past the end of the code.
    End,
}

impl std::fmt::Display for NoInstruction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoInstruction::Undecodable(error) => error.fmt(f),
            NoInstruction::End => f.write_str("execution runs past the end of the code"),
        }
    }
}

/// The words reached so far, counted from the first word of the code.
pub(crate) trait Reached {
    /// Whether this word has been reached.
    fn has(&self, word: u64) -> bool;
    /// Notes the instruction at a word.
    fn add(&mut self, word: u64, found: Result<Inst, NoInstruction>);
}

/// Adds the words reached from the word `entry`, up to words that were reached before.
pub(crate) fn reach(set: &'static InstructionSet, code: &[u32], entry: u64, reached: &mut impl Reached) {
    let mut open = vec![entry];
    while let Some(mut at) = open.pop() {
        while !reached.has(at) {
            let rest = usize::try_from(at).ok().and_then(|at| code.get(at..)).filter(|rest| !rest.is_empty());
            let found = match rest {
                Some(rest) => set.decode(rest).map_err(NoInstruction::Undecodable),
                None => Err(NoInstruction::End),
            };
            reached.add(at, found.clone());
            let Ok(inst) = found else { break };
            open.extend(branch_target(&inst, at));
            if ends_flow(&inst) {
                break;
            }
            at += u64::from(inst.size) / 4;
        }
    }
}

/// Whether an instruction never falls through to the next one.
pub(crate) fn ends_flow(inst: &Inst) -> bool {
    match inst.op {
        Op::s_endpgm | Op::s_endpgm_saved | Op::s_branch | Op::s_setpc_b64 | Op::s_rfe_b64 => true,
        // A trap stops the wave, unless it is a breakpoint. Compilers put no code behind it.
        Op::s_trap => inst.imm as u8 != BREAKPOINT,
        _ => false,
    }
}

/// The word that a branch within a function goes to. Calls are not followed.
pub(crate) fn branch_target(inst: &Inst, at: u64) -> Option<u64> {
    if inst.op == Op::s_call_b64 {
        return None;
    }
    inst.branch_target(at * 4).map(|address| address / 4)
}
