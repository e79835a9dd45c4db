// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoders of the vector formats, with their SDWA words.

use super::fields::{
    DPP, DPP8, DPP8_FI, Fields, Invalid, LITERAL, SDWA, VGPR, bit, field, vgpr, vgpr_or_agpr,
};
use super::inst::{Encoding, Sdwa, SdwaSel, SdwaUnused};
use super::lane_format;
use super::opcode::Op;
use super::operand::{Element, Operand, OperandType, Special};
use super::scaled_format;
use super::set::{Accumulation, Family};
use super::tables::{
    ACC, ACC_DST, ACC_SRC, BYTES, CARRY_IN, CARRY_OUT, CLAMP, LANE, LONG_INDEX, MADAK, MADMK, MIX, NARROW,
    NO_DST_SEL, NO_SDWA, OMOD, OP_SEL, Row, SCALAR_DST, SCALAR_LANES, SPARSE, SPREAD, TRUTH_TABLE,
    VECTOR_SRC, WMMA,
};

pub(super) fn vop1(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let dst = field(f.first, 17, 8);
    let src0 = field(f.first, 0, 9);
    if f.row.has(ACC) {
        f.set_dst(vgpr_or_agpr(dst, f.row.dst.dwords, true))?;
        let code = src0.checked_sub(VGPR).ok_or(Invalid)?;
        f.inst.src[0] = vgpr_or_agpr(code, f.row.src[0].dwords, true)?;
        return Ok(());
    }
    if f.row.has(SCALAR_DST) {
        f.set_dst(scalar_dst(f, dst, f.row.dst.dwords))?;
    } else {
        f.set_vector_dst(dst)?;
    }
    first_source(f, src0)?;
    if f.row.has(VECTOR_SRC)
        && !matches!(f.inst.src[0], Operand::Vgpr(_) | Operand::Special(Special::LdsDirect))
    {
        return Err(Invalid);
    }
    Ok(())
}

pub(super) fn vop2(f: &mut Fields<'_>) -> Result<(), Invalid> {
    if f.row.op == Op::v_illegal && f.first != 0 {
        return Err(Invalid);
    }
    f.set_vector_dst(field(f.first, 17, 8))?;
    let vsrc1 = field(f.first, 9, 8) + VGPR;
    if f.row.has(MADMK | MADAK) {
        // The literal is always present, so it is read before a source names it.
        let literal = f.literal()?;
        f.set_source(0, field(f.first, 0, 9))?;
        let (constant, register) = if f.row.has(MADMK) { (1, 2) } else { (2, 1) };
        f.inst.src[constant] = literal;
        return f.set_source(register, vsrc1);
    }
    f.set_source(1, vsrc1)?;
    if f.row.has(CARRY_OUT) {
        f.inst.sdst = Operand::VCC;
    }
    if f.row.has(CARRY_IN) {
        f.inst.src[2] = Operand::VCC;
    }
    first_source(f, field(f.first, 0, 9))
}

pub(super) fn vopc(f: &mut Fields<'_>) -> Result<(), Invalid> {
    f.set_mask_dst(Ok(Operand::VCC))?;
    f.set_source(1, field(f.first, 9, 8) + VGPR)?;
    first_source(f, field(f.first, 0, 9))
}

/// `src0`. The codes SDWA, DPP and DPP8 stand for another word.
fn first_source(f: &mut Fields<'_>, code: u32) -> Result<(), Invalid> {
    let short = matches!(f.inst.encoding, Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc);
    match (f.family(), code) {
        (Family::Gfx9, SDWA) if short => sdwa(f),
        (Family::Gfx10, SDWA) if short && f.row.src[0].dwords != 0 => sdwa(f),
        (Family::Gfx9, DPP) if short => lane_format::dpp_gfx9(f),
        (Family::Gfx10 | Family::Gfx11 | Family::Gfx12, DPP | DPP8 | DPP8_FI) if f.row.src[0].dwords != 0 => {
            // The 64-bit forms have DPP since GFX11.
            if short || f.family() != Family::Gfx10 { lane_format::dpp_gfx10(f, code) } else { Err(Invalid) }
        }
        _ => f.set_source(0, code),
    }
}

fn sdwa(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let wide = |ty: &super::OperandType| matches!(ty.element, Element::B64 | Element::F64);
    let compare = f.inst.encoding == Encoding::Vopc;
    if f.row.has(NO_SDWA) || f.row.src[..2].iter().any(wide) || (!compare && wide(&f.row.dst)) {
        return Err(Invalid);
    }
    let word = f.extra_word()?;
    let scalar_or_vector = |code: u32, is_scalar| if is_scalar { code } else { code + VGPR };
    let src0 = scalar_or_vector(field(word, 0, 8), bit(word, 23));
    if src0 == LITERAL {
        return Err(Invalid);
    }
    f.set_source(0, src0)?;
    let mut part = Sdwa {
        dst_sel: SdwaSel::Dword,
        dst_unused: SdwaUnused::Pad,
        src_sel: [selection(field(word, 16, 3))?, SdwaSel::Dword],
        sext: 0,
    };
    if let Operand::Vgpr(code) = f.inst.src[1] {
        f.set_source(1, scalar_or_vector(u32::from(code), bit(word, 31)))?;
        part.src_sel[1] = selection(field(word, 24, 3))?;
    }
    if compare {
        if bit(word, 15) {
            f.inst.dst = f.scalar(field(word, 8, 7), f.inst.set.mask().dwords)?;
        }
    } else {
        if !f.row.has(NO_DST_SEL) {
            part.dst_sel = selection(field(word, 8, 3))?;
            part.dst_unused = match field(word, 11, 2) {
                0 => SdwaUnused::Pad,
                1 => SdwaUnused::Sext,
                2 => SdwaUnused::Preserve,
                _ => return Err(Invalid),
            };
        }
        f.inst.mods.clamp = bit(word, 13);
        if f.row.has(OMOD) {
            f.inst.mods.omod = field(word, 14, 2) as u8;
        }
    }
    for (at, base) in [(0, 16), (1, 24)] {
        if f.inst.src_type[at].is_float() {
            f.inst.mods.neg |= u8::from(bit(word, base + 4)) << at;
            f.inst.mods.abs |= u8::from(bit(word, base + 5)) << at;
        } else if !f.inst.src[at].is_none() {
            part.sext |= u8::from(bit(word, base + 3)) << at;
        }
    }
    f.inst.mods.sdwa = Some(part);
    Ok(())
}

fn selection(code: u32) -> Result<SdwaSel, Invalid> {
    Ok(match code {
        0 => SdwaSel::Byte0,
        1 => SdwaSel::Byte1,
        2 => SdwaSel::Byte2,
        3 => SdwaSel::Byte3,
        4 => SdwaSel::Word0,
        5 => SdwaSel::Word1,
        6 => SdwaSel::Dword,
        _ => return Err(Invalid),
    })
}

pub(super) fn vop3(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let dst = field(f.first, 0, 8);
    let mask = f.inst.set.mask().dwords;
    if f.row.code < 0x100 && field(f.first, 16, 10) < 0x100 {
        f.set_mask_dst(scalar_dst(f, dst, mask))?;
    } else if f.row.has(SCALAR_DST) {
        f.set_dst(scalar_dst(f, dst, f.row.dst.dwords))?;
    } else {
        f.set_vector_dst(dst)?;
    }
    if f.row.has(CARRY_OUT) {
        f.inst.sdst = f.scalar(field(f.first, 8, 7), mask)?;
    }
    first_source(f, field(f.second, 0, 9))?;
    f.set_source(1, field(f.second, 9, 9))?;
    f.set_source(2, field(f.second, 18, 9))?;
    let scalar_only = |operand: Operand| !matches!(operand, Operand::Vgpr(_));
    if f.row.has(CARRY_IN) && !matches!(f.inst.src[2], Operand::Sgpr(_)) {
        return Err(Invalid);
    }
    if f.row.has(LANE)
        && !(scalar_only(f.inst.src[1]) && (f.row.has(SCALAR_DST) || scalar_only(f.inst.src[0])))
    {
        return Err(Invalid);
    }
    if f.row.has(SCALAR_LANES) && !(scalar_only(f.inst.src[1]) && scalar_only(f.inst.src[2])) {
        return Err(Invalid);
    }
    let floats = float_sources(f);
    f.inst.mods.neg = field(f.second, 29, 3) as u8 & floats;
    if !f.row.has(CARRY_OUT) {
        f.inst.mods.abs = field(f.first, 8, 3) as u8 & floats;
        f.inst.mods.op_sel |= field(f.first, 11, 4) as u8 & selectable(f);
    }
    f.inst.mods.clamp = f.row.has(CLAMP) && bit(f.first, 15);
    if f.row.has(OMOD) {
        f.inst.mods.omod = field(f.second, 27, 2) as u8;
    }
    if f.row.has(TRUTH_TABLE) {
        let table = field(f.second, 29, 3) | field(f.first, 8, 3) << 3 | field(f.second, 27, 2) << 6;
        f.inst.imm = table as i32;
    }
    Ok(())
}

/// Mask of the sources that negation and absolute value apply to.
fn float_sources(f: &Fields<'_>) -> u8 {
    (0..3).fold(0, |mask, at| mask | u8::from(f.is_signed(at)) << at)
}

/// Mask of the operands of which a half can be selected; bit 3 is the destination. In GFX11 these are all with 16 bits.
fn selectable(f: &Fields<'_>) -> u8 {
    if f.row.has(BYTES) {
        return if f.row.src[1].dwords == 0 { 0b0011 } else { 0b1100 };
    }
    let types = [f.row.src[0], f.row.src[1], f.row.src[2], f.row.dst];
    let can = |ty: OperandType| match f.family() {
        Family::Gfx9 if f.row.has(OP_SEL) => true,
        _ if f.row.has(OP_SEL) => {
            !matches!(ty.element, Element::Packed16 | Element::PackedF16 | Element::PackedBf16)
        }
        Family::Gfx9 | Family::Gfx10 => false,
        Family::Gfx11 | Family::Gfx12 => matches!(ty.element, Element::F16 | Element::Bf16 | Element::I16),
    };
    types.into_iter().enumerate().fold(0, |mask, (at, ty)| mask | u8::from(can(ty)) << at)
}

/// A scalar register in the 8-bit field of a vector destination.
fn scalar_dst(f: &Fields<'_>, code: u32, dwords: u8) -> Result<Operand, Invalid> {
    if code < 128 { f.scalar(code, dwords) } else { Err(Invalid) }
}

pub(super) fn vop3p(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let mut dst = f.row.dst;
    let is_matrix = f.row.has(WMMA | SPARSE);
    if is_matrix && field(f.second, 18, 9) == LITERAL {
        return Err(Invalid);
    }
    if is_matrix && f.inst.set.wave_size == 64 {
        dst.dwords /= 2;
        let factors = if f.row.has(SPREAD) { 0b011 } else { 0 };
        let halved = factors | if f.row.has(WMMA) { 0b100 } else { 0 };
        for (at, ty) in f.inst.src_type.iter_mut().enumerate().take(3) {
            if halved >> at & 1 != 0 {
                ty.dwords = ty.dwords.div_ceil(2);
            }
        }
    }
    f.set_dst(vgpr(field(f.first, 0, 8), dst.dwords))?;
    f.inst.dst_type = dst;
    first_source(f, field(f.second, 0, 9))?;
    f.set_source(1, field(f.second, 9, 9))?;
    f.set_source(2, field(f.second, 18, 9))?;
    let used = f.row.src.iter().enumerate().fold(0, |mask, (at, ty)| mask | (u8::from(ty.dwords != 0) << at));
    let mods = &mut f.inst.mods;
    mods.clamp = f.row.has(CLAMP) && bit(f.first, 15);
    if f.row.has(SPARSE) {
        // The part of the lane's index register. A row of A has 32 bits of indices, as many in each of its lanes.
        mods.op_sel = field(f.first, 11, 2) as u8;
        mods.op_sel_hi = used;
        let registers = u32::from(f.inst.src_type[0].dwords);
        let parts = if f.row.has(LONG_INDEX) { 2 / registers } else { f.inst.set.wave_size / 16 };
        if u32::from(mods.op_sel) >= parts {
            return Err(Invalid);
        }
    } else if is_matrix && !f.row.has(OP_SEL) {
        mods.op_sel_hi = used;
    } else {
        mods.op_sel = field(f.first, 11, 3) as u8 & used;
        mods.op_sel_hi = (field(f.second, 27, 2) | field(f.first, 14, 1) << 2) as u8 & used;
    }
    mods.neg = field(f.second, 29, 3) as u8 & used;
    let high = field(f.first, 8, 3) as u8 & used;
    if is_matrix {
        let (low_signs, high_signs) = matrix_signs(f.row);
        // On GFX11 each sign is an instruction.
        let signs = f.row.has(SPREAD) && (mods.neg & !low_signs != 0 || high & !high_signs != 0);
        if signs || bit(f.first, 15) && !f.row.has(CLAMP) {
            return Err(Invalid);
        }
    }
    if f.row.has(MIX) {
        mods.abs = high;
    } else {
        mods.neg_hi = high;
    }
    Ok(())
}

/// The sources of a wave matrix product of GFX12 whose NEG and NEG_HI may be set. Floats of 16 bits have signs for each half, floats
/// of 8 bits none; those of integers say that they are signed. C of a dense product of floats has a sign and an absolute
/// value.
fn matrix_signs(row: &Row) -> (u8, u8) {
    let is_float = row.dst.element != Element::B32;
    let (low, high) = match (row.src[0].element, is_float) {
        (Element::F16 | Element::Bf16, _) => (0b011, 0b011),
        (_, false) => (0b011, 0),
        _ => (0, 0),
    };
    let sum = if is_float && !row.has(SPARSE) { 0b100 } else { 0 };
    (low | sum, high | sum)
}

pub(super) fn mai(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let dst = field(f.first, 0, 8);
    let src0 = field(f.second, 0, 9);
    if f.row.has(ACC_SRC) {
        f.set_dst(vgpr(dst, f.row.dst.dwords))?;
        let code = src0.checked_sub(VGPR).ok_or(Invalid)?;
        f.inst.src[0] = vgpr_or_agpr(code, f.row.src[0].dwords, true)?;
        return Ok(());
    }
    if f.row.has(ACC_DST) {
        f.set_dst(vgpr_or_agpr(dst, f.row.dst.dwords, true))?;
        return f.set_source(0, src0);
    }
    if f.row.has(NARROW) {
        for (at, format) in [field(f.first, 8, 3), field(f.second, 29, 3)].into_iter().enumerate() {
            f.inst.src_type[at].dwords = scaled_format::registers(format);
        }
    }
    let acc_cd = f.inst.set.accumulation == Accumulation::Apart || bit(f.first, 15);
    f.set_dst(vgpr_or_agpr(dst, f.row.dst.dwords, acc_cd))?;
    for (at, code) in [src0, field(f.second, 9, 9)].into_iter().enumerate() {
        let register = code.checked_sub(VGPR).ok_or(Invalid)?;
        let acc = bit(f.second, 27 + at as u32);
        f.inst.src[at] = vgpr_or_agpr(register, f.inst.src_type[at].dwords, acc)?;
    }
    let third = field(f.second, 18, 9);
    f.inst.src[2] = match third.checked_sub(VGPR) {
        Some(register) => vgpr_or_agpr(register, f.row.src[2].dwords, acc_cd && !f.row.has(SPARSE))?,
        None if f.row.has(SPARSE) => return Err(Invalid),
        None => match f.source(third, f.row.src[2])? {
            constant @ Operand::Inline(_) => constant,
            _ => return Err(Invalid),
        },
    };
    let mods = &mut f.inst.mods;
    mods.cbsz = field(f.first, 8, 3) as u8;
    mods.abid = field(f.first, 11, 4) as u8;
    if !f.row.has(SPARSE) {
        mods.blgp = field(f.second, 29, 3) as u8;
    }
    // Of products with formats, this says that scales are in front.
    let is_scaled = f.row.has(NARROW) && mods.abid != 0;
    if is_scaled { Err(Invalid) } else { Ok(()) }
}
