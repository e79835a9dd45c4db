// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: vector_add
// args: a *f32 in, b *f32 in, out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = a[i] + b[i] for i < n
// for: the first dispatch; every container and target
KERNEL void vector_add(const f32 *a, const f32 *b, f32 *out, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = a[i] + b[i];
}
