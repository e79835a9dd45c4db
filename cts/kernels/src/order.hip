// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels whose result shows the order in which they ran, and how often.
#include "device.h"

// kernel: multiply_add
// args: values *u32 inout, n i32, factor u32, addend u32
// block: x, any
// grid: x = ceil(n / block.x)
// does: values[i] = values[i] * factor + addend (mod 2^32) for i < n
// for: two of these in the wrong order, or one lost, change every element
KERNEL void multiply_add(u32 *values, i32 n, u32 factor, u32 addend) {
  i32 i = global_x();
  if (i < n) values[i] = values[i] * factor + addend;
}

// kernel: increment
// args: counter *u32 inout
// block: any
// grid: any
// does: counter[0] += the number of work-items, by atomic adds of 1
// for: counting runs; concurrent dispatches on one word
KERNEL void increment(u32 *counter) {
  __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// kernel: append
// args: log *u32 inout, capacity u32, value u32
// block: x = 1
// grid: x = 1
// does: slot = log[0]++ (atomic); log[1 + slot] = value if slot < capacity
// for: the order in which dispatches ran; log holds capacity + 1 words, and log[0] starts at 0
KERNEL void append(u32 *log, u32 capacity, u32 value) {
  u32 slot = __hip_atomic_fetch_add(log, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if (slot < capacity) log[1 + slot] = value;
}
