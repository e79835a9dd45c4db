// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic of RDNA that GFX9 has too, and scalar floats, in waves of 64 lanes, against the reference. The reference reads GFX9's text.

use super::semantics::{Shared, check, check_memory, check_row, rows};
use super::*;
use crate::exec::machine::step::INTEGERS;
use crate::isa::{Element, Encoding, Inst, Op, Operand};
use std::collections::BTreeMap;

/// Parts of texts that GFX9 does not have.
const STRANGE: &[&str] = &[
    "dpp8",
    "fi:1",
    "row_share",
    "row_xmask",
    "null",
    "ttmp",
    "m0",
    "exec",
    "pc_b64",
    "sendmsg",
    "v_cmpx",
    "src_",
    "lit(",
    "neg(",
    "s_movrel",
];

/// Whether the reference can read an instruction and knows it.
fn is_known(inst: &Inst, text: &str) -> bool {
    use Encoding::*;
    let arithmetic = matches!(inst.encoding, Vop1 | Vop2 | Vopc | Vop3 | Sop1 | Sop2 | Sopc | Vop3p);
    // The text leaves out halves, and signs of packed integers have no meaning.
    let hidden = inst.encoding == Vop3 && inst.mods.op_sel != 0 && !text.contains("op_sel");
    let packed = text.starts_with("v_pk_") || text.starts_with("v_dot2_");
    let signed = packed && text.contains("neg_") && !text.contains("_f16");
    let is_new = ["v_dot2_f16", "v_dot2_bf16", "v_dot2_f32_bf16", "v_dot4_f32", "_iu8", "_iu4"]
        .iter()
        .any(|name| text.contains(name));
    // LLVM shows floats in place of integers of 16 bits as halves. They are singles, of which the low half is zero.
    let is_float = |operand: Operand| matches!(operand, Operand::Inline(code) if code > INTEGERS);
    let short = |index: usize| inst.src_type[index].element == Element::I16 || inst.op == Op::v_ldexp_f16;
    let floats = (0..3).any(|index| is_float(inst.src[index]) && short(index));
    // LLVM shows literals of scalar halves as singles.
    let is_long = |operand: Operand| matches!(operand, Operand::Literal(value) if value > 0xffff);
    let scalar = matches!(inst.encoding, Sop1 | Sopc);
    let literals =
        (0..2).any(|at| scalar && is_long(inst.src[at]) && inst.src_type[at].element == Element::F16);
    // GFX9 has DPP in no instruction with a mask.
    let masked = inst.mods.dpp.is_some() && (inst.encoding == Vopc || inst.encoding == Vop3);
    arithmetic
        && !floats
        && !literals
        && !masked
        && !hidden
        && !signed
        && !is_new
        && !STRANGE.iter().any(|part| text.contains(part))
}

/// The number of rows that the reference knows.
fn compare(set: &'static isa::InstructionSet, list: &'static str) -> usize {
    let mut shared = Shared::new();
    let (mut failures, mut count) = (BTreeMap::<&str, String>::new(), 0);
    for (number, (words, _)) in rows(list).enumerate() {
        let Ok(inst) = set.decode(&words) else { continue };
        let text = inst.to_string().replace(inst.set.mnemonic(inst.op), inst.op.mnemonic());
        if !is_known(&inst, &text) {
            continue;
        }
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check_row(number, inst, &text, &mut shared)
        })) {
            Ok(Ok(())) => count += 1,
            // New, or refused.
            Ok(Err(why)) if why.contains("does not know") || why.contains("the clamp bit") => {}
            Ok(Err(why)) => drop(failures.entry(inst.op.mnemonic()).or_insert(why)),
            Err(_) => drop(failures.entry(inst.op.mnemonic()).or_insert(format!("panic {text}"))),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    count
}

#[test]
fn arithmetic_is_that_of_the_reference() {
    let rows = compare(&isa::GFX1100_WAVE64, include_str!("../../../tests/data/gfx1100.txt"));
    assert!(rows > 1400, "{rows} rows");
    let rows = compare(&isa::GFX1150_WAVE64, include_str!("../../../tests/data/gfx1150.txt"));
    assert!(rows > 60, "{rows} rows");
    let rows = compare(&isa::GFX1030_WAVE64, include_str!("../../../tests/data/gfx1030.txt"));
    assert!(rows > 1400, "{rows} rows");
    let rows = compare(&isa::GFX1201_WAVE64, include_str!("../../../tests/data/gfx1201.txt"));
    assert!(rows > 1400, "{rows} rows");
    let rows = compare(&isa::GFX1010_WAVE64, include_str!("../../../tests/data/gfx1010.txt"));
    assert!(rows > 10, "{rows} rows");
}

/// The instructions of gfx1010 that gfx1030 lacks.
#[test]
fn instructions_of_gfx1010() {
    let of =
        |kind: fn(&str) -> bool| rows(include_str!("cases/gfx1010.txt")).filter(move |(_, text)| kind(text));
    check(&isa::GFX1010_WAVE64, of(|text| text.starts_with("v_")), 40);
    check_memory(&isa::GFX1010_WAVE64, of(|text| text.starts_with("s_")), 220);
}

#[test]
fn waves_of_gfx1010_know_their_number() {
    let mut wave = Wave::new();
    wave.number = 5;
    // s_get_waveid_in_workgroup s40
    let inst = isa::GFX1010.decode(&[0xf4a8_0a00, 0]).unwrap();
    assert_eq!(inst.to_string(), "s_get_waveid_in_workgroup s40");
    super::semantics::run(&mut wave, inst, false, &mut Shared::new()).unwrap();
    assert_eq!(wave.s[40], 5);
}
