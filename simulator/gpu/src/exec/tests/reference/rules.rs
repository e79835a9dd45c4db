// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules of one lane of a vector instruction, by mnemonic.

use super::real::{self, F16, F32, F64, Format, Round};
use super::{convert, floats, integers, packed};
use std::cmp::Ordering;

/// The kind of an operand of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandKind {
    B16,
    B32,
    B64,
    F16,
    F32,
    F64,
}

impl OperandKind {
    pub(crate) fn is_float(self) -> bool {
        self.float().is_some()
    }

    pub(super) fn registers(self) -> usize {
        match self {
            Self::B64 | Self::F64 => 2,
            _ => 1,
        }
    }

    /// The format of a float.
    pub(super) fn float(self) -> Option<Format> {
        match self {
            Self::F16 => Some(F16),
            Self::F32 => Some(F32),
            Self::F64 => Some(F64),
            _ => None,
        }
    }

    /// The format with the width of a constant.
    pub(super) fn width(self) -> Format {
        match self {
            Self::B16 | Self::F16 => F16,
            Self::B32 | Self::F32 => F32,
            _ => F64,
        }
    }
}

/// The state of a lane beside its sources.
pub(super) struct Lane {
    /// The MODE register.
    pub(super) mode: u32,
    /// Its number.
    pub(super) number: usize,
    /// The destination's old value.
    pub(super) old: u64,
    /// The lane's bit of VCC.
    pub(super) vcc: bool,
    /// Whether the instruction clamps.
    pub(super) clamp: bool,
    /// Bits of op_sel that choose a byte of the destination.
    pub(super) byte: u32,
}

impl Lane {
    /// The rounding of results of a format.
    pub(super) fn round(&self, format: Format) -> Round {
        Round::from_mode(if format == F32 { self.mode } else { self.mode >> 2 })
    }

    /// A source, or zero for a denormal that the mode flushes.
    pub(super) fn flushed(&self, format: Format, bits: u64) -> u64 {
        let keeps = self.mode >> if format == F32 { 4 } else { 6 } & 1 != 0;
        if !keeps && format.is_denormal(bits) { bits & format.sign() } else { bits }
    }

    /// A result, or zero for a denormal that the mode flushes.
    pub(super) fn flushed_result(&self, format: Format, bits: u64) -> u64 {
        let keeps = self.mode >> if format == F32 { 5 } else { 7 } & 1 != 0;
        if !keeps && format.is_denormal(bits) { bits & format.sign() } else { bits }
    }

    pub(super) fn ieee(&self) -> bool {
        self.mode & 0x200 != 0
    }
}

type Function = Box<dyn Fn(&Lane, &[u64]) -> u64>;

/// One instruction: its operands and the function of a lane.
pub(super) struct Rule {
    pub(super) dst: OperandKind,
    pub(super) src: Vec<OperandKind>,
    pub(super) value: Function,
    /// The tolerance of a float result, in units of the last place.
    pub(super) ulp: u32,
    /// Whether a NaN is computed, not selected or made by a rule of its own.
    pub(super) any_nan: bool,
    /// Whether the destination's old value is a source.
    pub(super) accumulates: bool,
}

impl Rule {
    pub(super) fn new(
        dst: OperandKind,
        src: &[OperandKind],
        value: impl Fn(&Lane, &[u64]) -> u64 + 'static,
    ) -> Self {
        Self {
            dst,
            src: src.to_vec(),
            value: Box::new(value),
            ulp: 0,
            any_nan: dst.float().is_some(),
            accumulates: false,
        }
    }

    /// With a tolerance.
    pub(super) fn within(self, ulp: u32) -> Self {
        Self { ulp, ..self }
    }

    /// Bits that are chosen or moved, so that a NaN is exact.
    pub(super) fn exact(self) -> Self {
        Self { any_nan: false, ..self }
    }
}

/// The rule of a mnemonic with one result and without access to other lanes.
pub(super) fn rule(name: &str) -> Option<Rule> {
    let stem = name.strip_prefix("v_")?;
    if let Some(rule) = integers::rule(stem).or_else(|| convert::rule(stem)).or_else(|| packed::rule(stem)) {
        return Some(rule);
    }
    let (stem, ty) = stem.rsplit_once('_')?;
    let format = match ty {
        "f16" => F16,
        "f32" => F32,
        "f64" => F64,
        _ => return None,
    };
    let rule = floats::rule(stem, format)?;
    let chooses = ["min", "max", "min3", "max3", "med3", "div_fixup", "div_fixup_legacy"].contains(&stem)
        || stem.starts_with("cube") && stem != "cubema";
    let rule = if chooses { rule.exact() } else { rule };
    Some(Rule { accumulates: ["fmac", "mac", "mac_legacy"].contains(&stem), ..rule })
}

/// Kinds of a compare's sources and its test.
pub(super) type Compare = (Vec<OperandKind>, Box<dyn Fn(&[u64]) -> bool>);

/// The test of a compare: the name behind `v_cmp_` or `v_cmpx_`.
pub(super) fn compare(name: &str) -> Option<Compare> {
    let (test, ty) = name.split_once('_')?;
    let kind = match ty {
        "f16" => OperandKind::F16,
        "f32" => OperandKind::F32,
        "f64" => OperandKind::F64,
        "i16" | "u16" => OperandKind::B16,
        "i32" | "u32" => OperandKind::B32,
        _ => OperandKind::B64,
    };
    if test == "class" {
        let format = kind.float()?;
        return Some((vec![kind, OperandKind::B32], Box::new(move |s| s[1] >> class(format, s[0]) & 1 != 0)));
    }
    let signed = ty.starts_with('i');
    let bits = kind.width().bits();
    let order = move |s: &[u64]| match kind.float() {
        Some(format) => real::order(format, s[0], s[1]),
        None if signed => Some(integers::signed(s[0], bits).cmp(&integers::signed(s[1], bits))),
        None => Some(s[0].cmp(&s[1])),
    };
    let (negated, test) = match test.strip_prefix('n') {
        Some(inner) if kind.float().is_some() && !inner.is_empty() => (true, inner),
        _ => (false, test),
    };
    // With floats `neq` is the negation of `eq`; with integers `ne` has no other meaning.
    let wanted: fn(Option<Ordering>) -> bool = match test {
        "f" => |_| false,
        "lt" => |o| o == Some(Ordering::Less),
        "eq" => |o| o == Some(Ordering::Equal),
        "le" => |o| matches!(o, Some(Ordering::Less | Ordering::Equal)),
        "gt" => |o| o == Some(Ordering::Greater),
        "lg" => |o| matches!(o, Some(Ordering::Less | Ordering::Greater)),
        "ne" => |o| o != Some(Ordering::Equal),
        "ge" => |o| matches!(o, Some(Ordering::Greater | Ordering::Equal)),
        "o" => |o| o.is_some(),
        "u" => |o| o.is_none(),
        "tru" | "t" => |_| true,
        _ => return None,
    };
    Some((vec![kind; 2], Box::new(move |s| wanted(order(s)) != negated)))
}

/// The number of a float's class.
fn class(format: Format, bits: u64) -> u32 {
    let negative = format.is_negative(bits);
    let pair = |minus, plus| if negative { minus } else { plus };
    if format.is_signalling(bits) {
        0
    } else if format.is_nan(bits) {
        1
    } else if format.is_infinite(bits) {
        pair(2, 9)
    } else if format.is_zero(bits) {
        pair(5, 6)
    } else if format.is_denormal(bits) {
        pair(4, 7)
    } else {
        pair(3, 8)
    }
}
