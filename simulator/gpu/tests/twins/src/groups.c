// SPDX-License-Identifier: MIT OR Apache-2.0
// Workgroups: LDS, barriers, atomics. Results do not depend on the order of work-items.
#include "twin.h"

LOCAL u32 tile[BLOCK * 2];
LOCAL u32 bins[32];
LOCAL u64 wide_tile[BLOCK];
LOCAL f32 real_tile[BLOCK];

TWIN(reversal_in_lds, 1) {
  tile[local_id()] = IN(0);
  barrier();
  OUT(reversal_in_lds, 0) = tile[BLOCK - 1 - local_id()];
}

TWIN(tree_reduction, 2) {
  u32 me = local_id();
  tile[me] = IN(0);
  barrier();
  for (u32 width = 64; width > 0; width /= 2) {
    if (me < width && me + width < BLOCK) tile[me] += tile[me + width];
    barrier();
  }
  OUT(tree_reduction, 0) = tile[0];
  OUT(tree_reduction, 1) = tile[0] ^ IN(1);
}

TWIN(prefix_sums, 1) {
  u32 me = local_id(), from = 0;
  tile[me] = IN(0) & 0xffff;
  barrier();
  for (u32 distance = 1; distance < BLOCK; distance *= 2) {
    u32 to = BLOCK - from, x = tile[from + me];
    if (me >= distance) x += tile[from + me - distance];
    tile[to + me] = x;
    from = to;
    barrier();
  }
  OUT(prefix_sums, 0) = tile[from + me];
}

TWIN(odd_even_sort, 1) {
  u32 me = local_id();
  tile[me] = IN(0);
  barrier();
  for (u32 round = 0; round < BLOCK; round++) {
    u32 at = 2 * me + (round & 1);
    if (at + 1 < BLOCK && tile[at] > tile[at + 1]) {
      u32 held = tile[at];
      tile[at] = tile[at + 1];
      tile[at + 1] = held;
    }
    barrier();
  }
  OUT(odd_even_sort, 0) = tile[me];
}

TWIN(stencil_f32, 1) {
  u32 me = local_id();
  f32 x = mild_f32(IN(0));
  for (u32 round = 0; round < 5; round++) {
    real_tile[me] = x;
    barrier();
    f32 left = real_tile[me == 0 ? BLOCK - 1 : me - 1], right = real_tile[me + 1 == BLOCK ? 0 : me + 1];
    x = 0.25f * left + 0.5f * x + 0.25f * right;
    barrier();
  }
  OUT(stencil_f32, 0) = bits_f32(x);
}

TWIN(transpose_u64, 2) {
  u32 me = local_id(), row = me / 16, column = me % 16;
  wide_tile[column * (BLOCK / 16) + row] = pair(IN(0), IN(1));
  barrier();
  PUT64(transpose_u64, 0, wide_tile[me] * 3);
}

TWIN(bytes_in_lds, 1) {
  u32 me = local_id();
  TO_LOCAL u8 *bytes = (TO_LOCAL u8 *)tile;
  bytes[me * 3] = (u8)IN(0);
  bytes[me * 3 + 1] = (u8)(IN(0) >> 8);
  bytes[me * 3 + 2] = (u8)(IN(0) >> 16);
  barrier();
  u32 next = (me * 7 + 3) % BLOCK;
  OUT(bytes_in_lds, 0) = bytes[next * 3] | (u32)bytes[next * 3 + 2] << 8 | (u32)(i8)bytes[(next * 3 + 4) % (3 * BLOCK)] << 16;
}

TWIN(lds_histogram, 1) {
  u32 me = local_id();
  if (me < 32) bins[me] = 0;
  barrier();
  __atomic_fetch_add(&bins[IN(0) % 32], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&bins[IN(1) >> 27], IN(2) & 7, __ATOMIC_RELAXED);
  barrier();
  OUT(lds_histogram, 0) = bins[me % 32];
}

TWIN(lds_atomics, 4) {
  u32 me = local_id();
  if (me < 8) tile[me] = me == 1 || me == 3 ? ~0u : 0;
  barrier();
  __atomic_fetch_max(&tile[0], IN(0), __ATOMIC_RELAXED);
  __atomic_fetch_min(&tile[1], IN(0), __ATOMIC_RELAXED);
  __atomic_fetch_or(&tile[2], IN(1) & IN(2), __ATOMIC_RELAXED);
  __atomic_fetch_and(&tile[3], IN(1) | IN(2), __ATOMIC_RELAXED);
  __atomic_fetch_xor(&tile[4], IN(3), __ATOMIC_RELAXED);
  __atomic_fetch_max((TO_LOCAL i32 *)&tile[5], (i32)IN(4), __ATOMIC_RELAXED);
  __atomic_fetch_sub(&tile[6], IN(5), __ATOMIC_RELAXED);
  barrier();
  for (u32 k = 0; k < 4; k++) OUT(lds_atomics, k) = tile[k] ^ tile[k + 3];
}

TWIN(global_atomics, 6) {
  u32 x = IN(0);
  __atomic_fetch_add(&out[0], x, __ATOMIC_RELAXED);
  __atomic_fetch_max(&out[1], x, __ATOMIC_RELAXED);
  __atomic_fetch_or(&out[2 + (x & 3)], IN(1), __ATOMIC_RELAXED);
  __atomic_fetch_xor(&out[6], IN(2), __ATOMIC_RELAXED);
  __atomic_fetch_min((GLOBAL i32 *)&out[7], (i32)IN(3), __ATOMIC_RELAXED);
  GLOBAL u64 *wide = (GLOBAL u64 *)&out[8];
  __atomic_fetch_add(wide, pair(IN(4), IN(5)), __ATOMIC_RELAXED);
  __atomic_fetch_max(wide + 1, pair(IN(6), IN(7)), __ATOMIC_RELAXED);
  __atomic_fetch_xor(wide + 2, pair(IN(1), IN(2)), __ATOMIC_RELAXED);
}

TWIN(compare_and_swap, 4) {
  GLOBAL u32 *word = &out[item() & 15];
  u32 old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, old * 5 + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  // Sums of tickets: each is drawn once, by any work-item.
  u32 ticket = __atomic_fetch_add(&out[100], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&out[101], ticket * ticket, __ATOMIC_RELAXED);
  __atomic_fetch_or(&out[110 + ticket / 32], 1u << ticket % 32, __ATOMIC_RELAXED);
  u32 before = __atomic_exchange_n(&out[120 + ticket % 7], 9, __ATOMIC_RELAXED);
  if (before != 0 && before != 9) out[130] = 1;
}

TWIN(float_atomics, 2) {
  // Whole numbers: their sums are exact in any order.
  f32 x = (f32)(IN(0) & 0xff);
  GLOBAL u32 *word = &out[item() & 3];
  u32 old = __atomic_load_n(word, __ATOMIC_RELAXED), next;
  do {
    next = bits_f32(any_f32(old) + x);
  } while (!__atomic_compare_exchange_n(word, &old, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  __atomic_fetch_add((GLOBAL f32 *)&out[8], x, __ATOMIC_RELAXED);
  __atomic_fetch_add((GLOBAL f64 *)&out[10], (f64)x, __ATOMIC_RELAXED);
}

// The first work-item to arrive publishes for all: a barrier in a loop whose length is uniform in the workgroup.
TWIN(agreed_loop, 1) {
  u32 me = local_id(), rounds = in[group_id()] % 5 + 2, sum = 0;
  for (u32 round = 0; round < rounds; round++) {
    if (me == round * 13 % BLOCK) tile[0] = IN(round);
    barrier();
    sum = sum * 3 + tile[0];
    barrier();
  }
  OUT(agreed_loop, 0) = sum;
}

// C = A * B for matrices in LDS, every work-item one or two elements.
TWIN(matrix_product, 2) {
  u32 me = local_id();
  for (u32 k = me; k < 2 * BLOCK; k += BLOCK) tile[k] = IN(k / BLOCK) & 0xfff;
  barrier();
  for (u32 half = 0; half < 2; half++) {
    u32 row = me / 8, column = me % 8, sum = 0;
    for (u32 k = 0; k < 8; k++) sum += tile[half * BLOCK + row * 8 + k] * tile[(k * 8 + column + half) % BLOCK];
    OUT(matrix_product, half) = sum;
  }
}
