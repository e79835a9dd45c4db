// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scalar instructions of a block.

use super::assembler::{Alu, Bits, Condition, RAX, RCX, RDX, Shift};
use super::emitter::{Emitter, is_scalar, scalar_destination, touches_exec};
use crate::exec::machine::step::Step;
use crate::isa::Op;

/// The form of an instruction: its operation, and the rule for the scalar condition code.
enum Form {
    /// A result of two sources, with the condition that sets the code.
    Two(Alu, Bits, Condition),
    /// The same, with the second source inverted.
    AndNot(Bits),
    /// The same, with the code as carry.
    Carry(Alu),
    /// A copy.
    Move(Bits),
    /// A shift; the code says whether the result is not zero.
    Shift(Shift, Bits),
    /// A product.
    Multiply,
    /// The first source if the code is set, else the second.
    Select(Bits),
    /// A compare.
    Compare(Bits, Condition),
    /// EXEC is narrowed, and its old value kept.
    SaveExec(Bits),
}

fn form(op: Op) -> Option<Form> {
    use Bits::{B32, B64};
    use Condition::*;
    Some(match op {
        Op::s_add_u32 => Form::Two(Alu::Add, B32, Below),
        Op::s_add_i32 => Form::Two(Alu::Add, B32, Overflow),
        Op::s_sub_u32 => Form::Two(Alu::Sub, B32, Below),
        Op::s_sub_i32 => Form::Two(Alu::Sub, B32, Overflow),
        Op::s_addc_u32 => Form::Carry(Alu::AddCarry),
        Op::s_subb_u32 => Form::Carry(Alu::SubBorrow),
        Op::s_and_b32 => Form::Two(Alu::And, B32, NotEqual),
        Op::s_and_b64 => Form::Two(Alu::And, B64, NotEqual),
        Op::s_or_b32 => Form::Two(Alu::Or, B32, NotEqual),
        Op::s_or_b64 => Form::Two(Alu::Or, B64, NotEqual),
        Op::s_xor_b32 => Form::Two(Alu::Xor, B32, NotEqual),
        Op::s_xor_b64 => Form::Two(Alu::Xor, B64, NotEqual),
        Op::s_andn2_b32 => Form::AndNot(B32),
        Op::s_andn2_b64 => Form::AndNot(B64),
        Op::s_mov_b32 => Form::Move(B32),
        Op::s_mov_b64 => Form::Move(B64),
        Op::s_lshl_b32 => Form::Shift(Shift::Left, B32),
        Op::s_lshl_b64 => Form::Shift(Shift::Left, B64),
        Op::s_lshr_b32 => Form::Shift(Shift::Right, B32),
        Op::s_lshr_b64 => Form::Shift(Shift::Right, B64),
        Op::s_ashr_i32 => Form::Shift(Shift::SignedRight, B32),
        Op::s_ashr_i64 => Form::Shift(Shift::SignedRight, B64),
        Op::s_mul_i32 => Form::Multiply,
        Op::s_cselect_b32 => Form::Select(B32),
        Op::s_cselect_b64 => Form::Select(B64),
        Op::s_cmp_eq_i32 | Op::s_cmp_eq_u32 => Form::Compare(B32, Equal),
        Op::s_cmp_lg_i32 | Op::s_cmp_lg_u32 => Form::Compare(B32, NotEqual),
        Op::s_cmp_gt_i32 => Form::Compare(B32, Greater),
        Op::s_cmp_ge_i32 => Form::Compare(B32, GreaterOrEqual),
        Op::s_cmp_lt_i32 => Form::Compare(B32, Less),
        Op::s_cmp_le_i32 => Form::Compare(B32, LessOrEqual),
        Op::s_cmp_gt_u32 => Form::Compare(B32, Above),
        Op::s_cmp_ge_u32 => Form::Compare(B32, AboveOrEqual),
        Op::s_cmp_lt_u32 => Form::Compare(B32, Below),
        Op::s_cmp_le_u32 => Form::Compare(B32, BelowOrEqual),
        Op::s_cmp_eq_u64 => Form::Compare(B64, Equal),
        Op::s_cmp_lg_u64 => Form::Compare(B64, NotEqual),
        Op::s_and_saveexec_b32 => Form::SaveExec(B32),
        Op::s_and_saveexec_b64 => Form::SaveExec(B64),
        _ => return None,
    })
}

/// Translates a scalar instruction. Writes nothing and returns `false` for all others.
pub(super) fn emit(emitter: &mut Emitter, step: &Step) -> bool {
    let Some(form) = form(step.inst.op) else { return false };
    let bits = match form {
        Form::Two(_, bits, _) | Form::AndNot(bits) | Form::Move(bits) | Form::Shift(_, bits) => bits,
        Form::Select(bits) | Form::Compare(bits, _) | Form::SaveExec(bits) => bits,
        Form::Carry(_) | Form::Multiply => Bits::B32,
    };
    let sources = if matches!(form, Form::Move(_) | Form::SaveExec(_)) { 1 } else { 2 };
    let destination = match form {
        Form::Compare(..) => Some(0),
        _ => scalar_destination(step.inst.dst, bits),
    };
    let (Some(destination), true) =
        (destination, step.src[..sources].iter().all(|source| is_scalar(*source)))
    else {
        return false;
    };
    emitter.load_scalar(bits, RAX, step.src[0]);
    if sources == 2 {
        let second = if matches!(form, Form::Shift(..)) { Bits::B32 } else { bits };
        emitter.load_scalar(second, RCX, step.src[1]);
    }
    match form {
        Form::Two(alu, bits, condition) => {
            emitter.asm.alu(bits, alu, RAX, RCX);
            emitter.set_scc(condition);
        }
        Form::AndNot(bits) => {
            emitter.asm.not(bits, RCX);
            emitter.asm.alu(bits, Alu::And, RAX, RCX);
            emitter.set_scc(Condition::NotEqual);
        }
        Form::Carry(alu) => {
            emitter.load_scc(RDX);
            // The carry becomes the processor's.
            emitter.asm.negate(Bits::B32, RDX);
            emitter.asm.alu(Bits::B32, alu, RAX, RCX);
            emitter.set_scc(Condition::Below);
        }
        Form::Move(_) => {}
        Form::Shift(shift, bits) => {
            emitter.asm.shift(bits, shift, RAX);
            emitter.asm.test(bits, RAX);
            emitter.set_scc(Condition::NotEqual);
        }
        Form::Multiply => emitter.asm.multiply(RAX, RCX),
        Form::Select(bits) => {
            emitter.compare_scc();
            emitter.asm.move_if(bits, Condition::Equal, RAX, RCX);
        }
        Form::Compare(bits, condition) => {
            emitter.asm.alu(bits, Alu::Compare, RAX, RCX);
            emitter.set_scc(condition);
            return true;
        }
        Form::SaveExec(bits) => {
            emitter.asm.load(bits, RCX, Emitter::scalar_place(126));
            emitter.asm.alu(bits, Alu::And, RAX, RCX);
            emitter.set_scc(Condition::NotEqual);
            emitter.store_scalar(bits, destination, RCX);
            emitter.store_scalar(bits, 126, RAX);
            emitter.check_exec();
            return true;
        }
    }
    emitter.store_scalar(bits, destination, RAX);
    if touches_exec(destination) {
        emitter.check_exec();
    }
    true
}
