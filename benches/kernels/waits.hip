// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels of the kind that programs wait for on the simulated GPU: plain loops, as people write them.
#include "device.h"

static DEVICE inline i32 global_y() { return group_y() * block_y() + item_y(); }

// c[m,n] = a[m,k] * b[k,n], row major, one element for each work-item, without LDS.
KERNEL void product(const f32 *a, const f32 *b, f32 *c, i32 m, i32 n, i32 k) {
  i32 column = global_x(), row = global_y();
  if (row >= m || column >= n) return;
  f32 sum = 0;
  for (i32 i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

// out[height,width] = in[height,width] convolved with 5 x 5 taps; zero outside.
KERNEL void convolution(const f32 *in, const f32 *taps, f32 *out, i32 width, i32 height) {
  i32 x = global_x(), y = global_y();
  if (x >= width || y >= height) return;
  f32 sum = 0;
  for (i32 down = 0; down < 5; down++) {
    for (i32 right = 0; right < 5; right++) {
      i32 from_x = x + right - 2, from_y = y + down - 2;
      if (from_x >= 0 && from_x < width && from_y >= 0 && from_y < height)
        sum += in[from_y * width + from_x] * taps[down * 5 + right];
    }
  }
  out[y * width + x] = sum;
}

// A chain of n square roots, logarithms, exponentials and divisions of doubles, in one lane of each workgroup.
KERNEL void alone(f64 *out, f64 start, i32 n) {
  if (item_x() != 0) return;
  f64 value = start + group_x();
  for (i32 i = 1; i <= n; i++) {
    f64 part = __builtin_amdgcn_frexp_mant(value);
    f64 t = (part - 1) / (part + 1), square = t * t;
    f64 series = 1.0 / 11;
    series = series * square + 1.0 / 9;
    series = series * square + 1.0 / 7;
    series = series * square + 1.0 / 5;
    series = series * square + 1.0 / 3;
    series = series * square + 1;
    f64 power = 1.5 * (2 * t * series + __builtin_amdgcn_frexp_exp(value) * 0.69314718055994531);
    f64 whole = __builtin_rint(power * 1.4426950408889634), rest = power - whole * 0.69314718055994531;
    series = 1.0 / 720;
    series = series * rest + 1.0 / 120;
    series = series * rest + 1.0 / 24;
    series = series * rest + 1.0 / 6;
    series = series * rest + 0.5;
    series = series * rest + 1;
    series = series * rest + 1;
    value = __builtin_sqrt(__builtin_ldexp(series, (i32)whole)) + 1.0 / i;
  }
  out[group_x()] = value;
}

// Nothing.
KERNEL void nothing() {}
