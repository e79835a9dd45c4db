// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data that a memory instruction moves, by its mnemonic: one description for all address spaces.

use crate::exec::values::rmw::Rmw;
use crate::isa::Op;

/// The access of one lane of a memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Not a memory instruction, or one without data.
    None,
    /// Memory to registers.
    Load(Width),
    /// Registers to memory.
    Store(Width),
    /// Memory to registers, converted from a buffer's format.
    LoadFormat(Components),
    /// Registers to memory, converted to a buffer's format.
    StoreFormat(Components),
    /// A read-modify-write.
    Atomic {
        /// The function that makes the new value.
        rmw: Rmw,
        /// Whether the word has 64 bits.
        wide: bool,
    },
}

/// The size of the data, and its place in the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// Whole registers.
    Dwords(u8),
    /// A byte.
    Byte(RegisterPlace),
    /// Two bytes.
    Short(RegisterPlace),
}

/// The place of a byte or of two bytes in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegisterPlace {
    /// In the low bits; a load clears the rest.
    Unsigned,
    /// In the low bits; a load repeats the sign in the rest.
    Signed,
    /// In the low half.
    LowHalf {
        /// Whether a byte repeats its sign in the half.
        signed: bool,
        /// Whether a load keeps the high half. With ECC, registers are written whole, and a load clears it.
        keeps: bool,
    },
    /// In the high half.
    HighHalf {
        /// Whether a byte repeats its sign in the half.
        signed: bool,
        /// Whether a load keeps the low half; else it clears it.
        keeps: bool,
    },
}

/// The components of an element, and how they lie in the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Components {
    /// This many, one register each.
    Whole(u8),
    /// This many, two in a register, the first in its low half. A load clears or keeps a half without a component, as with
    /// [`RegisterPlace::LowHalf`].
    Halves(u8),
    /// One, in the high half of a register. A load clears or keeps the low half.
    HighHalf,
}

impl Components {
    /// The number of components.
    pub(crate) fn count(self) -> u8 {
        match self {
            Self::Whole(count) | Self::Halves(count) => count,
            Self::HighHalf => 1,
        }
    }

    /// Whether each component is half a register.
    pub(crate) fn are_halves(self) -> bool {
        !matches!(self, Self::Whole(_))
    }

    /// The register of a component, counted from the first, and the half of it if it has only one.
    pub(crate) fn place(self, component: u8) -> (u16, Option<u8>) {
        match self {
            Self::Whole(_) => (component.into(), None),
            Self::Halves(_) => ((component / 2).into(), Some(component % 2)),
            Self::HighHalf => (0, Some(1)),
        }
    }

    /// The components in the part of a mnemonic behind `format_`: `xyz`, `d16_xy`, `d16_hi_x`.
    fn named(name: &str) -> Self {
        match name.strip_prefix("d16_") {
            Some("hi_x") => Self::HighHalf,
            Some(letters) => Self::Halves(letters.len() as u8),
            None => Self::Whole(name.len() as u8),
        }
    }
}

impl Width {
    /// The size in memory, in bytes.
    pub(crate) fn size(self) -> u64 {
        match self {
            Self::Dwords(count) => u64::from(count) * 4,
            Self::Byte(_) => 1,
            Self::Short(_) => 2,
        }
    }
}

impl Shape {
    /// The shape of an instruction of any address space.
    pub(crate) fn of(op: Op) -> Self {
        let name = op.mnemonic();
        let Some((space, rest)) = name.split_once('_') else { return Self::None };
        match space {
            "flat" | "global" | "scratch" | "buffer" | "tbuffer" => vector_memory(rest),
            "ds" => lds(rest),
            "s" => rest
                .strip_prefix("buffer_")
                .unwrap_or(rest)
                .strip_prefix("atomic_")
                .map_or(Self::None, atomic),
            _ => Self::None,
        }
    }
}

impl Shape {
    /// The shape where loads keep the other half of a register.
    pub(crate) fn keeping(self) -> Self {
        let kept = |place| match place {
            RegisterPlace::LowHalf { signed, .. } => RegisterPlace::LowHalf { signed, keeps: true },
            RegisterPlace::HighHalf { signed, .. } => RegisterPlace::HighHalf { signed, keeps: true },
            whole => whole,
        };
        match self {
            Self::Load(Width::Byte(place)) => Self::Load(Width::Byte(kept(place))),
            Self::Load(Width::Short(place)) => Self::Load(Width::Short(kept(place))),
            other => other,
        }
    }
}

fn vector_memory(name: &str) -> Shape {
    let (action, what) = name.split_once('_').unwrap_or((name, ""));
    // A load may go to LDS.
    let what = what.strip_prefix("lds_").filter(|_| action == "load").unwrap_or(what);
    if let Some(letters) = what.strip_prefix("format_") {
        let components = Components::named(letters);
        return if action == "load" { Shape::LoadFormat(components) } else { Shape::StoreFormat(components) };
    }
    // Each lane adds its number to the address.
    let what = what.strip_prefix("addtid_").unwrap_or(what);
    match action {
        "load" => part(what).map_or(Shape::None, Shape::Load),
        "store" => part(what).map_or(Shape::None, Shape::Store),
        "atomic" => atomic(what),
        _ => Shape::None,
    }
}

fn atomic(name: &str) -> Shape {
    let (name, wide) = match name.strip_suffix("_x2") {
        Some(name) => (name, true),
        None => (name, name.ends_with("f64")),
    };
    Rmw::named(name).map_or(Shape::None, |rmw| Shape::Atomic { rmw, wide })
}

/// The part in the end of a mnemonic: `sbyte_d16_hi` of vector memory, `u16_d16` of LDS.
fn part(name: &str) -> Option<Width> {
    let place = |signed| {
        if name.ends_with("_d16_hi") {
            RegisterPlace::HighHalf { signed, keeps: false }
        } else if name.ends_with("_d16") {
            RegisterPlace::LowHalf { signed, keeps: false }
        } else if signed {
            RegisterPlace::Signed
        } else {
            RegisterPlace::Unsigned
        }
    };
    Some(match name.split('_').next()? {
        "ubyte" | "byte" | "u8" | "b8" => Width::Byte(place(false)),
        "sbyte" | "i8" => Width::Byte(place(true)),
        "ushort" | "short" | "u16" | "b16" => Width::Short(place(false)),
        "sshort" | "i16" => Width::Short(place(true)),
        "dword" | "b32" => Width::Dwords(1),
        "dwordx2" | "b64" => Width::Dwords(2),
        "dwordx3" | "b96" => Width::Dwords(3),
        "dwordx4" | "b128" => Width::Dwords(4),
        _ => return None,
    })
}

fn lds(name: &str) -> Shape {
    let (action, what) = name.split_once('_').unwrap_or((name, ""));
    let action = action.strip_suffix("st64").unwrap_or(action);
    match action {
        "read" | "read2" => part(what).map_or(Shape::None, Shape::Load),
        "write" | "write2" => part(what).map_or(Shape::None, Shape::Store),
        _ => {
            // add_rtn_u32, cmpst_b64, pk_add_rtn_bf16, wrxchg2_rtn_b32
            let name = name.replace("st64", "").replace("wrxchg2", "wrxchg").replace("_rtn", "");
            let wide = name.ends_with("64");
            Rmw::named_in_lds(&name).map_or(Shape::None, |rmw| Shape::Atomic { rmw, wide })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_say_what_is_moved() {
        let cases = [
            (Op::global_load_dwordx3, Shape::Load(Width::Dwords(3))),
            (Op::buffer_load_ubyte, Shape::Load(Width::Byte(RegisterPlace::Unsigned))),
            (
                Op::flat_load_sbyte_d16_hi,
                Shape::Load(Width::Byte(RegisterPlace::HighHalf { signed: true, keeps: false })),
            ),
            (
                Op::global_load_short_d16,
                Shape::Load(Width::Short(RegisterPlace::LowHalf { signed: false, keeps: false })),
            ),
            (
                Op::scratch_store_short_d16_hi,
                Shape::Store(Width::Short(RegisterPlace::HighHalf { signed: false, keeps: false })),
            ),
            (Op::global_load_lds_dword, Shape::Load(Width::Dwords(1))),
            (Op::global_load_addtid_b32, Shape::Load(Width::Dwords(1))),
            (Op::ds_read2st64_b64, Shape::Load(Width::Dwords(2))),
            (
                Op::ds_write_b8_d16_hi,
                Shape::Store(Width::Byte(RegisterPlace::HighHalf { signed: false, keeps: false })),
            ),
            (Op::ds_read_i16, Shape::Load(Width::Short(RegisterPlace::Signed))),
            (Op::global_atomic_cmpswap_x2, Shape::Atomic { rmw: Rmw::CompareSwap, wide: true }),
            (Op::global_atomic_add_f64, Shape::Atomic { rmw: Rmw::AddF64, wide: true }),
            (Op::buffer_atomic_smax, Shape::Atomic { rmw: Rmw::MaxI, wide: false }),
            (Op::s_buffer_atomic_umin_x2, Shape::Atomic { rmw: Rmw::MinU, wide: true }),
            (Op::ds_add_rtn_u32, Shape::Atomic { rmw: Rmw::Add, wide: false }),
            (Op::ds_max_rtn_i64, Shape::Atomic { rmw: Rmw::MaxI, wide: true }),
            (Op::ds_pk_add_rtn_bf16, Shape::Atomic { rmw: Rmw::AddPackedBf16, wide: false }),
            (Op::ds_cmpst_b64, Shape::Atomic { rmw: Rmw::CompareStore, wide: true }),
            (Op::ds_wrxchg2st64_rtn_b32, Shape::Atomic { rmw: Rmw::Swap, wide: false }),
            (Op::buffer_wbl2, Shape::None),
            (Op::ds_bpermute_b32, Shape::None),
            (Op::buffer_load_format_xyz, Shape::LoadFormat(Components::Whole(3))),
            (Op::tbuffer_store_format_d16_xy, Shape::StoreFormat(Components::Halves(2))),
            (Op::buffer_load_format_d16_hi_x, Shape::LoadFormat(Components::HighHalf)),
        ];
        for (op, shape) in cases {
            assert_eq!(Shape::of(op), shape, "{}", op.mnemonic());
        }
    }
}
