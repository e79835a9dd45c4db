// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: histogram
// args: in *u8 in, bins *u32[256] inout, n i32
// block: x = 256
// grid: x, any; the kernel strides over n
// does: bins[v] += number of i < n with in[i] == v
// for: atomics in LDS and in global memory, byte loads
KERNEL MAX_BLOCK(256) void histogram(const u8 *in, u32 *bins, i32 n) {
  SHARED static u32 counts[256];
  u32 x = item_x();
  counts[x] = 0;
  block_barrier();
  for (u32 i = global_x(); i < (u32)n; i += grid_x() * block_x())
    __hip_atomic_fetch_add(&counts[in[i]], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  block_barrier();
  __hip_atomic_fetch_add(&bins[x], counts[x], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
