// SPDX-License-Identifier: MIT OR Apache-2.0
// Instructions that hardware approximates are right to about 1 unit in the last place of their type. All others give
// IEEE's results to the bit.
#include "device.h"

// kernel: exact_f32
// args: a *f32 in, b *f32 in, c *f32 in, out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[12i..12i+12) = a + b, a - b, a * b, a / b, fma(a, b, c), sqrt(a), floor(a), ceil(a), trunc(a), a rounded to nearest even, copysign(a, b), |a| with b's sign times c
// for: f32 that is correctly rounded: division and square root expand to long sequences
//
// kernel: exact_f64
// args: a *f64 in, b *f64 in, c *f64 in, out *f64 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: the same in f64
// for: f64 arithmetic
#define EXACT(T, S)                                                                 \
  KERNEL void exact_##T(const T *a, const T *b, const T *c, T *out, i32 n) {        \
    i32 i = global_x();                                                             \
    if (i >= n) return;                                                             \
    T x = a[i], y = b[i], z = c[i], *row = out + 12 * i;                            \
    row[0] = x + y;                                                                 \
    row[1] = x - y;                                                                 \
    row[2] = x * y;                                                                 \
    row[3] = x / y;                                                                 \
    row[4] = __builtin_fma##S(x, y, z);                                             \
    row[5] = __builtin_elementwise_sqrt(x);                                         \
    row[6] = __builtin_floor##S(x);                                                 \
    row[7] = __builtin_ceil##S(x);                                                  \
    row[8] = __builtin_trunc##S(x);                                                 \
    row[9] = __builtin_elementwise_roundeven(x);                                    \
    row[10] = __builtin_copysign##S(x, y);                                          \
    row[11] = __builtin_copysign##S(x, y) * z;                                      \
  }
EXACT(f32, f)
EXACT(f64, )

// kernel: approximate_f32
// args: a *f32 in, out *f32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[10i..10i+10) = e^a, 2^a, ln a, log2 a, log10 a, sin a, cos a (radians), 1 / a, 1 / sqrt(a), a - floor(a); the first five within a few ulp; sin and cos by v_sin and v_cos of a / 2 pi, absolute error about 1e-6 for |a| <= 16
// for: transcendental instructions and the sequences around them
KERNEL void approximate_f32(const f32 *a, f32 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  f32 x = a[i], *row = out + 10 * i;
  row[0] = __builtin_elementwise_exp(x);
  row[1] = __builtin_elementwise_exp2(x);
  row[2] = __builtin_elementwise_log(x);
  row[3] = __builtin_elementwise_log2(x);
  row[4] = __builtin_elementwise_log10(x);
  row[5] = __builtin_elementwise_sin(x);
  row[6] = __builtin_elementwise_cos(x);
  row[7] = __builtin_amdgcn_rcpf(x);
  row[8] = __builtin_amdgcn_rsqf(x);
  row[9] = __builtin_amdgcn_fractf(x);
}

// kernel: scale_f32
// args: a *f32 in, e *i32 in, out *f32 out, exponent *i32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[2i] = a * 2^e, out[2i+1] = mantissa of a in [0.5, 1), exponent[i] = its exponent; a finite and not 0
// for: ldexp and frexp, f32
//
// kernel: scale_f64
// args: a *f64 in, e *i32 in, out *f64 out, exponent *i32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: the same in f64
// for: ldexp and frexp, f64
#define SCALE(T, S)                                                                          \
  KERNEL void scale_##T(const T *a, const i32 *e, T *out, i32 *exponent, i32 n) {            \
    i32 i = global_x();                                                                      \
    if (i >= n) return;                                                                      \
    out[2 * i] = __builtin_amdgcn_ldexp##S(a[i], e[i]);                                      \
    out[2 * i + 1] = __builtin_amdgcn_frexp_mant##S(a[i]);                                   \
    exponent[i] = __builtin_amdgcn_frexp_exp##S(a[i]);                                       \
  }
SCALE(f32, f)
SCALE(f64, )

// kernel: convert
// args: a *f64 in, out *u64 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[9i..9i+9) = the bits of f32(a) and of f16(f32(a)); a truncated to i32, u32, i64, u64 (a negative a gives 0 where unsigned; |a| < 2^31); the bits of f64(i32(a)), of f64(i64(a) * 3), of f32(i64(a))
// for: conversions between integers and floats of every width; entries narrower than 64 bits are zero extended, i32 sign extended
KERNEL void convert(const f64 *a, u64 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  f64 x = a[i];
  f32 single = (f32)x;
  u64 *row = out + 9 * i;
  row[0] = __builtin_bit_cast(u32, single);
  row[1] = __builtin_bit_cast(u16, (f16)single);
  row[2] = (u64)(i64)(i32)x;
  row[3] = x < 0 ? 0 : (u32)x;
  row[4] = (u64)(i64)x;
  row[5] = x < 0 ? 0 : (u64)x;
  row[6] = __builtin_bit_cast(u64, (f64)(i32)x);
  row[7] = __builtin_bit_cast(u64, (f64)((i64)x * 3));
  row[8] = __builtin_bit_cast(u32, (f32)(i64)x);
}
