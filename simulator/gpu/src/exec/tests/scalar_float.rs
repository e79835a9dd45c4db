// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scalar floats against the reference, in every mode. The instructions are made of parts, because sets differ in their codes.

use super::semantics::{Shared, check_row};
use super::*;
use crate::exec::families;
use crate::isa::{Element, Encoding, GFX1100, Inst, Op, Operand, OperandType};

const B32: OperandType = OperandType { element: Element::B32, dwords: 1 };
const F32: OperandType = OperandType { element: Element::F32, dwords: 1 };
const F16: OperandType = OperandType { element: Element::F16, dwords: 1 };

/// Compares an instruction with the reference: with registers, with a constant in each place, and with its destination as a source.
fn check(op: Op, encoding: Encoding, dst: OperandType, src: &[OperandType]) {
    let mut shared = Shared::new();
    let registers = [4, 16, 24].map(Operand::Sgpr);
    // 1.0, 1 / (2 pi), 0, and literals.
    let literal = if src[0] == F16 { 0x3e01 } else { 0x3fc0_1234 };
    let constants =
        [Operand::Inline(242), Operand::Inline(248), Operand::Inline(128), Operand::Literal(literal)];
    let places = (0..src.len()).flat_map(|at| constants.map(|constant| (at, constant)));
    let forms = places.chain([(3, Operand::None), (3, Operand::None), (0, Operand::Sgpr(40))]);
    for (number, (at, other)) in forms.enumerate() {
        let mut inst = Inst { op, encoding, set: &GFX1100, ..families::placeholder() };
        if encoding != Encoding::Sopc {
            (inst.dst, inst.dst_type) = (Operand::Sgpr(40), dst);
        }
        for (index, &ty) in src.iter().enumerate() {
            inst.src[index] = if at == index { other } else { registers[index] };
            inst.src_type[index] = ty;
        }
        if let Op::s_fmaak_f32 | Op::s_fmamk_f32 = op {
            inst.src[if op == Op::s_fmamk_f32 { 1 } else { 2 }] = Operand::Literal(literal);
        }
        let text = inst.to_string();
        if let Err(why) = check_row(op as usize * 100 + number, inst, &text, &mut shared) {
            panic!("{text}: {why}");
        }
    }
}

/// The operation of a mnemonic.
fn named(mnemonic: &str) -> Op {
    *Op::ALL.iter().find(|op| op.mnemonic() == mnemonic).expect(mnemonic)
}

#[test]
fn they_compute_as_the_vector_instructions() {
    let mut count = 0;
    for (kind, end) in [(F32, "_f32"), (F16, "_f16")] {
        for stem in ["s_add", "s_sub", "s_mul", "s_min", "s_max", "s_fmac"] {
            check(named(&format!("{stem}{end}")), Encoding::Sop2, kind, &[kind; 2]);
            count += 1;
        }
        for stem in ["s_ceil", "s_floor", "s_trunc", "s_rndne"] {
            check(named(&format!("{stem}{end}")), Encoding::Sop1, kind, &[kind]);
            count += 1;
        }
        let compares = |op: &&Op| op.mnemonic().starts_with("s_cmp_") && op.mnemonic().ends_with(end);
        for &op in Op::ALL.iter().filter(compares) {
            check(op, Encoding::Sopc, kind, &[kind; 2]);
            count += 1;
        }
    }
    for op in [Op::s_fmamk_f32, Op::s_fmaak_f32] {
        check(op, Encoding::Sop2, F32, &[F32; 3]);
        count += 1;
    }
    for (op, dst, src) in [
        (Op::s_cvt_f32_i32, F32, B32),
        (Op::s_cvt_f32_u32, F32, B32),
        (Op::s_cvt_i32_f32, B32, F32),
        (Op::s_cvt_u32_f32, B32, F32),
        (Op::s_cvt_f16_f32, F16, F32),
        (Op::s_cvt_f32_f16, F32, F16),
        (Op::s_cvt_hi_f32_f16, F32, B32),
    ] {
        check(op, Encoding::Sop1, dst, &[src]);
        count += 1;
    }
    check(Op::s_cvt_pk_rtz_f16_f32, Encoding::Sop2, B32, &[F32; 2]);
    assert_eq!(count + 1, 58, "all that GFX11.5 has");
}

#[test]
fn results_of_halves_clear_the_high_bits() {
    let mut shared = Shared::new();
    let (src, ty) = ([4, 16].map(Operand::Sgpr), F16);
    for op in [Op::s_add_f16, Op::s_fmac_f16, Op::s_max_f16, Op::s_cvt_f16_f32] {
        let mut wave = Wave::new();
        wave.set_mode(0x3f0);
        (wave.s[4], wave.s[16], wave.s[40]) = (0x4567_3c00, 0x89ab_4000, 0xffff_3c00);
        let inst = Inst {
            op,
            encoding: Encoding::Sop2,
            dst: Operand::Sgpr(40),
            dst_type: F16,
            src: [src[0], src[1], Operand::None, Operand::None],
            src_type: [ty, ty, OperandType::default(), OperandType::default()],
            ..families::placeholder()
        };
        super::semantics::run(&mut wave, inst, false, &mut shared).unwrap();
        assert_eq!(wave.s[40] >> 16, 0, "{}", op.mnemonic());
    }
}
