// SPDX-License-Identifier: MIT OR Apache-2.0
//! Translates a block: the steps that follow each other from a step on, past branches that are not taken.
//!
//! An instruction whose operands the translator does not know is a call of its handler. A block ends at a step that it
//! does not execute, or at one whose handler answers anything but
//! [`Flow::Next`](crate::exec::machine::core::Flow::Next).

use super::assembler::Condition;
use super::emitter::{Effect, Emitter};
use super::{call, memory, scalar, vector};
use crate::exec::machine::step::Step;
use crate::exec::reach::ends_flow;
use crate::isa::{Encoding, Op, Operand};

/// The most steps of a block.
const MOST: usize = 256;

/// Machine code for the steps from an index on, for waves of a size.
pub(super) fn translate(steps: &[Step], first: usize, wave_size: u32) -> Vec<u8> {
    let mut emitter = Emitter::new(first, wave_size);
    let end = steps.len().min(first.saturating_add(MOST));
    for (index, step) in steps.iter().enumerate().take(end).skip(first) {
        emitter.begin(index, step.sharing);
        if step.inst.op == Op::s_branch {
            emitter.branch();
            return emitter.finish();
        }
        let translated = is_nothing(step.inst.op)
            || branch(&mut emitter, step.inst.op)
            || scalar::emit(&mut emitter, step)
            || vector::emit(&mut emitter, step);
        if !translated {
            emitter.call(memory::callee(step, wave_size).unwrap_or(call::handler), effect(step));
        }
        if ends_flow(&step.inst) {
            return emitter.finish_at(index + 1);
        }
    }
    emitter.finish_at(end)
}

/// Translates a conditional branch. Writes nothing and returns `false` for all others.
fn branch(emitter: &mut Emitter, op: Op) -> bool {
    const VCC: u8 = 106;
    const EXEC: u8 = 126;
    let (mask, condition) = match op {
        Op::s_cbranch_scc0 => (None, Condition::Equal),
        Op::s_cbranch_scc1 => (None, Condition::NotEqual),
        Op::s_cbranch_vccz => (Some(VCC), Condition::Equal),
        Op::s_cbranch_vccnz => (Some(VCC), Condition::NotEqual),
        Op::s_cbranch_execz => (Some(EXEC), Condition::Equal),
        Op::s_cbranch_execnz => (Some(EXEC), Condition::NotEqual),
        _ => return false,
    };
    match mask {
        Some(mask) => emitter.compare_mask(mask),
        None => emitter.compare_scc(),
    }
    emitter.branch_if(condition);
    true
}

/// The effect that the handler of a step may have. Memory instructions write memory and vector registers, or the scalar ones
/// that they name.
fn effect(step: &Step) -> Effect {
    const EXEC: usize = 126;
    let inst = &step.inst;
    let is_data = match (inst.encoding, inst.dst) {
        (Encoding::Smem, Operand::Sgpr(first)) => usize::from(first) + inst.dst_type.dwords as usize <= EXEC,
        (Encoding::Ds | Encoding::Global | Encoding::Flat | Encoding::Scratch, _) => true,
        (Encoding::Mubuf | Encoding::Mtbuf, _) => true,
        _ => false,
    };
    if is_data { Effect::Data } else { Effect::Any }
}

/// Whether an instruction has no effect. `s_nop` is also the instruction of steps that have none, whose handlers have
/// one.
fn is_nothing(op: Op) -> bool {
    matches!(
        op,
        Op::s_waitcnt
            | Op::s_waitcnt_vscnt
            | Op::s_waitcnt_depctr
            | Op::s_wait_loadcnt
            | Op::s_wait_storecnt
            | Op::s_wait_dscnt
            | Op::s_wait_kmcnt
            | Op::s_wait_loadcnt_dscnt
            | Op::s_wait_storecnt_dscnt
            | Op::s_delay_alu
            | Op::s_singleuse_vdst
            | Op::s_clause
            | Op::s_setprio
            | Op::v_nop
    )
}
