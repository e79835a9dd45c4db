// SPDX-License-Identifier: MIT OR Apache-2.0
// Floats that are the same in all work-items. GPUs with scalar floats compute them there.
#include "twin.h"

TWIN(uniform_singles, 8) {
  f32 sum = params.scale, product = 1.0f, fused = 0.5f, least = 1e30f, greatest = -1e30f, whole = 0.0f;
  u32 order = 0, count = 0;
  for (u32 i = 0; i < 24; i++) {
    f32 a = (f32)(i32)in[2 * i] * 0x1p-24f, b = (f32)in[2 * i + 1] * 0x1p-28f;
    sum = sum + a - b;
    product = product * a + 0x1p-3f;
    fused = __builtin_fmaf(a, b, fused);
    least = __builtin_fminf(least, a - params.scale);
    greatest = __builtin_fmaxf(greatest, b * a);
    whole += __builtin_ceilf(a) - __builtin_floorf(b) + __builtin_truncf(a * 3.0f) - __builtin_rintf(b * 0.5f);
    order = order * 3 + (a < b) + (a <= 0.25f) * 2 + (a == b) * 4 + (a != params.scale) * 8 + (a > b * 2.0f) * 16;
    if (!(a >= 1.0f)) order ^= (u32)(i32)(a * 7.0f) + (u32)b;
    if (fused > 3000.0f) break;
    count += (u32)(b * 100.0f);
  }
  OUT(uniform_singles, 0) = bits_f32(sum);
  OUT(uniform_singles, 1) = bits_f32(product);
  OUT(uniform_singles, 2) = bits_f32(fused);
  OUT(uniform_singles, 3) = bits_f32(least);
  OUT(uniform_singles, 4) = bits_f32(greatest);
  OUT(uniform_singles, 5) = bits_f32(whole);
  OUT(uniform_singles, 6) = order;
  OUT(uniform_singles, 7) = count;
}

TWIN(uniform_halves, 4) {
  f16 sum = (f16)params.scale, product = (f16)1.0f, least = (f16)1000.0f, whole = (f16)0.0f;
  u32 order = 0;
  f32 wide = 0.0f;
  for (u32 i = 0; i < 20; i++) {
    f16 a = (f16)((f32)(i32)(i16)in[3 * i] * 0x1p-12f), b = (f16)((f32)(in[3 * i + 1] & 0xffff) * 0x1p-14f);
    sum = sum + a - b;
    product = product * a + b;
    least = a < least ? a : least;
    whole += __builtin_floorf16(a) + __builtin_ceilf16(b) - __builtin_truncf16(a) - __builtin_rintf16(b * (f16)2.0f);
    order = order * 2 + (a < b) + (a == (f16)1.0f) + !(a > sum) + (b <= (f16)0.5f) + (a != product);
    wide += (f32)a * (f32)b;
  }
  OUT(uniform_halves, 0) = bits_f16(sum) | bits_f16(product) << 16;
  OUT(uniform_halves, 1) = bits_f16(least) | bits_f16(whole) << 16;
  OUT(uniform_halves, 2) = order;
  OUT(uniform_halves, 3) = bits_f32(wide);
}
