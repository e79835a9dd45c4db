// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction set of gfx942 (CDNA3): decoder and disassembler.

mod inst;
mod opcode;

pub use inst::{
    Dpp, Element, Encoding, Inst, Mem, Mods, Operand, OperandType, Sdwa, SdwaSel, SdwaUnused, Special,
    inline_f16, inline_u32, inline_u64,
};
pub use opcode::Op;
