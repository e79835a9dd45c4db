// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction sets of gfx942 (CDNA3) and gfx90a (CDNA2): decoder and disassembler.
//!
//! [`InstructionSet::decode`] turns words into an [`Inst`], which holds everything an interpreter needs.
//! [`Inst::disassemble`] prints it as LLVM does. Both read the same tables: one row for each instruction of each format.
//! An [`Op`] is a meaning; a row binds it to an encoding; a set has rows that others have too, and its own.

mod decode;
mod fields;
mod inst;
mod memory_format;
mod opcode;
mod scalar_format;
mod set;
mod tables;
mod text;
mod text_modifier;
mod text_operand;
mod vector_format;

pub use decode::{DecodeError, Program};
pub use inst::{
    Dpp, Element, Encoding, Inst, Mem, Mods, Operand, OperandType, Sdwa, SdwaSel, SdwaUnused, Special,
    inline_f16, inline_u32, inline_u64,
};
pub use opcode::Op;
pub use set::{GFX90A, GFX942, InstructionSet};
