// SPDX-License-Identifier: MIT OR Apache-2.0
//! The families of instructions, a file for each. [`compilations`] finds the family of an instruction, and its handler there.
//!
//! | file | instructions |
//! |---|---|
//! | `scalar` | SOP1, SOP2, SOPC, SOPK |
//! | `scalar_float` | their floats |
//! | `flow` | program control: SOPP, jumps and calls, hardware registers, clocks, caches |
//! | `message` | questions to the hardware around a wave: `s_sendmsg_rtn` |
//! | `barrier` | barriers whose waves signal and wait apart |
//! | `smem` | SMEM, scalar memory |
//! | `vector/` | VOP1, VOP2, VOP3, VOPC |
//! | `packed` | VOP3P: two operations in one instruction, and mixed precision |
//! | `dot` | sums of products |
//! | `matrix`, `sparse`, `narrow` | MAI: MFMA, SMFMAC, MFMA of several formats |
//! | `wmma`, `wmma_once` | VOP3P: WMMA of GFX11, WMMA and SWMMAC of GFX12 |
//! | `lds`, `transpose`, `gws` | DS |
//! | `vmem` | FLAT, GLOBAL, SCRATCH |
//! | `buffer`, `typed` | MUBUF, MTBUF; `resource` is what they access |

mod barrier;
mod buffer;
mod dot;
mod flow;
mod gws;
mod lds;
mod matrix;
mod message;
mod narrow;
mod packed;
mod resource;
mod scalar;
mod scalar_float;
mod smem;
mod sparse;
mod tile;
mod transpose;
mod typed;
mod vector;
mod vmem;
mod wmma;
mod wmma_once;
mod wmma_tile;

pub(crate) use lds::two_offsets;
pub(crate) use smem::load_scalars;

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::step::{Handler, Step};
use crate::exec::machine::trouble::Cause;
use crate::exec::operands::modifiers::knows_dpp;
use crate::isa::{Encoding, GFX942, Inst, Mem, Mods, Op, Operand, OperandType};

/// The handler of an instruction for this processor.
///
/// # Errors
/// The part of the instruction that is not executed.
pub(crate) fn handler(inst: &Inst) -> Result<Handler, &'static str> {
    compilations(inst).map(Compilations::pick)
}

/// The handler of an instruction for every processor.
pub(crate) fn compilations(inst: &Inst) -> Result<Compilations, &'static str> {
    if inst.mods.dpp.is_some_and(|dpp| !knows_dpp(dpp.ctrl)) {
        return Err("an unknown data-parallel control");
    }
    if inst.mem.tfe {
        return Err("tfe");
    }
    if inst.mem.gds {
        return gws::handler(inst.op).map(Compilations::scalar_of).ok_or("global data share");
    }
    if matches!(inst.op, Op::s_sendmsg_rtn_b32 | Op::s_sendmsg_rtn_b64) {
        return message::compilations(inst);
    }
    if let Some(found) = barrier::compilations(inst) {
        return found;
    }
    let compilations = match inst.encoding {
        Encoding::Smem => smem::compilations(inst),
        Encoding::Ds => lds::compilations(inst),
        Encoding::Flat | Encoding::Global | Encoding::Scratch => vmem::compilations(inst),
        Encoding::Mubuf => match buffer::compilations(inst) {
            None => typed::compilations(inst)?,
            compilations => compilations,
        },
        Encoding::Mtbuf => typed::compilations(inst)?,
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vop3 | Encoding::Vopc => vector::compilations(inst),
        Encoding::Vop3p => match wmma::compilations(inst.op).or_else(|| wmma_once::compilations(inst)) {
            Some(_) if !wmma_tile::is_in_vectors(inst) => return Err("a matrix outside of vector registers"),
            None => packed::compilations(inst.op).or_else(|| dot::compilations(inst)),
            found => found,
        },
        Encoding::Vopd => None,
        Encoding::Mai => matrix::compilations(inst)
            .or_else(|| sparse::compilations(inst))
            .or_else(|| narrow::compilations(inst))
            .or_else(|| vector::compilations(inst)),
        _ => scalar::compilations(inst.op).or_else(|| scalar_float::compilations(inst.op)),
    };
    match compilations.or_else(|| flow::compilations(inst.op)) {
        Some(compilations) => Ok(compilations),
        None if inst.mods.clamp => Err("the clamp bit of this instruction"),
        None => Err(reason(inst.op)),
    }
}

/// Why an instruction without a handler is not executed.
fn reason(op: Op) -> &'static str {
    match op {
        Op::ds_bvh_stack_rtn_b32 => "ray tracing",
        Op::global_load_tr_b128 | Op::global_load_tr_b64 => "loads that transpose",
        Op::global_load_block | Op::global_store_block | Op::scratch_load_block | Op::scratch_store_block => {
            "blocks of registers"
        }
        Op::v_mfma_ld_scale_b32 => "scales without a product",
        Op::v_cvt_sr_f16_f32
        | Op::v_cvt_sr_bf16_f32
        | Op::v_cvt_scalef32_sr_bf8_bf16
        | Op::v_cvt_scalef32_sr_bf8_f16
        | Op::v_cvt_scalef32_sr_bf8_f32
        | Op::v_cvt_scalef32_sr_fp8_bf16
        | Op::v_cvt_scalef32_sr_fp8_f16
        | Op::v_cvt_scalef32_sr_fp8_f32
        | Op::v_cvt_scalef32_sr_pk32_bf6_bf16
        | Op::v_cvt_scalef32_sr_pk32_bf6_f16
        | Op::v_cvt_scalef32_sr_pk32_bf6_f32
        | Op::v_cvt_scalef32_sr_pk32_fp6_bf16
        | Op::v_cvt_scalef32_sr_pk32_fp6_f16
        | Op::v_cvt_scalef32_sr_pk32_fp6_f32
        | Op::v_cvt_scalef32_sr_pk_fp4_bf16
        | Op::v_cvt_scalef32_sr_pk_fp4_f16
        | Op::v_cvt_scalef32_sr_pk_fp4_f32 => "a random rounding that no document describes",
        Op::ds_read_b64_tr_b4 | Op::ds_read_b96_tr_b6 => "loads that transpose elements of less than a byte",
        Op::global_atomic_ordered_add_b64 => "an order of graphics stages",
        Op::s_subvector_loop_begin | Op::s_subvector_loop_end => "a loop over the halves of a wave",
        Op::v_illegal | Op::s_code_end => "no instruction of a program",
        _ => "not implemented",
    }
}

/// Whether the handler of an instruction ignores `s_set_gpr_idx_on`. The hardware does not.
pub(crate) fn ignores_indexing(inst: &Inst) -> bool {
    match inst.encoding {
        Encoding::Vop3p => true,
        Encoding::Mai => {
            !matches!(inst.op, Op::v_accvgpr_mov_b32 | Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32)
        }
        _ => matches!(inst.op, Op::v_writelane_b32 | Op::v_swap_b32),
    }
}

/// Stops the wave at an instruction that cannot be executed. A wave arrives here only by a computed address.
pub(crate) fn unsupported(core: &mut Core<'_>, step: &Step) -> Flow {
    let instructions = format!("{} at offset {:#x}", step.inst.disassemble(step.offset.into()), step.offset);
    core.stop(Cause::Unsupported { instructions })
}

/// Continues at the step's target.
pub(crate) fn goto(_: &mut Core<'_>, _: &Step) -> Flow {
    Flow::Branch
}

/// An instruction without effect, for steps without an instruction.
pub(crate) fn placeholder() -> Inst {
    Inst {
        set: &GFX942,
        op: Op::s_nop,
        second: None,
        encoding: Encoding::Sopp,
        size: 4,
        dst: Operand::None,
        sdst: Operand::None,
        src: [Operand::None; 4],
        dst_type: OperandType::default(),
        src_type: [OperandType::default(); 4],
        mods: Mods::default(),
        mem: Mem::default(),
        imm: 0,
    }
}

/// Instructions that are decoded and not executed, by the start of their mnemonic. docs/simulator.md has the reasons.
#[cfg(test)]
const NOT_EXECUTED: &[&str] = &[
    "s_cbranch_g_fork",
    "s_cbranch_i_fork",
    "s_cbranch_join",
    "s_rfe_",
    "s_setvskip",
    "s_setkill",
    "s_sendmsghalt",
    "s_endpgm_ordered_ps_done",
    "s_scratch_",
    "v_screen_partition_",
    "buffer_store_lds_",
    "ds_condxchg32_",
    "ds_read_b64_tr_b4",
    "ds_read_b96_tr_b6",
    "v_cvt_sr_f16_f32",
    "v_cvt_sr_bf16_f32",
    "v_cvt_scalef32_sr_",
    "v_mfma_ld_scale_b32",
    // Cooperative queues execute two of them.
    "ds_gws_",
];

/// Whether every meaningful form of a mnemonic is executed.
#[cfg(test)]
pub(crate) fn is_executed(mnemonic: &str) -> bool {
    !NOT_EXECUTED.iter().any(|start| mnemonic.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::InstructionSet;

    /// An instruction of an operation, in the format it usually has.
    fn example(op: Op) -> Inst {
        let name = op.mnemonic();
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let encoding = if starts(&[
            "s_load",
            "s_store",
            "s_buffer",
            "s_scratch",
            "s_atomic",
            "s_dcache",
            "s_mem",
            "s_atc",
        ]) {
            Encoding::Smem
        } else if starts(&["s_"]) {
            Encoding::Sop2
        } else if starts(&["ds_"]) {
            Encoding::Ds
        } else if starts(&["flat_"]) {
            Encoding::Flat
        } else if starts(&["global_"]) {
            Encoding::Global
        } else if starts(&["scratch_"]) {
            Encoding::Scratch
        } else if starts(&["buffer_"]) {
            Encoding::Mubuf
        } else if starts(&["tbuffer_"]) {
            Encoding::Mtbuf
        } else if starts(&["v_mfma", "v_smfmac", "v_accvgpr"]) {
            Encoding::Mai
        } else if starts(&["v_pk_fmac"]) {
            Encoding::Vop2
        } else if starts(&["v_pk_", "v_fma_mix", "v_mad_mix", "v_dot2_", "v_dot4_", "v_dot8_"]) {
            Encoding::Vop3p
        } else {
            Encoding::Vop3
        };
        // For typed buffers: four bytes as an integer.
        let mem = Mem { format: 10 | 4 << 4, ..Mem::default() };
        Inst { op, encoding, mem, ..placeholder() }
    }

    #[test]
    fn all_is_executed_but_what_is_listed() {
        let mut used = std::collections::HashSet::<&str>::new();
        // The sets of RDNA have tests of their own.
        let simulated = |op: &&Op| InstructionSet::GFX9.iter().any(|set| set.has(**op));
        for &op in Op::ALL.iter().filter(simulated) {
            let listed = NOT_EXECUTED.iter().find(|start| op.mnemonic().starts_with(**start));
            used.extend(listed);
            assert_eq!(handler(&example(op)).is_err(), listed.is_some(), "{}", op.mnemonic());
        }
        assert_eq!(used.len(), NOT_EXECUTED.len(), "an entry stands for nothing");
    }

    #[test]
    fn the_manual_says_what_is_not_executed() {
        let manual = include_str!("../../../../../docs/simulator.md");
        let count = |set: &InstructionSet, wanted: bool| {
            let own = Op::ALL.iter().filter(|op| set.has(**op));
            own.filter(|op| is_executed(op.mnemonic()) == wanted).count()
        };
        // Lists of mnemonics, each by what differs from the list before.
        let lines = |list: &'static str| list.lines().filter(|line| !line.starts_with('#'));
        let mnemonics = lines(include_str!("../../../tests/data/mnemonics.txt"));
        let newest: std::collections::HashSet<_> =
            mnemonics.map(|row| row.split('\t').next_back().unwrap_or(row)).collect();
        // The first list is of the second set.
        let with = |list, sign| lines(list).filter(move |line| line.starts_with(sign)).count();
        let gfx950 = include_str!("../../../tests/data/mnemonics.gfx950.txt");
        let mut assembled = vec![newest.len() + with(gfx950, '+') - with(gfx950, '-'), newest.len()];
        for list in [
            include_str!("../../../tests/data/mnemonics.gfx90a.txt"),
            include_str!("../../../tests/data/mnemonics.gfx908.txt"),
            include_str!("../../../tests/data/mnemonics.gfx906.txt"),
            include_str!("../../../tests/data/mnemonics.gfx900.txt"),
        ] {
            assembled.push(assembled[assembled.len() - 1] + with(list, '+') - with(list, '-'));
        }
        let [executed, refused] =
            [true, false].map(|wanted| InstructionSet::GFX9.map(|set| count(set, wanted)).to_vec());
        let decoded = executed.iter().zip(&refused).map(|(executed, refused)| executed + refused).collect();
        let row = |what: &str, numbers: Vec<usize>| {
            numbers.iter().fold(format!("| {what} |"), |row, number| format!("{row} {number} |"))
        };
        for row in [
            row("instructions that LLVM 19 assembles", assembled),
            row("decoded", decoded),
            row("executed", executed),
            row("refused", refused),
        ] {
            assert!(manual.contains(&row), "docs/simulator.md has no row {row}");
        }
        for start in NOT_EXECUTED {
            assert!(manual.contains(&format!("`{start}")), "docs/simulator.md gives no reason for {start}");
        }
    }
}
