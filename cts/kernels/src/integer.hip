// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: arithmetic_{T} for T in i8 u8 i16 u16 i32 u32 i64 u64
// args: a *{T} in, b *{T} in, out *{T} out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[6i..6i+6) = a + b, a - b, a * b (wrapping), a & b, a | b, a ^ b
// for: integer arithmetic of every width
//
// kernel: divide_{T} for T in i8 u8 i16 u16 i32 u32 i64 u64
// args: a *{T} in, b *{T} in, out *{T} out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[2i..2i+2) = a / b, a % b, truncating; no b is 0, no quotient overflows
// for: the division sequences that the compiler expands
//
// kernel: shift_{T} for T in i8 u8 i16 u16 i32 u32 i64 u64
// args: a *{T} in, b *u32 in, out *{T} out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: with s = b % bits of {T}, for i < n: out[3i..3i+3) = a << s, a >> s (arithmetic if signed), a rotated left by s
// for: shifts and rotates
#define INTEGER(T, U)                                                       \
  KERNEL void arithmetic_##T(const T *a, const T *b, T *out, i32 n) {       \
    i32 i = global_x();                                                     \
    if (i >= n) return;                                                     \
    U x = a[i], y = b[i];                                                   \
    T *row = out + 6 * i;                                                   \
    row[0] = x + y;                                                         \
    row[1] = x - y;                                                         \
    row[2] = (u64)x * (u64)y;                                               \
    row[3] = x & y;                                                         \
    row[4] = x | y;                                                         \
    row[5] = x ^ y;                                                         \
  }                                                                         \
  KERNEL void divide_##T(const T *a, const T *b, T *out, i32 n) {           \
    i32 i = global_x();                                                     \
    if (i >= n) return;                                                     \
    out[2 * i] = a[i] / b[i];                                               \
    out[2 * i + 1] = a[i] % b[i];                                           \
  }                                                                         \
  KERNEL void shift_##T(const T *a, const u32 *b, T *out, i32 n) {          \
    const u32 bits = 8 * sizeof(T);                                         \
    i32 i = global_x();                                                     \
    if (i >= n) return;                                                     \
    u32 s = b[i] % bits;                                                    \
    U x = a[i];                                                             \
    out[3 * i] = x << s;                                                    \
    out[3 * i + 1] = a[i] >> s;                                             \
    out[3 * i + 2] = (U)(x << s) | (U)(x >> ((bits - s) % bits));           \
  }
INTEGER(i8, u8)
INTEGER(u8, u8)
INTEGER(i16, u16)
INTEGER(u16, u16)
INTEGER(i32, u32)
INTEGER(u32, u32)
INTEGER(i64, u64)
INTEGER(u64, u64)

// kernel: bits_u32
// args: a *u32 in, out *u32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[6i..6i+6) = ones, leading zeros (32 for 0), trailing zeros (32 for 0), bits reversed, bytes reversed, bits 5..13 as a number
// for: bit instructions
KERNEL void bits_u32(const u32 *a, u32 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  u32 x = a[i], *row = out + 6 * i;
  row[0] = __builtin_popcount(x);
  row[1] = x ? __builtin_clz(x) : 32;
  row[2] = x ? __builtin_ctz(x) : 32;
  row[3] = __builtin_bitreverse32(x);
  row[4] = __builtin_bswap32(x);
  row[5] = x >> 5 & 0xff;
}

// kernel: bits_u64
// args: a *u64 in, out *u64 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[6i..6i+6) = ones, leading zeros (64 for 0), trailing zeros (64 for 0), bits reversed, bytes reversed, bits 29..41 as a number
// for: bit instructions on 64 bits
KERNEL void bits_u64(const u64 *a, u64 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  u64 x = a[i], *row = out + 6 * i;
  row[0] = __builtin_popcountl(x);
  row[1] = x ? __builtin_clzl(x) : 64;
  row[2] = x ? __builtin_ctzl(x) : 64;
  row[3] = __builtin_bitreverse64(x);
  row[4] = __builtin_bswap64(x);
  row[5] = x >> 29 & 0xfff;
}

// kernel: multiply_wide
// args: a *u64 in, b *u64 in, out *u64 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: for i < n: out[3i..3i+3) = low and high half of the 128-bit product a * b, and the high half of the signed product
// for: high halves, carries
KERNEL void multiply_wide(const u64 *a, const u64 *b, u64 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  u128 product = (u128)a[i] * b[i];
  __int128 signed_product = (__int128)(i64)a[i] * (i64)b[i];
  out[3 * i] = (u64)product;
  out[3 * i + 1] = (u64)(product >> 64);
  out[3 * i + 2] = (u64)((u128)signed_product >> 64);
}

// kernel: dot_i8
// args: a *u32 in, b *u32 in, c *i32 in, out *i32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = c[i] + the sum over the four bytes of i8(a) * i8(b), wrapping, for i < n
// for: packed 8-bit dot product instructions (v_dot4_i32_i8, v_dot4_i32_iu8)
KERNEL void dot_i8(const u32 *a, const u32 *b, const i32 *c, i32 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
#if defined(__gfx900__) || defined(__gfx10_1_generic__)
  i32 sum = c[i];
  for (u32 e = 0; e < 4; e++) sum += (i32)(i8)(a[i] >> 8 * e) * (i8)(b[i] >> 8 * e);
  out[i] = sum;
#elif defined(__GFX11__) || defined(__GFX12__)
  out[i] = __builtin_amdgcn_sudot4(true, a[i], true, b[i], c[i], false);
#else
  out[i] = __builtin_amdgcn_sdot4(a[i], b[i], c[i], false);
#endif
}
