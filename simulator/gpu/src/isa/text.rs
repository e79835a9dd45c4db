// SPDX-License-Identifier: MIT OR Apache-2.0
//! The disassembler: LLVM's text for each format.

use std::fmt::{self, Display, Formatter, Write};

use super::gfx11::text as gfx11;
use super::inst::{Encoding, Inst};
use super::opcode::Op;
use super::operand::Operand;
use super::set::Family;
use super::tables;
use super::text_modifier::{
    BufferFormat, GprIndex, HardwareRegister, Message, Swizzle, WaitCount, modifiers,
};
use super::text_operand::{Int, SignedHex, half, operand, source};

/// LLVM's text. Branches show their distance in dwords, as LLVM does without symbols.
impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some([first, second]) = self.halves() {
            dual(&first, f)?;
            f.write_str(" :: ")?;
            return dual(&second, f);
        }
        f.write_str(self.set.mnemonic(self.op))?;
        f.write_str(suffix(self))?;
        let mut list = List { f, any: false };
        match self.encoding {
            Encoding::Sop2
            | Encoding::Sop1
            | Encoding::Vop1
            | Encoding::Vop2
            | Encoding::Vopc
            | Encoding::Vop3
            | Encoding::Vop3p
            | Encoding::Vopd
            | Encoding::Mai => alu(self, &mut list)?,
            Encoding::Sopc => sopc(self, &mut list)?,
            Encoding::Sopk => sopk(self, &mut list)?,
            Encoding::Sopp => sopp(self, &mut list)?,
            Encoding::Smem => smem(self, &mut list)?,
            Encoding::Ds => ds(self, &mut list)?,
            Encoding::Flat | Encoding::Global | Encoding::Scratch => flat(self, &mut list)?,
            Encoding::Mubuf | Encoding::Mtbuf => buffer(self, &mut list)?,
        }
        modifiers(self, f)
    }
}

impl Inst {
    /// The text for messages about the instruction at address `pc`: LLVM's, and the target behind a branch.
    pub fn disassemble(&self, pc: u64) -> String {
        let mut text = self.to_string();
        if let Some(target) = self.branch_target(pc) {
            // Writing to a string does not fail.
            let _ = write!(text, " // {target:#x}");
        }
        text
    }
}

/// Half of a VOPD instruction.
fn dual(inst: &Inst, f: &mut Formatter<'_>) -> fmt::Result {
    let mnemonic = inst.set.mnemonic(inst.op);
    write!(f, "v_dual_{}", mnemonic.strip_prefix("v_").unwrap_or(mnemonic))?;
    let mut shown = *inst;
    if shown.src[2] == Operand::VCC {
        shown.src[2] = Operand::None;
    }
    alu(&shown, &mut List { f, any: false })
}

/// The part of the mnemonic that names the encoding.
fn suffix(inst: &Inst) -> &'static str {
    if inst.mods.sdwa.is_some() {
        return "_sdwa";
    }
    if inst.mods.dpp.is_some() || inst.mods.dpp8.is_some() {
        return match inst.encoding {
            Encoding::Vop3 | Encoding::Vop3p => "_e64_dpp",
            Encoding::Vopc => "",
            _ => "_dpp",
        };
    }
    if matches!(
        inst.op,
        Op::v_nop
            | Op::v_clrexcp
            | Op::v_readfirstlane_b32
            | Op::v_swap_b32
            | Op::v_accvgpr_mov_b32
            | Op::v_fmamk_f32
            | Op::v_fmaak_f32
            | Op::v_madmk_f32
            | Op::v_madak_f32
            | Op::v_madmk_f16
            | Op::v_madak_f16
    ) {
        return "";
    }
    match (inst.encoding, inst.set.short_form(inst.op)) {
        (_, Some(row)) if row.has(tables::NO_SUFFIX) => "",
        (Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc, _) => "_e32",
        (Encoding::Vop3, Some(_)) => "_e64",
        _ => "",
    }
}

/// Operands with commas between them.
struct List<'a, 'b> {
    f: &'a mut Formatter<'b>,
    any: bool,
}

impl List<'_, '_> {
    fn put(&mut self, item: impl Display) -> fmt::Result {
        self.f.write_str(if self.any { ", " } else { " " })?;
        self.any = true;
        write!(self.f, "{item}")
    }

    /// The destination, if there is one.
    fn dst(&mut self, inst: &Inst) -> fmt::Result {
        if inst.dst.is_none() {
            return Ok(());
        }
        self.put(format_args!("{}{}", operand(inst, inst.dst, inst.dst_type), half(inst, 3)))
    }

    /// Source `at`, if there is one.
    fn src(&mut self, inst: &Inst, at: usize) -> fmt::Result {
        if inst.src[at].is_none() { Ok(()) } else { self.put(operand(inst, inst.src[at], inst.src_type[at])) }
    }

    /// Source `at`, or `off`.
    fn src_or_off(&mut self, inst: &Inst, at: usize) -> fmt::Result {
        if inst.src[at].is_none() { self.put("off") } else { self.src(inst, at) }
    }
}

fn alu(inst: &Inst, list: &mut List<'_, '_>) -> fmt::Result {
    list.dst(inst)?;
    // The scales of a matrix product are behind its sources.
    let are_scales = inst.encoding == Encoding::Mai;
    if !inst.sdst.is_none() && !are_scales {
        list.put(operand(inst, inst.sdst, inst.set.mask()))?;
    }
    for at in 0..3 {
        if !inst.src[at].is_none() {
            list.put(source(inst, at))?;
        }
    }
    if are_scales {
        list.src(inst, 3)?;
        if !inst.sdst.is_none() {
            list.put(operand(inst, inst.sdst, inst.src_type[3]))?;
        }
    }
    match inst.op {
        Op::s_sendmsg_rtn_b32 | Op::s_sendmsg_rtn_b64 => list.put(gfx11::Message(inst)),
        _ => Ok(()),
    }
}

fn sopc(inst: &Inst, list: &mut List<'_, '_>) -> fmt::Result {
    list.src(inst, 0)?;
    if inst.op == Op::s_set_gpr_idx_on { list.put(GprIndex(inst.imm)) } else { list.src(inst, 1) }
}

fn sopk(inst: &Inst, list: &mut List<'_, '_>) -> fmt::Result {
    match inst.op {
        Op::s_setreg_b32 | Op::s_setreg_imm32_b32 => {
            list.put(HardwareRegister(inst))?;
            list.src(inst, 0)
        }
        Op::s_getreg_b32 => {
            list.dst(inst)?;
            list.put(HardwareRegister(inst))
        }
        Op::s_version => list.put(gfx11::Version(inst.imm)),
        _ => {
            list.dst(inst)?;
            list.src(inst, 0)?;
            if inst.op.is_direct_branch() {
                list.put(inst.imm as u16)
            } else {
                list.put(format_args!("{:#x}", inst.imm as u16))
            }
        }
    }
}

fn sopp(inst: &Inst, list: &mut List<'_, '_>) -> fmt::Result {
    match inst.op {
        Op::s_wakeup
        | Op::s_wait_idle
        | Op::s_code_end
        | Op::s_barrier_leave
        | Op::s_barrier
        | Op::s_icache_inv
        | Op::s_ttracedata
        | Op::s_endpgm_saved
        | Op::s_set_gpr_idx_off
        | Op::s_endpgm_ordered_ps_done => Ok(()),
        Op::s_endpgm if inst.imm == 0 => Ok(()),
        Op::s_endpgm => list.put(inst.imm as u16),
        Op::s_waitcnt => list.put(WaitCount(inst)),
        Op::s_waitcnt_depctr => list.put(gfx11::DependencyCounters(inst)),
        Op::s_delay_alu => list.put(gfx11::Delay(inst.imm)),
        Op::s_set_inst_prefetch_distance
        | Op::s_clause
        | Op::s_wait_event
        | Op::s_wait_loadcnt
        | Op::s_wait_storecnt
        | Op::s_wait_samplecnt
        | Op::s_wait_bvhcnt
        | Op::s_wait_expcnt
        | Op::s_wait_dscnt
        | Op::s_wait_kmcnt
        | Op::s_wait_loadcnt_dscnt
        | Op::s_wait_storecnt_dscnt
        | Op::s_singleuse_vdst
        | Op::s_round_mode
        | Op::s_ttracedata_imm => list.put(format_args!("{:#x}", inst.imm as u16)),
        Op::s_set_gpr_idx_mode => list.put(GprIndex(inst.imm)),
        Op::s_sendmsg | Op::s_sendmsghalt => match inst.set.family {
            Family::Gfx9 | Family::Gfx10 => list.put(Message(inst)),
            Family::Gfx11 | Family::Gfx12 => list.put(gfx11::Message(inst)),
        },
        op if op.is_direct_branch() => list.put(inst.imm as u16),
        _ => list.put(Int(i64::from(inst.imm as u16))),
    }
}

fn smem(inst: &Inst, list: &mut List<'_, '_>) -> fmt::Result {
    if matches!(inst.op, Op::s_atc_probe | Op::s_atc_probe_buffer) {
        list.put(Int(inst.imm.into()))?;
    } else if inst.src[1].is_none() {
        list.dst(inst)?;
    } else {
        // A returning atomic shows the registers that hold its data; the old value goes to the first of them.
        list.src(inst, 1)?;
    }
    if prefetches(inst.op) {
        list.src(inst, 0)?;
        list.put(SignedHex(inst.mem.offset))?;
        list.src(inst, 2)?;
        return list.put(Int(inst.imm.into()));
    }
    if inst.src[0].is_none() {
        return Ok(());
    }
    list.src(inst, 0)?;
    if inst.src[2].is_none() {
        return list.put(SignedHex(inst.mem.offset));
    }
    list.src(inst, 2)?;
    if inst.mem.offset != 0 || inst.set.family == Family::Gfx12 {
        write!(list.f, " offset:{}", SignedHex(inst.mem.offset))?;
    }
    Ok(())
}

fn prefetches(op: Op) -> bool {
    matches!(
        op,
        Op::s_prefetch_inst
            | Op::s_prefetch_inst_pc_rel
            | Op::s_prefetch_data
            | Op::s_prefetch_data_pc_rel
            | Op::s_buffer_prefetch_data
    )
}

fn ds(inst: &Inst, list: &mut List<'_, '_>) -> fmt::Result {
    list.dst(inst)?;
    for at in 0..3 {
        list.src(inst, at)?;
    }
    let f = &mut *list.f;
    if tables::has_two_offsets(inst.op) {
        if inst.mem.offset != 0 {
            write!(f, " offset0:{}", inst.mem.offset)?;
        }
        if inst.mem.offset1 != 0 {
            write!(f, " offset1:{}", inst.mem.offset1)?;
        }
        return Ok(());
    }
    if inst.mem.offset != 0 {
        f.write_str(" offset:")?;
        if inst.op == Op::ds_swizzle_b32 {
            write!(f, "{}", Swizzle(inst.mem.offset))?;
        } else {
            write!(f, "{}", inst.mem.offset)?;
        }
    }
    Ok(())
}

fn flat(inst: &Inst, list: &mut List<'_, '_>) -> fmt::Result {
    if inst.set.row_has(inst.op, tables::CACHE) {
        return Ok(());
    }
    list.dst(inst)?;
    if !matches!(inst.op, Op::global_load_addtid_b32 | Op::global_store_addtid_b32) {
        list.src_or_off(inst, 0)?;
    }
    list.src(inst, 1)?;
    if inst.encoding != Encoding::Flat {
        list.src_or_off(inst, 2)?;
    }
    offset(inst, list)
}

fn offset(inst: &Inst, list: &mut List<'_, '_>) -> fmt::Result {
    if inst.mem.offset != 0 { write!(list.f, " offset:{}", inst.mem.offset) } else { Ok(()) }
}

fn buffer(inst: &Inst, list: &mut List<'_, '_>) -> fmt::Result {
    if inst.src[2].is_none() {
        return Ok(());
    }
    if inst.src[1].is_none() {
        list.dst(inst)?;
    } else {
        list.src(inst, 1)?;
    }
    if inst.op != Op::buffer_store_lds_dword {
        list.src_or_off(inst, 0)?;
    }
    list.src(inst, 2)?;
    list.src(inst, 3)?;
    if inst.encoding == Encoding::Mtbuf {
        match inst.set.family {
            Family::Gfx9 => write!(list.f, "{}", BufferFormat(inst.mem.format))?,
            _ => write!(list.f, "{}", gfx11::BufferFormat(inst))?,
        }
    }
    for (name, on) in [(" idxen", inst.mem.idxen), (" offen", inst.mem.offen)] {
        if on {
            list.f.write_str(name)?;
        }
    }
    offset(inst, list)
}
