// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of modifiers, and of constants with fields.

use std::fmt::{self, Display, Formatter};

use super::gfx11::text as gfx11;
use super::gfx12::text as gfx12;
use super::inst::{Dpp, Encoding, Inst, Mods, Sdwa, SdwaSel, SdwaUnused};
use super::opcode::Op;
use super::set::Family;
use super::tables;
use super::text_operand::packed_signs;

/// The modifiers behind the operands, without offsets.
pub(super) fn modifiers(inst: &Inst, f: &mut Formatter<'_>) -> fmt::Result {
    match inst.encoding {
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => {
            if inst.mods.dpp.is_some() || inst.mods.dpp8.is_some() {
                return data_parallel(inst, f);
            }
            output(&inst.mods, f)?;
            match &inst.mods.sdwa {
                Some(sdwa) => sub_dword(inst, sdwa, f),
                None => Ok(()),
            }
        }
        Encoding::Vop3 => {
            if matches!(inst.op, Op::v_permlane16_swap_b32 | Op::v_permlane32_swap_b32) {
                f.write_str(if inst.mods.op_sel & 2 != 0 { " bound_ctrl:1" } else { "" })?;
                return f.write_str(if inst.mods.op_sel & 1 != 0 { " fi:1" } else { "" });
            }
            match (inst.op, inst.imm) {
                (Op::v_bitop3_b16 | Op::v_bitop3_b32, 1..=10) => write!(f, " bitop3:{}", inst.imm)?,
                (Op::v_bitop3_b16 | Op::v_bitop3_b32, 11..) => write!(f, " bitop3:{:#x}", inst.imm)?,
                _ => {}
            }
            if inst.mods.op_sel != 0 && inst.set.selects_bytes(inst.op) {
                write!(f, " byte_sel:{}", byte(inst))?;
            } else if inst.mods.op_sel != 0 && inst.set.shows_halves(inst.op) {
                halves(inst, f)?;
            }
            output(&inst.mods, f)?;
            data_parallel(inst, f)
        }
        Encoding::Vop3p => {
            packed(inst, f)?;
            data_parallel(inst, f)
        }
        Encoding::Mai => matrix(inst, f),
        Encoding::Smem if inst.set.family == Family::Gfx12 => gfx12::cache(inst, false, f),
        Encoding::Smem => {
            f.write_str(if inst.mem.sc0 { " glc" } else { "" })?;
            f.write_str(if inst.mem.sc1 { " dlc" } else { "" })
        }
        Encoding::Ds if inst.mem.gds && (inst.set.has_gds || tables::is_gws(inst.op)) => f.write_str(" gds"),
        Encoding::Flat | Encoding::Global | Encoding::Scratch => {
            cache(inst, f)?;
            f.write_str(if inst.mem.lds && !tables::is_named_lds(inst.op) { " lds" } else { "" })
        }
        Encoding::Mubuf if inst.op == Op::buffer_store_lds_dword => {
            f.write_str(" lds")?;
            cache(inst, f)
        }
        Encoding::Mubuf | Encoding::Mtbuf => {
            cache(inst, f)?;
            f.write_str(if inst.mem.tfe { " tfe" } else { "" })?;
            f.write_str(if inst.mem.lds && !tables::is_named_lds(inst.op) { " lds" } else { "" })
        }
        _ => Ok(()),
    }
}

fn cache(inst: &Inst, f: &mut Formatter<'_>) -> fmt::Result {
    if inst.set.family == Family::Gfx12 {
        return gfx12::cache(inst, inst.set.row_has(inst.op, tables::ATOMIC), f);
    }
    let mem = &inst.mem;
    for (name, on) in inst.set.style.cache.into_iter().zip([mem.sc0, mem.nt, mem.sc1]) {
        if on {
            f.write_str(name)?;
        }
    }
    Ok(())
}

/// Clamp and scale of the result.
fn output(mods: &Mods, f: &mut Formatter<'_>) -> fmt::Result {
    if mods.clamp {
        f.write_str(" clamp")?;
    }
    f.write_str(match mods.omod {
        1 => " mul:2",
        2 => " mul:4",
        3 => " div:2",
        _ => "",
    })
}

/// `name` with bit `i` of `mask` at place `i` of `count`.
fn bits(f: &mut Formatter<'_>, name: &str, mask: u8, count: usize) -> fmt::Result {
    write!(f, " {name}:[")?;
    for at in 0..count {
        write!(f, "{}{}", if at == 0 { "" } else { "," }, (mask >> at) & 1)?;
    }
    f.write_str("]")
}

fn source_count(inst: &Inst) -> usize {
    inst.src.iter().filter(|source| !source.is_none()).count()
}

/// The byte that a VOP3 instruction selects: of its only source, with the bits reversed, or of the destination.
fn byte(inst: &Inst) -> u8 {
    match inst.mods.op_sel {
        source @ 0..4 => source >> 1 | (source & 1) << 1,
        destination => destination >> 2,
    }
}

/// Halves that a VOP3 instruction reads and the half it writes, which comes last.
fn halves(inst: &Inst, f: &mut Formatter<'_>) -> fmt::Result {
    let sources = match inst.op {
        // The old value of the destination is the third source.
        Op::v_cvt_sr_fp8_f32
        | Op::v_cvt_sr_bf8_f32
        | Op::v_cvt_sr_fp8_f32_ocp
        | Op::v_cvt_sr_bf8_f32_ocp
        | Op::v_cvt_sr_fp8_f32_bounded
        | Op::v_cvt_sr_bf8_f32_bounded
        | Op::v_cvt_scalef32_pk_fp4_f16
        | Op::v_cvt_scalef32_pk_fp4_bf16
        | Op::v_fmac_f16 => 3,
        // These bits are no halves: they let inactive lanes and lanes out of range be read.
        Op::v_permlane16_b32
        | Op::v_permlanex16_b32
        | Op::v_permlane16_var_b32
        | Op::v_permlanex16_var_b32 => return bits(f, "op_sel", inst.mods.op_sel, 2),
        _ => source_count(inst),
    };
    let read = inst.mods.op_sel & ((1 << sources) - 1);
    bits(f, "op_sel", read | (inst.mods.op_sel >> 3) << sources, sources + 1)
}

fn packed(inst: &Inst, f: &mut Formatter<'_>) -> fmt::Result {
    let count = source_count(inst);
    let all = (1u8 << count) - 1;
    let mods = &inst.mods;
    let usual_high = if packed_signs(inst) { all } else { 0 };
    if mods.op_sel != 0 && inst.set.row_has(inst.op, tables::SPARSE) {
        write!(f, " index_key:{}", mods.op_sel)?;
    } else if mods.op_sel != 0 {
        bits(f, "op_sel", mods.op_sel, count)?;
    }
    if mods.op_sel_hi != usual_high {
        bits(f, "op_sel_hi", mods.op_sel_hi, count)?;
    }
    if packed_signs(inst) {
        if mods.neg != 0 {
            bits(f, "neg_lo", mods.neg, count)?;
        }
        if mods.neg_hi != 0 {
            bits(f, "neg_hi", mods.neg_hi, count)?;
        }
    }
    output(mods, f)
}

fn matrix(inst: &Inst, f: &mut Formatter<'_>) -> fmt::Result {
    let mods = &inst.mods;
    if !inst.sdst.is_none() {
        // LLVM has a third source here.
        if mods.op_sel != 0 {
            bits(f, "op_sel", mods.op_sel, 3)?;
        }
        bits(f, "op_sel_hi", mods.op_sel_hi, 3)?;
    }
    for (name, value) in [("cbsz", mods.cbsz), ("abid", mods.abid)] {
        if value != 0 {
            write!(f, " {name}:{value}")?;
        }
    }
    match (mods.blgp, inst.op) {
        (0, _) => Ok(()),
        (signs, Op::v_mfma_f64_16x16x4_f64 | Op::v_mfma_f64_4x4x4_4b_f64) => bits(f, "neg", signs, 3),
        (blgp, _) => write!(f, " blgp:{blgp}"),
    }
}

fn sub_dword(inst: &Inst, sdwa: &Sdwa, f: &mut Formatter<'_>) -> fmt::Result {
    let selection = |sel: SdwaSel| match sel {
        SdwaSel::Byte0 => "BYTE_0",
        SdwaSel::Byte1 => "BYTE_1",
        SdwaSel::Byte2 => "BYTE_2",
        SdwaSel::Byte3 => "BYTE_3",
        SdwaSel::Word0 => "WORD_0",
        SdwaSel::Word1 => "WORD_1",
        SdwaSel::Dword => "DWORD",
    };
    if inst.encoding != Encoding::Vopc && !tables::has_no_dst_sel(inst.op) {
        let unused = match sdwa.dst_unused {
            SdwaUnused::Pad => "UNUSED_PAD",
            SdwaUnused::Sext => "UNUSED_SEXT",
            SdwaUnused::Preserve => "UNUSED_PRESERVE",
        };
        write!(f, " dst_sel:{} dst_unused:{unused}", selection(sdwa.dst_sel))?;
    }
    write!(f, " src0_sel:{}", selection(sdwa.src_sel[0]))?;
    if !inst.src[1].is_none() {
        write!(f, " src1_sel:{}", selection(sdwa.src_sel[1]))?;
    }
    Ok(())
}

/// DPP or DPP8, if there is one.
fn data_parallel(inst: &Inst, f: &mut Formatter<'_>) -> fmt::Result {
    if let Some(dpp8) = inst.mods.dpp8 {
        f.write_str(" dpp8:[")?;
        for at in 0..8 {
            write!(f, "{}{}", if at == 0 { "" } else { "," }, dpp8.lane(at))?;
        }
        f.write_str(if dpp8.fetch_inactive { "] fi:1" } else { "]" })?;
    }
    match &inst.mods.dpp {
        Some(dpp) => rows(dpp, inst.set.family, f),
        None => Ok(()),
    }
}

/// DPP.
fn rows(dpp: &Dpp, family: Family, f: &mut Formatter<'_>) -> fmt::Result {
    let low = dpp.ctrl & 15;
    match dpp.ctrl {
        0..=0xff => {
            let lane = |at: u16| (dpp.ctrl >> (2 * at)) & 3;
            write!(f, " quad_perm:[{},{},{},{}]", lane(0), lane(1), lane(2), lane(3))?;
        }
        0x101..=0x10f => write!(f, " row_shl:{low}")?,
        0x111..=0x11f => write!(f, " row_shr:{low}")?,
        0x121..=0x12f => write!(f, " row_ror:{low}")?,
        0x130 => f.write_str(" wave_shl:1")?,
        0x134 => f.write_str(" wave_rol:1")?,
        0x138 => f.write_str(" wave_shr:1")?,
        0x13c => f.write_str(" wave_ror:1")?,
        0x140 => f.write_str(" row_mirror")?,
        0x141 => f.write_str(" row_half_mirror")?,
        0x142 => f.write_str(" row_bcast:15")?,
        0x143 => f.write_str(" row_bcast:31")?,
        0x150..=0x15f if family == Family::Gfx9 => write!(f, " row_newbcast:{low}")?,
        0x150..=0x15f => write!(f, " row_share:{low}")?,
        0x160..=0x16f => write!(f, " row_xmask:{low}")?,
        // The decoder accepts no other control.
        _ => write!(f, " dpp_ctrl:{:#x}", dpp.ctrl)?,
    }
    write!(f, " row_mask:{:#x} bank_mask:{:#x}", dpp.row_mask, dpp.bank_mask)?;
    f.write_str(if dpp.bound_ctrl { " bound_ctrl:1" } else { "" })?;
    f.write_str(if dpp.fetch_inactive { " fi:1" } else { "" })
}

/// Operand of `s_waitcnt`: the counters, with the value to wait for.
pub(super) struct WaitCount<'a>(pub(super) &'a Inst);

impl Display for WaitCount<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let imm = self.0.imm;
        let counters = match self.0.set.family {
            Family::Gfx9 => [
                ("vmcnt", imm & 15 | (imm >> 14 & 3) << 4, 63),
                ("expcnt", imm >> 4 & 7, 7),
                ("lgkmcnt", imm >> 8 & 15, 15),
            ],
            Family::Gfx10 => [
                ("vmcnt", imm & 15 | (imm >> 14 & 3) << 4, 63),
                ("expcnt", imm >> 4 & 7, 7),
                ("lgkmcnt", imm >> 8 & 63, 63),
            ],
            Family::Gfx11 | Family::Gfx12 => gfx11::counters(imm),
        };
        let waits_for_none = counters.iter().all(|&(_, value, limit)| value == limit);
        let mut separator = "";
        for (name, value, limit) in counters {
            if value != limit || waits_for_none {
                write!(f, "{separator}{name}({value})")?;
                separator = " ";
            }
        }
        Ok(())
    }
}

/// Operand of `s_set_gpr_idx_on`: the operands that the index applies to.
pub(super) struct GprIndex(pub(super) i32);

impl Display for GprIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mode = self.0 & 0xffff;
        if mode > 15 {
            return write!(f, "{mode:#x}");
        }
        f.write_str("gpr_idx(")?;
        let mut separator = "";
        for (at, name) in ["SRC0", "SRC1", "SRC2", "DST"].into_iter().enumerate() {
            if mode >> at & 1 != 0 {
                write!(f, "{separator}{name}")?;
                separator = ",";
            }
        }
        f.write_str(")")
    }
}

/// A field of a hardware register.
pub(super) struct HardwareRegister<'a>(pub(super) &'a Inst);

impl Display for HardwareRegister<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let field = self.0.imm;
        let (id, offset, size) = (field & 63, field >> 6 & 31, (field >> 11 & 31) + 1);
        let name = self.0.set.style.hardware.get(id as usize).copied().unwrap_or_default();
        if name.is_empty() {
            write!(f, "hwreg({id}")?;
        } else {
            write!(f, "hwreg(HW_REG_{name}")?;
        }
        if (offset, size) != (0, 32) {
            write!(f, ", {offset}, {size}")?;
        }
        f.write_str(")")
    }
}

/// Operand of `s_sendmsg`.
pub(super) struct Message<'a>(pub(super) &'a Inst);

impl Display for Message<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let value = self.0.imm & 0xffff;
        let (id, operation, stream) = (value & 15, value >> 4 & 7, value >> 8 & 3);
        let name = match id {
            1 => "MSG_INTERRUPT",
            2 => "MSG_GS",
            3 => "MSG_GS_DONE",
            4 => "MSG_SAVEWAVE",
            5 => "MSG_STALL_WAVE_GEN",
            6 => "MSG_HALT_WAVES",
            7 => "MSG_ORDERED_PS_DONE",
            8 => "MSG_EARLY_PRIM_DEALLOC",
            9 => "MSG_GS_ALLOC_REQ",
            10 => "MSG_GET_DOORBELL",
            11 if self.0.set.family == Family::Gfx10 => "MSG_GET_DDID",
            15 => "MSG_SYSMSG",
            _ => "",
        };
        match (id, operation, stream) {
            (1 | 4..=11, 0, 0) if !name.is_empty() => return write!(f, "sendmsg({name})"),
            (3, 0, 0) => return write!(f, "sendmsg({name}, GS_OP_NOP)"),
            (2 | 3, 1..=3, _) => {
                let operation = ["GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"][(operation - 1) as usize % 3];
                return write!(f, "sendmsg({name}, {operation}, {stream})");
            }
            (15, 1, 0) => return write!(f, "sendmsg({name}, SYSMSG_OP_ECC_ERR_INTERRUPT)"),
            (15, 2, 0) => return write!(f, "sendmsg({name}, SYSMSG_OP_REG_RD)"),
            (15, 4, 0) => return write!(f, "sendmsg({name}, SYSMSG_OP_TTRACE_PC)"),
            _ => {}
        }
        // Bit 7 and bits 10 and up belong to no field.
        if value & !0x37f == 0 {
            write!(f, "sendmsg({id}, {operation}, {stream})")
        } else {
            write!(f, "{value}")
        }
    }
}

/// The lane pattern of `ds_swizzle_b32`.
pub(super) struct Swizzle(pub(super) i32);

impl Display for Swizzle {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let pattern = self.0 & 0xffff;
        if pattern & 0xff00 == 0x8000 {
            let lane = |at: i32| pattern >> (2 * at) & 3;
            return write!(f, "swizzle(QUAD_PERM,{},{},{},{})", lane(0), lane(1), lane(2), lane(3));
        }
        if pattern & 0x8000 != 0 {
            return write!(f, "{pattern}");
        }
        let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
        if and == 31 && or == 0 && xor.count_ones() == 1 {
            return write!(f, "swizzle(SWAP,{xor})");
        }
        if and == 31 && or == 0 && xor > 0 && (xor + 1).count_ones() == 1 {
            return write!(f, "swizzle(REVERSE,{})", xor + 1);
        }
        let group = 32 - and;
        if group > 1 && group.count_ones() == 1 && or < group && xor == 0 {
            return write!(f, "swizzle(BROADCAST,{group},{or})");
        }
        f.write_str("swizzle(BITMASK_PERM,\"")?;
        let (from_zero, from_one) = (or ^ xor, (and | or) ^ xor);
        for at in (0..5).rev() {
            f.write_str(match (from_zero >> at & 1, from_one >> at & 1) {
                (0, 0) => "0",
                (1, 1) => "1",
                (0, _) => "p",
                _ => "i",
            })?;
        }
        f.write_str("\")")
    }
}

/// The format of a typed buffer. The default, 8 bits UNORM, is not shown.
pub(super) struct BufferFormat(pub(super) u8);

impl Display for BufferFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const DATA: [&str; 16] = [
            "INVALID",
            "8",
            "16",
            "8_8",
            "32",
            "16_16",
            "10_11_11",
            "11_11_10",
            "10_10_10_2",
            "2_10_10_10",
            "8_8_8_8",
            "32_32",
            "16_16_16_16",
            "32_32_32",
            "32_32_32_32",
            "RESERVED_15",
        ];
        const NUMBER: [&str; 8] =
            ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];
        let (data, number) = (DATA[usize::from(self.0 & 15)], NUMBER[usize::from(self.0 >> 4 & 7)]);
        match (self.0 & 15, self.0 >> 4 & 7) {
            (1, 0) => Ok(()),
            (1, _) => write!(f, " format:[BUF_NUM_FORMAT_{number}]"),
            (_, 0) => write!(f, " format:[BUF_DATA_FORMAT_{data}]"),
            _ => write!(f, " format:[BUF_DATA_FORMAT_{data},BUF_NUM_FORMAT_{number}]"),
        }
    }
}
