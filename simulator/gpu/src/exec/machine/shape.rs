// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data that a memory instruction moves: one description for all address spaces.

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

/// The shape that lists of instructions have.
macro_rules! shapes {
    ($op:expr; $($shape:expr => $($name:ident)+;)+) => {
        match $op {
            $($(Op::$name)|+ => $shape,)+
            _ => Shape::None,
        }
    };
}

impl Shape {
    /// The shape of an instruction of any address space.
    pub(crate) fn of(op: Op) -> Self {
        use Components::{Halves, HighHalf, Whole};
        use RegisterPlace::{Signed, Unsigned};
        use Shape::{Load, LoadFormat, Store, StoreFormat};
        use Width::{Byte, Dwords, Short};
        let low = |signed| RegisterPlace::LowHalf { signed, keeps: false };
        let high = |signed| RegisterPlace::HighHalf { signed, keeps: false };
        let atomic32 = |rmw| Self::Atomic { rmw, wide: false };
        let atomic64 = |rmw| Self::Atomic { rmw, wide: true };
        shapes! { op;
            LoadFormat(Whole(1)) => buffer_load_format_x tbuffer_load_format_x buffer_load_lds_format_x;
            LoadFormat(Whole(2)) => buffer_load_format_xy tbuffer_load_format_xy;
            LoadFormat(Whole(3)) => buffer_load_format_xyz tbuffer_load_format_xyz;
            LoadFormat(Whole(4)) => buffer_load_format_xyzw tbuffer_load_format_xyzw;
            LoadFormat(Halves(1)) => buffer_load_format_d16_x tbuffer_load_format_d16_x;
            LoadFormat(Halves(2)) => buffer_load_format_d16_xy tbuffer_load_format_d16_xy;
            LoadFormat(Halves(3)) => buffer_load_format_d16_xyz tbuffer_load_format_d16_xyz;
            LoadFormat(Halves(4)) => buffer_load_format_d16_xyzw tbuffer_load_format_d16_xyzw;
            LoadFormat(HighHalf) => buffer_load_format_d16_hi_x;
            StoreFormat(Whole(1)) => buffer_store_format_x tbuffer_store_format_x;
            StoreFormat(Whole(2)) => buffer_store_format_xy tbuffer_store_format_xy;
            StoreFormat(Whole(3)) => buffer_store_format_xyz tbuffer_store_format_xyz;
            StoreFormat(Whole(4)) => buffer_store_format_xyzw tbuffer_store_format_xyzw;
            StoreFormat(Halves(1)) => buffer_store_format_d16_x tbuffer_store_format_d16_x;
            StoreFormat(Halves(2)) => buffer_store_format_d16_xy tbuffer_store_format_d16_xy;
            StoreFormat(Halves(3)) => buffer_store_format_d16_xyz tbuffer_store_format_d16_xyz;
            StoreFormat(Halves(4)) => buffer_store_format_d16_xyzw tbuffer_store_format_d16_xyzw;
            StoreFormat(HighHalf) => buffer_store_format_d16_hi_x;
            Load(Dwords(1)) => s_load_dword s_buffer_load_dword
                ds_read_b32 ds_read2_b32 ds_read2st64_b32 flat_load_dword global_load_dword
                global_load_lds_dword scratch_load_dword scratch_load_lds_dword buffer_load_dword
                global_load_addtid_b32 buffer_load_lds_b32;
            Load(Byte(Signed)) => ds_read_i8 flat_load_sbyte global_load_sbyte global_load_lds_sbyte
                scratch_load_sbyte scratch_load_lds_sbyte buffer_load_sbyte buffer_load_lds_i8;
            Load(Byte(Unsigned)) => ds_read_u8 flat_load_ubyte global_load_ubyte global_load_lds_ubyte
                scratch_load_ubyte scratch_load_lds_ubyte buffer_load_ubyte buffer_load_lds_u8;
            Load(Short(Signed)) => ds_read_i16 flat_load_sshort global_load_sshort global_load_lds_sshort
                scratch_load_sshort scratch_load_lds_sshort buffer_load_sshort buffer_load_lds_i16;
            Load(Short(Unsigned)) => ds_read_u16 flat_load_ushort global_load_ushort global_load_lds_ushort
                scratch_load_ushort scratch_load_lds_ushort buffer_load_ushort buffer_load_lds_u16;
            Load(Byte(low(false))) => ds_read_u8_d16 flat_load_ubyte_d16 global_load_ubyte_d16
                scratch_load_ubyte_d16 buffer_load_ubyte_d16;
            Load(Byte(high(false))) => ds_read_u8_d16_hi flat_load_ubyte_d16_hi global_load_ubyte_d16_hi
                scratch_load_ubyte_d16_hi buffer_load_ubyte_d16_hi;
            Load(Byte(low(true))) => ds_read_i8_d16 flat_load_sbyte_d16 global_load_sbyte_d16
                scratch_load_sbyte_d16 buffer_load_sbyte_d16;
            Load(Byte(high(true))) => ds_read_i8_d16_hi flat_load_sbyte_d16_hi global_load_sbyte_d16_hi
                scratch_load_sbyte_d16_hi buffer_load_sbyte_d16_hi;
            Load(Short(low(false))) => ds_read_u16_d16 flat_load_short_d16 global_load_short_d16
                scratch_load_short_d16 buffer_load_short_d16;
            Load(Short(high(false))) => ds_read_u16_d16_hi flat_load_short_d16_hi global_load_short_d16_hi
                scratch_load_short_d16_hi buffer_load_short_d16_hi;
            Load(Dwords(2)) => s_load_dwordx2 s_buffer_load_dwordx2
                ds_read_b64 ds_read_b64_tr_b8 ds_read_b64_tr_b16 ds_read2_b64 ds_read2st64_b64 flat_load_dwordx2
                global_load_dwordx2 scratch_load_dwordx2 buffer_load_dwordx2;
            Load(Dwords(3)) => s_load_dwordx3 s_buffer_load_dwordx3
                ds_read_b96 flat_load_dwordx3 global_load_dwordx3 scratch_load_dwordx3
                buffer_load_dwordx3 global_load_lds_dwordx3;
            Load(Dwords(4)) => s_load_dwordx4 s_buffer_load_dwordx4
                ds_read_b128 flat_load_dwordx4 global_load_dwordx4 scratch_load_dwordx4
                buffer_load_dwordx4 global_load_lds_dwordx4;
            Load(Dwords(8)) => s_load_dwordx8 s_buffer_load_dwordx8;
            Load(Dwords(16)) => s_load_dwordx16 s_buffer_load_dwordx16;
            Store(Dwords(1)) => ds_write_b32 ds_write2_b32 ds_write2st64_b32 flat_store_dword
                global_store_dword scratch_store_dword buffer_store_dword global_store_addtid_b32;
            Store(Byte(Unsigned)) => ds_write_b8 flat_store_byte global_store_byte scratch_store_byte
                buffer_store_byte;
            Store(Short(Unsigned)) => ds_write_b16 flat_store_short global_store_short scratch_store_short
                buffer_store_short;
            Store(Dwords(2)) => ds_write_b64 ds_write2_b64 ds_write2st64_b64 flat_store_dwordx2
                global_store_dwordx2 scratch_store_dwordx2 buffer_store_dwordx2;
            Store(Byte(high(false))) => ds_write_b8_d16_hi flat_store_byte_d16_hi global_store_byte_d16_hi
                scratch_store_byte_d16_hi buffer_store_byte_d16_hi;
            Store(Short(high(false))) => ds_write_b16_d16_hi flat_store_short_d16_hi
                global_store_short_d16_hi scratch_store_short_d16_hi buffer_store_short_d16_hi;
            Store(Dwords(3)) => ds_write_b96 flat_store_dwordx3 global_store_dwordx3 scratch_store_dwordx3
                buffer_store_dwordx3;
            Store(Dwords(4)) => ds_write_b128 flat_store_dwordx4 global_store_dwordx4 scratch_store_dwordx4
                buffer_store_dwordx4;
            atomic32(Rmw::Swap) => s_buffer_atomic_swap s_atomic_swap ds_wrxchg_rtn_b32 ds_wrxchg2_rtn_b32
                ds_wrxchg2st64_rtn_b32 flat_atomic_swap global_atomic_swap buffer_atomic_swap;
            atomic32(Rmw::CompareSwap) => s_buffer_atomic_cmpswap s_atomic_cmpswap flat_atomic_cmpswap
                global_atomic_cmpswap buffer_atomic_cmpswap ds_cmpstore_b32 ds_cmpstore_rtn_b32;
            atomic32(Rmw::Add) => s_buffer_atomic_add s_atomic_add ds_add_u32 ds_add_rtn_u32 flat_atomic_add
                global_atomic_add buffer_atomic_add;
            atomic32(Rmw::Sub) => s_buffer_atomic_sub s_atomic_sub ds_sub_u32 ds_sub_rtn_u32 flat_atomic_sub
                global_atomic_sub buffer_atomic_sub ds_sub_gs_reg_rtn;
            atomic32(Rmw::MinI) => s_buffer_atomic_smin s_atomic_smin ds_min_i32 ds_min_rtn_i32
                flat_atomic_smin global_atomic_smin buffer_atomic_smin;
            atomic32(Rmw::MinU) => s_buffer_atomic_umin s_atomic_umin ds_min_u32 ds_min_rtn_u32
                flat_atomic_umin global_atomic_umin buffer_atomic_umin;
            atomic32(Rmw::MaxI) => s_buffer_atomic_smax s_atomic_smax ds_max_i32 ds_max_rtn_i32
                flat_atomic_smax global_atomic_smax buffer_atomic_smax;
            atomic32(Rmw::MaxU) => s_buffer_atomic_umax s_atomic_umax ds_max_u32 ds_max_rtn_u32
                flat_atomic_umax global_atomic_umax buffer_atomic_umax;
            atomic32(Rmw::And) => s_buffer_atomic_and s_atomic_and ds_and_b32 ds_and_rtn_b32 flat_atomic_and
                global_atomic_and buffer_atomic_and;
            atomic32(Rmw::Or) => s_buffer_atomic_or s_atomic_or ds_or_b32 ds_or_rtn_b32 flat_atomic_or
                global_atomic_or buffer_atomic_or;
            atomic32(Rmw::Xor) => s_buffer_atomic_xor s_atomic_xor ds_xor_b32 ds_xor_rtn_b32 flat_atomic_xor
                global_atomic_xor buffer_atomic_xor;
            atomic32(Rmw::Increment) => s_buffer_atomic_inc s_atomic_inc ds_inc_u32 ds_inc_rtn_u32
                flat_atomic_inc global_atomic_inc buffer_atomic_inc;
            atomic32(Rmw::Decrement) => s_buffer_atomic_dec s_atomic_dec ds_dec_u32 ds_dec_rtn_u32
                flat_atomic_dec global_atomic_dec buffer_atomic_dec;
            atomic64(Rmw::Swap) => s_buffer_atomic_swap_x2 s_atomic_swap_x2 ds_wrxchg_rtn_b64
                ds_wrxchg2_rtn_b64 ds_wrxchg2st64_rtn_b64 flat_atomic_swap_x2 global_atomic_swap_x2
                buffer_atomic_swap_x2;
            atomic64(Rmw::CompareSwap) => s_buffer_atomic_cmpswap_x2 s_atomic_cmpswap_x2
                flat_atomic_cmpswap_x2 global_atomic_cmpswap_x2 buffer_atomic_cmpswap_x2 ds_cmpstore_b64
                ds_cmpstore_rtn_b64;
            atomic64(Rmw::Add) => s_buffer_atomic_add_x2 s_atomic_add_x2 ds_add_u64 ds_add_rtn_u64
                flat_atomic_add_x2 global_atomic_add_x2 buffer_atomic_add_x2;
            atomic64(Rmw::Sub) => s_buffer_atomic_sub_x2 s_atomic_sub_x2 ds_sub_u64 ds_sub_rtn_u64
                flat_atomic_sub_x2 global_atomic_sub_x2 buffer_atomic_sub_x2;
            atomic64(Rmw::MinI) => s_buffer_atomic_smin_x2 s_atomic_smin_x2 ds_min_i64 ds_min_rtn_i64
                flat_atomic_smin_x2 global_atomic_smin_x2 buffer_atomic_smin_x2;
            atomic64(Rmw::MinU) => s_buffer_atomic_umin_x2 s_atomic_umin_x2 ds_min_u64 ds_min_rtn_u64
                flat_atomic_umin_x2 global_atomic_umin_x2 buffer_atomic_umin_x2;
            atomic64(Rmw::MaxI) => s_buffer_atomic_smax_x2 s_atomic_smax_x2 ds_max_i64 ds_max_rtn_i64
                flat_atomic_smax_x2 global_atomic_smax_x2 buffer_atomic_smax_x2;
            atomic64(Rmw::MaxU) => s_buffer_atomic_umax_x2 s_atomic_umax_x2 ds_max_u64 ds_max_rtn_u64
                flat_atomic_umax_x2 global_atomic_umax_x2 buffer_atomic_umax_x2;
            atomic64(Rmw::And) => s_buffer_atomic_and_x2 s_atomic_and_x2 ds_and_b64 ds_and_rtn_b64
                flat_atomic_and_x2 global_atomic_and_x2 buffer_atomic_and_x2;
            atomic64(Rmw::Or) => s_buffer_atomic_or_x2 s_atomic_or_x2 ds_or_b64 ds_or_rtn_b64
                flat_atomic_or_x2 global_atomic_or_x2 buffer_atomic_or_x2;
            atomic64(Rmw::Xor) => s_buffer_atomic_xor_x2 s_atomic_xor_x2 ds_xor_b64 ds_xor_rtn_b64
                flat_atomic_xor_x2 global_atomic_xor_x2 buffer_atomic_xor_x2;
            atomic64(Rmw::Increment) => s_buffer_atomic_inc_x2 s_atomic_inc_x2 ds_inc_u64 ds_inc_rtn_u64
                flat_atomic_inc_x2 global_atomic_inc_x2 buffer_atomic_inc_x2;
            atomic64(Rmw::Decrement) => s_buffer_atomic_dec_x2 s_atomic_dec_x2 ds_dec_u64 ds_dec_rtn_u64
                flat_atomic_dec_x2 global_atomic_dec_x2 buffer_atomic_dec_x2;
            atomic32(Rmw::ReverseSub) => ds_rsub_u32 ds_rsub_rtn_u32;
            atomic32(Rmw::MaskOr) => ds_mskor_b32 ds_mskor_rtn_b32;
            atomic32(Rmw::CompareStore) => ds_cmpst_b32 ds_cmpst_rtn_b32;
            atomic32(Rmw::CompareStoreF) => ds_cmpst_f32 ds_cmpst_rtn_f32;
            atomic32(Rmw::MinF) => ds_min_f32 ds_min_rtn_f32 flat_atomic_min_f32 global_atomic_min_f32
                buffer_atomic_min_f32;
            atomic32(Rmw::MaxF) => ds_max_f32 ds_max_rtn_f32 flat_atomic_max_f32 global_atomic_max_f32
                buffer_atomic_max_f32;
            atomic32(Rmw::AddF32) => ds_add_f32 ds_add_rtn_f32 flat_atomic_add_f32 global_atomic_add_f32
                buffer_atomic_add_f32;
            atomic32(Rmw::AddPackedF16) => ds_pk_add_f16 ds_pk_add_rtn_f16 flat_atomic_pk_add_f16
                global_atomic_pk_add_f16 buffer_atomic_pk_add_f16;
            atomic32(Rmw::AddPackedBf16) => ds_pk_add_bf16 ds_pk_add_rtn_bf16 flat_atomic_pk_add_bf16
                global_atomic_pk_add_bf16 buffer_atomic_pk_add_bf16;
            atomic32(Rmw::Wrap) => ds_wrap_rtn_b32;
            atomic64(Rmw::ReverseSub) => ds_rsub_u64 ds_rsub_rtn_u64;
            atomic64(Rmw::MaskOr) => ds_mskor_b64 ds_mskor_rtn_b64;
            atomic64(Rmw::CompareStore) => ds_cmpst_b64 ds_cmpst_rtn_b64;
            atomic64(Rmw::CompareStoreF) => ds_cmpst_f64 ds_cmpst_rtn_f64;
            atomic64(Rmw::MinF) => ds_min_f64 ds_min_rtn_f64 flat_atomic_min_f64 global_atomic_min_f64
                buffer_atomic_min_f64;
            atomic64(Rmw::MaxF) => ds_max_f64 ds_max_rtn_f64 flat_atomic_max_f64 global_atomic_max_f64
                buffer_atomic_max_f64;
            atomic64(Rmw::AddF64) => ds_add_f64 ds_add_rtn_f64 flat_atomic_add_f64 global_atomic_add_f64
                buffer_atomic_add_f64;
            atomic32(Rmw::CompareSwapF) => ds_cmpstore_f32 ds_cmpstore_rtn_f32 flat_atomic_cmpswap_f32
                global_atomic_cmpswap_f32 buffer_atomic_cmpswap_f32;
            atomic64(Rmw::CompareSwapF) => ds_cmpstore_f64 ds_cmpstore_rtn_f64 flat_atomic_fcmpswap_x2
                global_atomic_fcmpswap_x2 buffer_atomic_fcmpswap_x2;
            atomic32(Rmw::SubClamped) => global_atomic_csub_u32 buffer_atomic_csub_u32 ds_sub_clamp_u32
                ds_sub_clamp_rtn_u32 flat_atomic_csub_u32;
            atomic32(Rmw::SubConditional) => ds_cond_sub_u32 ds_cond_sub_rtn_u32 flat_atomic_cond_sub_u32
                global_atomic_cond_sub_u32 buffer_atomic_cond_sub_u32;
            atomic32(Rmw::MinNumber) => ds_min_num_f32 ds_min_num_rtn_f32 flat_atomic_min_num_f32
                global_atomic_min_num_f32 buffer_atomic_min_num_f32;
            atomic64(Rmw::MinNumber) => ds_min_num_f64 ds_min_num_rtn_f64;
            atomic32(Rmw::MaxNumber) => ds_max_num_f32 ds_max_num_rtn_f32 flat_atomic_max_num_f32
                global_atomic_max_num_f32 buffer_atomic_max_num_f32;
            atomic64(Rmw::MaxNumber) => ds_max_num_f64 ds_max_num_rtn_f64;
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_every_space_have_a_shape() {
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
