// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// symbol: counter i32 = 7, in global memory
// symbol: table f32[16] = 1, 2, 4, 8, ..., 32768, constant
// symbol: biases f32[64] = zeros, in global memory
DEVICE i32 counter = 7;
CONSTANT f32 table[16] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
DEVICE f32 biases[64];

// kernel: use_globals
// args: out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = table[i % 16] + biases[i % 64] for i < n; counter += n, by atomic adds of 1
// for: device variables and a constant table, found by name
KERNEL void use_globals(f32 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  out[i] = table[i % 16] + biases[i % 64];
  __hip_atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// kernel: read_counter
// args: out *i32[1] out
// block: x = 1
// grid: x = 1
// does: out[0] = counter
// for: a variable that keeps its value between dispatches
KERNEL void read_counter(i32 *out) { out[0] = counter; }
