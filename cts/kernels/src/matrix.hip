// SPDX-License-Identifier: MIT OR Apache-2.0
// targets: gfx90a gfx942
// One wave multiplies one tile on the matrix cores: no entry for RDNA.
// no host code of any kernel: no CPU has the matrix instructions
#include "device.h"

typedef f16 f16x4 __attribute__((ext_vector_type(4)));
typedef i16 i16x4 __attribute__((ext_vector_type(4)));
typedef f32 f32x4 __attribute__((ext_vector_type(4)));
typedef f32 f32x16 __attribute__((ext_vector_type(16)));
typedef f64 f64x4 __attribute__((ext_vector_type(4)));

// kernel: tile_f32
// args: a *f32[64] in, b *f32[64] in, c *f32[256] inout
// block: x = 64
// grid: x = 1
// does: c[16,16] += a[16,4] * b[4,16], row major
// for: v_mfma_f32_16x16x4_f32
KERNEL MAX_BLOCK(64) void tile_f32(const f32 *a, const f32 *b, f32 *c) {
  u32 lane = item_x(), place = lane % 16, quarter = lane / 16;
  f32x4 sum;
  for (u32 r = 0; r < 4; r++) sum[r] = c[(4 * quarter + r) * 16 + place];
  sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a[place * 4 + quarter], b[quarter * 16 + place], sum, 0, 0, 0);
  for (u32 r = 0; r < 4; r++) c[(4 * quarter + r) * 16 + place] = sum[r];
}

// kernel: tile_f16
// args: a *f16[256] in, b *f16[256] in, c *f32[256] inout
// block: x = 64
// grid: x = 1
// does: c[16,16] += a[16,16] * b[16,16], row major, f32 sums
// for: v_mfma_f32_16x16x16_f16
KERNEL MAX_BLOCK(64) void tile_f16(const f16 *a, const f16 *b, f32 *c) {
  u32 lane = item_x(), place = lane % 16, quarter = lane / 16;
  f16x4 left, right;
  f32x4 sum;
  for (u32 e = 0; e < 4; e++) {
    left[e] = a[place * 16 + 4 * quarter + e];
    right[e] = b[(4 * quarter + e) * 16 + place];
    sum[e] = c[(4 * quarter + e) * 16 + place];
  }
  sum = __builtin_amdgcn_mfma_f32_16x16x16f16(left, right, sum, 0, 0, 0);
  for (u32 r = 0; r < 4; r++) c[(4 * quarter + r) * 16 + place] = sum[r];
}

// kernel: tile_bf16
// args: a *bf16[256] in, b *bf16[256] in, c *f32[256] inout
// block: x = 64
// grid: x = 1
// does: c[16,16] += a[16,16] * b[16,16], row major, f32 sums
// for: v_mfma_f32_16x16x16_bf16
KERNEL MAX_BLOCK(64) void tile_bf16(const i16 *a, const i16 *b, f32 *c) {
  u32 lane = item_x(), place = lane % 16, quarter = lane / 16;
  i16x4 left, right;
  f32x4 sum;
  for (u32 e = 0; e < 4; e++) {
    left[e] = a[place * 16 + 4 * quarter + e];
    right[e] = b[(4 * quarter + e) * 16 + place];
    sum[e] = c[(4 * quarter + e) * 16 + place];
  }
  sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(left, right, sum, 0, 0, 0);
  for (u32 r = 0; r < 4; r++) c[(4 * quarter + r) * 16 + place] = sum[r];
}

// kernel: tile_f16_32
// args: a *f16[256] in, b *f16[256] in, c *f32[1024] inout
// block: x = 64
// grid: x = 1
// does: c[32,32] += a[32,8] * b[8,32], row major, f32 sums
// for: v_mfma_f32_32x32x8_f16
KERNEL MAX_BLOCK(64) void tile_f16_32(const f16 *a, const f16 *b, f32 *c) {
  u32 lane = item_x(), place = lane % 32, half = lane / 32;
  f16x4 left, right;
  f32x16 sum;
  for (u32 e = 0; e < 4; e++) {
    left[e] = a[place * 8 + 4 * half + e];
    right[e] = b[(4 * half + e) * 32 + place];
  }
  for (u32 r = 0; r < 16; r++) sum[r] = c[(8 * (r / 4) + 4 * half + r % 4) * 32 + place];
  sum = __builtin_amdgcn_mfma_f32_32x32x8f16(left, right, sum, 0, 0, 0);
  for (u32 r = 0; r < 16; r++) c[(8 * (r / 4) + 4 * half + r % 4) * 32 + place] = sum[r];
}

// kernel: tile_f64
// args: a *f64[64] in, b *f64[64] in, c *f64[256] inout
// block: x = 64
// grid: x = 1
// does: c[16,16] += a[16,4] * b[4,16], row major
// for: v_mfma_f64_16x16x4_f64
KERNEL MAX_BLOCK(64) void tile_f64(const f64 *a, const f64 *b, f64 *c) {
  u32 lane = item_x(), place = lane % 16, quarter = lane / 16;
  f64x4 sum;
  for (u32 r = 0; r < 4; r++) sum[r] = c[(4 * r + quarter) * 16 + place];
  sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[place * 4 + quarter], b[quarter * 16 + place], sum, 0, 0, 0);
  for (u32 r = 0; r < 4; r++) c[(4 * r + quarter) * 16 + place] = sum[r];
}
