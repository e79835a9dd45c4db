// SPDX-License-Identifier: MIT OR Apache-2.0
//! Read-modify-writes: from the old value and the operands to the new value.

use crate::exec::values::extremum::{max_num_f32, max_num_f64, min_num_f32, min_num_f64};
use crate::exec::values::float::{max_f32, max_f64, min_f32, min_f64};
use crate::exec::values::half::{f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::nan::{carried, delivered};

/// The function of a read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rmw {
    /// The operand.
    Swap,
    /// The operand if the old value equals the comparand. The comparand is the second operand, as in memory
    /// instructions.
    CompareSwap,
    /// The same, comparing floats.
    CompareSwapF,
    /// As `CompareSwap`, but the comparand is the first operand, as in LDS instructions of GFX9.
    CompareStore,
    /// Like `CompareStore`, comparing floats.
    CompareStoreF,
    /// Sum.
    Add,
    /// Old minus operand.
    Sub,
    /// Old minus operand, at least zero.
    SubClamped,
    /// Old minus operand if old is at least the operand; otherwise old.
    SubConditional,
    /// Operand minus old.
    ReverseSub,
    /// Signed minimum.
    MinI,
    /// Unsigned minimum.
    MinU,
    /// Signed maximum.
    MaxI,
    /// Unsigned maximum.
    MaxU,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Old plus one, or zero if old is at least the operand.
    Increment,
    /// Old minus one, or the operand if old is zero or greater than the operand.
    Decrement,
    /// Old minus operand if old is at least the operand; otherwise old plus the second operand (`ds_wrap`).
    Wrap,
    /// Old without the bits of the first operand, with those of the second.
    MaskOr,
    /// Sum of singles.
    AddF32,
    /// Minimum of singles, or of doubles in a wide word.
    MinF,
    /// Maximum of singles, or of doubles in a wide word.
    MaxF,
    /// Minimum of floats in the same way, where any NaN is missing data.
    MinNumber,
    /// Maximum in that way.
    MaxNumber,
    /// Sum of doubles.
    AddF64,
    /// Sums of two halves.
    AddPackedF16,
    /// Sums of two bfloat16.
    AddPackedBf16,
}

/// The new value of a word of one width: the functions of both widths, and arms for those on floats.
macro_rules! apply {
    ($self:ident($old:ident, $a:ident, $b:ident): $signed:ty as $word:ty, $float:ident, { $($floats:tt)* }) => {
        match $self {
            Self::Swap => $a,
            Self::CompareSwap => if $old == $b { $a } else { $old },
            Self::CompareSwapF => if $float($old) == $float($b) { $a } else { $old },
            Self::CompareStore => if $old == $a { $b } else { $old },
            Self::CompareStoreF => if $float($old) == $float($a) { $b } else { $old },
            Self::Add => $old.wrapping_add($a),
            Self::Sub => $old.wrapping_sub($a),
            Self::SubClamped => $old.saturating_sub($a),
            Self::SubConditional => if $old >= $a { $old - $a } else { $old },
            Self::ReverseSub => $a.wrapping_sub($old),
            Self::MinI => ($old as $signed).min($a as $signed) as $word,
            Self::MinU => $old.min($a),
            Self::MaxI => ($old as $signed).max($a as $signed) as $word,
            Self::MaxU => $old.max($a),
            Self::And => $old & $a,
            Self::Or => $old | $a,
            Self::Xor => $old ^ $a,
            Self::Increment => if $old >= $a { 0 } else { $old + 1 },
            Self::Decrement => if $old == 0 || $old > $a { $a } else { $old - 1 },
            Self::Wrap => if $old >= $a { $old - $a } else { $old.wrapping_add($b) },
            Self::MaskOr => $old & !$a | $b,
            $($floats)*
        }
    };
}

impl Rmw {
    /// Whether it takes a second operand.
    pub(crate) fn takes_two(self) -> bool {
        matches!(
            self,
            Self::CompareSwap
                | Self::CompareSwapF
                | Self::CompareStore
                | Self::CompareStoreF
                | Self::Wrap
                | Self::MaskOr
        )
    }

    /// The new value of a 32-bit word. `a` and `b` are the operands in the order of the registers.
    pub(crate) fn apply32(self, old: u32, a: u32, b: u32) -> u32 {
        let float = f32::from_bits;
        apply!(self(old, a, b): i32 as u32, float, {
            Self::AddF32 => sum(LaneKind::F32, old.into(), a.into(), |old, a| {
                (float(old as u32) + float(a as u32)).to_bits().into()
            }) as u32,
            Self::MinF => min_f32(float(old), float(a)).to_bits(),
            Self::MaxF => max_f32(float(old), float(a)).to_bits(),
            // The operand is the first of the two.
            Self::MinNumber => min_num_f32(float(a), float(old)).to_bits(),
            Self::MaxNumber => max_num_f32(float(a), float(old)).to_bits(),
            Self::AddPackedF16 => {
                let half = |shift: u32| {
                    let (old, a) = (old >> shift & 0xffff, a >> shift & 0xffff);
                    sum(LaneKind::F16, old.into(), a.into(), |old, a| {
                        f32_to_f16(f16_to_f32(old as u32) + f16_to_f32(a as u32)).into()
                    }) as u32
                };
                half(0) | half(16) << 16
            }
            Self::AddPackedBf16 => {
                // A bfloat16 is the high half of a single.
                let half = |old: u32, a: u32| {
                    let (old, a) = (old & 0xffff_0000, a & 0xffff_0000);
                    sum(LaneKind::F32, old.into(), a.into(), |old, a| {
                        u64::from(f32_to_bf16(float(old as u32) + float(a as u32))) << 16
                    }) as u32
                };
                half(old << 16, a << 16) >> 16 | half(old, a)
            }
            Self::AddF64 => old,
        })
    }

    /// The new value of a 64-bit word.
    pub(crate) fn apply64(self, old: u64, a: u64, b: u64) -> u64 {
        let float = f64::from_bits;
        apply!(self(old, a, b): i64 as u64, float, {
            Self::AddF64 => sum(LaneKind::F64, old, a, |old, a| (float(old) + float(a)).to_bits()),
            Self::MinF => min_f64(float(old), float(a)).to_bits(),
            Self::MaxF => max_f64(float(old), float(a)).to_bits(),
            Self::MinNumber => min_num_f64(float(a), float(old)).to_bits(),
            Self::MaxNumber => max_num_f64(float(a), float(old)).to_bits(),
            Self::AddF32 | Self::AddPackedF16 | Self::AddPackedBf16 => old,
        })
    }
}

/// A sum of floats. The first NaN counts, made quiet: memory's before the operand's. The host's processor may choose
/// the other.
fn sum(kind: LaneKind, old: u64, a: u64, add: impl Fn(u64, u64) -> u64) -> u64 {
    match carried(old, kind).or_else(|| carried(a, kind)) {
        Some(nan) => delivered(Some(nan), kind),
        None => {
            let sum = add(old, a);
            // Infinities of different signs.
            if carried(sum, kind).is_some() { delivered(None, kind) } else { sum }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_as_documented() {
        assert_eq!(Rmw::Increment.apply32(7, 7, 0), 0);
        assert_eq!(Rmw::Increment.apply32(6, 7, 0), 7);
        assert_eq!(Rmw::Decrement.apply32(0, 7, 0), 7);
        assert_eq!(Rmw::Decrement.apply32(9, 7, 0), 7);
        assert_eq!(Rmw::Decrement.apply32(7, 7, 0), 6);
        assert_eq!(Rmw::CompareSwap.apply32(5, 1, 5), 1);
        assert_eq!(Rmw::CompareSwap.apply32(5, 1, 6), 5);
        assert_eq!(Rmw::CompareStore.apply64(5, 5, 1), 1);
        assert_eq!(Rmw::MinI.apply32(1, !0, 0), !0);
        assert_eq!(Rmw::MinU.apply32(1, !0, 0), 1);
        assert_eq!(Rmw::MaskOr.apply32(0xff, 0x0f, 0x03), 0xf3);
        assert_eq!(Rmw::ReverseSub.apply64(1, 3, 0), 2);
        assert_eq!(Rmw::AddPackedF16.apply32(0x3c00_4000, 0x3c00_3c00, 0), 0x4000_4200);
        assert_eq!(Rmw::AddPackedBf16.apply32(0x3f80_4000, 0x3f80_3f80, 0), 0x4000_4040);
        assert_eq!(Rmw::AddF32.apply32(0x7f80_0000, 0xff80_0000, 0), 0x7fc0_0000);
        assert_eq!(Rmw::AddPackedBf16.apply32(0xff81_3f80, 0x7fc5_3f80, 0), 0xffc1_4000);
        assert_eq!([7, 6].map(|old| Rmw::SubConditional.apply32(old, 7, 0)), [0, 6]);
        assert_eq!(Rmw::MaxNumber.apply32(0xff80_0001, 0x3f80_0000, 0), 0x3f80_0000);
        assert_eq!(Rmw::MinNumber.apply32(0xff80_0001, 0x7fc0_0002, 0), 0x7fc0_0002);
        assert_eq!(f64::from_bits(Rmw::MinF.apply64(f64::NAN.to_bits(), 1.5f64.to_bits(), 0)), 1.5);
    }
}
