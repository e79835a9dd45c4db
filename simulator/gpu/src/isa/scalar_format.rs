// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoders of the scalar formats.

use super::fields::{Fields, Invalid, bit, field, signed};
use super::operand::{Element, Operand};
use super::tables::{CACHE, GPR_IDX, HWREG, LITERAL, MADAK, MADMK, MESSAGE, PROBE};

pub(super) fn sop2(f: &mut Fields<'_>) -> Result<(), Invalid> {
    f.set_dst(f.scalar(field(f.first, 16, 7), f.row.dst.dwords))?;
    if f.row.has(MADMK | MADAK) {
        // The literal is always present, so it is read before a source names it.
        let literal = f.literal()?;
        let (constant, register) = if f.row.has(MADMK) { (1, 2) } else { (2, 1) };
        f.set_source(0, field(f.first, 0, 8))?;
        f.inst.src[constant] = literal;
        return f.set_source(register, field(f.first, 8, 8));
    }
    f.set_source(0, field(f.first, 0, 8))?;
    if f.row.has(MADMK | MADAK) {
        // A literal of the other sources is the same word.
        let (constant, register) = if f.row.has(MADMK) { (1, 2) } else { (2, 1) };
        f.set_source(register, field(f.first, 8, 8))?;
        f.inst.src[constant] = f.literal()?;
        return Ok(());
    }
    f.set_source(1, field(f.first, 8, 8))
}

pub(super) fn sop1(f: &mut Fields<'_>) -> Result<(), Invalid> {
    f.set_dst(f.scalar(field(f.first, 16, 7), f.row.dst.dwords))?;
    if f.row.has(MESSAGE) {
        f.inst.imm = field(f.first, 0, 8) as i32;
        return Ok(());
    }
    f.set_source(0, field(f.first, 0, 8))
}

pub(super) fn sopc(f: &mut Fields<'_>) -> Result<(), Invalid> {
    f.set_source(0, field(f.first, 0, 8))?;
    if f.row.has(GPR_IDX) {
        f.inst.imm = field(f.first, 8, 8) as i32;
        return Ok(());
    }
    f.set_source(1, field(f.first, 8, 8))
}

pub(super) fn sopk(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let register = field(f.first, 16, 7);
    let constant = field(f.first, 0, 16);
    f.inst.imm = if f.row.has(HWREG) { constant as i32 } else { signed(constant, 16) };
    if f.row.has(LITERAL) {
        f.inst.src[0] = f.literal()?;
        return Ok(());
    }
    f.set_dst(f.scalar(register, f.row.dst.dwords))?;
    if f.row.src[0].element != Element::None {
        f.inst.src[0] = f.scalar(register, f.row.src[0].dwords)?;
    }
    Ok(())
}

pub(super) fn sopp(f: &mut Fields<'_>) -> Result<(), Invalid> {
    f.inst.imm = signed(field(f.first, 0, 16), 16);
    Ok(())
}

pub(super) fn smem(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let (immediate, scalar_offset) = (bit(f.first, 17), bit(f.first, 14));
    let data = field(f.first, 6, 7);
    // Cache control and probes have no scope.
    f.inst.mem.sc0 = bit(f.first, 16) && !f.row.has(CACHE | PROBE);
    f.set_dst(f.scalar(data, f.row.dst.dwords))?;
    if f.row.src[0].element == Element::None {
        return Ok(());
    }
    f.inst.src[0] = f.scalar(field(f.first, 0, 6) * 2, f.row.src[0].dwords)?;
    if f.row.src[1].element != Element::None {
        f.inst.src[1] = f.scalar(data, f.row.src[1].dwords)?;
        // An atomic that returns replaces its data by the old value.
        if !f.inst.mem.sc0 {
            f.inst.dst = Operand::None;
            f.inst.dst_type = Default::default();
        }
    }
    if f.row.has(PROBE) {
        f.inst.imm = data as i32;
    }
    let register = match (immediate, scalar_offset) {
        (true, false) => None,
        (true, true) | (false, true) => Some(field(f.second, 25, 7)),
        (false, false) => Some(field(f.second, 0, 7)),
    };
    if immediate {
        f.inst.mem.offset = signed(field(f.second, 0, 21), 21);
    }
    if let Some(register) = register {
        f.inst.src_type[2] = super::tables::SCALAR_OFFSET;
        f.inst.src[2] = f.scalar(register, 1)?;
    }
    Ok(())
}
