// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels that need private memory, a stack, or calls.
#include "device.h"

// kernel: permute_private
// args: in *u32 in, out *u32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: a[j] = in[i] + j for j in 0..32; a[(in[i] + 7j) % 32] += a[j] for j in 0..32 in this order; out[i] = the xor over j of a[j] * (2j + 1), all mod 2^32
// for: a private array indexed at run time, kept in scratch
KERNEL void permute_private(const u32 *in, u32 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  u32 seed = in[i];
  volatile u32 a[32];
  for (u32 j = 0; j < 32; j++) a[j] = seed + j;
  for (u32 j = 0; j < 32; j++) {
    u32 to = (seed + 7 * j) % 32;
    a[to] = a[to] + a[j];
  }
  u32 mixed = 0;
  for (u32 j = 0; j < 32; j++) mixed ^= a[j] * (2 * j + 1);
  out[i] = mixed;
}

static DEVICE NOINLINE u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

// kernel: recurse
// args: in *u32 in, out *u32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = fibonacci(in[i]) for i < n, by the recursive definition (0, 1, 1, 2, ...); keep in[i] at or below 15
// for: recursion: a dynamic stack (uses_dynamic_stack), divergent calls
KERNEL void recurse(const u32 *in, u32 *out, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = fibonacci(in[i]);
}

static DEVICE NOINLINE f32 square(f32 x) { return x * x; }
static DEVICE NOINLINE f32 halve(f32 x) { return x * 0.5f; }
static DEVICE NOINLINE f32 invert(f32 x) { return -x; }
static DEVICE NOINLINE f32 square_twice(f32 x) { return square(square(x)); }

// kernel: call
// args: in *f32 in, out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = -(in[i]^4) for i < n, each product rounded
// for: calls of functions that are not inlined, nested
KERNEL void call(const f32 *in, f32 *out, i32 n) {
  i32 i = global_x();
  if (i < n) out[i] = invert(square_twice(in[i]));
}

// kernel: call_indirect
// args: in *f32 in, which *u32 in, out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: which[i] % 3 == 0: out[i] = in[i]^2; 1: in[i] / 2; 2: -in[i]
// for: calls through function pointers that differ between lanes
KERNEL void call_indirect(const f32 *in, const u32 *which, f32 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  f32 (*const table[3])(f32) = {square, halve, invert};
  out[i] = table[which[i] % 3](in[i]);
}
