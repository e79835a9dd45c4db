// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoders of the scalar memory, vector memory and LDS formats.

use super::super::fields::{Fields, Invalid, bit, field, signed, vgpr};
use super::super::inst::Encoding;
use super::super::memory_format::{ADDRESS32, ADDRESS64, RESOURCE, data, one_more};
use super::super::operand::{Element, Operand, OperandType};
use super::super::tables::{ADDTID, ATOMIC, CACHE, GWS, LDS_DST, PROBE, SCALAR_OFFSET, TWO_OFFSETS};

/// Reads the fields of a memory instruction.
pub(in super::super) fn memory(f: &mut Fields<'_>) -> Result<(), Invalid> {
    match f.inst.encoding {
        Encoding::Smem => smem(f),
        Encoding::Ds => ds(f),
        Encoding::Mubuf | Encoding::Mtbuf => buffer(f),
        _ => flat(f),
    }
}

fn smem(f: &mut Fields<'_>) -> Result<(), Invalid> {
    if f.row.has(CACHE) {
        return Ok(());
    }
    let data = field(f.first, 6, 7);
    if f.row.has(PROBE) {
        f.inst.imm = data as i32;
    } else {
        f.inst.mem.sc0 = bit(f.first, 14);
        f.inst.mem.sc1 = bit(f.first, 13);
    }
    f.set_dst(f.scalar(data, f.row.dst.dwords))?;
    f.inst.src[0] = f.scalar(field(f.first, 0, 6) * 2, f.row.src[0].dwords)?;
    f.inst.mem.offset = signed(field(f.second, 0, 21), 21);
    let offset = f.scalar(field(f.second, 25, 7), 1)?;
    // NULL reads as zero, so it is shown only if there is no other offset.
    if offset != Operand::NULL || f.inst.mem.offset == 0 {
        f.inst.src_type[2] = SCALAR_OFFSET;
        f.inst.src[2] = offset;
    }
    Ok(())
}

pub(in super::super) fn ds(f: &mut Fields<'_>) -> Result<(), Invalid> {
    f.inst.mem.gds = bit(f.first, 17);
    if f.row.has(GWS) && !f.inst.mem.gds {
        return Err(Invalid);
    }
    if f.row.has(TWO_OFFSETS) {
        f.inst.mem.offset = field(f.first, 0, 8) as i32;
        f.inst.mem.offset1 = field(f.first, 8, 8) as u8;
    } else {
        f.inst.mem.offset = field(f.first, 0, 16) as i32;
    }
    f.set_dst(vgpr(field(f.second, 24, 8), f.row.dst.dwords))?;
    for (at, low) in [(0, 0), (1, 8), (2, 16)] {
        let ty = f.row.src[at];
        if ty.element != Element::None {
            f.inst.src[at] = vgpr(field(f.second, low, 8), ty.dwords)?;
        }
    }
    Ok(())
}

fn flat(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let (first, second) = (f.first, f.second);
    f.inst.mem.sc0 = bit(first, 14);
    f.inst.mem.sc1 = bit(first, 13);
    f.inst.mem.nt = bit(first, 15);
    let returns = f.inst.mem.sc0;
    data(f, field(second, 24, 8), field(second, 8, 8), false, returns)?;
    let is_flat = f.inst.encoding == Encoding::Flat;
    let offset = field(first, 0, 13);
    f.inst.mem.offset = if is_flat { offset as i32 } else { signed(offset, 13) };
    // NULL means no scalar address.
    let scalar = field(second, 16, 7);
    let has_scalar = scalar != 124;
    // The code of EXEC_HI meant that before.
    if scalar == 127 || is_flat && has_scalar {
        return Err(Invalid);
    }
    let private = f.inst.encoding == Encoding::Scratch;
    let marked = bit(second, 23);
    if has_scalar {
        let ty = if private { ADDRESS32 } else { ADDRESS64 };
        f.inst.src[2] = f.scalar(scalar, ty.dwords)?;
        f.inst.src_type[2] = ty;
    }
    // Only SCRATCH has a bit that tells whether there is a vector address.
    if marked && !private {
        return Err(Invalid);
    }
    if !f.row.has(ADDTID) && (marked || !private) {
        let ty = if private || has_scalar { ADDRESS32 } else { ADDRESS64 };
        f.inst.src[0] = vgpr(field(second, 0, 8), ty.dwords)?;
        f.inst.src_type[0] = ty;
    }
    Ok(())
}

fn buffer(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let (first, second) = (f.first, f.second);
    let typed = f.inst.encoding == Encoding::Mtbuf;
    let mem = &mut f.inst.mem;
    mem.nt = bit(first, 12);
    if f.row.has(CACHE) {
        mem.nt = false;
        return Ok(());
    }
    mem.offset = field(first, 0, 12) as i32;
    mem.sc1 = bit(first, 13);
    mem.sc0 = bit(first, 14);
    mem.tfe = bit(second, 21);
    mem.offen = bit(second, 22);
    mem.idxen = bit(second, 23);
    mem.lds = f.row.has(LDS_DST);
    if typed {
        mem.format = field(first, 19, 7) as u8;
    }
    let (tfe, returns) = (mem.tfe, mem.sc0);
    if tfe && (typed || mem.lds || f.row.has(ATOMIC)) {
        return Err(Invalid);
    }
    let address: Option<OperandType> = match (mem.offen, mem.idxen) {
        (false, false) => None,
        (true, true) => Some(ADDRESS64),
        _ => Some(ADDRESS32),
    };
    let code = field(second, 8, 8);
    data(f, code, code, false, returns)?;
    if tfe {
        one_more(&mut f.inst.dst, &mut f.inst.dst_type)?;
        one_more(&mut f.inst.src[1], &mut f.inst.src_type[1])?;
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
