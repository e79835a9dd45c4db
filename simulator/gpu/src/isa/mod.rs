// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction sets of gfx900, gfx906 (Vega), gfx908, gfx90a, gfx942, gfx950 (CDNA 1 to 4), gfx1010, gfx1011,
//! gfx1030, gfx1100, gfx1150 and gfx1201 (RDNA 1 to 4): decoder and disassembler.
//!
//! [`InstructionSet::decode`] turns words into an [`Inst`], which holds everything an interpreter needs.
//! [`Inst::disassemble`] prints it as LLVM does. Both read the same tables, which have one row for each instruction of
//! each format. An [`Op`] is a meaning. A row binds it to an encoding. A set has rows that it shares with other sets,
//! and rows of its own.
//!
//! The files, from the bottom:
//!
//! - `opcode`, `operand`: meanings and operands.
//! - `tables`: the rows. `set`: the tables of each set, `buffer_format`: their formats of buffers. `inst`, `error`: the decoder's results.
//! - `format`: rows by opcodes. `fields`: the fields that formats share. `scalar_format`, `vector_format`,
//!   `lane_format` and `memory_format`: one function for each format, `scaled_format`: matrix products after
//!   the scales of their factors. `gfx950`: the set of gfx950. `gfx12`, `gfx11`, `gfx10`: the sets of gfx1201, gfx1100,
//!   gfx1150, gfx1010, gfx1011 and gfx1030, and their formats where they differ from those of GFX9.
//! - `decode`: from words to an instruction.
//! - `text`, `text_operand`, `text_modifier`, `text_error`: the disassembler.

mod buffer_format;
mod comparison;
mod decode;
mod error;
mod fields;
mod format;
mod gfx10;
mod gfx11;
mod gfx12;
mod gfx950;
mod inst;
mod lane_format;
mod memory_format;
mod opcode;
mod operand;
mod scalar_format;
mod scaled_format;
mod set;
mod tables;
mod text;
mod text_error;
mod text_modifier;
mod text_operand;
mod vector_format;

pub(crate) use comparison::{Compared, Comparison, Relation};
pub use decode::Instructions;
pub use error::DecodeError;
pub use gfx10::{GFX1010, GFX1010_WAVE64, GFX1011, GFX1011_WAVE64, GFX1030, GFX1030_WAVE64};
pub use gfx11::{GFX1100, GFX1100_WAVE64, GFX1150, GFX1150_WAVE64};
pub use gfx12::{GFX1201, GFX1201_WAVE64};
pub use gfx950::GFX950;
pub use inst::{Dpp, Dpp8, Encoding, Inst, Mem, Mods, Sdwa, SdwaSel, SdwaUnused};
pub use opcode::Op;
pub use operand::{Element, Operand, OperandType, Special, inline_f16, inline_u32, inline_u64};
pub(crate) use set::{Accumulation, ResourceLayout};
pub use set::{GFX90A, GFX900, GFX906, GFX908, GFX942, InstructionSet};
