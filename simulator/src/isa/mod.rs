// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction set of gfx942 (CDNA3): decoder and disassembler.
//!
//! [`decode`] turns words into an [`Inst`], which holds everything an interpreter needs. [`Inst::disassemble`] prints it
//! as LLVM does. Both read the same tables: one row for each instruction of each format.

mod decode;
mod fields;
mod inst;
mod memory_format;
mod opcode;
mod scalar_format;
mod tables;
mod text;
mod text_modifier;
mod text_operand;
mod vector_format;

pub use decode::{DecodeError, Program, decode, decode_program};
pub use inst::{
    Dpp, Element, Encoding, Inst, Mem, Mods, Operand, OperandType, Sdwa, SdwaSel, SdwaUnused, Special,
    inline_f16, inline_u32, inline_u64,
};
pub use opcode::Op;
