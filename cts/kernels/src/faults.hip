// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels that commit a fault when their arguments say so.
#include "device.h"

// kernel: write_at
// args: base *u32 out, index i64, value u32
// block: x = 1
// grid: x = 1
// does: base[index] = value
// for: a store out of bounds, through null, or misaligned
// no host code: it leaves its buffers on purpose, and nothing would stop it
KERNEL void write_at(u32 *base, i64 index, u32 value) { base[index] = value; }

// kernel: read_at
// args: base *u32 in, index i64, out *u32[1] out
// block: x = 1
// grid: x = 1
// does: out[0] = base[index]
// for: a load out of bounds
// no host code: it leaves its buffers on purpose, and nothing would stop it
KERNEL void read_at(const u32 *base, i64 index, u32 *out) { out[0] = base[index]; }

// kernel: add_at
// args: base *u32 inout, index i64, value u32
// block: x = 1
// grid: x = 1
// does: base[index] += value, atomically
// for: an atomic out of bounds
// no host code: it leaves its buffers on purpose, and nothing would stop it
KERNEL void add_at(u32 *base, i64 index, u32 value) {
  __hip_atomic_fetch_add(base + index, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// kernel: write_one_lane_at
// args: base *u32 out, n i32, item i32, index i64
// block: x, any
// grid: x = ceil(n / block.x)
// does: base[i] = i for i < n, except that work-item `item` writes base[index]
// for: a fault of one lane only, to be named
// no host code: it leaves its buffers on purpose, and nothing would stop it
KERNEL void write_one_lane_at(u32 *base, i32 n, i32 item, i64 index) {
  i32 i = global_x();
  if (i < n) base[i == item ? index : i] = i;
}

extern SHARED u32 dynamic[];

// kernel: write_lds_at
// args: out *u32[1] out, index u32, value u32
// block: x = 1
// grid: x = 1
// lds: any
// does: writes value to word `index` of dynamic LDS, reads it back to out[0]
// for: LDS out of bounds
// no host code: it leaves its buffers on purpose, and nothing would stop it
KERNEL void write_lds_at(u32 *out, u32 index, u32 value) {
  *(volatile u32 *)&dynamic[index] = value;
  out[0] = *(volatile u32 *)&dynamic[index];
}

// kernel: trap_if
// args: out *u32[1] out, condition u32
// block: x = 1
// grid: x = 1
// does: traps if condition is not 0, else out[0] = 1
// for: s_trap
KERNEL void trap_if(u32 *out, u32 condition) {
  if (condition) __builtin_trap();
  out[0] = 1;
}
