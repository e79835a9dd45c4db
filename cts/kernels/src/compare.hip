// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: compare_{T} for T in i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64
// args: a *{T} in, b *{T} in, out *u8 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = bits: 0 a < b, 1 a <= b, 2 a == b, 3 a != b, 4 a > b, 5 a >= b, 6 either is NaN (0 for integers), 7 a is zero
// for: every condition of every type
#define COMPARE(T)                                                                                        \
  KERNEL void compare_##T(const T *a, const T *b, u8 *out, i32 n) {                                       \
    i32 i = global_x();                                                                                   \
    if (i >= n) return;                                                                                   \
    T x = a[i], y = b[i];                                                                                 \
    bool unordered = x != x || y != y;                                                                    \
    out[i] = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x > y) << 4 | (x >= y) << 5 |     \
             unordered << 6 | (x == (T)0) << 7;                                                           \
  }

// kernel: branch_{T} for T in i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64
// args: a {T}, b {T}, out *u32[1] out
// block: x = 1
// grid: x = 1
// does: out[0] = the same bits of two scalars, each found by a branch
// for: scalar compares and branches
#define BRANCH(T)                                               \
  KERNEL void branch_##T(T a, T b, u32 *out) {                  \
    u32 bits = 0;                                               \
    volatile u32 *sink = out;                                   \
    if (a < b) *sink = bits |= 1;                               \
    if (a <= b) *sink = bits |= 2;                              \
    if (a == b) *sink = bits |= 4;                              \
    if (a != b) *sink = bits |= 8;                              \
    if (a > b) *sink = bits |= 16;                              \
    if (a >= b) *sink = bits |= 32;                             \
    if (a != a || b != b) *sink = bits |= 64;                   \
    if (a == (T)0) *sink = bits |= 128;                         \
  }

#define BOTH(T) COMPARE(T) BRANCH(T)
BOTH(i8) BOTH(u8) BOTH(i16) BOTH(u16) BOTH(i32) BOTH(u32) BOTH(i64) BOTH(u64) BOTH(f16) BOTH(f32) BOTH(f64)
