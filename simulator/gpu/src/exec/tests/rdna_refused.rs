// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instructions of RDNA 2 to 4 that are decoded and not executed, with the reasons.

use super::semantics::rows;
use super::*;
use crate::exec::families;
use std::collections::BTreeMap;

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

/// Those of RDNA 4.
const REFUSED_IN_GFX1201: &[(&str, &str, usize)] = &[
    ("buffer_", "tfe", 16),
    ("ds_condxchg32_rtn_b64", "not implemented", 2),
    ("global_atomic_ordered_add_b64", "an order of graphics stages", 2),
    ("global_load_block", "blocks of registers", 2),
    ("global_load_tr_", "a load that transposes", 4),
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
    ("v_swmmac_", "sparse matrices", 38),
];

fn check(set: &'static isa::InstructionSet, list: &'static str, expected: &[(&str, &str, usize)]) {
    let mut refused = BTreeMap::<(&str, &str), usize>::new();
    for (words, text) in rows(list) {
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
    check(&isa::GFX1030, include_str!("../../../tests/data/gfx1030.txt"), REFUSED_IN_GFX1030);
    check(&isa::GFX1201, include_str!("../../../tests/data/gfx1201.txt"), REFUSED_IN_GFX1201);
}
