// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vector arithmetic: a file for each type of operand, and files for carries, compares, conversions and lanes.

mod bits;
mod carry;
mod compare;
mod convert;
mod crosslane;
mod double;
mod eighths;
mod halves;
mod integer;
mod pairs;
mod permlane;
mod pseudo;
mod saturate;
mod scaled;
mod short;
mod single;

use crate::exec::machine::handler::Compilations;
use crate::isa::{Element, Inst, Op};

/// The handler of a vector instruction that is neither packed nor matrix.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    let op = inst.op;
    let integer = matches!(inst.dst_type.element, Element::B32 | Element::B64 | Element::I16);
    // The clamp bit of a compare only enables exceptions.
    let compares = op.comparison().is_some();
    let indifferent = saturate::always_fits(op) || saturate::clamps_itself(op);
    if inst.mods.clamp && integer && !compares && !indifferent {
        return saturate::compilations(op);
    }
    // No document says how the two results are scaled.
    if matches!(op, Op::v_cvt_pk_f16_f32 | Op::v_cvt_pk_bf16_f32) && inst.mods.omod != 0 {
        return None;
    }
    single::compilations(op)
        .or_else(|| integer::compilations(op))
        .or_else(|| integer::permute(op))
        .or_else(|| pairs::compilations(op))
        .or_else(|| carry::compilations(op))
        .or_else(|| compare::compilations(op))
        .or_else(|| convert::compilations(op))
        .or_else(|| convert::brain(op))
        .or_else(|| crosslane::compilations(op))
        .or_else(|| double::compilations(op))
        .or_else(|| halves::compilations(op))
        .or_else(|| short::compilations(op))
        .or_else(|| eighths::compilations(op))
        .or_else(|| super::packed::accumulating(op))
        .or_else(|| super::dot::compilations(inst))
        .or_else(|| permlane::compilations(op))
        .or_else(|| pseudo::compilations(op))
        .or_else(|| bits::compilations(op))
        .or_else(|| bits::tables(op))
        .or_else(|| scaled::compilations(inst))
}
