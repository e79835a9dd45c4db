// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: minmax_{T} for T in i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64
// args: a *{T} in, b *{T} in, c *{T} in, out *{T} out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[4i..4i+4) = min(a, b), max(a, b), max(min(max(a, b), c), min(a, b)) (the median), and a if a < b else c; floats: min and max as fmin, fmax (a quiet NaN loses)
// for: minimum, maximum, three-operand forms and selects of every type
#define MINMAX(T, MIN, MAX)                                                       \
  KERNEL void minmax_##T(const T *a, const T *b, const T *c, T *out, i32 n) {     \
    i32 i = global_x();                                                           \
    if (i >= n) return;                                                           \
    T x = a[i], y = b[i], z = c[i];                                               \
    T low = MIN(x, y), high = MAX(x, y);                                          \
    out[4 * i] = low;                                                             \
    out[4 * i + 1] = high;                                                        \
    out[4 * i + 2] = MAX(MIN(high, z), low);                                      \
    out[4 * i + 3] = x < y ? x : z;                                               \
  }
MINMAX(i8, __builtin_elementwise_min, __builtin_elementwise_max)
MINMAX(u8, __builtin_elementwise_min, __builtin_elementwise_max)
MINMAX(i16, __builtin_elementwise_min, __builtin_elementwise_max)
MINMAX(u16, __builtin_elementwise_min, __builtin_elementwise_max)
MINMAX(i32, __builtin_elementwise_min, __builtin_elementwise_max)
MINMAX(u32, __builtin_elementwise_min, __builtin_elementwise_max)
MINMAX(i64, __builtin_elementwise_min, __builtin_elementwise_max)
MINMAX(u64, __builtin_elementwise_min, __builtin_elementwise_max)
MINMAX(f16, __builtin_fminf16, __builtin_fmaxf16)
MINMAX(f32, __builtin_fminf, __builtin_fmaxf)
MINMAX(f64, __builtin_fmin, __builtin_fmax)
