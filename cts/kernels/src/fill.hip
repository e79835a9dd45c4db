// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: fill_u8
// args: out *u8 out, value u8, n i64
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = value for i < n
// for: fills; an 8-bit scalar before a 64-bit one (offsets 8, 16)
//
// kernel: fill_u16
// args: out *u16 out, value u16, n i64
// block: x, any
// grid: x = ceil(n / block.x)
// does: the same
// for: 16-bit elements
//
// kernel: fill_u32
// args: out *u32 out, value u32, n i64
// block: x, any
// grid: x = ceil(n / block.x)
// does: the same
// for: 32-bit elements
//
// kernel: fill_u64
// args: out *u64 out, value u64, n i64
// block: x, any
// grid: x = ceil(n / block.x)
// does: the same
// for: 64-bit elements
#define FILL(T)                                    \
  KERNEL void fill_##T(T *out, T value, i64 n) {   \
    i64 i = (i64)group_x() * block_x() + item_x(); \
    if (i < n) out[i] = value;                     \
  }
FILL(u8)
FILL(u16)
FILL(u32)
FILL(u64)

// kernel: iota_u32
// args: out *u32 out, start u32, step u32, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = start + i * step (mod 2^32) for i < n
// for: data that contains its own index
KERNEL void iota_u32(u32 *out, u32 start, u32 step, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = start + (u32)i * step;
}

// kernel: iota_f32
// args: out *f32 out, start f32, step f32, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = fma(f32(i), step, start) for i < n
// for: the same in f32
KERNEL void iota_f32(f32 *out, f32 start, f32 step, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = __builtin_fmaf((f32)i, step, start);
}
