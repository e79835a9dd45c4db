// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instruction set as data: one row for each instruction of each format.

mod compare;
pub(super) mod gfx10;
pub(super) mod gfx101;
pub(super) mod gfx11;
pub(super) mod gfx115;
pub(super) mod gfx12;
pub(super) mod gfx950;
pub(super) mod images;
mod lds;
mod memory;
mod packed;
mod scalar;
mod text_flags;
mod vector;
mod vop3;

use super::opcode::Op;
use super::operand::{Element, OperandType};

pub(super) use compare::VOPC;
pub(super) use lds::{DS, DS_GFX942, DS_SINCE_GFX90A};
pub(super) use memory::{
    FLAT, FLAT_GFX942, FLAT_SINCE_GFX90A, GLOBAL, GLOBAL_GFX908, GLOBAL_GFX942, GLOBAL_SINCE_GFX90A, MTBUF,
    MUBUF, MUBUF_GFX90A, MUBUF_GFX908, MUBUF_GFX942, MUBUF_SINCE_GFX90A, SCRATCH, SCRATCH_GFX942,
};
pub(super) use packed::{
    MAI, MAI_GFX90A, MAI_GFX908, MAI_GFX942, MAI_UNTIL_GFX90A, VOP3P, VOP3P_GFX900, VOP3P_SINCE_GFX90A,
    VOP3P_SINCE_GFX906,
};
pub(super) use scalar::{SMEM, SOP1, SOP2, SOPC, SOPK, SOPP};
pub(super) use text_flags::{has_halves, has_no_dst_sel, has_two_offsets, is_gws, is_mix, is_named_lds};
pub(super) use vector::{
    VOP1, VOP1_GFX942, VOP1_SINCE_GFX90A, VOP2, VOP2_GFX942, VOP2_SINCE_GFX90A, VOP2_SINCE_GFX906,
    VOP2_SINCE_GFX908, VOP2_UNTIL_GFX90A, VOP2_UNTIL_GFX908,
};
pub(super) use vop3::{VOP3, VOP3_GFX942, VOP3_SINCE_GFX90A, VOP3_UNTIL_GFX90A};

/// One instruction in one format.
pub(super) struct Row {
    /// The opcode field.
    pub(super) code: u16,
    /// The instruction.
    pub(super) op: Op,
    /// The destination. In atomics it is the old value, which an instruction returns only if asked to.
    pub(super) dst: OperandType,
    /// The sources, in the order of [`Inst`](super::Inst).
    pub(super) src: [OperandType; 3],
    /// Further facts: a sum of the constants below.
    pub(super) flags: u64,
}

impl Row {
    /// Whether `flag` is set.
    pub(super) const fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }
}

const fn row<const SOURCES: usize>(
    code: u16,
    op: Op,
    dst: OperandType,
    sources: [OperandType; SOURCES],
    flags: u64,
) -> Row {
    let mut src = [N; 3];
    let mut i = 0;
    while i < SOURCES {
        src[i] = sources[i];
        i += 1;
    }
    Row { code, op, dst, src, flags }
}

const N: OperandType = OperandType { element: Element::None, dwords: 0 };
const F16: OperandType = OperandType { element: Element::F16, dwords: 1 };
const BF16: OperandType = OperandType { element: Element::Bf16, dwords: 1 };
const I16: OperandType = OperandType { element: Element::I16, dwords: 1 };
const PK16: OperandType = OperandType { element: Element::Packed16, dwords: 1 };
const PKF16: OperandType = OperandType { element: Element::PackedF16, dwords: 1 };
const PKBF16: OperandType = OperandType { element: Element::PackedBf16, dwords: 1 };
const F32: OperandType = OperandType { element: Element::F32, dwords: 1 };
const B32: OperandType = OperandType { element: Element::B32, dwords: 1 };
const F64: OperandType = OperandType { element: Element::F64, dwords: 2 };
const B64: OperandType = OperandType { element: Element::B64, dwords: 2 };

impl OperandType {
    /// The same element in `dwords` registers.
    const fn x(self, dwords: u8) -> OperandType {
        OperandType { element: self.element, dwords }
    }
}

/// No flags.
pub(super) const PLAIN: u64 = 0;
/// The 64-bit form may clamp.
pub(super) const CLAMP: u64 = 1 << 0;
/// The 64-bit form may scale its output.
pub(super) const OMOD: u64 = 1 << 1;
/// Clamp and output scale.
pub(super) const FLOAT: u64 = CLAMP | OMOD;
/// The 64-bit form selects halves of registers.
pub(super) const OP_SEL: u64 = 1 << 2;
/// A scalar destination beside the vector one.
pub(super) const CARRY_OUT: u64 = 1 << 3;
/// The third source is a lane mask: VCC in the 32-bit form.
pub(super) const CARRY_IN: u64 = 1 << 4;
/// Only the 32-bit form exists.
pub(super) const NO_E64: u64 = 1 << 5;
/// No SDWA form. Instructions with 64-bit operands have none either.
pub(super) const NO_SDWA: u64 = 1 << 6;
/// No DPP form.
pub(super) const NO_DPP: u64 = 1 << 7;
/// A literal is the second source.
pub(super) const MADMK: u64 = 1 << 8;
/// A literal is the third source.
pub(super) const MADAK: u64 = 1 << 9;
/// The destination is a scalar register.
pub(super) const SCALAR_DST: u64 = 1 << 10;
/// The source is an accumulation register.
pub(super) const ACC_SRC: u64 = 1 << 11;
/// The destination is an accumulation register.
pub(super) const ACC_DST: u64 = 1 << 12;
/// Accumulation registers on both sides.
pub(super) const ACC: u64 = ACC_SRC | ACC_DST;
/// SOPK: the constant names a hardware register, and SOPK's scalar register is the source.
pub(super) const HWREG: u64 = 1 << 13;
/// A literal follows and is the only source.
pub(super) const LITERAL: u64 = 1 << 14;
/// The second source field holds mode bits.
pub(super) const GPR_IDX: u64 = 1 << 15;
/// The 16-bit constant has no meaning and is zero.
pub(super) const NO_IMM: u64 = 1 << 16;
/// VOP3P with scalar-style modifiers: negation and absolute value.
pub(super) const MIX: u64 = 1 << 17;
/// Sparse; the third source is an index register and the destination accumulates.
pub(super) const SPARSE: u64 = 1 << 18;
/// DS with two addresses.
pub(super) const TWO_OFFSETS: u64 = 1 << 19;
/// Only with the bit of the global data share set.
pub(super) const GWS: u64 = 1 << 20;
/// Returns the old value if `sc0` is set.
pub(super) const ATOMIC: u64 = 1 << 21;
/// An atomic that cannot return the old value.
pub(super) const NO_RETURN: u64 = 1 << 30;
/// Data moves between LDS and memory; the data field is unused.
pub(super) const LDS_DST: u64 = 1 << 22;
/// Cache control, clocks: no data, and no scope without [`SCOPE`].
pub(super) const CACHE: u64 = 1 << 23;
/// MUBUF: cache control with a scope.
pub(super) const SCOPE: u64 = 1 << 29;
/// SMEM: the data field is a constant.
pub(super) const PROBE: u64 = 1 << 24;
/// The lane of `src[1]` and the result are scalar.
pub(super) const LANE: u64 = 1 << 25;

/// The source is a vector register or the LDS value.
pub(super) const VECTOR_SRC: u64 = 1 << 26;
/// There is a form with the destination in LDS: MUBUF, and GLOBAL and SCRATCH if they have a bit for it.
pub(super) const MAY_LDS: u64 = 1 << 27;
/// The SDWA form writes the whole destination and ignores its selection.
pub(super) const NO_DST_SEL: u64 = 1 << 28;

/// No DPP form of the 64-bit form.
pub(super) const NO_E64_DPP: u64 = 1 << 31;
/// The mnemonic has no suffix for the encoding.
pub(super) const NO_SUFFIX: u64 = 1 << 32;
/// The second and the third source are scalar.
pub(super) const SCALAR_LANES: u64 = 1 << 33;
/// Memory instructions whose vector address is the number of the lane.
pub(super) const ADDTID: u64 = 1 << 34;
/// Operands are halves of registers, which bit 7 of their numbers selects in the 32-bit form.
pub(super) const HALVES: u64 = 1 << 35;
/// SOP1: the source field is the number of a message.
pub(super) const MESSAGE: u64 = 1 << 36;
/// Signs apply to integers too: they are floats of the same size.
pub(super) const SIGNED: u64 = 1 << 39;
/// SMEM: the data field is a constant, and the offset register is always an operand.
pub(super) const PREFETCH: u64 = 1 << 40;
/// The selection of halves selects a byte: of the only source, with its bits reversed, or of the destination.
pub(super) const BYTES: u64 = 1 << 41;
/// An element of a matrix is in one lane: the factors too have half as many registers in waves of 64 lanes.
pub(super) const SPREAD: u64 = 1 << 37;
/// Sparse: the indices of each register of A have 16 bits.
pub(super) const LONG_INDEX: u64 = 1 << 42;
/// The destination and the third source have half as many registers in waves of 64 lanes.
pub(super) const WMMA: u64 = 1 << 38;

/// VOP3: the fields of signs and of the output scale are a truth table.
pub(super) const TRUTH_TABLE: u64 = 1 << 43;
/// MAI: two fields are the formats of A and of B, and how many registers these have.
pub(super) const NARROW: u64 = 1 << 44;

/// The row of each opcode; `None` if no instruction has it. Two rows with one opcode do not compile.
pub(super) const fn lay_out<const CODES: usize>(lists: &[&'static [Row]]) -> [Option<&'static Row>; CODES] {
    lay_out_without(&[], lists)
}

/// The same without the rows of some instructions.
pub(super) const fn lay_out_without<const CODES: usize>(
    lacking: &[Op],
    lists: &[&'static [Row]],
) -> [Option<&'static Row>; CODES] {
    let mut table = [None; CODES];
    let mut i = 0;
    while i < lists.len() {
        let rows = lists[i];
        let mut j = 0;
        while j < rows.len() {
            if !contains(lacking, rows[j].op) {
                let place = &mut table[rows[j].code as usize];
                assert!(place.is_none());
                *place = Some(&rows[j]);
            }
            j += 1;
        }
        i += 1;
    }
    table
}

const fn contains(list: &[Op], op: Op) -> bool {
    let mut i = 0;
    while i < list.len() {
        if list[i] as u16 == op as u16 {
            return true;
        }
        i += 1;
    }
    false
}

/// A scalar offset.
pub(super) const SCALAR_OFFSET: OperandType = B32;
/// A lane mask.
pub(super) const MASK: OperandType = B64;
