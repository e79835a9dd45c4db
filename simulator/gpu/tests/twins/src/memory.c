// SPDX-License-Identifier: MIT OR Apache-2.0
// Private arrays, structs by value, tables of constants, spilled registers, narrow and unaligned accesses.
#include "twin.h"

TWIN(private_array, 2) {
  u32 counts[16] = {0};
  for (u32 k = 0; k < OWN_WORDS; k++) counts[IN(k) & 15] += IN(k) >> 28;
  u32 best = 0, sum = 0;
  for (u32 k = 0; k < 16; k++) {
    if (counts[k] > counts[best]) best = k;
    sum = sum * 5 + counts[k];
  }
  OUT(private_array, 0) = best;
  OUT(private_array, 1) = sum;
}

TWIN(private_bytes, 2) {
  u8 bytes[40];
  for (u32 k = 0; k < 40; k++) bytes[k] = (u8)(IN(k / 4) >> 8 * (k & 3));
  for (u32 k = 0; k < 40; k++) {
    u32 other = bytes[k] % 40;
    u8 held = bytes[other];
    bytes[other] = bytes[k];
    bytes[k] = held + 1;
  }
  u32 sum = 0;
  for (u32 k = 0; k < 40; k++) sum = sum * 31 + bytes[k];
  u32 unaligned;
  __builtin_memcpy(&unaligned, bytes + (IN(0) & 31) + 1, 4);
  OUT(private_bytes, 0) = sum;
  OUT(private_bytes, 1) = unaligned;
}

TWIN(private_matrix, 2) {
  f64 m[3][3];
  for (u32 k = 0; k < 9; k++) m[k / 3][(k + IN(0)) % 3] = mild_f64(IN(k), IN(k + 1));
  f64 det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]);
  det -= m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]);
  det += m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  PUT64(private_matrix, 0, bits_f64(det));
}

struct Point {
  f32 x, y;
  i16 tag;
};
struct Big {
  u64 words[6];
  struct Point point;
  u8 tail[3];
};

NOINLINE struct Point moved(struct Point p, f32 by) { return (struct Point){p.x + by, p.y - by, (i16)(p.tag + 1)}; }
NOINLINE struct Big turned(struct Big b, u32 by) {
  struct Big r = b;
  for (u32 k = 0; k < 6; k++) r.words[(k + by) % 6] = b.words[k] ^ by;
  r.point = moved(b.point, (f32)by);
  r.tail[by % 3]++;
  return r;
}

TWIN(structs_by_value, 4) {
  struct Big b = {.point = {mild_f32(IN(0)), mild_f32(IN(1)), (i16)IN(2)}, .tail = {1, 2, 3}};
  for (u32 k = 0; k < 6; k++) b.words[k] = pair(IN(k), IN(k + 1));
  b = turned(turned(b, IN(3) & 7), 5);
  PUT64(structs_by_value, 0, b.words[0] ^ b.words[3] * 3 ^ b.words[5]);
  OUT(structs_by_value, 2) = bits_f32(b.point.x) ^ bits_f32(b.point.y);
  OUT(structs_by_value, 3) = (u32)b.point.tag ^ (u32)b.tail[0] << 16 ^ (u32)b.tail[1] << 20 ^ (u32)b.tail[2] << 24;
}

TWIN(params_by_value, 3) {
  u32 sum = params.n + (u32)params.small;
  for (u32 k = 0; k < 6; k++) sum = sum * 7 + params.bytes[(k + item()) % 6];
  OUT(params_by_value, 0) = sum;
  PUT64(params_by_value, 1, bits_f64(params.wide * (f64)params.scale) ^ params.seed);
}

union Any {
  u32 word;
  f32 real;
  u16 halves[2];
  struct {
    u32 low : 5, middle : 11, high : 16;
  } bits;
};

TWIN(unions_and_bit_fields, 2) {
  union Any a = {.word = IN(0)};
  a.bits.low += 3;
  a.bits.middle ^= a.bits.high;
  u32 first = a.word;
  a.halves[IN(1) & 1] = (u16)(a.halves[0] * 3);
  OUT(unions_and_bit_fields, 0) = first;
  OUT(unions_and_bit_fields, 1) = a.word;
}

static const u16 squares[32] = {0,   1,   4,   9,   16,  25,  36,  49,  64,  81,  100, 121, 144, 169, 196, 225,
                                256, 289, 324, 361, 400, 441, 484, 529, 576, 625, 676, 729, 784, 841, 900, 961};
static const u8 letters[] = "the quick brown fox jumps over the lazy dog";

TWIN(constant_tables, 2) {
  u32 sum = 0;
  for (u32 k = 0; k < 6; k++) sum = sum * 3 + squares[IN(k) & 31] + letters[IN(k + 1) % (sizeof letters - 1)];
  OUT(constant_tables, 0) = sum;
  OUT(constant_tables, 1) = squares[item() & 31];
}

// More values alive at once than there are registers for: they are spilled to scratch, the scalar ones through lanes.
NOINLINE u32 stir(u32 x) { return x * 0x9e3779b1 ^ x >> 15; }
TWIN(spilled_registers, 2) {
  u32 kept[48];
#pragma clang loop unroll(full)
  for (u32 k = 0; k < 48; k++) kept[k] = IN(k % OWN_WORDS) * (2 * k + 1) + params.n * k;
  u32 uniform = params.n;
#pragma clang loop unroll(full)
  for (u32 k = 0; k < 12; k++) {
    uniform = stir(uniform + k);
    kept[k * 4] ^= stir(kept[k]) + uniform;
  }
  u32 sum = 0;
#pragma clang loop unroll(full)
  for (u32 k = 0; k < 48; k++) sum = sum * 3 + kept[47 - k];
  OUT(spilled_registers, 0) = sum;
  OUT(spilled_registers, 1) = uniform;
}

TWIN(narrow_accesses, 2) {
  GLOBAL const u8 *bytes = (GLOBAL const u8 *)&IN(0);
  GLOBAL const i16 *shorts = (GLOBAL const i16 *)&IN(0);
  u32 sum = 0;
  for (u32 k = 0; k < 8; k++) sum = sum * 3 + bytes[k] + (u32)(i8)bytes[7 - k] + (u32)shorts[k & 3];
  GLOBAL u16 *halves = (GLOBAL u16 *)&OUT(narrow_accesses, 0);
  halves[0] = (u16)sum;
  halves[1] = (u16)(sum >> 16);
  GLOBAL u8 *out_bytes = (GLOBAL u8 *)&OUT(narrow_accesses, 1);
  for (u32 k = 0; k < 4; k++) out_bytes[k ^ 1] = (u8)(sum >> k * 5);
}

TWIN(unaligned_accesses, 3) {
  GLOBAL const u8 *bytes = (GLOBAL const u8 *)&IN(0);
  u32 word;
  u64 wide;
  u16 half;
  __builtin_memcpy(&word, bytes + 1, 4);
  __builtin_memcpy(&wide, bytes + 3, 8);
  __builtin_memcpy(&half, bytes + 5, 2);
  OUT(unaligned_accesses, 0) = word ^ half;
  PUT64(unaligned_accesses, 1, wide);
}

// Through pointers whose targets the compiler does not know.
NOINLINE u32 sum_of(const u32 *words, u32 count) {
  u32 sum = 0;
  for (u32 k = 0; k < count; k++) sum = sum * 5 + words[k];
  return sum;
}

TWIN(generic_pointers, 2) {
  u32 own[6];
  for (u32 k = 0; k < 6; k++) own[k] = IN(k) ^ k;
  const u32 *from = IN(6) & 1 ? own : (const u32 *)&IN(0);
  OUT(generic_pointers, 0) = sum_of(from, 5);
  OUT(generic_pointers, 1) = sum_of((const u32 *)&IN(0), 1 + (IN(7) & 3));
}
