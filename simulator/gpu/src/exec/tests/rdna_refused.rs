// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instructions of RDNA that are decoded and not executed, with the reasons.

use super::semantics::rows;
use super::*;
use crate::exec::families;
use std::collections::{BTreeMap, HashSet};

/// The instructions of RDNA 3 and the reasons, with the number of LLVM's rows that are refused.
const REFUSED_IN_GFX1100: &[(&str, &str, usize)] = &[
    ("buffer_", "tfe", 14),
    ("ds_add_gs_reg_rtn", "global data share", 2),
    ("ds_bvh_stack_rtn_b32", "ray tracing", 2),
    ("ds_condxchg32_rtn_b64", "not implemented", 2),
    ("ds_gws_sema_", "global data share", 7),
    ("ds_sub_gs_reg_rtn", "global data share", 2),
    ("s_code_end", "no instruction of a program", 1),
    ("s_rfe_b64", "not implemented", 3),
    ("s_sendmsg_rtn_b32", "MSG_RTN_GET_DDID", 1),
    ("s_sendmsg_rtn_b32", "MSG_RTN_GET_DOORBELL", 1),
    ("s_sendmsg_rtn_b32", "MSG_RTN_GET_TBA", 1),
    ("s_sendmsg_rtn_b32", "MSG_RTN_GET_TBA_TO_PC", 1),
    ("s_sendmsg_rtn_b32", "MSG_RTN_GET_TMA", 1),
    ("s_sendmsg_rtn_b32", "MSG_RTN_SAVE_WAVE", 1),
    ("s_sendmsg_rtn_", "an unknown message", 7),
    ("s_sendmsghalt", "not implemented", 4),
    ("s_setkill", "not implemented", 4),
    ("s_subvector_loop_", "a loop over the halves of a wave", 4),
    ("tbuffer_", "an invalid data format", 28),
    ("tbuffer_load_", "a load of 32-bit integers as halves", 1),
    ("tbuffer_store_", "a store in a scaled format", 4),
    ("tbuffer_store_", "a store of halves as 32-bit integers", 1),
    ("tbuffer_store_", "a store of floats of 10 and 11 bits", 1),
    ("v_cvt_pkrtz_f16_f32", "the clamp bit of this instruction", 1),
    // The first two sources have signs.
    ("v_dot2_bf16_bf16", "not implemented", 1),
    ("v_dot2_f16_f16", "not implemented", 1),
    ("v_illegal", "no instruction of a program", 1),
    ("v_pack_b32_f16", "the clamp bit of this instruction", 1),
    ("v_wmma_", "a matrix outside of vector registers", 3),
];

/// Those of RDNA 2.
const REFUSED_IN_GFX1030: &[(&str, &str, usize)] = &[
    ("buffer_", "tfe", 10),
    ("ds_condxchg32_rtn_b64", "not implemented", 2),
    ("ds_gws_sema_", "global data share", 7),
    ("s_code_end", "no instruction of a program", 1),
    ("s_endpgm_ordered_ps_done", "not implemented", 1),
    ("s_rfe_b64", "not implemented", 3),
    ("s_sendmsghalt", "not implemented", 3),
    ("s_setkill", "not implemented", 4),
    ("s_subvector_loop_", "a loop over the halves of a wave", 4),
    ("tbuffer_", "an invalid data format", 21),
    ("tbuffer_store_", "a store in a scaled format", 8),
    ("tbuffer_store_", "a store of halves as 32-bit integers", 1),
    ("v_cvt_pkrtz_f16_f32", "the clamp bit of this instruction", 1),
    ("v_illegal", "no instruction of a program", 1),
    ("v_pack_b32_f16", "the clamp bit of this instruction", 1),
];

/// Those of RDNA 1 beside those of RDNA 2.
const REFUSED_IN_GFX1010: &[(&str, &str, usize)] = &[("s_scratch_", "not implemented", 24)];
/// Those of RDNA 4.
const REFUSED_IN_GFX1201: &[(&str, &str, usize)] = &[
    ("buffer_", "tfe", 16),
    ("ds_condxchg32_rtn_b64", "not implemented", 2),
    ("global_atomic_ordered_add_b64", "an order of graphics stages", 2),
    ("global_load_block", "blocks of registers", 2),
    ("global_load_tr_", "loads that transpose", 4),
    ("global_store_block", "blocks of registers", 2),
    ("s_", "named barriers", 23),
    ("s_code_end", "no instruction of a program", 1),
    ("s_rfe_b64", "not implemented", 3),
    ("s_sendmsg_rtn_", "an unknown message", 7),
    ("s_sendmsg_rtn_b32", "MSG_RTN_GET_DDID", 1),
    ("s_sendmsg_rtn_b32", "MSG_RTN_GET_DOORBELL", 1),
    ("s_sendmsg_rtn_b32", "MSG_RTN_GET_TBA", 1),
    ("s_sendmsg_rtn_b32", "MSG_RTN_GET_TBA_TO_PC", 1),
    ("s_sendmsg_rtn_b32", "MSG_RTN_GET_TMA", 1),
    ("s_sendmsg_rtn_b32", "MSG_RTN_SAVE_WAVE", 1),
    ("s_sendmsghalt", "not implemented", 4),
    ("s_setkill", "not implemented", 4),
    ("scratch_load_block", "blocks of registers", 2),
    ("scratch_store_block", "blocks of registers", 2),
    ("tbuffer_", "an invalid data format", 29),
    ("tbuffer_store_", "a store in a scaled format", 3),
    ("tbuffer_store_", "a store of halves as 32-bit integers", 3),
    ("v_cvt_pkrtz_f16_f32", "the clamp bit of this instruction", 1),
    ("v_dot2_bf16_bf16", "not implemented", 1),
    ("v_dot2_f16_f16", "not implemented", 1),
    ("v_illegal", "no instruction of a program", 1),
    ("v_pack_b32_f16", "the clamp bit of this instruction", 1),
    ("v_swmmac_", "a matrix outside of vector registers", 8),
    ("v_wmma_", "a matrix outside of vector registers", 5),
];

fn check(set: &'static isa::InstructionSet, list: &'static str, expected: &[(&str, &str, usize)]) {
    let mut refused = BTreeMap::<(&str, &str), usize>::new();
    for (words, text) in rows(list).filter(|(_, text)| *text != "-") {
        let inst = set.decode(&words).unwrap();
        for half in inst.halves().map_or(vec![inst], Vec::from) {
            let Err(reason) = families::handler(&half) else { continue };
            let name = half.op.mnemonic();
            let listed = expected.iter().find(|(start, why, _)| name.starts_with(start) && *why == reason);
            let (start, ..) = listed.unwrap_or_else(|| panic!("{text} is refused: {reason}"));
            *refused.entry((start, reason)).or_default() += 1;
        }
    }
    for &(start, reason, count) in expected {
        assert_eq!(refused.get(&(start, reason)), Some(&count), "{start}: {reason}");
    }
}

#[test]
fn all_is_executed_but_what_is_listed() {
    check(&isa::GFX1100, include_str!("../../../tests/data/gfx1100.txt"), REFUSED_IN_GFX1100);
    check(&isa::GFX1150, include_str!("../../../tests/data/gfx1100.txt"), REFUSED_IN_GFX1100);
    check(&isa::GFX1150, include_str!("../../../tests/data/gfx1150.txt"), &[]);
    check(&isa::GFX1030, include_str!("../../../tests/data/gfx1030.txt"), REFUSED_IN_GFX1030);
    check(&isa::GFX1201, include_str!("../../../tests/data/gfx1201.txt"), REFUSED_IN_GFX1201);
    check(&isa::GFX1010, include_str!("../../../tests/data/gfx1010.txt"), REFUSED_IN_GFX1010);
}

/// Refusals of a form, not of an instruction.
const FORMS: &[&str] =
    &["an invalid data format", "an unknown message", "a store ", "a load ", "a matrix outside ", "tfe"];

/// The numbers in the manual: of each set, what LLVM assembles, and what is decoded, executed and refused.
#[test]
fn the_manual_has_the_numbers_of_rdna() {
    type Lists = &'static [&'static str];
    const RDNA3: &str = include_str!("../../../tests/data/gfx1100.txt");
    const RDNA2: &str = include_str!("../../../tests/data/gfx1030.txt");
    /// Named barriers are refused, and the workgroup's own is executed.
    const BARRIERS4: &str = "be804ec1\ts_barrier_signal -1\nbe804fc1\ts_barrier_signal_isfirst -1\nbe8450c1\ts_get_barrier_state s4, -1\n";
    const MNEMONICS3: &str = include_str!("../../../tests/data/mnemonics.gfx1100.txt");
    const MNEMONICS2: &str = include_str!("../../../tests/data/mnemonics.gfx1030.txt");
    let sets: [(&'static isa::InstructionSet, Lists, Lists); 5] = [
        (&isa::GFX1100, &[RDNA3], &[MNEMONICS3]),
        (
            &isa::GFX1150,
            &[RDNA3, include_str!("../../../tests/data/gfx1150.txt")],
            &[MNEMONICS3, include_str!("../../../tests/data/mnemonics.gfx1150.txt")],
        ),
        (&isa::GFX1030, &[RDNA2], &[MNEMONICS2]),
        (
            &isa::GFX1010,
            &[RDNA2, include_str!("../../../tests/data/gfx1010.txt")],
            &[MNEMONICS2, include_str!("../../../tests/data/mnemonics.gfx1010.txt")],
        ),
        (
            &isa::GFX1201,
            &[include_str!("../../../tests/data/gfx1201.txt"), BARRIERS4],
            &[include_str!("../../../tests/data/mnemonics.gfx1201.txt")],
        ),
    ];
    let manual = include_str!("../../../../../docs/simulator.md");
    let columns = |what: &str| -> Vec<usize> {
        let row = manual.lines().find(|line| line.starts_with(&format!("| {what} |"))).expect(what);
        row.split('|')
            .filter_map(|cell| cell.trim().parse().ok())
            .skip(isa::InstructionSet::GFX9.len())
            .collect()
    };
    let mut counted = [const { Vec::new() }; 4];
    for (set, lists, mnemonics) in sets {
        let mut names = HashSet::new();
        for line in mnemonics.iter().flat_map(|list| list.lines()).filter(|line| !line.starts_with('#')) {
            let name = line.split('\t').next_back().unwrap_or(line).trim_start_matches(['+', '-']);
            if line.starts_with('-') {
                names.remove(name)
            } else {
                names.insert(name)
            };
        }
        let mut executed = HashSet::new();
        for inst in lists.iter().flat_map(|list| rows(list)).filter_map(|(words, _)| set.decode(&words).ok())
        {
            let halves = inst.halves().map_or(vec![inst], Vec::from);
            let is_executed = |half: &&isa::Inst| match families::handler(half) {
                Ok(_) => true,
                Err(why) => FORMS.iter().any(|form| why.starts_with(form)),
            };
            executed.extend(halves.iter().filter(is_executed).map(|half| half.op));
        }
        let decoded = isa::Op::ALL.iter().filter(|op| set.has(**op)).count();
        // LLVM has mnemonics for the first halves of dual instructions.
        let dual = names.iter().filter(|name| name.starts_with("v_dual_")).count();
        let refused = decoded - executed.len();
        let numbers = [names.len(), decoded + dual, executed.len() + dual, refused];
        counted.iter_mut().zip(numbers).for_each(|(row, number)| row.push(number));
    }
    let rows = ["instructions that LLVM 19 assembles", "decoded", "executed", "refused"];
    assert_eq!(counted.to_vec(), rows.map(columns).to_vec());
}
