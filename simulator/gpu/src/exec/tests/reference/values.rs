// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inputs: random bits and edge values.

use super::real::{F16, F32, F64, Format};
use super::rules::OperandKind;
use super::text::{Operand, What};
use crate::exec::machine::wave::Wave;

/// A register that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Register {
    Vector(usize),
    Scalar(usize),
}

impl Register {
    pub(super) fn from_operand(operand: &Operand<'_>) -> Option<Self> {
        match operand.what {
            What::Vector(number) => Some(Self::Vector(number)),
            What::Scalar(number) => Some(Self::Scalar(number)),
            _ => None,
        }
    }
}

/// A float: an edge, any bits, or a number near 1.
fn float(format: Format, next: &mut impl FnMut() -> u64) -> u64 {
    let one = (format.bias() as u64) << format.mantissa;
    let sign = if next() & 1 != 0 { format.sign() } else { 0 };
    let fraction = (1 << format.mantissa) - 1;
    let edges = [
        0,
        one,
        one + 1,
        one - 1,
        one + (1 << (format.mantissa - 1)),
        // 0.5, 2, 2.5, the integers' limits, and where whole numbers begin.
        one - (1 << format.mantissa),
        one + (1 << format.mantissa),
        one + (1 << format.mantissa) + (1 << (format.mantissa - 2)),
        one + (31u64.min((1 << (format.exponent - 1)) - 1) << format.mantissa),
        one + (31u64.min((1 << (format.exponent - 1)) - 1) << format.mantissa) - 1,
        one + (u64::from(format.mantissa) << format.mantissa),
        one + (u64::from(format.mantissa - 1) << format.mantissa) + 1,
        1,
        fraction,
        fraction + 1,
        format.infinity() - 1,
        format.infinity(),
        format.nan(),
        format.nan() | 5,
        // A signalling NaN.
        format.infinity() | 1,
    ];
    match next() % 8 {
        0..=2 => edges[next() as usize % edges.len()] | sign,
        3 => next() & (u64::MAX >> (64 - format.bits())),
        _ => {
            let spread = (next() % 12) as i64 - 6;
            let exponent = (i64::from(format.bias()) + spread) as u64;
            exponent << format.mantissa | next() & fraction | sign
        }
    }
}

fn integer(bits: u32, next: &mut impl FnMut() -> u64) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let top = 1u64 << (bits - 1);
    let edges =
        [0, 1, 2, mask, mask - 1, top, top - 1, top + 1, 31, 32, 63, 64, 0xff, 0x8000, 0x7fff, 0xffff];
    let value = match next() % 4 {
        0 => edges[next() as usize % edges.len()],
        1 => next() % 70,
        _ => next(),
    };
    value & mask
}

/// A value of a kind.
fn value(kind: OperandKind, next: &mut impl FnMut() -> u64) -> u64 {
    match kind {
        OperandKind::F16 => float(F16, next) | float(F16, next) << 16,
        OperandKind::F32 => float(F32, next),
        OperandKind::F64 => float(F64, next),
        OperandKind::B16 => integer(16, next) | integer(16, next) << 16,
        // Bits of unknown meaning are halves or integers.
        OperandKind::B32 if next().is_multiple_of(4) => float(F16, next) | float(F16, next) << 16,
        OperandKind::B32 => integer(32, next),
        OperandKind::B64 => integer(64, next),
    }
}

/// Puts values of a kind into a register.
pub(crate) fn fill(wave: &mut Wave, register: Register, kind: OperandKind, next: &mut impl FnMut() -> u64) {
    match register {
        Register::Vector(number) => {
            for lane in 0..64 {
                let bits = value(kind, next);
                wave.v[number][lane] = bits as u32;
                if kind.registers() > 1 {
                    wave.v[number + 1][lane] = (bits >> 32) as u32;
                }
            }
        }
        // EXEC selects the lanes, M0 registers: the tests set both.
        Register::Scalar(124 | 126 | 127) => {}
        Register::Scalar(number) => {
            let bits = value(kind, next);
            wave.s[number] = bits as u32;
            if kind.registers() > 1 {
                wave.s[number + 1] = (bits >> 32) as u32;
            }
        }
    }
}
