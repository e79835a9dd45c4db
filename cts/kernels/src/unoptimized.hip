// SPDX-License-Identifier: MIT OR Apache-2.0
// flags: -O0
#include "device.h"

struct Point {
  f32 x, y, z;
};

static DEVICE Point cross(Point a, Point b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// kernel: cross_product
// args: a *f32 in, b *f32 in, out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[3i..3i+3) = a[3i..3i+3) x b[3i..3i+3) for i < n; each product and difference rounded to f32
// for: code without optimisation: every value through scratch, SGPR spills, calls, generic addresses
KERNEL void cross_product(const f32 *a, const f32 *b, f32 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  Point p = {a[3 * i], a[3 * i + 1], a[3 * i + 2]};
  Point q = {b[3 * i], b[3 * i + 1], b[3 * i + 2]};
  Point r = cross(p, q);
  out[3 * i] = r.x;
  out[3 * i + 1] = r.y;
  out[3 * i + 2] = r.z;
}

// kernel: reverse_block
// args: values *u32 inout
// block: x, any up to 256
// grid: any
// does: reverses each stretch of block.x elements in place
// for: LDS and barriers in code without optimisation
KERNEL MAX_BLOCK(256) void reverse_block(u32 *values) {
  SHARED static u32 held[256];
  u32 x = item_x();
  held[x] = values[group_x() * block_x() + x];
  block_barrier();
  values[group_x() * block_x() + x] = held[block_x() - 1 - x];
}
