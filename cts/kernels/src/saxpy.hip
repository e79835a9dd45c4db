// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: saxpy
// args: alpha f32, x *f32 in, y *f32 inout, n i32
// block: x, any up to 256
// grid: x, any; the kernel strides over n
// does: y[i] = fma(alpha, x[i], y[i]) for i < n
// for: a scalar before pointers, a grid-stride loop
KERNEL MAX_BLOCK(256) void saxpy(f32 alpha, const f32 *x, f32 *y, i32 n) {
  for (u32 i = global_x(); i < (u32)n; i += grid_x() * block_x()) y[i] = __builtin_fmaf(alpha, x[i], y[i]);
}

// kernel: saxpy_f64
// args: alpha f64, x *f64 in, y *f64 inout, n i32
// block: x, any up to 256
// grid: x, any; the kernel strides over n
// does: y[i] = fma(alpha, x[i], y[i]) for i < n
// for: the same in f64
KERNEL MAX_BLOCK(256) void saxpy_f64(f64 alpha, const f64 *x, f64 *y, i32 n) {
  for (u32 i = global_x(); i < (u32)n; i += grid_x() * block_x()) y[i] = __builtin_fma(alpha, x[i], y[i]);
}
