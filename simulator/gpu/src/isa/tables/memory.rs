// SPDX-License-Identifier: MIT OR Apache-2.0
//! Vector memory: FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF. Sources are the data of stores and atomics.

use super::super::opcode::Op::*;
use super::*;

/// Segment found at run time.
pub(in super::super) const FLAT: &[Row] = &[
    row(0x10, flat_load_ubyte, B32, [], PLAIN),
    row(0x11, flat_load_sbyte, B32, [], PLAIN),
    row(0x12, flat_load_ushort, B32, [], PLAIN),
    row(0x13, flat_load_sshort, B32, [], PLAIN),
    row(0x14, flat_load_dword, B32, [], PLAIN),
    row(0x15, flat_load_dwordx2, B64, [], PLAIN),
    row(0x16, flat_load_dwordx3, B32.x(3), [], PLAIN),
    row(0x17, flat_load_dwordx4, B32.x(4), [], PLAIN),
    row(0x18, flat_store_byte, N, [B32], PLAIN),
    row(0x19, flat_store_byte_d16_hi, N, [B32], PLAIN),
    row(0x1a, flat_store_short, N, [B32], PLAIN),
    row(0x1b, flat_store_short_d16_hi, N, [B32], PLAIN),
    row(0x1c, flat_store_dword, N, [B32], PLAIN),
    row(0x1d, flat_store_dwordx2, N, [B64], PLAIN),
    row(0x1e, flat_store_dwordx3, N, [B32.x(3)], PLAIN),
    row(0x1f, flat_store_dwordx4, N, [B32.x(4)], PLAIN),
    row(0x20, flat_load_ubyte_d16, B32, [], PLAIN),
    row(0x21, flat_load_ubyte_d16_hi, B32, [], PLAIN),
    row(0x22, flat_load_sbyte_d16, B32, [], PLAIN),
    row(0x23, flat_load_sbyte_d16_hi, B32, [], PLAIN),
    row(0x24, flat_load_short_d16, B32, [], PLAIN),
    row(0x25, flat_load_short_d16_hi, B32, [], PLAIN),
    row(0x40, flat_atomic_swap, B32, [B32], ATOMIC),
    row(0x41, flat_atomic_cmpswap, B32, [B64], ATOMIC),
    row(0x42, flat_atomic_add, B32, [B32], ATOMIC),
    row(0x43, flat_atomic_sub, B32, [B32], ATOMIC),
    row(0x44, flat_atomic_smin, B32, [B32], ATOMIC),
    row(0x45, flat_atomic_umin, B32, [B32], ATOMIC),
    row(0x46, flat_atomic_smax, B32, [B32], ATOMIC),
    row(0x47, flat_atomic_umax, B32, [B32], ATOMIC),
    row(0x48, flat_atomic_and, B32, [B32], ATOMIC),
    row(0x49, flat_atomic_or, B32, [B32], ATOMIC),
    row(0x4a, flat_atomic_xor, B32, [B32], ATOMIC),
    row(0x4b, flat_atomic_inc, B32, [B32], ATOMIC),
    row(0x4c, flat_atomic_dec, B32, [B32], ATOMIC),
    row(0x60, flat_atomic_swap_x2, B64, [B64], ATOMIC),
    row(0x61, flat_atomic_cmpswap_x2, B64, [B32.x(4)], ATOMIC),
    row(0x62, flat_atomic_add_x2, B64, [B64], ATOMIC),
    row(0x63, flat_atomic_sub_x2, B64, [B64], ATOMIC),
    row(0x64, flat_atomic_smin_x2, B64, [B64], ATOMIC),
    row(0x65, flat_atomic_umin_x2, B64, [B64], ATOMIC),
    row(0x66, flat_atomic_smax_x2, B64, [B64], ATOMIC),
    row(0x67, flat_atomic_umax_x2, B64, [B64], ATOMIC),
    row(0x68, flat_atomic_and_x2, B64, [B64], ATOMIC),
    row(0x69, flat_atomic_or_x2, B64, [B64], ATOMIC),
    row(0x6a, flat_atomic_xor_x2, B64, [B64], ATOMIC),
    row(0x6b, flat_atomic_inc_x2, B64, [B64], ATOMIC),
    row(0x6c, flat_atomic_dec_x2, B64, [B64], ATOMIC),
];

/// Since gfx90a.
pub(in super::super) const FLAT_SINCE_GFX90A: &[Row] = &[
    row(0x4f, flat_atomic_add_f64, B64, [B64], ATOMIC),
    row(0x50, flat_atomic_min_f64, B64, [B64], ATOMIC),
    row(0x51, flat_atomic_max_f64, B64, [B64], ATOMIC),
];

/// Of gfx942.
pub(in super::super) const FLAT_GFX942: &[Row] = &[
    row(0x4d, flat_atomic_add_f32, B32, [B32], ATOMIC),
    row(0x4e, flat_atomic_pk_add_f16, B32, [B32], ATOMIC),
    row(0x52, flat_atomic_pk_add_bf16, B32, [B32], ATOMIC),
];

/// Global memory.
pub(in super::super) const GLOBAL: &[Row] = &[
    row(0x10, global_load_ubyte, B32, [], MAY_LDS),
    row(0x11, global_load_sbyte, B32, [], MAY_LDS),
    row(0x12, global_load_ushort, B32, [], MAY_LDS),
    row(0x13, global_load_sshort, B32, [], MAY_LDS),
    row(0x14, global_load_dword, B32, [], MAY_LDS),
    row(0x15, global_load_dwordx2, B64, [], PLAIN),
    row(0x16, global_load_dwordx3, B32.x(3), [], PLAIN),
    row(0x17, global_load_dwordx4, B32.x(4), [], PLAIN),
    row(0x18, global_store_byte, N, [B32], PLAIN),
    row(0x19, global_store_byte_d16_hi, N, [B32], PLAIN),
    row(0x1a, global_store_short, N, [B32], PLAIN),
    row(0x1b, global_store_short_d16_hi, N, [B32], PLAIN),
    row(0x1c, global_store_dword, N, [B32], PLAIN),
    row(0x1d, global_store_dwordx2, N, [B64], PLAIN),
    row(0x1e, global_store_dwordx3, N, [B32.x(3)], PLAIN),
    row(0x1f, global_store_dwordx4, N, [B32.x(4)], PLAIN),
    row(0x20, global_load_ubyte_d16, B32, [], PLAIN),
    row(0x21, global_load_ubyte_d16_hi, B32, [], PLAIN),
    row(0x22, global_load_sbyte_d16, B32, [], PLAIN),
    row(0x23, global_load_sbyte_d16_hi, B32, [], PLAIN),
    row(0x24, global_load_short_d16, B32, [], PLAIN),
    row(0x25, global_load_short_d16_hi, B32, [], PLAIN),
    row(0x40, global_atomic_swap, B32, [B32], ATOMIC),
    row(0x41, global_atomic_cmpswap, B32, [B64], ATOMIC),
    row(0x42, global_atomic_add, B32, [B32], ATOMIC),
    row(0x43, global_atomic_sub, B32, [B32], ATOMIC),
    row(0x44, global_atomic_smin, B32, [B32], ATOMIC),
    row(0x45, global_atomic_umin, B32, [B32], ATOMIC),
    row(0x46, global_atomic_smax, B32, [B32], ATOMIC),
    row(0x47, global_atomic_umax, B32, [B32], ATOMIC),
    row(0x48, global_atomic_and, B32, [B32], ATOMIC),
    row(0x49, global_atomic_or, B32, [B32], ATOMIC),
    row(0x4a, global_atomic_xor, B32, [B32], ATOMIC),
    row(0x4b, global_atomic_inc, B32, [B32], ATOMIC),
    row(0x4c, global_atomic_dec, B32, [B32], ATOMIC),
    row(0x60, global_atomic_swap_x2, B64, [B64], ATOMIC),
    row(0x61, global_atomic_cmpswap_x2, B64, [B32.x(4)], ATOMIC),
    row(0x62, global_atomic_add_x2, B64, [B64], ATOMIC),
    row(0x63, global_atomic_sub_x2, B64, [B64], ATOMIC),
    row(0x64, global_atomic_smin_x2, B64, [B64], ATOMIC),
    row(0x65, global_atomic_umin_x2, B64, [B64], ATOMIC),
    row(0x66, global_atomic_smax_x2, B64, [B64], ATOMIC),
    row(0x67, global_atomic_umax_x2, B64, [B64], ATOMIC),
    row(0x68, global_atomic_and_x2, B64, [B64], ATOMIC),
    row(0x69, global_atomic_or_x2, B64, [B64], ATOMIC),
    row(0x6a, global_atomic_xor_x2, B64, [B64], ATOMIC),
    row(0x6b, global_atomic_inc_x2, B64, [B64], ATOMIC),
    row(0x6c, global_atomic_dec_x2, B64, [B64], ATOMIC),
];

/// Of gfx908.
pub(in super::super) const GLOBAL_GFX908: &[Row] = &[
    row(0x4d, global_atomic_add_f32, B32, [B32], ATOMIC | NO_RETURN),
    row(0x4e, global_atomic_pk_add_f16, B32, [B32], ATOMIC | NO_RETURN),
];

/// Since gfx90a.
pub(in super::super) const GLOBAL_SINCE_GFX90A: &[Row] = &[
    row(0x4d, global_atomic_add_f32, B32, [B32], ATOMIC),
    row(0x4e, global_atomic_pk_add_f16, B32, [B32], ATOMIC),
    row(0x4f, global_atomic_add_f64, B64, [B64], ATOMIC),
    row(0x50, global_atomic_min_f64, B64, [B64], ATOMIC),
    row(0x51, global_atomic_max_f64, B64, [B64], ATOMIC),
];

/// Of gfx942.
pub(in super::super) const GLOBAL_GFX942: &[Row] = &[
    row(0x26, global_load_lds_ubyte, N, [], LDS_DST),
    row(0x27, global_load_lds_sbyte, N, [], LDS_DST),
    row(0x28, global_load_lds_ushort, N, [], LDS_DST),
    row(0x29, global_load_lds_sshort, N, [], LDS_DST),
    row(0x2a, global_load_lds_dword, N, [], LDS_DST),
    row(0x52, global_atomic_pk_add_bf16, B32, [B32], ATOMIC),
];

/// Private memory.
pub(in super::super) const SCRATCH: &[Row] = &[
    row(0x10, scratch_load_ubyte, B32, [], MAY_LDS),
    row(0x11, scratch_load_sbyte, B32, [], MAY_LDS),
    row(0x12, scratch_load_ushort, B32, [], MAY_LDS),
    row(0x13, scratch_load_sshort, B32, [], MAY_LDS),
    row(0x14, scratch_load_dword, B32, [], MAY_LDS),
    row(0x15, scratch_load_dwordx2, B64, [], PLAIN),
    row(0x16, scratch_load_dwordx3, B32.x(3), [], PLAIN),
    row(0x17, scratch_load_dwordx4, B32.x(4), [], PLAIN),
    row(0x18, scratch_store_byte, N, [B32], PLAIN),
    row(0x19, scratch_store_byte_d16_hi, N, [B32], PLAIN),
    row(0x1a, scratch_store_short, N, [B32], PLAIN),
    row(0x1b, scratch_store_short_d16_hi, N, [B32], PLAIN),
    row(0x1c, scratch_store_dword, N, [B32], PLAIN),
    row(0x1d, scratch_store_dwordx2, N, [B64], PLAIN),
    row(0x1e, scratch_store_dwordx3, N, [B32.x(3)], PLAIN),
    row(0x1f, scratch_store_dwordx4, N, [B32.x(4)], PLAIN),
    row(0x20, scratch_load_ubyte_d16, B32, [], PLAIN),
    row(0x21, scratch_load_ubyte_d16_hi, B32, [], PLAIN),
    row(0x22, scratch_load_sbyte_d16, B32, [], PLAIN),
    row(0x23, scratch_load_sbyte_d16_hi, B32, [], PLAIN),
    row(0x24, scratch_load_short_d16, B32, [], PLAIN),
    row(0x25, scratch_load_short_d16_hi, B32, [], PLAIN),
];

/// Of gfx942.
pub(in super::super) const SCRATCH_GFX942: &[Row] = &[
    row(0x26, scratch_load_lds_ubyte, N, [], LDS_DST),
    row(0x27, scratch_load_lds_sbyte, N, [], LDS_DST),
    row(0x28, scratch_load_lds_ushort, N, [], LDS_DST),
    row(0x29, scratch_load_lds_sshort, N, [], LDS_DST),
    row(0x2a, scratch_load_lds_dword, N, [], LDS_DST),
];

/// Untyped buffers.
pub(in super::super) const MUBUF: &[Row] = &[
    row(0x00, buffer_load_format_x, B32, [], MAY_LDS),
    row(0x01, buffer_load_format_xy, B64, [], PLAIN),
    row(0x02, buffer_load_format_xyz, B32.x(3), [], PLAIN),
    row(0x03, buffer_load_format_xyzw, B32.x(4), [], PLAIN),
    row(0x04, buffer_store_format_x, N, [B32], PLAIN),
    row(0x05, buffer_store_format_xy, N, [B64], PLAIN),
    row(0x06, buffer_store_format_xyz, N, [B32.x(3)], PLAIN),
    row(0x07, buffer_store_format_xyzw, N, [B32.x(4)], PLAIN),
    row(0x08, buffer_load_format_d16_x, B32, [], PLAIN),
    row(0x09, buffer_load_format_d16_xy, B32, [], PLAIN),
    row(0x0a, buffer_load_format_d16_xyz, B64, [], PLAIN),
    row(0x0b, buffer_load_format_d16_xyzw, B64, [], PLAIN),
    row(0x0c, buffer_store_format_d16_x, N, [B32], PLAIN),
    row(0x0d, buffer_store_format_d16_xy, N, [B32], PLAIN),
    row(0x0e, buffer_store_format_d16_xyz, N, [B64], PLAIN),
    row(0x0f, buffer_store_format_d16_xyzw, N, [B64], PLAIN),
    row(0x10, buffer_load_ubyte, B32, [], MAY_LDS),
    row(0x11, buffer_load_sbyte, B32, [], MAY_LDS),
    row(0x12, buffer_load_ushort, B32, [], MAY_LDS),
    row(0x13, buffer_load_sshort, B32, [], MAY_LDS),
    row(0x14, buffer_load_dword, B32, [], MAY_LDS),
    row(0x15, buffer_load_dwordx2, B64, [], PLAIN),
    row(0x16, buffer_load_dwordx3, B32.x(3), [], PLAIN),
    row(0x17, buffer_load_dwordx4, B32.x(4), [], PLAIN),
    row(0x18, buffer_store_byte, N, [B32], PLAIN),
    row(0x19, buffer_store_byte_d16_hi, N, [B32], PLAIN),
    row(0x1a, buffer_store_short, N, [B32], PLAIN),
    row(0x1b, buffer_store_short_d16_hi, N, [B32], PLAIN),
    row(0x1c, buffer_store_dword, N, [B32], PLAIN),
    row(0x1d, buffer_store_dwordx2, N, [B64], PLAIN),
    row(0x1e, buffer_store_dwordx3, N, [B32.x(3)], PLAIN),
    row(0x1f, buffer_store_dwordx4, N, [B32.x(4)], PLAIN),
    row(0x20, buffer_load_ubyte_d16, B32, [], PLAIN),
    row(0x21, buffer_load_ubyte_d16_hi, B32, [], PLAIN),
    row(0x22, buffer_load_sbyte_d16, B32, [], PLAIN),
    row(0x23, buffer_load_sbyte_d16_hi, B32, [], PLAIN),
    row(0x24, buffer_load_short_d16, B32, [], PLAIN),
    row(0x25, buffer_load_short_d16_hi, B32, [], PLAIN),
    row(0x26, buffer_load_format_d16_hi_x, B32, [], PLAIN),
    row(0x27, buffer_store_format_d16_hi_x, N, [B32], PLAIN),
    row(0x3d, buffer_store_lds_dword, N, [], LDS_DST),
    row(0x3e, buffer_wbinvl1, N, [], CACHE),
    row(0x3f, buffer_wbinvl1_vol, N, [], CACHE),
    row(0x40, buffer_atomic_swap, B32, [B32], ATOMIC),
    row(0x41, buffer_atomic_cmpswap, B32, [B64], ATOMIC),
    row(0x42, buffer_atomic_add, B32, [B32], ATOMIC),
    row(0x43, buffer_atomic_sub, B32, [B32], ATOMIC),
    row(0x44, buffer_atomic_smin, B32, [B32], ATOMIC),
    row(0x45, buffer_atomic_umin, B32, [B32], ATOMIC),
    row(0x46, buffer_atomic_smax, B32, [B32], ATOMIC),
    row(0x47, buffer_atomic_umax, B32, [B32], ATOMIC),
    row(0x48, buffer_atomic_and, B32, [B32], ATOMIC),
    row(0x49, buffer_atomic_or, B32, [B32], ATOMIC),
    row(0x4a, buffer_atomic_xor, B32, [B32], ATOMIC),
    row(0x4b, buffer_atomic_inc, B32, [B32], ATOMIC),
    row(0x4c, buffer_atomic_dec, B32, [B32], ATOMIC),
    row(0x60, buffer_atomic_swap_x2, B64, [B64], ATOMIC),
    row(0x61, buffer_atomic_cmpswap_x2, B64, [B32.x(4)], ATOMIC),
    row(0x62, buffer_atomic_add_x2, B64, [B64], ATOMIC),
    row(0x63, buffer_atomic_sub_x2, B64, [B64], ATOMIC),
    row(0x64, buffer_atomic_smin_x2, B64, [B64], ATOMIC),
    row(0x65, buffer_atomic_umin_x2, B64, [B64], ATOMIC),
    row(0x66, buffer_atomic_smax_x2, B64, [B64], ATOMIC),
    row(0x67, buffer_atomic_umax_x2, B64, [B64], ATOMIC),
    row(0x68, buffer_atomic_and_x2, B64, [B64], ATOMIC),
    row(0x69, buffer_atomic_or_x2, B64, [B64], ATOMIC),
    row(0x6a, buffer_atomic_xor_x2, B64, [B64], ATOMIC),
    row(0x6b, buffer_atomic_inc_x2, B64, [B64], ATOMIC),
    row(0x6c, buffer_atomic_dec_x2, B64, [B64], ATOMIC),
];

/// Of gfx908.
pub(in super::super) const MUBUF_GFX908: &[Row] = &[
    row(0x4d, buffer_atomic_add_f32, B32, [B32], ATOMIC | NO_RETURN),
    row(0x4e, buffer_atomic_pk_add_f16, B32, [B32], ATOMIC | NO_RETURN),
];

/// Since gfx90a.
pub(in super::super) const MUBUF_SINCE_GFX90A: &[Row] = &[
    row(0x4d, buffer_atomic_add_f32, B32, [B32], ATOMIC),
    row(0x4e, buffer_atomic_pk_add_f16, B32, [B32], ATOMIC),
    row(0x4f, buffer_atomic_add_f64, B64, [B64], ATOMIC),
    row(0x50, buffer_atomic_min_f64, B64, [B64], ATOMIC),
    row(0x51, buffer_atomic_max_f64, B64, [B64], ATOMIC),
];

/// Of gfx942.
pub(in super::super) const MUBUF_GFX942: &[Row] =
    &[row(0x28, buffer_wbl2, N, [], CACHE | SCOPE), row(0x29, buffer_inv, N, [], CACHE | SCOPE)];

/// Of gfx90a.
pub(in super::super) const MUBUF_GFX90A: &[Row] =
    &[row(0x28, buffer_wbl2, N, [], CACHE), row(0x29, buffer_invl2, N, [], CACHE)];

/// Typed buffers.
pub(in super::super) const MTBUF: &[Row] = &[
    row(0x00, tbuffer_load_format_x, B32, [], PLAIN),
    row(0x01, tbuffer_load_format_xy, B64, [], PLAIN),
    row(0x02, tbuffer_load_format_xyz, B32.x(3), [], PLAIN),
    row(0x03, tbuffer_load_format_xyzw, B32.x(4), [], PLAIN),
    row(0x04, tbuffer_store_format_x, N, [B32], PLAIN),
    row(0x05, tbuffer_store_format_xy, N, [B64], PLAIN),
    row(0x06, tbuffer_store_format_xyz, N, [B32.x(3)], PLAIN),
    row(0x07, tbuffer_store_format_xyzw, N, [B32.x(4)], PLAIN),
    row(0x08, tbuffer_load_format_d16_x, B32, [], PLAIN),
    row(0x09, tbuffer_load_format_d16_xy, B32, [], PLAIN),
    row(0x0a, tbuffer_load_format_d16_xyz, B64, [], PLAIN),
    row(0x0b, tbuffer_load_format_d16_xyzw, B64, [], PLAIN),
    row(0x0c, tbuffer_store_format_d16_x, N, [B32], PLAIN),
    row(0x0d, tbuffer_store_format_d16_xy, N, [B32], PLAIN),
    row(0x0e, tbuffer_store_format_d16_xyz, N, [B64], PLAIN),
    row(0x0f, tbuffer_store_format_d16_xyzw, N, [B64], PLAIN),
];
