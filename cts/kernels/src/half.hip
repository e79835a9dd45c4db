// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

typedef f16 f16x2 __attribute__((ext_vector_type(2)));

// kernel: half_arithmetic
// args: a *f16 in, b *f16 in, c *f16 in, out *f16 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[5i..5i+5) = a + b, a * b, fma(a, b, c), max(a, b), floor(a), each rounded to f16
// for: f16 arithmetic
KERNEL void half_arithmetic(const f16 *a, const f16 *b, const f16 *c, f16 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  f16 x = a[i], y = b[i], *row = out + 5 * i;
  row[0] = x + y;
  row[1] = x * y;
  row[2] = __builtin_elementwise_fma(x, y, c[i]);
  row[3] = __builtin_elementwise_max(x, y);
  row[4] = __builtin_elementwise_floor(x);
}

// kernel: half_packed
// args: a *f16 in, b *f16 in, c *f16 in, out *f16 out, n i32
// block: x, any
// grid: x = ceil(n / 2 / block.x)
// does: for i < n: out[i] = fma(a[i], b[i], c[i]) + a[i]; n even, two elements for each work-item
// for: packed f16 instructions
KERNEL void half_packed(const f16x2 *a, const f16x2 *b, const f16x2 *c, f16x2 *out, i32 n) {
  i32 i = global_x();
  if (2 * i >= n) return;
  out[i] = __builtin_elementwise_fma(a[i], b[i], c[i]) + a[i];
}

// kernel: half_widen
// args: a *f16 in, out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = f32(a[i]) for i < n
// for: f16 to f32
KERNEL void half_widen(const f16 *a, f32 *out, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = a[i];
}

// kernel: half_narrow
// args: a *f32 in, out *f16 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = f16(a[i]) for i < n, to nearest even
// for: f32 to f16
KERNEL void half_narrow(const f32 *a, f16 *out, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = (f16)a[i];
}

// kernel: half_dot
// args: a *f16 in, b *f16 in, out *f32[1] out, n i32
// block: x = 1
// grid: x = 1
// does: out[0] = sum over i < n, ascending, of fma(f32(a[i]), f32(b[i]), sum)
// for: mixed precision
KERNEL void half_dot(const f16 *a, const f16 *b, f32 *out, i32 n) {
  f32 sum = 0;
  for (i32 i = 0; i < n; i++) sum = __builtin_fmaf(a[i], b[i], sum);
  out[0] = sum;
}
