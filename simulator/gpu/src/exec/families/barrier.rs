// SPDX-License-Identifier: MIT OR Apache-2.0
//! Barriers whose waves signal and wait apart. Only the workgroup's, -1, is simulated.

use crate::exec::machine::core::Flow;
use crate::exec::machine::handler::Compilations;
use crate::isa::{Inst, Op, Operand};

/// The codes of the constants 0 to -2 that name a barrier: none, the workgroup's, that of trap handlers.
const NONE: Operand = Operand::Inline(128);
const WORKGROUP: Operand = Operand::Inline(193);
const TRAP: Operand = Operand::Inline(194);

/// The handler of an instruction of this family, `None` for other instructions.
///
/// # Errors
/// The barrier, if it is not simulated.
pub(crate) fn compilations(inst: &Inst) -> Option<Result<Compilations, &'static str>> {
    let handler: Result<Compilations, _> = match (inst.op, inst.src[0], inst.imm) {
        (Op::s_barrier_signal, WORKGROUP, _) => Ok(Compilations::scalar(|core, _| {
            core.wave.phase = Some(core.lds.barrier.phase());
            core.lds.barrier.signal();
            Flow::Next
        })),
        (Op::s_barrier_signal_isfirst, WORKGROUP, _) => Ok(Compilations::scalar(|core, _| {
            core.wave.phase = Some(core.lds.barrier.phase());
            core.wave.scc = core.lds.barrier.signal();
            Flow::Next
        })),
        // Outside of a trap handler its barrier is none.
        (Op::s_barrier_signal, NONE | TRAP, _) => Ok(Compilations::scalar(|_, _| Flow::Next)),
        (Op::s_barrier_signal_isfirst, NONE | TRAP, _) => Ok(Compilations::scalar(|core, _| {
            core.wave.scc = false;
            Flow::Next
        })),
        (Op::s_get_barrier_state, WORKGROUP, _) => Ok(Compilations::scalar(|core, step| {
            let state = core.lds.barrier.state();
            core.wave.set_scalar(step.inst.dst, state);
            Flow::Next
        })),
        (Op::s_barrier_wait, _, -1) => Ok(Compilations::scalar(|core, _| {
            // A wave that has not signalled waits for a barrier that is not complete without it.
            let phase = core.wave.phase.unwrap_or(core.lds.barrier.phase());
            core.wave.phase = if core.lds.barrier.phase() > phase { None } else { Some(phase) };
            if core.wave.phase.is_none() { Flow::Next } else { Flow::Barrier }
        })),
        (
            Op::s_barrier_signal
            | Op::s_barrier_signal_isfirst
            | Op::s_get_barrier_state
            | Op::s_barrier_wait
            | Op::s_barrier_init
            | Op::s_barrier_join
            | Op::s_barrier_leave
            | Op::s_wakeup_barrier,
            ..,
        ) => Err("named barriers"),
        _ => return None,
    };
    Some(handler)
}
