// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kind of an operand's lanes: it decides how modifiers and float modes apply.

/// The kind of an operand's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneKind {
    /// 32 bits without a sign.
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
    /// The bits of a single. They have a sign; denormals are not flushed.
    RawF32,
    /// The bits of a half, in the same way.
    RawF16,
    /// The bits of a double, in the same way.
    RawF64,
}

impl LaneKind {
    /// Whether it is half of a register.
    #[inline(always)]
    pub(crate) fn is_half(self) -> bool {
        matches!(self, Self::B16 | Self::F16 | Self::RawF16)
    }
}
