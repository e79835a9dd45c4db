// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoders of the vector memory and LDS formats.

use super::fields::{Fields, Invalid, bit, field, signed, vgpr, vgpr_or_agpr};
use super::inst::Encoding;
use super::operand::{Element, Operand, OperandType};
use super::set::{Accumulation, FlatBit};
use super::tables::{ATOMIC, CACHE, GWS, LDS_DST, MAY_LDS, NO_RETURN, SCALAR_OFFSET, SCOPE, TWO_OFFSETS};

/// A 32-bit address or offset.
pub(super) const ADDRESS32: OperandType = OperandType { element: Element::B32, dwords: 1 };
/// A 64-bit address, or a buffer's index with an offset.
pub(super) const ADDRESS64: OperandType = OperandType { element: Element::B64, dwords: 2 };
/// A buffer resource.
pub(super) const RESOURCE: OperandType = OperandType { element: Element::B32, dwords: 4 };

/// Whether data is in accumulation registers, by the bit of an instruction that says so.
fn is_accumulation(f: &Fields<'_>, bit: bool) -> bool {
    bit && f.inst.set.accumulation == Accumulation::Unified
}

/// Whether there is a second scope bit.
fn has_second_scope(f: &Fields<'_>) -> bool {
    !f.inst.set.style.cache[2].is_empty()
}

pub(super) fn ds(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let acc = is_accumulation(f, bit(f.first, 25));
    f.inst.mem.gds = bit(f.first, 16);
    if f.row.has(GWS) && !f.inst.mem.gds {
        return Err(Invalid);
    }
    if f.row.has(TWO_OFFSETS) {
        f.inst.mem.offset = field(f.first, 0, 8) as i32;
        f.inst.mem.offset1 = field(f.first, 8, 8) as u8;
    } else {
        f.inst.mem.offset = field(f.first, 0, 16) as i32;
    }
    f.set_dst(vgpr_or_agpr(field(f.second, 24, 8), f.row.dst.dwords, acc))?;
    if f.row.src[0].element != Element::None {
        let code = field(f.second, 0, 8);
        // `ds_gws_*` have their data in the address field. It may be an accumulation register.
        f.inst.src[0] = vgpr_or_agpr(code, f.row.src[0].dwords, acc && f.row.has(GWS))?;
    }
    for (at, low) in [(1, 8), (2, 16)] {
        let ty = f.row.src[at];
        if ty.element != Element::None {
            f.inst.src[at] = vgpr_or_agpr(field(f.second, low, 8), ty.dwords, acc)?;
        }
    }
    Ok(())
}

/// Decodes data of type `ty`: the source of stores, the source and the old value of atomics, the destination
/// of loads.
pub(super) fn data(
    f: &mut Fields<'_>,
    dst_code: u32,
    src_code: u32,
    acc: bool,
    returns: bool,
) -> Result<(), Invalid> {
    f.inst.src_type = Default::default();
    let ty = f.row.src[0];
    if ty.element != Element::None {
        f.inst.src[1] = vgpr_or_agpr(src_code, ty.dwords, acc)?;
        f.inst.src_type[1] = ty;
    }
    if returns && f.row.has(NO_RETURN) {
        return Err(Invalid);
    }
    if !f.row.has(ATOMIC) || returns {
        f.set_dst(vgpr_or_agpr(dst_code, f.row.dst.dwords, acc))?;
    }
    Ok(())
}

pub(super) fn flat(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let (first, second) = (f.first, f.second);
    f.inst.mem.sc0 = bit(first, 16);
    f.inst.mem.nt = bit(first, 17);
    f.inst.mem.sc1 = has_second_scope(f) && bit(first, 25);
    let marked = bit(first, 13);
    let asks_lds = f.inst.set.flat_bit == FlatBit::Lds && marked;
    if asks_lds && !f.row.has(MAY_LDS) {
        return Err(Invalid);
    }
    f.inst.mem.lds = f.row.has(LDS_DST) || asks_lds;
    let returns = f.inst.mem.sc0;
    if !asks_lds {
        let acc = is_accumulation(f, bit(second, 23));
        data(f, field(second, 24, 8), field(second, 8, 8), acc, returns)?;
    }
    // The code 127, EXEC_HI, means no scalar address.
    let saddr = Some(field(second, 16, 7)).filter(|&code| code != 127);
    let vaddr = field(second, 0, 8);
    let vector = |f: &mut Fields<'_>, ty: OperandType| -> Result<(), Invalid> {
        f.inst.src[0] = vgpr(vaddr, ty.dwords)?;
        f.inst.src_type[0] = ty;
        Ok(())
    };
    let scalar_address = |f: &mut Fields<'_>, ty: OperandType| -> Result<(), Invalid> {
        if let Some(code) = saddr {
            f.inst.src[2] = f.scalar(code, ty.dwords)?;
            f.inst.src_type[2] = ty;
        }
        Ok(())
    };
    match f.inst.encoding {
        Encoding::Flat => {
            f.inst.mem.offset = field(first, 0, 12) as i32;
            vector(f, ADDRESS64)
        }
        Encoding::Global => {
            f.inst.mem.offset = signed(field(first, 0, 13), 13);
            scalar_address(f, ADDRESS64)?;
            vector(f, if saddr.is_some() { ADDRESS32 } else { ADDRESS64 })
        }
        _ => {
            f.inst.mem.offset = signed(field(first, 0, 13), 13);
            scalar_address(f, ADDRESS32)?;
            let has_vector = match f.inst.set.flat_bit {
                FlatBit::VectorAddress => marked,
                FlatBit::Lds => saddr.is_none(),
            };
            if has_vector { vector(f, ADDRESS32) } else { Ok(()) }
        }
    }
}

/// Adds the register of `tfe` to data.
pub(super) fn one_more(data: &mut Operand, ty: &mut OperandType) -> Result<(), Invalid> {
    if let Operand::Vgpr(first) = *data {
        ty.dwords += 1;
        *data = vgpr(first.into(), ty.dwords)?;
    }
    Ok(())
}

pub(super) fn buffer(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let (first, second) = (f.first, f.second);
    let mtbuf = f.inst.encoding == Encoding::Mtbuf;
    let scoped = has_second_scope(f);
    // The bit that selects accumulation registers was another one before.
    let tfe = f.inst.set.accumulation != Accumulation::Unified && bit(second, 23);
    let mem = &mut f.inst.mem;
    mem.offset = field(first, 0, 12) as i32;
    mem.offen = bit(first, 12);
    mem.idxen = bit(first, 13);
    mem.sc0 = bit(first, 14);
    if mtbuf {
        mem.format = (field(first, 19, 4) | field(first, 23, 3) << 4) as u8;
        mem.sc1 = scoped && bit(second, 21);
        mem.nt = bit(second, 22);
    } else {
        mem.sc1 = scoped && bit(first, 15);
        mem.lds = bit(first, 16);
        mem.nt = bit(first, 17);
    }
    if mem.lds != f.row.has(LDS_DST) && !(mem.lds && f.row.has(MAY_LDS)) {
        return Err(Invalid);
    }
    if f.row.has(LDS_DST) && (mem.offen || mem.idxen || bit(second, 23)) {
        return Err(Invalid);
    }
    if f.row.has(CACHE) {
        // Cache control has no `nt`.
        mem.nt = false;
        mem.sc0 &= f.row.has(SCOPE);
        mem.sc1 &= f.row.has(SCOPE);
        return Ok(());
    }
    if tfe && (mtbuf || mem.lds || f.row.has(ATOMIC)) {
        return Err(Invalid);
    }
    mem.tfe = tfe;
    let (lds, returns) = (mem.lds, mem.sc0);
    let address = match (mem.offen, mem.idxen) {
        (false, false) => None,
        (true, true) => Some(ADDRESS64),
        _ => Some(ADDRESS32),
    };
    let code = field(second, 8, 8);
    if lds {
        // The data does not use registers.
        f.inst.src_type = Default::default();
    } else {
        let acc = is_accumulation(f, bit(second, 23));
        data(f, code, code, acc, returns)?;
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
