// SPDX-License-Identifier: MIT OR Apache-2.0
// Accesses to bytes and halves that compilers make of dwords, beside accesses to dwords that are nobody's fault but the
// kernel's.
//
//   clang-19 -O2 -mcode-object-version=5 -nogpulib -fno-ident -x hip --offload-device-only --no-gpu-bundle-output \
//     --offload-arch=gfx942 -nogpuinc -fuse-cuid=none -cuid=windlass_narrow -I../../../cts/kernels/src \
//     -o narrow.gfx942.co narrow.hip
#include "device.h"

#define AGENT __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT
#define GROUP __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP

// Work-items add 1 to element `at`, whose address is one for the wave, but in `add_u8`.
KERNEL void add_u8(u8 *values, u32 at) { __hip_atomic_fetch_add(values + at + item_x() / 64, (u8)1, AGENT); }
KERNEL void add_u16(u16 *values, u32 at) { __hip_atomic_fetch_add(values + at, (u16)1, AGENT); }
KERNEL void add_f16(f16 *values, u32 at) { __hip_atomic_fetch_add(values + at, (f16)1, AGENT); }
KERNEL void swap_u16(u16 *values, u32 at) {
  u16 expected = 0;
  __hip_atomic_compare_exchange_strong(values + at, &expected, (u16)7, __ATOMIC_RELAXED, AGENT);
}
// The same in LDS with this many elements. The last one is returned.
KERNEL void add_lds_u16(u16 *values, u32 count) {
  extern SHARED u16 dynamic[];
  if (item_x() < count) dynamic[item_x()] = 0;
  block_barrier();
  __hip_atomic_fetch_add(dynamic + count - 1, (u16)1, GROUP);
  block_barrier();
  if (item_x() == 0) values[count - 1] = dynamic[count - 1];
}

// Accesses to whole dwords, `words[at]`.
KERNEL void load_dword(u32 *words, u32 at) {
  if (item_x() == 0 && *(const volatile u32 *)&words[at] == 77) words[0] = 1;
}
KERNEL void store_dword(u32 *words, u32 at) {
  if (item_x() == 0) words[at] = 1;
}
KERNEL void load_lds_dword(u32 *words, u32 at) {
  extern SHARED u32 whole[];
  if (item_x() == 0) words[0] = *(volatile u32 *)&whole[at];
}
