// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoders of the scalar memory and vector memory formats. LDS instructions are as in GFX11.

use super::super::fields::{Fields, Invalid, bit, field, signed, vgpr};
use super::super::format::row;
use super::super::gfx11;
use super::super::inst::Encoding;
use super::super::memory_format::{ADDRESS32, ADDRESS64, RESOURCE, data, one_more};
use super::super::operand::{Element, Operand, OperandType};
use super::super::tables::{ADDTID, ATOMIC, CACHE, MAY_LDS, PROBE, SCALAR_OFFSET};

/// Reads the fields of a memory instruction.
pub(in super::super) fn memory(f: &mut Fields<'_>) -> Result<(), Invalid> {
    match f.inst.encoding {
        Encoding::Smem => smem(f),
        Encoding::Ds => gfx11::ds(f),
        Encoding::Mubuf => buffer(f),
        Encoding::Mtbuf => {
            let code = field(f.first, 16, 3) | field(f.second, 21, 1) << 3;
            let row = row(f.inst.set.tables.mtbuf, code).ok_or(Invalid)?;
            f.row = row;
            f.inst.op = row.op;
            buffer(f)
        }
        _ => flat(f),
    }
}

fn smem(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let data = field(f.first, 6, 7);
    f.set_dst(f.scalar(data, f.row.dst.dwords))?;
    if f.row.src[0].element == Element::None {
        return Ok(());
    }
    if f.row.has(PROBE) {
        f.inst.imm = data as i32;
    } else if !f.row.has(CACHE) {
        f.inst.mem.sc0 = bit(f.first, 16);
        f.inst.mem.sc1 = bit(f.first, 14);
    }
    f.inst.src[0] = f.scalar(field(f.first, 0, 6) * 2, f.row.src[0].dwords)?;
    if f.row.src[1].element != Element::None {
        f.inst.src[1] = f.scalar(data, f.row.src[1].dwords)?;
        // An atomic that returns replaces its data by the old value.
        if !f.inst.mem.sc0 {
            f.inst.dst = Operand::None;
            f.inst.dst_type = OperandType::default();
        }
    }
    f.inst.mem.offset = signed(field(f.second, 0, 21), 21);
    let offset = f.scalar(field(f.second, 25, 7), 1)?;
    // NULL reads as zero, so it is shown only if there is no other offset.
    if offset != Operand::NULL || f.inst.mem.offset == 0 {
        f.inst.src_type[2] = SCALAR_OFFSET;
        f.inst.src[2] = offset;
    }
    Ok(())
}

fn flat(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let (first, second) = (f.first, f.second);
    let asks_lds = bit(first, 13);
    if asks_lds && !f.row.has(MAY_LDS) {
        return Err(Invalid);
    }
    f.inst.mem.lds = asks_lds;
    f.inst.mem.sc1 = bit(first, 12);
    f.inst.mem.sc0 = bit(first, 16);
    f.inst.mem.nt = bit(first, 17);
    let returns = f.inst.mem.sc0;
    if !asks_lds {
        data(f, field(second, 24, 8), field(second, 8, 8), false, returns)?;
    }
    let is_flat = f.inst.encoding == Encoding::Flat;
    let offset = field(first, 0, 12);
    f.inst.mem.offset = if is_flat { offset as i32 } else { signed(offset, 12) };
    // NULL means no scalar address, and in SCRATCH of some sets EXEC_HI means no address at all.
    let (scalar, private) = (field(second, 16, 7), f.inst.encoding == Encoding::Scratch);
    let (has_scalar, has_none) = (!matches!(scalar, 125 | 127), scalar == 127);
    let may_have_none = private && f.inst.set.has_unaddressed_scratch;
    if is_flat && scalar != 125 || has_none && !may_have_none {
        return Err(Invalid);
    }
    if has_scalar {
        let ty = if private { ADDRESS32 } else { ADDRESS64 };
        f.inst.src[2] = f.scalar(scalar, ty.dwords)?;
        f.inst.src_type[2] = ty;
    }
    if !f.row.has(ADDTID) && !(private && (has_scalar || has_none)) {
        let ty = if private || has_scalar { ADDRESS32 } else { ADDRESS64 };
        f.inst.src[0] = vgpr(field(second, 0, 8), ty.dwords)?;
        f.inst.src_type[0] = ty;
    }
    Ok(())
}

fn buffer(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let (first, second) = (f.first, f.second);
    if f.row.has(CACHE) {
        return Ok(());
    }
    let typed = f.inst.encoding == Encoding::Mtbuf;
    let mem = &mut f.inst.mem;
    mem.offset = field(first, 0, 12) as i32;
    mem.offen = bit(first, 12);
    mem.idxen = bit(first, 13);
    mem.sc0 = bit(first, 14);
    mem.sc1 = bit(first, 15);
    mem.nt = bit(second, 22);
    mem.tfe = bit(second, 23);
    if typed {
        mem.format = field(first, 19, 7) as u8;
    } else {
        mem.lds = bit(first, 16);
    }
    let (tfe, lds, returns) = (mem.tfe, mem.lds, mem.sc0);
    if lds && !f.row.has(MAY_LDS) || tfe && (typed || lds || f.row.has(ATOMIC)) {
        return Err(Invalid);
    }
    let address: Option<OperandType> = match (mem.offen, mem.idxen) {
        (false, false) => None,
        (true, true) => Some(ADDRESS64),
        _ => Some(ADDRESS32),
    };
    if lds {
        // The data does not use registers.
        f.inst.src_type = Default::default();
    } else {
        let code = field(second, 8, 8);
        data(f, code, code, false, returns)?;
        if tfe {
            one_more(&mut f.inst.dst, &mut f.inst.dst_type)?;
            one_more(&mut f.inst.src[1], &mut f.inst.src_type[1])?;
        }
    }
    if let Some(ty) = address {
        f.inst.src[0] = vgpr(field(second, 0, 8), ty.dwords)?;
        f.inst.src_type[0] = ty;
    }
    f.inst.src[2] = f.scalar(field(second, 16, 5) * 4, RESOURCE.dwords)?;
    f.inst.src_type[2] = RESOURCE;
    f.inst.src[3] = match f.source(field(second, 24, 8), SCALAR_OFFSET)? {
        Operand::Literal(_) => return Err(Invalid),
        offset => offset,
    };
    f.inst.src_type[3] = SCALAR_OFFSET;
    Ok(())
}
