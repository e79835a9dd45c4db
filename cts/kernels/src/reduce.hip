// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

extern SHARED f32 partial[];

// kernel: reduce_sum
// args: in *f32 in, total *f32 inout, n i32
// block: x, a power of two
// grid: x, any; the kernel strides over n
// lds: block.x * 4
// does: *total += sum of in[0..n); one atomic add per workgroup, so the order of rounding is free
// for: dynamic LDS, hardware f32 atomic add
KERNEL void reduce_sum(const f32 *in, f32 *total, i32 n) {
  u32 x = item_x();
  f32 sum = 0;
  for (u32 i = global_x(); i < (u32)n; i += grid_x() * block_x()) sum += in[i];
  partial[x] = sum;
  for (u32 half = block_x() / 2; half > 0; half /= 2) {
    block_barrier();
    if (x < half) partial[x] += partial[x + half];
  }
  if (x == 0) __hip_atomic_fetch_add(total, partial[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// kernel: reduce_max
// args: in *f32 in, largest *f32 inout, n i32
// block: x, a power of two
// grid: x, any; the kernel strides over n
// lds: block.x * 4
// does: *largest = max(*largest, in[0..n)) ; exact in any order; no NaN expected
// for: dynamic LDS, an atomic compare-and-swap loop
KERNEL void reduce_max(const f32 *in, f32 *largest, i32 n) {
  u32 x = item_x();
  f32 best = -__builtin_inff();
  for (u32 i = global_x(); i < (u32)n; i += grid_x() * block_x()) best = __builtin_fmaxf(best, in[i]);
  partial[x] = best;
  for (u32 half = block_x() / 2; half > 0; half /= 2) {
    block_barrier();
    if (x < half) partial[x] = __builtin_fmaxf(partial[x], partial[x + half]);
  }
  if (x != 0) return;
  u32 *word = (u32 *)largest;
  u32 seen = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (__builtin_bit_cast(f32, seen) < partial[0] &&
         !__hip_atomic_compare_exchange_strong(word, &seen, __builtin_bit_cast(u32, partial[0]), __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
  }
}
