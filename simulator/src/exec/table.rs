// SPDX-License-Identifier: MIT OR Apache-2.0
//! From an instruction to its handler, or to the reason why there is none.

use super::core::Core;
use super::crossing::knows_dpp;
use super::step::{Flow, Handler, Step};
use super::{buffer, flow, matrix, packed, scalar, share, smem, vector, vmem};
use crate::engine::Cause;
use crate::isa::{Encoding, Inst, Mem, Mods, Op, Operand, OperandType};

/// The handler of an instruction for this processor.
///
/// # Errors
/// What about the instruction is not executed.
pub(crate) fn handler(inst: &Inst) -> Result<Handler, &'static str> {
    if inst.mods.dpp.is_some_and(|dpp| !knows_dpp(dpp.ctrl)) {
        return Err("an unknown data-parallel control");
    }
    if inst.mem.gds {
        return Err("global data share");
    }
    let versions = match inst.encoding {
        Encoding::Smem => smem::versions(inst.op),
        Encoding::Ds => share::versions(inst),
        Encoding::Flat | Encoding::Global | Encoding::Scratch => vmem::versions(inst),
        Encoding::Mubuf => buffer::versions(inst),
        Encoding::Mtbuf => None,
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vop3 | Encoding::Vopc => vector::versions(inst),
        Encoding::Vop3p => packed::versions(inst.op),
        Encoding::Mai => matrix::versions(inst).or_else(|| vector::versions(inst)),
        _ => scalar::versions(inst.op),
    };
    match versions.or_else(|| flow::versions(inst.op)) {
        Some(versions) => Ok(versions.pick()),
        None if inst.mods.clamp => Err("the clamp bit of this instruction"),
        None => Err("not implemented"),
    }
}

/// Runs in place of what cannot be executed; entered only through an address that no scan could know.
pub(crate) fn unsupported(core: &mut Core<'_>, step: &Step) -> Flow {
    let instructions = format!("{} at offset {:#x}", step.inst.disassemble(step.offset.into()), step.offset);
    core.stop(Cause::Unsupported { instructions })
}

/// Goes on at the step's target.
pub(crate) fn goto(_: &mut Core<'_>, _: &Step) -> Flow {
    Flow::Jump
}

/// An instruction without meaning, for steps that stand for none.
pub(crate) fn placeholder() -> Inst {
    Inst {
        op: Op::s_nop,
        encoding: Encoding::Sopp,
        size: 4,
        dst: Operand::None,
        sdst: Operand::None,
        src: [Operand::None; 4],
        dst_type: OperandType::default(),
        src_type: [OperandType::default(); 4],
        mods: Mods::default(),
        mem: Mem::default(),
        imm: 0,
    }
}
