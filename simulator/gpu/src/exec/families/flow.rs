// SPDX-License-Identifier: MIT OR Apache-2.0
//! Program control: branches, calls, barriers, the end, and the hardware registers.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::step::Step;
use crate::exec::machine::trouble::Cause;
use crate::exec::operands::source::{scalar32, scalar64};
use crate::exec::reach::BREAKPOINT;
use crate::isa::Op;

/// The handler of an instruction of this family.
pub(crate) fn compilations(op: Op) -> Option<Compilations> {
    macro_rules! branch_if {
        (|$core:ident| $condition:expr) => {{
            fn run($core: &mut Core<'_>, _: &Step) -> Flow {
                if $condition { Flow::Branch } else { Flow::Next }
            }
            run
        }};
    }
    let handler: fn(&mut Core<'_>, &Step) -> Flow = match op {
        // Memory instructions take effect in order and nothing is cached: waits, write-backs and
        // invalidations have no effect.
        Op::s_nop
        | Op::s_waitcnt
        | Op::s_setprio
        | Op::s_sethalt
        | Op::s_icache_inv
        | Op::s_incperflevel
        | Op::s_decperflevel
        | Op::s_ttracedata
        | Op::s_wakeup
        | Op::s_dcache_inv
        | Op::s_dcache_wb
        | Op::s_dcache_inv_vol
        | Op::s_dcache_wb_vol
        | Op::s_waitcnt_vscnt
        | Op::s_waitcnt_vmcnt
        | Op::s_waitcnt_expcnt
        | Op::s_waitcnt_lgkmcnt
        | Op::s_waitcnt_depctr
        | Op::s_wait_idle
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
        | Op::global_inv
        | Op::global_wb
        | Op::global_wbinv
        | Op::s_delay_alu
        | Op::s_clause
        | Op::s_set_inst_prefetch_distance
        | Op::s_gl1_inv
        | Op::s_version
        | Op::s_ttracedata_imm
        | Op::buffer_gl0_inv
        | Op::buffer_gl1_inv
        | Op::v_pipeflush
        | Op::buffer_wbl2
        | Op::buffer_inv
        | Op::buffer_invl2
        | Op::buffer_wbinvl1
        | Op::buffer_wbinvl1_vol
        | Op::v_nop
        | Op::v_clrexcp
        | Op::ds_nop => |_, _| Flow::Next,
        Op::s_sleep | Op::s_sleep_var => |_, _| Flow::Yield,
        Op::s_endpgm | Op::s_endpgm_saved => |_, _| Flow::End,
        Op::s_barrier => |_, _| Flow::Barrier,
        Op::s_trap => |core, step| {
            let number = step.inst.imm as u8;
            if number == BREAKPOINT { Flow::Next } else { core.stop(Cause::Trap(number)) }
        },
        // Messages go to graphics stages, which no simulated GPU has, and to an interrupt handler.
        Op::s_sendmsg => |core, step| {
            if step.inst.imm & 15 == INTERRUPT
                && let Some(outside) = &core.wave.outside
            {
                outside.interrupt();
            }
            Flow::Next
        },
        Op::s_branch => |_, _| Flow::Branch,
        Op::s_cbranch_scc0 => branch_if!(|core| !core.wave.scc),
        Op::s_cbranch_scc1 => branch_if!(|core| core.wave.scc),
        Op::s_cbranch_vccz => branch_if!(|core| core.wave.vcc().is_empty()),
        Op::s_cbranch_vccnz => branch_if!(|core| !core.wave.vcc().is_empty()),
        Op::s_cbranch_execz => branch_if!(|core| core.wave.exec().is_empty()),
        Op::s_cbranch_execnz => branch_if!(|core| !core.wave.exec().is_empty()),
        Op::s_cbranch_cdbgsys
        | Op::s_cbranch_cdbguser
        | Op::s_cbranch_cdbgsys_or_user
        | Op::s_cbranch_cdbgsys_and_user => |_, _| Flow::Next,
        Op::s_getpc_b64 => |core, step| {
            let address = next_address(core, step);
            core.wave.set_pair(step.inst.dst, address);
            Flow::Next
        },
        Op::s_setpc_b64 => |core, step| {
            let target = scalar64(core.wave, step.src[0]);
            core.jump(target)
        },
        Op::s_swappc_b64 => |core, step| {
            let target = scalar64(core.wave, step.src[0]);
            let address = next_address(core, step);
            core.wave.set_pair(step.inst.dst, address);
            core.jump(target)
        },
        Op::s_call_b64 => |core, step| {
            let address = next_address(core, step);
            core.wave.set_pair(step.inst.dst, address);
            core.jump(address.wrapping_add_signed(i64::from(step.inst.imm) * 4))
        },
        Op::s_getreg_b32 => |core, step| {
            let (id, offset, size) = hardware_register(step);
            let value = read_register(core, step, id) >> offset & size_mask(size);
            core.wave.set_scalar(step.inst.dst, value);
            Flow::Next
        },
        Op::s_setreg_b32 | Op::s_setreg_imm32_b32 => |core, step| {
            let value = scalar32(core.wave, step.src[0]);
            let (id, offset, size) = hardware_register(step);
            let mask = size_mask(size) << offset;
            let bits = read_register(core, step, id) & !mask | value << offset & mask;
            match (step.inst.set.hardware_register(id), &mut core.wave.hardware_flat_scratch) {
                (MODE, _) => core.wave.set_mode(bits),
                (FLAT_SCRATCH_LOW, Some(address)) => *address = *address >> 32 << 32 | u64::from(bits),
                (FLAT_SCRATCH_HIGH, Some(address)) => {
                    *address = *address & u64::from(u32::MAX) | u64::from(bits) << 32;
                }
                _ => return core.stop(unsupported(format!("writing hardware register {id}"))),
            }
            Flow::Next
        },
        Op::s_round_mode => |core, step| {
            let bits = core.wave.mode.bits & !0xf | step.inst.imm as u32 & 0xf;
            core.wave.set_mode(bits);
            Flow::Next
        },
        Op::s_denorm_mode => |core, step| {
            let bits = core.wave.mode.bits & !0xf0 | (step.inst.imm as u32 & 0xf) << 4;
            core.wave.set_mode(bits);
            Flow::Next
        },
        Op::s_set_gpr_idx_on => |core, step| {
            let index = scalar32(core.wave, step.src[0]) & 0xff;
            core.wave.s[124] = core.wave.m0() & !0xf0ff | index | (step.inst.imm as u32 & 15) << 12;
            core.wave.set_indexing(Some((step.inst.imm as u8 & 15, index as u8)));
            Flow::Next
        },
        Op::s_set_gpr_idx_idx => |core, step| {
            let index = scalar32(core.wave, step.src[0]) & 0xff;
            core.wave.s[124] = core.wave.m0() & !0xff | index;
            if let Some((operands, _)) = core.wave.indexing {
                core.wave.set_indexing(Some((operands, index as u8)));
            }
            Flow::Next
        },
        Op::s_set_gpr_idx_mode => |core, step| {
            let operands = step.inst.imm as u8 & 15;
            core.wave.s[124] = core.wave.m0() & !0xf000 | u32::from(operands) << 12;
            if let Some((_, index)) = core.wave.indexing {
                core.wave.set_indexing(Some((operands, index)));
            }
            Flow::Next
        },
        Op::s_set_gpr_idx_off => |core, _| {
            core.wave.set_indexing(None);
            Flow::Next
        },
        Op::s_memtime => |core, step| {
            let ticks = core.wave.ticks();
            core.wave.set_pair(step.inst.dst, ticks);
            Flow::Next
        },
        Op::s_memrealtime => |core, step| {
            let ticks = core.wave.wall_clock();
            core.wave.set_pair(step.inst.dst, ticks);
            Flow::Next
        },
        _ => return None,
    };
    Some(Compilations::scalar(handler))
}

/// The address of the instruction behind a step.
fn next_address(core: &Core<'_>, step: &Step) -> u64 {
    core.code_base + u64::from(step.offset) + u64::from(step.inst.size)
}

/// The message that is an interrupt.
const INTERRUPT: i32 = 1;

fn read_register(core: &Core<'_>, step: &Step, id: u32) -> u32 {
    match step.inst.set.hardware_register(id) {
        MODE => core.wave.mode.register(core.wave.has_ieee_mode),
        FLAT_SCRATCH_LOW => core.wave.hardware_flat_scratch.unwrap_or(0) as u32,
        FLAT_SCRATCH_HIGH => (core.wave.hardware_flat_scratch.unwrap_or(0) >> 32) as u32,
        "STATUS" => {
            u32::from(core.wave.scc)
                | u32::from(core.wave.exec().is_empty()) << 9
                | u32::from(core.wave.vcc().is_empty()) << 10
        }
        "HW_ID" => core.wave.number & 15,
        "LDS_ALLOC" => (core.lds.len() as u32 / 512) << 12,
        "SH_MEM_BASES" => 0x0001_0002,
        "SHADER_CYCLES_LO" => core.wave.ticks() as u32,
        "SHADER_CYCLES_HI" => (core.wave.ticks() >> 32) as u32,
        "SHADER_CYCLES" => core.wave.ticks() as u32 & 0xf_ffff,
        _ => 0,
    }
}

/// The name of the register of float modes.
const MODE: &str = "MODE";
/// The names of the halves of FLAT_SCRATCH.
const FLAT_SCRATCH_LOW: &str = "FLAT_SCR_LO";
const FLAT_SCRATCH_HIGH: &str = "FLAT_SCR_HI";

/// The number of the hardware register that an instruction names, the first bit, and the number of bits minus one.
fn hardware_register(step: &Step) -> (u32, u32, u32) {
    let imm = step.inst.imm as u32;
    (imm & 63, imm >> 6 & 31, imm >> 11 & 31)
}

fn size_mask(size: u32) -> u32 {
    !0 >> (31 - size)
}

fn unsupported(what: String) -> Cause {
    Cause::Unsupported { instructions: what }
}
