// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: negate
// args: in *f32 in, out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = -in[i] for i < n
// for: a module with several entry points
KERNEL void negate(const f32 *in, f32 *out, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = -in[i];
}

// kernel: twice
// args: in *f32 in, out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = in[i] + in[i] for i < n
// for: a module with several entry points
KERNEL void twice(const f32 *in, f32 *out, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = in[i] + in[i];
}

// kernel: absolute
// args: in *f32 in, out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = |in[i]| for i < n
// for: a module with several entry points; the smallest useful kernel
KERNEL void absolute(const f32 *in, f32 *out, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = __builtin_fabsf(in[i]);
}

// kernel: scale_and_offset
// args: in *f32 in, out *f32 out, scale f32, offset f32, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = fma(in[i], scale, offset) for i < n
// for: IREE's form of arguments, bindings first and then 32-bit constants
KERNEL void scale_and_offset(const f32 *in, f32 *out, f32 scale, f32 offset, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = __builtin_fmaf(in[i], scale, offset);
}

// kernel: empty
// args: none
// block: any
// grid: any
// does: nothing
// for: dispatch latency, no argument block at all
KERNEL void empty() {}
