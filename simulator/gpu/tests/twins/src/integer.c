// SPDX-License-Identifier: MIT OR Apache-2.0
// Integers of 8 to 128 bits: arithmetic, division, shifts, bits, saturation.
#include "twin.h"

TWIN(add_sub_mul_32, 3) {
  u32 a = IN(0), b = IN(1);
  OUT(add_sub_mul_32, 0) = a + b * 3;
  OUT(add_sub_mul_32, 1) = a - b;
  OUT(add_sub_mul_32, 2) = a * b + params.n;
}

TWIN(add_sub_mul_64, 6) {
  u64 a = pair(IN(0), IN(1)), b = pair(IN(2), IN(3));
  PUT64(add_sub_mul_64, 0, a + b);
  PUT64(add_sub_mul_64, 2, a - b);
  PUT64(add_sub_mul_64, 4, a * b ^ params.seed);
}

TWIN(mul_128, 6) {
  u128 product = (u128)pair(IN(0), IN(1)) * pair(IN(2), IN(3));
  u128 sum = product + ((u128)params.seed << 61);
  PUT64(mul_128, 0, (u64)product);
  PUT64(mul_128, 2, (u64)(product >> 64));
  PUT64(mul_128, 4, (u64)(sum >> 64));
}

TWIN(divide_unsigned_32, 2) {
  u32 a = IN(0), b = IN(1) ? IN(1) : 7;
  OUT(divide_unsigned_32, 0) = a / b;
  OUT(divide_unsigned_32, 1) = a % b;
}

TWIN(divide_signed_32, 3) {
  i32 a = (i32)IN(0), b = (i32)IN(1);
  if (b == 0 || b == -1) b = -3;
  OUT(divide_signed_32, 0) = (u32)(a / b);
  OUT(divide_signed_32, 1) = (u32)(a % b);
  OUT(divide_signed_32, 2) = (u32)(a / -1000);
}

TWIN(divide_unsigned_64, 4) {
  u64 a = pair(IN(0), IN(1)), b = pair(IN(2), IN(3) >> (IN(4) & 31));
  if (b == 0) b = 10;
  PUT64(divide_unsigned_64, 0, a / b);
  PUT64(divide_unsigned_64, 2, a % b);
}

TWIN(divide_signed_64, 4) {
  i64 a = (i64)pair(IN(0), IN(1)), b = (i64)pair(IN(2), IN(3)) >> (IN(4) & 63);
  if (b == 0 || b == -1) b = -10;
  PUT64(divide_signed_64, 0, (u64)(a / b));
  PUT64(divide_signed_64, 2, (u64)(a % b));
}

TWIN(divide_narrow, 3) {
  u32 a = IN(0), b = IN(1);
  u8 b8 = (u8)b ? (u8)b : 3;
  i16 b16 = (i16)b == 0 || (i16)b == -1 ? (i16)-7 : (i16)b;
  OUT(divide_narrow, 0) = (u32)((u8)a / b8) | (u32)((u8)a % b8) << 8;
  OUT(divide_narrow, 1) = (u32)((i16)a / b16);
  OUT(divide_narrow, 2) = (u32)((i16)a % b16);
}

TWIN(shifts_32, 5) {
  u32 a = IN(0), s = IN(1) & 31;
  OUT(shifts_32, 0) = a << s;
  OUT(shifts_32, 1) = a >> s;
  OUT(shifts_32, 2) = (u32)((i32)a >> s);
  OUT(shifts_32, 3) = a << s | a >> (-s & 31);
  OUT(shifts_32, 4) = (a >> 5 & 0x3ff) | (u32)((i32)(a << 9) >> 21) << 12;
}

TWIN(shifts_64, 8) {
  u64 a = pair(IN(0), IN(1));
  u32 s = IN(2) & 63;
  PUT64(shifts_64, 0, a << s);
  PUT64(shifts_64, 2, a >> s);
  PUT64(shifts_64, 4, (u64)((i64)a >> s));
  PUT64(shifts_64, 6, __builtin_rotateleft64(a, s));
}

TWIN(narrow_arithmetic, 4) {
  u32 a = IN(0), b = IN(1);
  OUT(narrow_arithmetic, 0) = (u32)(u8)(a + b) | (u32)(u16)(a * b) << 8;
  OUT(narrow_arithmetic, 1) = (u32)(i8)(a - b) ^ (u32)(i16)(a << 3);
  OUT(narrow_arithmetic, 2) = (u32)(u16)((u16)a >> (b & 15)) | (u32)(u16)((i16)a >> (b & 15)) << 16;
  OUT(narrow_arithmetic, 3) = (u32)((i8)a * (i8)b + (i16)params.small);
}

TWIN(bit_counts, 4) {
  u32 a = IN(0);
  u64 w = pair(IN(1), IN(2));
  OUT(bit_counts, 0) = (u32)__builtin_popcount(a) | (u32)__builtin_popcountl(w) << 8;
  OUT(bit_counts, 1) = a ? (u32)__builtin_clz(a) | (u32)__builtin_ctz(a) << 8 : 99;
  OUT(bit_counts, 2) = w ? (u32)__builtin_clzl(w) | (u32)__builtin_ctzl(w) << 8 : 99;
  OUT(bit_counts, 3) = (u32)__builtin_ffs((i32)a) | (u32)__builtin_parity(a) << 8 | (u32)__builtin_clrsb((i32)a) << 16;
}

TWIN(bit_reversal, 4) {
  u32 a = IN(0);
  OUT(bit_reversal, 0) = __builtin_bitreverse32(a);
  OUT(bit_reversal, 1) = __builtin_bswap32(a);
  PUT64(bit_reversal, 2, __builtin_bitreverse64(pair(a, IN(1))) ^ __builtin_bswap64(pair(IN(2), a)));
}

TWIN(bit_tricks, 5) {
  u32 a = IN(0), b = IN(1), c = IN(2);
  OUT(bit_tricks, 0) = (a & b) | (~a & c);
  OUT(bit_tricks, 1) = (a & b) ^ (a & c) ^ (b & c);
  OUT(bit_tricks, 2) = a & (a - 1);
  OUT(bit_tricks, 3) = (a & -a) | (b ^ (b >> 1));
  u32 spread = a & 0xffff;
  spread = (spread | spread << 8) & 0x00ff00ff;
  spread = (spread | spread << 4) & 0x0f0f0f0f;
  spread = (spread | spread << 2) & 0x33333333;
  spread = (spread | spread << 1) & 0x55555555;
  OUT(bit_tricks, 4) = spread;
}

TWIN(bytes_of_words, 3) {
  u32 a = IN(0), b = IN(1), sum = 0;
  for (u32 k = 0; k < 4; k++) {
    // Not x > y ? x - y : y - x: LLVM 19 takes both of its sides for the same instruction.
    i32 x = (u8)(a >> 8 * k), y = (u8)(b >> 8 * k), apart = x - y;
    sum += (u32)(apart < 0 ? -apart : apart);
  }
  OUT(bytes_of_words, 0) = sum;
  OUT(bytes_of_words, 1) = (a & 0xff00ff00) >> 8 | (b & 0x00ff00ff) << 8;
  OUT(bytes_of_words, 2) = (a >> 24 | (b & 0xff) << 24) + params.bytes[sum % 6];
}

TWIN(saturating, 5) {
  u32 a = IN(0), b = IN(1);
  OUT(saturating, 0) = __builtin_elementwise_add_sat(a, b);
  OUT(saturating, 1) = __builtin_elementwise_sub_sat(a, b);
  OUT(saturating, 2) = (u32)__builtin_elementwise_add_sat((i32)a, (i32)b);
  OUT(saturating, 3) = (u32)__builtin_elementwise_sub_sat((i32)a, (i32)b);
  OUT(saturating, 4) = (u32)(u16)__builtin_elementwise_add_sat((i16)a, (i16)b) |
                       (u32)__builtin_elementwise_sub_sat((u16)a, (u16)b) << 16;
}

TWIN(saturating_64, 4) {
  u64 a = pair(IN(0), IN(1)), b = pair(IN(2), IN(3));
  PUT64(saturating_64, 0, __builtin_elementwise_add_sat(a, b));
  PUT64(saturating_64, 2, (u64)__builtin_elementwise_sub_sat((i64)a, (i64)b));
}

TWIN(overflow_flags, 3) {
  i32 sum, product;
  u64 wide;
  u32 flags = __builtin_add_overflow((i32)IN(0), (i32)IN(1), &sum);
  flags |= (u32)__builtin_mul_overflow((i32)IN(0), (i32)IN(1), &product) << 1;
  flags |= (u32)__builtin_mul_overflow(pair(IN(0), IN(2) >> 20), pair(IN(1), IN(3) >> 24), &wide) << 2;
  flags |= (u32)__builtin_sub_overflow(pair(IN(0), IN(1)), pair(IN(2), IN(3)), &wide) << 3;
  OUT(overflow_flags, 0) = flags;
  OUT(overflow_flags, 1) = (u32)sum ^ (u32)product;
  OUT(overflow_flags, 2) = (u32)(wide >> 13);
}

TWIN(minimum_maximum, 4) {
  i32 a = (i32)IN(0), b = (i32)IN(1), c = (i32)IN(2);
  i32 low = a < b ? a : b, high = a < b ? b : a;
  OUT(minimum_maximum, 0) = (u32)(c < low ? low : c > high ? high : c);
  OUT(minimum_maximum, 1) = (u32)__builtin_elementwise_max((u32)a, __builtin_elementwise_max((u32)b, (u32)c));
  OUT(minimum_maximum, 2) = (u32)__builtin_elementwise_abs(a >> 1) + (u32)(a < 0 ? -b : b);
  i64 p = (i64)pair(IN(0), IN(1)), q = (i64)pair(IN(2), IN(3));
  OUT(minimum_maximum, 3) = (u32)((p < q ? p : q) >> 17) ^ (u32)((u64)p < (u64)q);
}

TWIN(hash_chain, 2) {
  u64 state = params.seed ^ pair(IN(0), IN(1));
  for (u32 k = 0; k < 20; k++) {
    state += 0x9e3779b97f4a7c15;
    u64 mixed = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    state ^= mixed ^ mixed >> 31;
  }
  PUT64(hash_chain, 0, state);
}

TWIN(crc_32, 1) {
  u32 crc = ~0u;
  for (u32 k = 0; k < 8; k++) {
    crc ^= (u8)(IN(k / 4) >> 8 * (k % 4));
    for (u32 bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (-(crc & 1) & 0xedb88320);
  }
  OUT(crc_32, 0) = ~crc;
}

TWIN(greatest_common_divisor, 1) {
  u32 a = IN(0) | 1, b = IN(1) | 1;
  while (b != 0) {
    u32 rest = a % b;
    a = b;
    b = rest;
  }
  OUT(greatest_common_divisor, 0) = a;
}

TWIN(power_modulo, 2) {
  u64 base = pair(IN(0), IN(1)), result = 1, modulus = pair(IN(2), IN(3)) | 0x8000000000000001;
  base %= modulus;
  for (u32 exponent = IN(4) & 0xff; exponent; exponent >>= 1) {
    // Kept below 2^63 so that sums of two do not wrap.
    if (exponent & 1) result = (result >> 1) * 3 % modulus ^ base >> 7;
    base = (base >> 2) * 5 % modulus;
  }
  PUT64(power_modulo, 0, result);
}
