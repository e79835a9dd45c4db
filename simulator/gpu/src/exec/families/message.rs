// SPDX-License-Identifier: MIT OR Apache-2.0
//! `s_sendmsg_rtn`: a question to the hardware around a wave, with the answer in scalar registers.

use crate::exec::machine::core::Flow;
use crate::exec::machine::handler::Compilations;
use crate::isa::{Inst, Op};

/// The handler of an instruction of this family.
///
/// # Errors
/// The message, if it is not answered.
pub(crate) fn compilations(inst: &Inst) -> Result<Compilations, &'static str> {
    match inst.imm & 0xff {
        128 => Err("MSG_RTN_GET_DOORBELL"),
        129 => Err("MSG_RTN_GET_DDID"),
        130 => Err("MSG_RTN_GET_TMA"),
        131 => Ok(Compilations::scalar(|core, step| {
            let ticks = core.wave.wall_clock();
            if step.inst.op == Op::s_sendmsg_rtn_b64 {
                core.wave.set_pair(step.inst.dst, ticks);
            } else {
                core.wave.set_scalar(step.inst.dst, ticks as u32);
            }
            Flow::Next
        })),
        132 => Err("MSG_RTN_SAVE_WAVE"),
        133 => Err("MSG_RTN_GET_TBA"),
        134 => Err("MSG_RTN_GET_TBA_TO_PC"),
        _ => Err("an unknown message"),
    }
}
