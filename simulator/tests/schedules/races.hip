// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels with a race, each beside a correct one.
//
//   clang-19 -O2 -mcode-object-version=5 -nogpulib -fno-ident -x hip --offload-device-only --no-gpu-bundle-output \
//     --offload-arch=gfx942 -nogpuinc -fuse-cuid=none -cuid=windlass_races -I../../../cts/kernels/src \
//     -o races.gfx942.co races.hip
#include "device.h"

// Two waves: the second one reads the values of the first one from LDS.
#define HAND_OVER(name, between)                                                                                       \
  KERNEL MAX_BLOCK(128) void name(const u32 *in, u32 *out) {                                                           \
    SHARED static volatile u32 slots[128];                                                                             \
    u32 x = item_x();                                                                                                  \
    slots[x] = in[x];                                                                                                  \
    between;                                                                                                           \
    out[x] = x < 64 ? in[x] : slots[x - 64];                                                                           \
  }

HAND_OVER(hand_over, block_barrier())
HAND_OVER(hand_over_without_barrier, )

// Every wave adds its share to a word of LDS, in two instructions, or in one.
KERNEL MAX_BLOCK(256) void count_in_two_steps(u32 *out) {
  SHARED static volatile u32 count;
  if (item_x() == 0) count = 0;
  block_barrier();
  if (item_x() % 64 == 0) count = count + 1;
  block_barrier();
  if (item_x() == 0) out[group_x()] = count;
}

KERNEL MAX_BLOCK(256) void count(u32 *out) {
  SHARED static u32 count;
  if (item_x() == 0) count = 0;
  block_barrier();
  if (item_x() % 64 == 0) __hip_atomic_fetch_add(&count, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  block_barrier();
  if (item_x() == 0) out[group_x()] = __hip_atomic_load(&count, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}

// Each workgroup extends the values of the previous one, without waiting for it.
KERNEL void extend(u32 *chain) {
  if (item_x() == 0) chain[group_x() + 1] = chain[group_x()] + 1;
}

// Waits until another kernel has written the word.
KERNEL void wait_for(u32 *word, u32 value) {
  while (__hip_atomic_load(word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != value) {
  }
}

KERNEL void tell(u32 *word, u32 value) {
  __hip_atomic_store(word, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}
