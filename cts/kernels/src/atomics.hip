// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: atomics_{T} for T in i32 u32 i64 u64
// args: in *{T} in, cells *{T}[8] inout, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n, atomically with v = in[i]: cells[0] += v, [1] -= v, [2] &= v, [3] |= v, [4] ^= v, [5] = min, [6] = max, and [7] += v by compare-and-swap; the result is independent of order
// for: global atomics of integers
#define ATOMICS(T)                                                                                             \
  KERNEL void atomics_##T(const T *in, T *cells, i32 n) {                                                      \
    i32 i = global_x();                                                                                        \
    if (i >= n) return;                                                                                        \
    T v = in[i];                                                                                               \
    __hip_atomic_fetch_add(&cells[0], v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                          \
    __hip_atomic_fetch_add(&cells[1], (T)(0 - v), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                 \
    __hip_atomic_fetch_and(&cells[2], v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                          \
    __hip_atomic_fetch_or(&cells[3], v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                           \
    __hip_atomic_fetch_xor(&cells[4], v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                          \
    __hip_atomic_fetch_min(&cells[5], v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                          \
    __hip_atomic_fetch_max(&cells[6], v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                          \
    T seen = __hip_atomic_load(&cells[7], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                         \
    while (!__hip_atomic_compare_exchange_weak(&cells[7], &seen, (T)(seen + v), __ATOMIC_RELAXED,              \
                                               __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {                  \
    }                                                                                                          \
  }
ATOMICS(i32)
ATOMICS(u32)
ATOMICS(i64)
ATOMICS(u64)

// kernel: atomics_f64
// args: in *f64 in, cells *f64[1] inout, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: cells[0] += in[i] for i < n, atomically; exact if the values are small integers
// for: the f64 atomic add, or its loop
KERNEL void atomics_f64(const f64 *in, f64 *cells, i32 n) {
  i32 i = global_x();
  if (i < n) __hip_atomic_fetch_add(cells, in[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// kernel: tickets
// args: next *u32[1] inout, taken *u32 inout, n u32
// block: any
// grid: any
// does: each work-item takes t = next[0]++ (its own atomic) and, if t < n, adds 1 to taken[t] and exchanges it with 100 + its old value; every taken[t] thus ends at 100 if it started at 0
// for: atomics that return the old value
KERNEL void tickets(u32 *next, u32 *taken, u32 n) {
  u32 t = __hip_atomic_fetch_add(next, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if (t >= n) return;
  u32 old = __hip_atomic_fetch_add(&taken[t], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_exchange(&taken[t], old + 100, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// kernel: atomics_lds
// args: in *i32 in, out *i32[6] out, n i32
// block: x, any
// grid: x = 1
// does: out = sum, and, or, xor, min, max of in[0..n), wrapping, by LDS atomics of i32 from 0, -1, 0, 0, 2^31 - 1, -2^31
// for: LDS atomics
KERNEL void atomics_lds(const i32 *in, i32 *out, i32 n) {
  SHARED static i32 cells[6];
  i32 x = item_x();
  if (x == 0) {
    cells[0] = 0, cells[1] = -1, cells[2] = 0, cells[3] = 0, cells[4] = 0x7fffffff, cells[5] = -0x7fffffff - 1;
  }
  block_barrier();
  for (i32 i = x; i < n; i += block_x()) {
    __hip_atomic_fetch_add(&cells[0], in[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __hip_atomic_fetch_and(&cells[1], in[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __hip_atomic_fetch_or(&cells[2], in[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __hip_atomic_fetch_xor(&cells[3], in[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __hip_atomic_fetch_min(&cells[4], in[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __hip_atomic_fetch_max(&cells[5], in[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  }
  block_barrier();
  if (x < 6) out[x] = cells[x];
}
