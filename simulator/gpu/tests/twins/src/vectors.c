// SPDX-License-Identifier: MIT OR Apache-2.0
// OpenCL's vector types: elements, shuffles, conversions, vectors of booleans.
#include "twin.h"

typedef VECTOR(i32, 4) i32x4;
typedef VECTOR(u32, 4) u32x4;
typedef VECTOR(f32, 4) f32x4;
typedef VECTOR(i16, 8) i16x8;
typedef VECTOR(u16, 2) u16x2;
typedef VECTOR(i16, 2) i16x2;
typedef VECTOR(u8, 16) u8x16;
typedef VECTOR(u64, 2) u64x2;
typedef VECTOR(f32, 3) f32x3;
typedef VECTOR(_Bool, 8) boolx8;

TWIN(vectors_u32, 4) {
  u32x4 a = {IN(0), IN(1), IN(2), IN(3)}, b = {IN(4), IN(5), IN(6), IN(7)};
  u32x4 r = (a + b.wzyx) ^ (a * 7) >> (b & 31);
  for (u32 k = 0; k < 4; k++) OUT(vectors_u32, k) = r[k];
}

TWIN(vectors_i16, 4) {
  i16x8 a = __builtin_bit_cast(i16x8, (u32x4){IN(0), IN(1), IN(2), IN(3)});
  i16x8 b = __builtin_bit_cast(i16x8, (u32x4){IN(4), IN(5), IN(6), IN(7)});
  i16x8 r = __builtin_elementwise_max(a + b, a * b) - __builtin_elementwise_min(a, b);
  u32x4 words = __builtin_bit_cast(u32x4, r);
  for (u32 k = 0; k < 4; k++) OUT(vectors_i16, k) = words[k];
}

TWIN(vectors_u8, 4) {
  u8x16 a = __builtin_bit_cast(u8x16, (u32x4){IN(0), IN(1), IN(2), IN(3)});
  u8x16 b = __builtin_shufflevector(a, a, 15, 0, 14, 1, 13, 2, 12, 3, 11, 4, 10, 5, 9, 6, 8, 7);
  u8x16 r = (a > b ? a - b : b + a) + (u8)3;
  u32x4 words = __builtin_bit_cast(u32x4, r);
  for (u32 k = 0; k < 4; k++) OUT(vectors_u8, k) = words[k];
}

TWIN(packed_i16, 4) {
  i16x2 a = __builtin_bit_cast(i16x2, IN(0)), b = __builtin_bit_cast(i16x2, IN(1));
  u16x2 c = __builtin_bit_cast(u16x2, IN(2)), d = __builtin_bit_cast(u16x2, IN(3));
  OUT(packed_i16, 0) = __builtin_bit_cast(u32, a * b + a.yx);
  OUT(packed_i16, 1) = __builtin_bit_cast(u32, __builtin_elementwise_max(a, b) - __builtin_elementwise_min(a, b.yx));
  OUT(packed_i16, 2) = __builtin_bit_cast(u32, (u16x2)(c << (d & 15)) ^ (u16x2)(c >> (d & 15)));
  OUT(packed_i16, 3) = __builtin_bit_cast(u32, __builtin_elementwise_add_sat(a, b) ^ (a >> (b & 15)));
}

TWIN(vectors_f32, 4) {
  f32x4 a = {mild_f32(IN(0)), mild_f32(IN(1)), mild_f32(IN(2)), mild_f32(IN(3))};
  f32x4 b = a.zwxy * params.scale - a.xxyy;
  f32x3 cross = a.yzx * b.zxy - a.zxy * b.yzx;
  OUT(vectors_f32, 0) = bits_f32(cross.x);
  OUT(vectors_f32, 1) = bits_f32(cross.y);
  OUT(vectors_f32, 2) = bits_f32(cross.z);
  OUT(vectors_f32, 3) = bits_f32(((a.x * b.x + a.y * b.y) + a.z * b.z) + a.w * b.w);
}

TWIN(vectors_u64, 4) {
  u64x2 a = {pair(IN(0), IN(1)), pair(IN(2), IN(3))}, b = {pair(IN(4), IN(5)), pair(IN(6), IN(7))};
  u64x2 r = (a < b ? a : b) + (a << (b & 63)) * 3;
  PUT64(vectors_u64, 0, r.x);
  PUT64(vectors_u64, 2, r.y);
}

TWIN(vector_conversions, 4) {
  u32x4 a = {IN(0), IN(1), IN(2), IN(3)};
  f32x4 f = __builtin_convertvector(a, f32x4) * 0x1p-18f;
  i32x4 i = __builtin_convertvector(f, i32x4);
  for (u32 k = 0; k < 4; k++) OUT(vector_conversions, k) = (u32)i[k] ^ bits_f32(f[k]);
}

TWIN(vector_elements, 2) {
  u32x4 a = {IN(0), IN(1), IN(2), IN(3)};
  // The element is known only when it runs, and differs from lane to lane.
  a[IN(4) & 3] += 17;
  a[IN(5) & 3] = a[IN(6) & 3] * 5;
  OUT(vector_elements, 0) = a[IN(7) & 3];
  OUT(vector_elements, 1) = a.x ^ a.y ^ a.z ^ a.w;
}

TWIN(bool_vectors, 3) {
  boolx8 less, odd;
  for (u32 k = 0; k < 8; k++) {
    less[k] = IN(k) < IN((k + 1) % 8);
    odd[k] = IN(k) & 1;
  }
  boolx8 both = less & odd, either = less | odd, one = less ^ odd;
  u32 masks = 0;
  for (u32 k = 0; k < 8; k++) masks |= (u32)both[k] << k | (u32)either[k] << (8 + k) | (u32)one[k] << (16 + k);
  OUT(bool_vectors, 0) = masks;
  OUT(bool_vectors, 1) = __builtin_reduce_or(__builtin_convertvector(both, VECTOR(u8, 8)));
  OUT(bool_vectors, 2) = __builtin_reduce_and(__builtin_convertvector(either, VECTOR(u8, 8)));
}

TWIN(vector_reductions, 4) {
  u32x4 a = {IN(0), IN(1), IN(2), IN(3)};
  i32x4 s = __builtin_bit_cast(i32x4, a);
  OUT(vector_reductions, 0) = __builtin_reduce_add(a);
  OUT(vector_reductions, 1) = __builtin_reduce_xor(a) ^ __builtin_reduce_and(a) ^ __builtin_reduce_or(a);
  OUT(vector_reductions, 2) = (u32)__builtin_reduce_max(s) - (u32)__builtin_reduce_min(s);
  OUT(vector_reductions, 3) = __builtin_reduce_mul(a | 1);
}
