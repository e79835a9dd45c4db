// SPDX-License-Identifier: MIT OR Apache-2.0
// Single and double precision: IEEE results, with NaN, infinities and denormals.
#include "twin.h"

TWIN(arithmetic_f32, 4) {
  f32 a = any_f32(IN(0)), b = any_f32(IN(1)), c = mild_f32(IN(2));
  OUT(arithmetic_f32, 0) = bits_f32(a + b);
  OUT(arithmetic_f32, 1) = bits_f32(a * b - c);
  OUT(arithmetic_f32, 2) = bits_f32(c * params.scale - a);
  OUT(arithmetic_f32, 3) = bits_f32(-a * c + (c - b) * 0.5f);
}

TWIN(divide_f32, 3) {
  f32 a = any_f32(IN(0)), b = any_f32(IN(1));
  OUT(divide_f32, 0) = bits_f32(a / b);
  OUT(divide_f32, 1) = bits_f32(1.0f / b);
  OUT(divide_f32, 2) = bits_f32(mild_f32(IN(2)) / mild_f32(IN(3)));
}

TWIN(square_root_f32, 2) {
  OUT(square_root_f32, 0) = bits_f32(__builtin_sqrtf(any_f32(IN(0))));
  OUT(square_root_f32, 1) = bits_f32(__builtin_sqrtf(__builtin_fabsf(any_f32(IN(1)))));
}

TWIN(fused_f32, 3) {
  f32 a = any_f32(IN(0)), b = any_f32(IN(1)), c = any_f32(IN(2)), d = mild_f32(IN(3));
  OUT(fused_f32, 0) = bits_f32(__builtin_fmaf(a, b, c));
  OUT(fused_f32, 1) = bits_f32(__builtin_fmaf(d, d, -d * d));
  OUT(fused_f32, 2) = bits_f32(__builtin_fmaf(-a, 2.0f, b));
}

TWIN(compare_f32, 2) {
  f32 a = any_f32(IN(0)), b = IN(2) & 1 ? any_f32(IN(1)) : a;
  u32 flags = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5;
  flags |= __builtin_isunordered(a, b) << 6 | __builtin_isgreater(a, b) << 7 | !(a < b) << 8 | !(a >= b) << 9;
  flags |= (a != a) << 10 | __builtin_isinf(b) << 11 | __builtin_isfinite(a) << 12 | __builtin_isnormal(b) << 13;
  OUT(compare_f32, 0) = flags;
  OUT(compare_f32, 1) = bits_f32(a < b ? a : b) ^ bits_f32(a > b ? a : b);
}

TWIN(round_f32, 5) {
  f32 a = IN(1) & 1 ? any_f32(IN(0)) : mild_f32(IN(0));
  OUT(round_f32, 0) = bits_f32(__builtin_floorf(a));
  OUT(round_f32, 1) = bits_f32(__builtin_ceilf(a));
  OUT(round_f32, 2) = bits_f32(__builtin_truncf(a));
  OUT(round_f32, 3) = bits_f32(__builtin_rintf(a));
  OUT(round_f32, 4) = bits_f32(__builtin_roundf(a));
}

TWIN(scale_f32, 3) {
  f32 a = any_f32(IN(0));
  i32 exponent = 0;
  OUT(scale_f32, 0) = bits_f32(__builtin_ldexpf(a, (i32)(IN(1) % 600) - 300));
  f32 mantissa = __builtin_isfinite(a) ? __builtin_frexpf(a, &exponent) : 0;
  OUT(scale_f32, 1) = bits_f32(mantissa);
  OUT(scale_f32, 2) = (u32)exponent ^ bits_f32(__builtin_copysignf(mantissa, any_f32(IN(2))));
}

TWIN(convert_f32, 6) {
  f32 a = mild_f32(IN(0)), huge = (f32)IN(1) * 0x1p30f;
  OUT(convert_f32, 0) = (u32)(i32)a;
  OUT(convert_f32, 1) = (u32)__builtin_fabsf(a) + (u32)(u16)__builtin_fabsf(a);
  OUT(convert_f32, 2) = bits_f32((f32)IN(0)) ^ bits_f32((f32)(i32)IN(1));
  PUT64(convert_f32, 3, (u64)huge ^ (u64)(i64)(a * 0x1p30f));
  OUT(convert_f32, 5) = bits_f32((f32)pair(IN(0), IN(1))) ^ bits_f32((f32)(i64)pair(IN(2), IN(3)));
}

TWIN(bytes_to_f32, 2) {
  u32 a = IN(0);
  f32 sum = 0;
  for (u32 k = 0; k < 4; k++) sum = sum * 3.0f + (f32)(u8)(a >> 8 * k);
  OUT(bytes_to_f32, 0) = bits_f32(sum);
  OUT(bytes_to_f32, 1) = bits_f32((f32)(i8)a + (f32)(i16)(a >> 8) + (f32)params.small);
}

TWIN(arithmetic_f64, 6) {
  f64 a = any_f64(IN(0), IN(1)), b = any_f64(IN(2), IN(3)), c = mild_f64(IN(4), IN(5));
  PUT64(arithmetic_f64, 0, bits_f64(a + b));
  PUT64(arithmetic_f64, 2, bits_f64(a * b - c));
  PUT64(arithmetic_f64, 4, bits_f64(c * params.wide + a));
}

TWIN(divide_f64, 6) {
  f64 a = any_f64(IN(0), IN(1)), b = any_f64(IN(2), IN(3));
  PUT64(divide_f64, 0, bits_f64(a / b));
  PUT64(divide_f64, 2, bits_f64(mild_f64(IN(4), IN(5)) / mild_f64(IN(6), IN(7))));
  PUT64(divide_f64, 4, bits_f64(1.0 / mild_f64(IN(1), IN(0))));
}

TWIN(square_root_f64, 4) {
  PUT64(square_root_f64, 0, bits_f64(__builtin_sqrt(any_f64(IN(0), IN(1)))));
  PUT64(square_root_f64, 2, bits_f64(__builtin_sqrt(__builtin_fabs(mild_f64(IN(2), IN(3))))));
}

TWIN(fused_f64, 4) {
  f64 a = any_f64(IN(0), IN(1)), b = mild_f64(IN(2), IN(3));
  PUT64(fused_f64, 0, bits_f64(__builtin_fma(a, b, params.wide)));
  PUT64(fused_f64, 2, bits_f64(__builtin_fma(b, b, -(b * b))));
}

TWIN(round_f64, 8) {
  f64 a = IN(2) & 1 ? any_f64(IN(0), IN(1)) : mild_f64(IN(0), IN(1));
  PUT64(round_f64, 0, bits_f64(__builtin_floor(a)));
  PUT64(round_f64, 2, bits_f64(__builtin_ceil(a)) ^ bits_f64(__builtin_trunc(a)));
  PUT64(round_f64, 4, bits_f64(__builtin_rint(a)));
  PUT64(round_f64, 6, bits_f64(__builtin_round(a)));
}

TWIN(scale_f64, 4) {
  f64 a = any_f64(IN(0), IN(1));
  i32 exponent = 0;
  PUT64(scale_f64, 0, bits_f64(__builtin_ldexp(a, (i32)(IN(2) % 4400) - 2200)));
  f64 mantissa = __builtin_isfinite(a) ? __builtin_frexp(a, &exponent) : 0;
  PUT64(scale_f64, 2, bits_f64(mantissa) + (u64)(i64)exponent);
}

TWIN(convert_f64, 7) {
  f64 a = mild_f64(IN(0), IN(1));
  PUT64(convert_f64, 0, (u64)(i64)(a * 0x1p40));
  PUT64(convert_f64, 2, bits_f64((f64)pair(IN(0), IN(1))) ^ bits_f64((f64)(i64)pair(IN(2), IN(3))));
  OUT(convert_f64, 4) = bits_f32((f32)any_f64(IN(0), IN(1)));
  OUT(convert_f64, 5) = (u32)(i32)a ^ bits_f32((f32)a);
  OUT(convert_f64, 6) = (u32)(bits_f64((f64)any_f32(IN(4))) >> 29) ^ (u32)(bits_f64((f64)IN(5)) >> 20);
}

TWIN(compare_f64, 1) {
  f64 a = any_f64(IN(0), IN(1)), b = IN(4) & 1 ? any_f64(IN(2), IN(3)) : a;
  u32 flags = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5;
  flags |= __builtin_isunordered(a, b) << 6 | __builtin_isinf(a) << 7 | __builtin_isnormal(a) << 8;
  OUT(compare_f64, 0) = flags | (u32)__builtin_signbit(b) << 30;
}

// A sine by its series: long chains of fused operations in mixed precision.
TWIN(polynomials, 3) {
  f32 x = mild_f32(IN(0)) * 0x1p-10f;
  f32 square = x * x, sine = 2.7557319e-6f;
  sine = __builtin_fmaf(sine, square, -1.9841270e-4f);
  sine = __builtin_fmaf(sine, square, 8.3333333e-3f);
  sine = __builtin_fmaf(sine, square, -1.6666667e-1f);
  sine = __builtin_fmaf(sine * square, x, x);
  OUT(polynomials, 0) = bits_f32(sine);
  f64 wide = 0;
  for (i32 k = 8; k >= 0; k--) wide = __builtin_fma(wide, (f64)x, 1.0 / (k + 1));
  PUT64(polynomials, 1, bits_f64(wide));
}

TWIN(compensated_sum, 2) {
  f32 sum = 0, lost = 0;
  for (u32 k = 0; k < OWN_WORDS; k++) {
    f32 term = mild_f32(IN(k)) - lost, next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  OUT(compensated_sum, 0) = bits_f32(sum);
  OUT(compensated_sum, 1) = bits_f32(lost);
}

TWIN(newton_steps, 2) {
  f32 x = __builtin_fabsf(mild_f32(IN(0))) + 1.0f, guess = x * 0.5f;
  u32 steps = 0;
  while (steps < 40) {
    f32 next = 0.5f * (guess + x / guess);
    if (next == guess) break;
    guess = next;
    steps++;
  }
  OUT(newton_steps, 0) = bits_f32(guess);
  OUT(newton_steps, 1) = steps;
}

TWIN(mandelbrot, 1) {
  f32 re = (f32)(item() % 16) * 0.2f - 2.2f, im = (f32)(item() / 16) * 0.25f - 1.25f, x = 0, y = 0;
  u32 k = 0;
  while (k < 100 && x * x + y * y < 4.0f) {
    f32 next = x * x - y * y + re;
    y = 2 * x * y + im;
    x = next;
    k++;
  }
  OUT(mandelbrot, 0) = k;
}
