// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elements of collective operations, and their reductions.
//!
//! Floats of 8 and 16 bits are reduced as singles, and rounded once at the end. Ranks are reduced in their order.

use half::{bf16, f16};
use windlass_hip_sys::rccl::{ncclDataType_t, ncclRedOp_t};

use crate::exec::eighth;

/// A reduction of the elements of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Sum,
    Product,
    Greatest,
    Least,
    /// The sum divided by the number of ranks.
    Average,
    /// The sum of the elements, each multiplied by a factor of its rank.
    ScaledSum,
}

impl Reduction {
    /// The reduction of a number below `ncclNumOps`.
    pub(crate) fn from_op(op: ncclRedOp_t) -> Option<Self> {
        Some(match op {
            ncclRedOp_t::ncclSum => Self::Sum,
            ncclRedOp_t::ncclProd => Self::Product,
            ncclRedOp_t::ncclMax => Self::Greatest,
            ncclRedOp_t::ncclMin => Self::Least,
            ncclRedOp_t::ncclAvg => Self::Average,
            _ => return None,
        })
    }
}

/// Reduces the elements of all ranks, which are equally many. `factors` has a factor of each rank for
/// [`Reduction::ScaledSum`], spelled as an element.
pub(crate) fn reduce(
    element: ncclDataType_t,
    reduction: Reduction,
    ranks: &[Vec<u8>],
    factors: &[[u8; 8]],
) -> Vec<u8> {
    match element {
        ncclDataType_t::ncclInt8 => fold::<i8>(reduction, ranks, factors),
        ncclDataType_t::ncclUint8 => fold::<u8>(reduction, ranks, factors),
        ncclDataType_t::ncclInt32 => fold::<i32>(reduction, ranks, factors),
        ncclDataType_t::ncclUint32 => fold::<u32>(reduction, ranks, factors),
        ncclDataType_t::ncclInt64 => fold::<i64>(reduction, ranks, factors),
        ncclDataType_t::ncclUint64 => fold::<u64>(reduction, ranks, factors),
        ncclDataType_t::ncclFloat16 => fold::<f16>(reduction, ranks, factors),
        ncclDataType_t::ncclFloat32 => fold::<f32>(reduction, ranks, factors),
        ncclDataType_t::ncclFloat64 => fold::<f64>(reduction, ranks, factors),
        ncclDataType_t::ncclBfloat16 => fold::<bf16>(reduction, ranks, factors),
        ncclDataType_t::ncclFloat8e4m3 => fold::<E4m3>(reduction, ranks, factors),
        ncclDataType_t::ncclFloat8e5m2 => fold::<E5m2>(reduction, ranks, factors),
        // No other type passes the checks of a call.
        _ => Vec::new(),
    }
}

/// A number as it lies in memory.
trait Number {
    const SIZE: usize;
    /// The numbers that are added up.
    type Wide: Arithmetic;

    fn read(bytes: &[u8]) -> Self::Wide;
    fn write(value: Self::Wide, to: &mut Vec<u8>);
}

trait Arithmetic: Copy {
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
    fn least(self, other: Self) -> Self;
    fn shared_by(self, ranks: usize) -> Self;
}

fn fold<N: Number>(reduction: Reduction, ranks: &[Vec<u8>], factors: &[[u8; 8]]) -> Vec<u8> {
    let factors: Vec<Option<N::Wide>> = (0..ranks.len())
        .map(|rank| match reduction {
            Reduction::ScaledSum => factors.get(rank).and_then(|bytes| bytes.get(..N::SIZE)).map(N::read),
            _ => None,
        })
        .collect();
    let length = ranks.iter().map(Vec::len).min().unwrap_or(0);
    let mut reduced = Vec::with_capacity(length);
    for at in (0..length).step_by(N::SIZE) {
        let of_ranks = ranks.iter().zip(&factors).filter_map(|(bytes, factor)| {
            let value = N::read(bytes.get(at..at + N::SIZE)?);
            Some(factor.map_or(value, |factor| value.times(factor)))
        });
        let joined = of_ranks.reduce(|all, next| match reduction {
            Reduction::Sum | Reduction::Average | Reduction::ScaledSum => all.plus(next),
            Reduction::Product => all.times(next),
            Reduction::Greatest => all.greatest(next),
            Reduction::Least => all.least(next),
        });
        let Some(joined) = joined else { break };
        let average = reduction == Reduction::Average;
        N::write(if average { joined.shared_by(ranks.len()) } else { joined }, &mut reduced);
    }
    reduced
}

/// The bytes of a number, of which there are as many as its size.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Number for $type {
            const SIZE: usize = size_of::<$type>();
            type Wide = $type;

            fn read(bytes: &[u8]) -> $type {
                $type::from_le_bytes(array(bytes))
            }

            fn write(value: $type, to: &mut Vec<u8>) {
                to.extend_from_slice(&value.to_le_bytes());
            }
        }

        impl Arithmetic for $type {
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }

            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            fn shared_by(self, ranks: usize) -> Self {
                // More ranks than the type can count leave nothing for each.
                $type::try_from(ranks).map_or(0, |ranks| self.checked_div(ranks).unwrap_or(self))
            }
        }
    )*};
}

integers! { i8 u8 i32 u32 i64 u64 }

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Arithmetic for $type {
            fn plus(self, other: Self) -> Self {
                self + other
            }

            fn times(self, other: Self) -> Self {
                self * other
            }

            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }

            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            fn shared_by(self, ranks: usize) -> Self {
                self / ranks as $type
            }
        }
    )*};
}

floats! { f32 f64 }

/// Floats that are read into a wider type and written from it.
macro_rules! through {
    ($($type:ident: $size:literal, $wide:ident, $read:expr, $write:expr;)*) => {$(
        impl Number for $type {
            const SIZE: usize = $size;
            type Wide = $wide;

            fn read(bytes: &[u8]) -> $wide {
                let read: fn([u8; $size]) -> $wide = $read;
                read(array(bytes))
            }

            fn write(value: $wide, to: &mut Vec<u8>) {
                let write: fn($wide) -> [u8; $size] = $write;
                to.extend_from_slice(&write(value));
            }
        }
    )*};
}

/// A byte with 4 bits of exponent, as gfx942 has it.
struct E4m3;
/// A byte with 5 bits of exponent, as gfx942 has it.
struct E5m2;

through! {
    f32: 4, f32, f32::from_le_bytes, f32::to_le_bytes;
    f64: 8, f64, f64::from_le_bytes, f64::to_le_bytes;
    f16: 2, f32, |bytes| f16::from_le_bytes(bytes).to_f32(), |value| f16::from_f32(value).to_le_bytes();
    bf16: 2, f32, |bytes| bf16::from_le_bytes(bytes).to_f32(), |value| bf16::from_f32(value).to_le_bytes();
    E4m3: 1, f32, |[byte]| eighth::fp8_to_f32(byte.into()), |value| [eighth::f32_to_fp8(value, true) as u8];
    E5m2: 1, f32, |[byte]| eighth::bf8_to_f32(byte.into()), |value| [eighth::f32_to_bf8(value, true) as u8];
}
