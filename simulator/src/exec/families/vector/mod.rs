// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vector arithmetic: a file for each type of operand, and files for carries, compares, conversions and lanes.

mod carry;
mod compare;
mod convert;
mod crosslane;
mod double;
mod eighths;
mod halves;
mod integer;
mod saturate;
mod short;
mod single;

use crate::exec::machine::handler::Versions;
use crate::isa::{Element, Inst};

/// The handler of a vector instruction that is neither packed nor matrix.
pub(crate) fn versions(inst: &Inst) -> Option<Versions> {
    let op = inst.op;
    let integer = matches!(inst.dst_type.element, Element::B32 | Element::B64 | Element::I16);
    let indifferent = saturate::always_fits(op) || saturate::clamps_itself(op);
    if inst.mods.clamp && integer && !is_compare(inst) && !indifferent {
        return saturate::versions(op);
    }
    single::versions(op)
        .or_else(|| integer::versions(op))
        .or_else(|| integer::permute(op))
        .or_else(|| carry::versions(op))
        .or_else(|| compare::versions(op))
        .or_else(|| convert::versions(op))
        .or_else(|| crosslane::versions(op))
        .or_else(|| double::versions(op))
        .or_else(|| halves::versions(op))
        .or_else(|| short::versions(op))
        .or_else(|| eighths::versions(op))
        .or_else(|| super::packed::accumulating(op))
}

/// Whether an instruction compares. Its clamp bit only enables exceptions.
fn is_compare(inst: &Inst) -> bool {
    inst.op.mnemonic().starts_with("v_cmp")
}
