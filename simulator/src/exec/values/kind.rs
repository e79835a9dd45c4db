// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kind of an operand's lanes, as far as modifiers and float modes care.

/// What modifiers mean to an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Bits: no negation.
    B32,
    /// The low or high half of a register.
    B16,
    /// Single precision.
    F32,
    /// Half precision in half of a register.
    F16,
    /// Bits in a register pair.
    B64,
    /// Double precision.
    F64,
    /// The bits of a single, which have a sign but are not flushed.
    RawF32,
    /// The bits of a half, likewise.
    RawF16,
    /// The bits of a double, likewise.
    RawF64,
}
