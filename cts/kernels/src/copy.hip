// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: copy_u8
// args: in *u8 in, out *u8 out, n i64
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = in[i] for i < n; in and out do not overlap
// for: byte loads and stores; workgroups are independent
//
// kernel: copy_u16
// args: in *u16 in, out *u16 out, n i64
// block: x, any
// grid: x = ceil(n / block.x)
// does: the same
// for: 16-bit elements
//
// kernel: copy_u32
// args: in *u32 in, out *u32 out, n i64
// block: x, any
// grid: x = ceil(n / block.x)
// does: the same
// for: 32-bit elements
//
// kernel: copy_u64
// args: in *u64 in, out *u64 out, n i64
// block: x, any
// grid: x = ceil(n / block.x)
// does: the same
// for: 64-bit elements
//
// kernel: copy_u128
// args: in *u128 in, out *u128 out, n i64
// block: x, any
// grid: x = ceil(n / block.x)
// does: the same; both pointers aligned to 16
// for: 128-bit elements
#define COPY(T)                                                \
  KERNEL void copy_##T(const T *in, T *out, i64 n) {           \
    i64 i = (i64)group_x() * block_x() + item_x();             \
    if (i < n) out[i] = in[i];                                 \
  }
COPY(u8)
COPY(u16)
COPY(u32)
COPY(u64)
COPY(u128)
