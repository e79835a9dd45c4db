// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoders of the scalar memory and vector memory formats. LDS instructions are as in GFX11.

use super::super::fields::{Fields, Invalid, bit, field, signed, vgpr};
use super::super::gfx11;
use super::super::inst::Encoding;
use super::super::memory_format::{ADDRESS32, ADDRESS64, RESOURCE, data, one_more};
use super::super::operand::{Element, Operand, OperandType};
use super::super::tables::{ADDTID, ATOMIC, CACHE, PREFETCH, PROBE, SCALAR_OFFSET, SPREAD};

/// The code of NULL as a scalar address.
const NULL: u32 = 124;

/// Reads the fields of a memory instruction.
pub(in super::super) fn memory(f: &mut Fields<'_>) -> Result<(), Invalid> {
    match f.inst.encoding {
        Encoding::Smem => smem(f),
        Encoding::Ds => gfx11::ds(f),
        Encoding::Mubuf | Encoding::Mtbuf => buffer(f),
        _ => flat(f),
    }
}

fn smem(f: &mut Fields<'_>) -> Result<(), Invalid> {
    if f.row.has(CACHE) {
        return Ok(());
    }
    let data = field(f.first, 6, 7);
    if f.row.has(PROBE | PREFETCH) {
        f.inst.imm = data as i32;
    } else {
        f.inst.mem.scope = field(f.first, 21, 2) as u8;
        f.inst.mem.hint = field(f.first, 23, 2) as u8;
    }
    f.set_dst(f.scalar(data, f.row.dst.dwords))?;
    if f.row.src[0].element != Element::None {
        f.inst.src[0] = f.scalar(field(f.first, 0, 6) * 2, f.row.src[0].dwords)?;
    }
    f.inst.mem.offset = signed(field(f.second, 0, 24), 24);
    let offset = f.scalar(field(f.second, 25, 7), 1)?;
    if offset != Operand::NULL || f.row.has(PREFETCH) {
        f.inst.src_type[2] = SCALAR_OFFSET;
        f.inst.src[2] = offset;
    }
    Ok(())
}

/// The fields of the second and third word that all vector memory instructions have. Returns whether an atomic returns the old
/// value.
fn cache(f: &mut Fields<'_>) -> bool {
    let mem = &mut f.inst.mem;
    mem.scope = field(f.second, 18, 2) as u8;
    mem.hint = field(f.second, 20, 3) as u8;
    mem.offset = signed(field(f.third, 8, 24), 24);
    mem.hint & 1 != 0
}

fn flat(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let returns = cache(f);
    if f.row.has(CACHE) {
        f.inst.mem.offset = 0;
        return Ok(());
    }
    if f.row.has(SPREAD) && f.inst.set.wave_size == 64 {
        f.inst.dst_type = OperandType { dwords: f.row.dst.dwords / 2, ..f.row.dst };
        f.inst.dst = vgpr(field(f.second, 0, 8), f.inst.dst_type.dwords)?;
    } else {
        data(f, field(f.second, 0, 8), field(f.second, 23, 8), false, returns)?;
    }
    let scalar = field(f.first, 0, 7);
    let has_scalar = scalar != NULL;
    let (private, marked) = (f.inst.encoding == Encoding::Scratch, bit(f.second, 17));
    // Only SCRATCH has a bit that tells whether there is a vector address.
    if f.inst.encoding == Encoding::Flat && has_scalar || marked && !private {
        return Err(Invalid);
    }
    if has_scalar {
        let ty = if private { ADDRESS32 } else { ADDRESS64 };
        f.inst.src[2] = f.scalar(scalar, ty.dwords)?;
        f.inst.src_type[2] = ty;
    }
    if !f.row.has(ADDTID) && (marked || !private) {
        let ty = if private || has_scalar { ADDRESS32 } else { ADDRESS64 };
        f.inst.src[0] = vgpr(field(f.third, 0, 8), ty.dwords)?;
        f.inst.src_type[0] = ty;
    }
    Ok(())
}

fn buffer(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let returns = cache(f);
    let (first, second) = (f.first, f.second);
    let typed = f.inst.encoding == Encoding::Mtbuf;
    let mem = &mut f.inst.mem;
    mem.tfe = bit(first, 22);
    mem.offen = bit(second, 30);
    mem.idxen = bit(second, 31);
    if typed {
        mem.format = field(second, 23, 7) as u8;
    }
    let tfe = mem.tfe;
    if tfe && (typed || f.row.has(ATOMIC)) {
        return Err(Invalid);
    }
    let address: Option<OperandType> = match (mem.offen, mem.idxen) {
        (false, false) => None,
        (true, true) => Some(ADDRESS64),
        _ => Some(ADDRESS32),
    };
    let code = field(second, 0, 8);
    data(f, code, code, false, returns)?;
    if tfe {
        one_more(&mut f.inst.dst, &mut f.inst.dst_type)?;
        one_more(&mut f.inst.src[1], &mut f.inst.src_type[1])?;
    }
    if let Some(ty) = address {
        f.inst.src[0] = vgpr(field(f.third, 0, 8), ty.dwords)?;
        f.inst.src_type[0] = ty;
    }
    f.inst.src[2] = f.scalar(field(second, 9, 9), RESOURCE.dwords)?;
    f.inst.src_type[2] = RESOURCE;
    f.inst.src[3] = f.scalar(field(first, 0, 7), 1)?;
    f.inst.src_type[3] = SCALAR_OFFSET;
    Ok(())
}
