// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels that wait for memory to change. Only the change ends them.
#include "device.h"

// kernel: spin_until
// args: flag *u32 in, value u32, out *u32[1] out
// block: any; every work-item waits, work-item 0 of workgroup 0 writes
// grid: any that fits the device at once
// does: waits until flag[0] >= value (unsigned; relaxed loads at agent scope), then out[0] = the value seen
// for: work that stays in flight, released by another dispatch; cancellation; time limits
KERNEL void spin_until(const u32 *flag, u32 value, u32 *out) {
  u32 seen;
  while ((seen = __hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) < value) __builtin_amdgcn_s_sleep(1);
  if (global_x() == 0) out[0] = seen;
}

// kernel: spin_until_host
// args: flag *u32 in, value u32, out *u32[1] out
// block: any; every work-item waits, work-item 0 of workgroup 0 writes
// grid: any that fits the device at once
// does: the same with acquire loads at system scope
// for: a flag in host memory that the host sets
KERNEL void spin_until_host(const u32 *flag, u32 value, u32 *out) {
  u32 seen;
  while ((seen = __hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM)) < value) __builtin_amdgcn_s_sleep(1);
  if (global_x() == 0) out[0] = seen;
}

// kernel: set_flag
// args: flag *u32 out, value u32
// block: x = 1
// grid: x = 1
// does: flag[0] = value, a release store at system scope
// for: to release a spinning kernel from the device
KERNEL void set_flag(u32 *flag, u32 value) {
  __hip_atomic_store(flag, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

// kernel: meet
// args: arrivals *u32[1] inout, out *u32 out
// block: x = 1
// grid: x, any that fits the device at once
// does: adds 1 to arrivals[0], waits until it reaches grid.x, then out[workgroup] = 1; arrivals starts at 0
// for: workgroups that wait for each other: a scheduler must run them all
// no host code: a workgroup runs to its end before its thread takes the next
KERNEL void meet(u32 *arrivals, u32 *out) {
  __hip_atomic_fetch_add(arrivals, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (__hip_atomic_load(arrivals, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < grid_x()) __builtin_amdgcn_s_sleep(1);
  out[group_x()] = 1;
}
