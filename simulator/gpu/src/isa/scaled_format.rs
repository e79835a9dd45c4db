// SPDX-License-Identifier: MIT OR Apache-2.0
//! Matrix products of 16 bytes: an instruction with the scales of A and of B, and the product.

use super::error::DecodeError;
use super::fields::{Fields, Invalid, VGPR, field, vgpr};
use super::format::row;
use super::inst::{Encoding, Inst};
use super::opcode::Op;
use super::operand::{Element, OperandType};
use super::set::InstructionSet;
use super::tables::Row;
use super::vector_format;

/// The words in front of the product.
const SCALES: usize = 2;
/// The bit of a product that says that its scales are in front.
const SCALED: u32 = 1 << 11;
/// The field that has this bit, and the first bits of the formats VOP3P and MAI.
const FIELD: u32 = 0xf << 11;
const START: u32 = 0b1_1010_0111;
/// A register with scales.
const REGISTER: OperandType = OperandType { element: Element::B32, dwords: 1 };

/// The registers of a matrix in a format: eight bits, six or four for each element.
pub(super) fn registers(format: u32) -> u8 {
    match format {
        2 | 3 => 6,
        4 => 4,
        _ => 8,
    }
}

/// The product behind `v_mfma_ld_scale_b32`, if it takes the scales.
pub(super) fn product(set: &InstructionSet, op: Op, words: &[u32]) -> Option<&'static Row> {
    let &product = words.get(SCALES).filter(|_| op == Op::v_mfma_ld_scale_b32)?;
    let is_scaled = product & FIELD == SCALED && field(product, 23, 9) == START;
    row(set.tables.scaled, field(product, 16, 7)).filter(|_| is_scaled)
}

/// Decodes a product with its scales.
pub(super) fn decode(
    set: &'static InstructionSet,
    words: &[u32],
    product: &'static Row,
) -> Result<Inst, DecodeError> {
    let (&[first, second], rest) = words.split_first_chunk().unwrap_or((&[0; SCALES], &[]));
    let longer = |error| match error {
        DecodeError::Truncated { have, need } => {
            DecodeError::Truncated { have: have + SCALES, need: need + SCALES }
        }
        DecodeError::Unknown { .. } => {
            DecodeError::Unknown { set, words: [first, second], encoding: Some(Encoding::Mai) }
        }
    };
    let mut fields = Fields::new(set, rest, 2, Encoding::Mai, product).map_err(longer)?;
    fields.first &= !FIELD;
    let done = vector_format::mai(&mut fields).and_then(|()| scales(&mut fields.inst, first, second));
    let mut inst = fields.finish(done).map_err(longer)?;
    inst.size += 4 * SCALES as u8;
    Ok(inst)
}

/// The fields of the instruction in front.
fn scales(inst: &mut Inst, first: u32, second: u32) -> Result<(), Invalid> {
    let register = |low| vgpr(field(second, low, 9).checked_sub(VGPR).ok_or(Invalid)?, 1);
    inst.src[3] = register(0)?;
    inst.src_type[3] = REGISTER;
    inst.sdst = register(9)?;
    inst.mods.op_sel = field(first, 11, 2) as u8;
    inst.mods.op_sel_hi = field(second, 27, 2) as u8;
    Ok(())
}
