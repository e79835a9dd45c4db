// SPDX-License-Identifier: MIT OR Apache-2.0
// Half precision, alone, packed and mixed with single precision.
#include "twin.h"

typedef VECTOR(f16, 2) f16x2;
typedef VECTOR(f16, 4) f16x4;
typedef VECTOR(f32, 2) f32x2;

TWIN(arithmetic_f16, 2) {
  f16 a = any_f16(IN(0)), b = any_f16(IN(0) >> 16), c = mild_f16(IN(1));
  OUT(arithmetic_f16, 0) = bits_f16(a + b) | bits_f16(a * b) << 16;
  OUT(arithmetic_f16, 1) = bits_f16(a * c - b) | bits_f16((c - a) * b) << 16;
}

TWIN(divide_f16, 1) {
  f16 a = any_f16(IN(0)), b = any_f16(IN(1));
  OUT(divide_f16, 0) = bits_f16(a / b) | bits_f16(mild_f16(IN(2)) / mild_f16(IN(3))) << 16;
}

TWIN(square_root_f16, 1) {
  OUT(square_root_f16, 0) = bits_f16(__builtin_sqrtf16(any_f16(IN(0)))) |
                            bits_f16(__builtin_sqrtf16(__builtin_fabsf16(mild_f16(IN(1))))) << 16;
}

TWIN(compare_f16, 1) {
  f16 a = any_f16(IN(0)), b = IN(2) & 1 ? any_f16(IN(1)) : a;
  OUT(compare_f16, 0) = (u32)((a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5 |
                              (a != a) << 6 | !(a < b) << 7) |
                        bits_f16(a < b ? a : b) << 16;
}

TWIN(convert_f16, 4) {
  f16 a = any_f16(IN(0)), c = mild_f16(IN(1));
  OUT(convert_f16, 0) = bits_f32((f32)a);
  OUT(convert_f16, 1) = bits_f16((f16)any_f32(IN(2))) | bits_f16((f16)mild_f32(IN(3))) << 16;
  OUT(convert_f16, 2) = (u32)(i32)c ^ (u32)(i16)c << 16 ^ bits_f16((f16)(i16)IN(2));
  OUT(convert_f16, 3) = bits_f16((f16)any_f64(IN(4), IN(5))) ^ (u32)(bits_f64((f64)a) >> 40);
}

TWIN(packed_f16, 3) {
  f16x2 a = __builtin_bit_cast(f16x2, IN(0)), b = __builtin_bit_cast(f16x2, IN(1));
  f16x2 c = {mild_f16(IN(2)), mild_f16(IN(3))};
  f16x2 sum = a + b, product = a * c, mixed = (a - c.yx) * b;
  OUT(packed_f16, 0) = bits_f16(sum.x) | bits_f16(sum.y) << 16;
  OUT(packed_f16, 1) = bits_f16(product.x) | bits_f16(product.y) << 16;
  OUT(packed_f16, 2) = bits_f16(mixed.x) | bits_f16(mixed.y) << 16;
}

TWIN(dot_f16, 2) {
  f32 sum = params.scale;
  f16 half = 0;
  for (u32 k = 0; k < 6; k++) {
    f16x2 a = {mild_f16(IN(2 * k)), mild_f16(IN(2 * k) >> 16)}, b = {mild_f16(IN(2 * k + 1)), (f16)0.25f};
    sum = __builtin_fmaf((f32)a.x, (f32)b.x, sum);
    sum += (f32)a.y * (f32)b.y;
    half += a.x * b.y;
  }
  OUT(dot_f16, 0) = bits_f32(sum);
  OUT(dot_f16, 1) = bits_f16(half);
}

TWIN(mixed_fma, 2) {
  f16 a = any_f16(IN(0)), b = any_f16(IN(1));
  f32 c = mild_f32(IN(2));
  OUT(mixed_fma, 0) = bits_f32(__builtin_fmaf((f32)a, (f32)b, c));
  // A product alone would do too, but for the sign of zero: LLVM 19 makes it c * b + 0.
  OUT(mixed_fma, 1) = bits_f16((f16)__builtin_fmaf((f32)a, c, (f32)b)) | bits_f16((f16)(c + (f32)b)) << 16;
}

TWIN(vectors_f16, 2) {
  f16x4 a = {mild_f16(IN(0)), mild_f16(IN(0) >> 16), mild_f16(IN(1)), mild_f16(IN(1) >> 16)};
  f16x4 b = a.wzyx * (f16)0.5f + (f16)3.0f;
  for (u32 k = 0; k < 3; k++) b = __builtin_elementwise_abs(b - a) * (f16)0.75f;
  OUT(vectors_f16, 0) = bits_f16(b.x) | bits_f16(b.y) << 16;
  OUT(vectors_f16, 1) = bits_f16(b.z) | bits_f16(b.w) << 16;
}

// bfloat16 by hand, as programs without the type have it.
TWIN(bf16_by_hand, 1) {
  f32 x = any_f32(IN(0));
  u32 bits = bits_f32(x), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  if (x != x) rounded = 0x7fc0;
  f32 back = __builtin_bit_cast(f32, rounded << 16);
  OUT(bf16_by_hand, 0) = rounded | (u32)(back == x) << 16 | (u32)(back > x) << 17;
}
