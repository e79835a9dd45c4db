// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

struct Scale {
  f32 factor;
  i64 offset;
};

// kernel: apply_scale
// struct: Scale 16: f32 factor at 0, 4 bytes unused, i64 offset at 8
// args: in *i64 in, n i32, scale Scale, out *i64 out
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = i64(f32(in[i]) * scale.factor) + scale.offset for i < n, rounding towards zero
// for: a struct by value between scalars and pointers, and padding in the argument block (offsets 0, 8, 16, 32)
KERNEL void apply_scale(const i64 *in, i32 n, Scale scale, i64 *out) {
  i32 i = global_x();
  if (i < n) out[i] = (i64)((f32)in[i] * scale.factor) + scale.offset;
}

// kernel: write_arguments
// args: out *u8[40] out, a u8, b i16, c u32, d u64, e f16, f f64
// block: x = 1
// grid: x = 1
// does: writes little-endian u64 a, b (its 16 bits), c, d to out[0..32), then u8(e) to out[32], u8(f) to out[33]; out[34..40) is left alone
// for: small and mixed scalars, their alignment
KERNEL void write_arguments(u8 *out, u8 a, i16 b, u32 c, u64 d, f16 e, f64 f) {
  u64 *words = (u64 *)out;
  words[0] = a;
  words[1] = (u16)b;
  words[2] = c;
  words[3] = d;
  out[32] = (u8)e;
  out[33] = (u8)f;
}

struct Words {
  u32 word[256];
};

// kernel: sum_words
// struct: Words 1024: u32 word[256] at 0
// args: words Words, n u32, out *u32[1] out
// block: x = 1
// grid: x = 1
// does: out[0] = words.word[0] + ... + words.word[n - 1], mod 2^32; n up to 256
// for: an argument block of more than a kilobyte
KERNEL void sum_words(Words words, u32 n, u32 *out) {
  u32 sum = 0;
  for (u32 i = 0; i < n && i < 256; i++) sum += words.word[i];
  out[0] = sum;
}
