// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which instructions are reached from an entry, following branches and no calls.

use crate::isa::{DecodeError, Inst, InstructionSet, Op};

/// The trap that a debugger waits for; without one it does nothing.
pub(crate) const BREAKPOINT: u8 = 3;

/// Why there is no instruction at a word that is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoInstruction {
    /// Its bits are none.
    Undecodable(DecodeError),
    /// It lies behind the last word.
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

/// What has been reached so far; words are counted from the first of the code.
pub(crate) trait Reached {
    /// Whether this word has been.
    fn has(&self, word: u64) -> bool;
    /// Takes note of what is at a word.
    fn add(&mut self, word: u64, found: Result<Inst, NoInstruction>);
}

/// Adds what is reached from the word `entry`, up to what has been reached before.
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

/// Whether nothing behind an instruction is reached by falling through.
pub(crate) fn ends_flow(inst: &Inst) -> bool {
    match inst.op {
        Op::s_endpgm | Op::s_endpgm_saved | Op::s_branch | Op::s_setpc_b64 | Op::s_rfe_b64 => true,
        // Compilers put nothing behind a trap, which stops the wave, unless it is a breakpoint.
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
