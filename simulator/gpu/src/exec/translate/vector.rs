// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vector arithmetic of a block: eight lanes at a time, for all lanes of the wave.

use super::assembler::{Alu, Bits, Condition, RAX, RCX, Shift, Ymm};
use super::emitter::{Emitter, scalar_destination, touches_exec};
use super::inputs::{EXTRA, FILLED, Input, SPARE, constant, fill, input, is_known, load, mask_number};
use super::pairs::{wide_product, wide_shift, wide_sum};
use super::vex::{self, Vex};
use crate::exec::machine::step::Step;
use crate::isa::{Compared, Comparison, Op, Operand, Relation};

/// A compare.
#[derive(Clone, Copy)]
struct Compare {
    /// The vector operation.
    test: Test,
    /// Whether the result is inverted.
    inverted: bool,
}

#[derive(Clone, Copy)]
enum Test {
    Equal,
    /// Signed, the first greater.
    Greater,
    /// Signed, the second greater.
    Less,
    /// Unsigned, at least.
    AtLeast,
    /// Unsigned, at most.
    AtMost,
    /// Floats, by the predicate.
    Float(u8),
}

enum Form {
    Move,
    /// An integer operation.
    Integer(Vex),
    /// The same with the sources exchanged.
    Reversed(Vex),
    /// A float operation.
    Float(Vex),
    FloatReversed(Vex),
    /// A fused multiplication and addition, of three sources.
    Fused,
    /// The same, with the destination as the third.
    Accumulate,
    /// A shift of the second source by the first.
    Shift(Shift),
    /// A shift of the first source by the second, and an operation with the third.
    ShiftThen(Vex),
    /// An operation on the first two sources, and another with the third.
    Then(Vex, Vex),
    /// A field of bits.
    Field,
    /// A shift of 64 bits and a sum.
    WideSum,
    /// A shift of 64 bits to the left.
    WideShift,
    /// A product of 32-bit numbers and a sum of 64 bits, whose carries go nowhere.
    WideProduct,
    /// A choice by a mask.
    Select,
    Compare(Compare),
    /// A sum or a difference whose carry goes to a mask.
    CarryOut(Vex),
    /// A sum whose carries are masks.
    CarryThrough,
}

fn form(op: Op) -> Option<Form> {
    use vex::*;
    Some(match op {
        Op::v_mov_b32 | Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32 | Op::v_accvgpr_mov_b32 => {
            Form::Move
        }
        Op::v_add_u32 | Op::v_add_i32 => Form::Integer(PADDD),
        Op::v_sub_u32 | Op::v_sub_i32 => Form::Integer(PSUBD),
        Op::v_subrev_u32 => Form::Reversed(PSUBD),
        Op::v_and_b32 => Form::Integer(PAND),
        Op::v_or_b32 => Form::Integer(POR),
        Op::v_xor_b32 => Form::Integer(PXOR),
        Op::v_mul_lo_u32 | Op::v_mul_lo_i32 => Form::Integer(PMULLD),
        Op::v_min_i32 => Form::Integer(PMINSD),
        Op::v_max_i32 => Form::Integer(PMAXSD),
        Op::v_min_u32 => Form::Integer(PMINUD),
        Op::v_max_u32 => Form::Integer(PMAXUD),
        Op::v_add_f32 => Form::Float(ADDPS),
        Op::v_sub_f32 => Form::Float(SUBPS),
        Op::v_subrev_f32 => Form::FloatReversed(SUBPS),
        Op::v_mul_f32 => Form::Float(MULPS),
        Op::v_fma_f32 | Op::v_fmamk_f32 | Op::v_fmaak_f32 => Form::Fused,
        Op::v_fmac_f32 => Form::Accumulate,
        Op::v_lshlrev_b32 => Form::Shift(Shift::Left),
        Op::v_lshrrev_b32 => Form::Shift(Shift::Right),
        Op::v_ashrrev_i32 => Form::Shift(Shift::SignedRight),
        Op::v_lshl_add_u32 => Form::ShiftThen(PADDD),
        Op::v_lshl_or_b32 => Form::ShiftThen(POR),
        Op::v_add3_u32 => Form::Then(PADDD, PADDD),
        Op::v_and_or_b32 => Form::Then(PAND, POR),
        Op::v_or3_b32 => Form::Then(POR, POR),
        Op::v_bfe_u32 => Form::Field,
        Op::v_lshl_add_u64 => Form::WideSum,
        Op::v_lshlrev_b64 => Form::WideShift,
        Op::v_mad_u64_u32 => Form::WideProduct,
        Op::v_cndmask_b32 => Form::Select,
        Op::v_add_co_u32 => Form::CarryOut(PADDD),
        Op::v_addc_co_u32 => Form::CarryThrough,
        _ => Form::Compare(compare(op)?),
    })
}

fn compare(op: Op) -> Option<Compare> {
    use Compared::{F32, I32, U32};
    use Relation::*;
    let Comparison { relation, compared, .. } = op.comparison()?;
    let (test, inverted) = match (compared, relation) {
        (I32 | U32, Equal) => (Test::Equal, false),
        (I32 | U32, NotEqual) => (Test::Equal, true),
        (I32, Greater) => (Test::Greater, false),
        (I32, LessEqual) => (Test::Greater, true),
        (I32, Less) => (Test::Less, false),
        (I32, GreaterEqual) => (Test::Less, true),
        (U32, GreaterEqual) => (Test::AtLeast, false),
        (U32, Less) => (Test::AtLeast, true),
        (U32, LessEqual) => (Test::AtMost, false),
        (U32, Greater) => (Test::AtMost, true),
        (F32, relation) => (Test::Float(predicate(relation)?), false),
        _ => return None,
    };
    Some(Compare { test, inverted })
}

/// The predicate of `vcmpps` for a relation.
fn predicate(relation: Relation) -> Option<u8> {
    use Relation::*;
    Some(match relation {
        Equal => 0x00,
        Less => 0x11,
        LessEqual => 0x12,
        Greater => 0x1e,
        GreaterEqual => 0x1d,
        LessGreater => 0x0c,
        Ordered => 0x07,
        Unordered => 0x03,
        NotEqual => 0x04,
        NotLess => 0x15,
        NotLessEqual => 0x16,
        NotGreaterEqual => 0x19,
        NotGreater => 0x1a,
        NotLessGreater => 0x08,
        Never | Always | Class => return None,
    })
}

/// Translates a vector instruction without modifiers. Writes nothing and returns `false` for all others.
pub(super) fn emit(emitter: &mut Emitter, step: &Step) -> bool {
    let Some(form) = form(step.inst.op) else { return false };
    let sources = match form {
        Form::Move => 1,
        Form::Fused
        | Form::ShiftThen(_)
        | Form::Then(..)
        | Form::Field
        | Form::WideSum
        | Form::WideProduct => 3,
        _ => 2,
    };
    let known = step.src[..sources].iter().all(|source| is_known(*source));
    // Compares of GFX9 write a mask and EXEC.
    let writes_two = step.narrows && !step.inst.dst.is_none();
    if !step.bare || writes_two || !known {
        return false;
    }
    match form {
        Form::Move => each(emitter, step, |emitter, step, to, group| {
            let from = input(step, 0).group(group);
            emitter.asm.load_vector(to, from);
        }),
        Form::Integer(op) => two(emitter, step, op, [0, 1]),
        Form::Reversed(op) => two(emitter, step, op, [1, 0]),
        Form::Float(op) => return floats(emitter, step, op, [0, 1]),
        Form::FloatReversed(op) => return floats(emitter, step, op, [1, 0]),
        Form::Fused => return fused(emitter, step, Some(2)),
        Form::Accumulate => return fused(emitter, step, None),
        Form::Shift(shift) => {
            let Some(by) = constant(step.src[0]) else { return false };
            fill(emitter, step, 1);
            groups(emitter.groups(), |group, to| {
                let from = load(emitter, input(step, 1), group, to);
                emitter.asm.shift_words(shift, to, from, by as u8 & 31);
                emitter.asm.store_vector(Emitter::group(step.dst, group), to);
            });
        }
        Form::ShiftThen(op) => {
            let Some(by) = constant(step.src[1]) else { return false };
            fill(emitter, step, 0);
            fill(emitter, step, 2);
            groups(emitter.groups(), |group, to| {
                let from = load(emitter, input(step, 0), group, to);
                emitter.asm.shift_words(Shift::Left, to, from, by as u8 & 31);
                emitter.asm.op(op, to, to, input(step, 2).group(group));
                emitter.asm.store_vector(Emitter::group(step.dst, group), to);
            });
        }
        Form::Then(first, second) => each(emitter, step, |emitter, step, to, group| {
            let left = load(emitter, input(step, 0), group, to);
            emitter.asm.op(first, to, left, input(step, 1).group(group));
            emitter.asm.op(second, to, to, input(step, 2).group(group));
        }),
        Form::Field => {
            let (Some(offset), Some(width)) = (constant(step.src[1]), constant(step.src[2])) else {
                return false;
            };
            fill(emitter, step, 0);
            emitter.asm.constant(RAX, u64::from((1u32 << (width & 31)) - 1));
            emitter.asm.move_to_vector(EXTRA, RAX);
            emitter.asm.broadcast(EXTRA, EXTRA);
            groups(emitter.groups(), |group, to| {
                let from = load(emitter, input(step, 0), group, to);
                emitter.asm.shift_words(Shift::Right, to, from, offset as u8 & 31);
                emitter.asm.op(vex::PAND, to, to, EXTRA);
                emitter.asm.store_vector(Emitter::group(step.dst, group), to);
            });
        }
        Form::WideSum => return wide_sum(emitter, step),
        Form::WideShift => return wide_shift(emitter, step),
        Form::WideProduct => return wide_product(emitter, step),
        Form::Select => return select(emitter, step),
        Form::Compare(compare) => return compares(emitter, step, compare),
        Form::CarryOut(op) => return carry(emitter, step, op, None),
        Form::CarryThrough => {
            let Some(carries) = mask_number(step.src[2]) else { return false };
            return carry(emitter, step, vex::PADDD, Some(carries));
        }
    }
    true
}

/// Runs for each of a number of groups, with one vector after the other.
fn groups(count: usize, mut write: impl FnMut(usize, Ymm)) {
    for group in 0..count {
        write(group, Ymm(group as u8 & 7));
    }
}

/// Fills all scalar sources, and writes each group's result, which `compute` leaves in a vector.
fn each(emitter: &mut Emitter, step: &Step, mut compute: impl FnMut(&mut Emitter, &Step, Ymm, usize)) {
    for index in 0..3 {
        fill(emitter, step, index);
    }
    groups(emitter.groups(), |group, to| {
        compute(emitter, step, to, group);
        emitter.asm.store_vector(Emitter::group(step.dst, group), to);
    });
}

fn two(emitter: &mut Emitter, step: &Step, op: Vex, [first, second]: [usize; 2]) {
    each(emitter, step, |emitter, step, to, group| {
        let left = load(emitter, input(step, first), group, to);
        emitter.asm.op(op, to, left, input(step, second).group(group));
    });
}

fn floats(emitter: &mut Emitter, step: &Step, op: Vex, [first, second]: [usize; 2]) -> bool {
    for index in 0..2 {
        fill(emitter, step, index);
    }
    groups(emitter.groups(), |group, to| {
        let left = load(emitter, input(step, first), group, to);
        emitter.asm.op(op, to, left, input(step, second).group(group));
    });
    store_floats(emitter, step);
    true
}

fn fused(emitter: &mut Emitter, step: &Step, third: Option<usize>) -> bool {
    for index in 0..2 {
        fill(emitter, step, index);
    }
    if let Some(third) = third {
        fill(emitter, step, third);
    }
    let addend = third.map_or(Input::Register(step.dst), |third| input(step, third));
    // A product has no order, and the NaN of a result is replaced.
    let factors = match [input(step, 0), input(step, 1)] {
        [first @ Input::Register(_), second @ Input::Filled(_)] => [second, first],
        factors => factors,
    };
    groups(emitter.groups(), |group, to| {
        emitter.asm.load_vector(to, addend.group(group));
        let left = load(emitter, factors[0], group, EXTRA);
        emitter.asm.op(vex::FMADD231PS, to, left, factors[1].group(group));
    });
    store_floats(emitter, step);
    true
}

/// Writes the results in the first eight vectors, unless one is a NaN: the handler finds the NaN of the hardware.
fn store_floats(emitter: &mut Emitter, step: &Step) {
    const UNORDERED: u8 = 3;
    for first in (0..emitter.groups() as u8).step_by(2) {
        let found = if first == 0 { SPARE } else { EXTRA };
        emitter.asm.compare_floats(found, Ymm(first), Ymm(first + 1), UNORDERED);
        if first != 0 {
            emitter.asm.op(vex::POR, SPARE, SPARE, EXTRA);
        }
    }
    emitter.asm.test_vector(SPARE);
    let rare = emitter.rarely(Condition::NotEqual);
    groups(emitter.groups(), |group, to| emitter.asm.store_vector(Emitter::group(step.dst, group), to));
    emitter.usually(rare);
}

/// Fills `bits` with the bit of each lane of a group.
fn fill_bits(emitter: &mut Emitter, bits: Ymm) {
    emitter.asm.constant(RAX, 0x8040_2010_0804_0201);
    emitter.asm.move_to_vector(bits, RAX);
    emitter.asm.widen_bytes(bits, bits);
}

/// Makes all bits of a lane's word its bit in a mask.
fn spread(emitter: &mut Emitter, to: Ymm, bits: Ymm, mask: u8, group: usize) {
    emitter.broadcast_mask(to, mask, group);
    emitter.asm.op(vex::PAND, to, to, bits);
    emitter.asm.op(vex::PCMPEQD, to, to, bits);
}

fn select(emitter: &mut Emitter, step: &Step) -> bool {
    let Some(mask) = mask_number(step.src[2]) else { return false };
    for index in 0..2 {
        fill(emitter, step, index);
    }
    fill_bits(emitter, EXTRA);
    groups(emitter.groups(), |group, to| {
        spread(emitter, SPARE, EXTRA, mask, group);
        let clear = load(emitter, input(step, 0), group, to);
        emitter.asm.blend(to, clear, input(step, 1).group(group), SPARE);
        emitter.asm.store_vector(Emitter::group(step.dst, group), to);
    });
    true
}

/// Adds the signs of a group to the mask in RAX.
fn gather(emitter: &mut Emitter, signs: Ymm, group: usize) {
    if group == 0 {
        emitter.asm.signs(RAX, signs);
        return;
    }
    emitter.asm.signs(RCX, signs);
    emitter.asm.shift_by(Bits::B64, Shift::Left, RCX, 8 * group as u8);
    emitter.asm.alu(Bits::B64, Alu::Or, RAX, RCX);
}

/// Writes the mask in RAX.
fn store_mask(emitter: &mut Emitter, number: u8) {
    emitter.store_scalar(emitter.mask(), number, RAX);
    if touches_exec(number) {
        emitter.check_exec();
    }
}

fn compares(emitter: &mut Emitter, step: &Step, compare: Compare) -> bool {
    let destination = if step.narrows { Operand::EXEC } else { step.inst.dst };
    let Some(mask) = scalar_destination(destination, emitter.mask()) else { return false };
    for index in 0..2 {
        fill(emitter, step, index);
    }
    groups(emitter.groups(), |group, to| {
        let (first, second) = (input(step, 0), input(step, 1).group(group));
        let asm_first = match compare.test {
            Test::Less => load(emitter, input(step, 1), group, to),
            _ => load(emitter, first, group, to),
        };
        let asm = &mut emitter.asm;
        match compare.test {
            Test::Equal => asm.op(vex::PCMPEQD, to, asm_first, second),
            Test::Greater => asm.op(vex::PCMPGTD, to, asm_first, second),
            Test::Less => asm.op(vex::PCMPGTD, to, asm_first, first.group(group)),
            Test::AtLeast | Test::AtMost => {
                let at_least = matches!(compare.test, Test::AtLeast);
                asm.op(if at_least { vex::PMAXUD } else { vex::PMINUD }, SPARE, asm_first, second);
                asm.op(vex::PCMPEQD, to, SPARE, asm_first);
            }
            Test::Float(predicate) => asm.compare_floats(to, asm_first, second, predicate),
        }
        gather(emitter, to, group);
    });
    if compare.inverted {
        emitter.asm.not(emitter.mask(), RAX);
    }
    store_mask(emitter, mask);
    true
}

/// A sum with its carries, and with those of a mask added. Carries may have no destination.
fn carry(emitter: &mut Emitter, step: &Step, op: Vex, carries: Option<u8>) -> bool {
    let mask = scalar_destination(step.inst.sdst, emitter.mask());
    if mask.is_none() && !step.inst.sdst.is_none() {
        return false;
    }
    for index in 0..2 {
        fill(emitter, step, index);
    }
    let (bits, whole) = (Ymm(FILLED + 4), Ymm(FILLED + 5));
    if carries.is_some() {
        fill_bits(emitter, bits);
    }
    groups(emitter.groups(), |group, to| {
        let left = load(emitter, input(step, 0), group, to);
        // A sum that did not wrap is at least its first part.
        emitter.asm.op(op, SPARE, left, input(step, 1).group(group));
        emitter.asm.op(vex::PMAXUD, EXTRA, SPARE, left);
        emitter.asm.op(vex::PCMPEQD, EXTRA, EXTRA, SPARE);
        if let Some(carries) = carries {
            spread(emitter, to, bits, carries, group);
            emitter.asm.op(vex::PSUBD, whole, SPARE, to);
            emitter.asm.op(vex::PMAXUD, to, SPARE, whole);
            emitter.asm.op(vex::PCMPEQD, to, to, whole);
            emitter.asm.op(vex::PAND, EXTRA, EXTRA, to);
            emitter.asm.store_vector(Emitter::group(step.dst, group), whole);
        } else {
            emitter.asm.store_vector(Emitter::group(step.dst, group), SPARE);
        }
        if mask.is_some() {
            gather(emitter, EXTRA, group);
        }
    });
    if let Some(mask) = mask {
        emitter.asm.not(emitter.mask(), RAX);
        store_mask(emitter, mask);
    }
    true
}
