// SPDX-License-Identifier: MIT OR Apache-2.0
// Barriers between the workgroups of a grid by the global wave sync, as HIP's cooperative groups have them.
#define KERNEL extern "C" __attribute__((global))

// AMD's HIP runs this before each cooperative launch.
KERNEL void gws_init(unsigned waves_but_one) { __builtin_amdgcn_ds_gws_init(waves_but_one, 0); }

// Each workgroup, of one wave, counts itself in `arrivals`, waits for all others, notes the count, and waits again; twice.
KERNEL void meet_twice(unsigned *arrivals, unsigned *seen) {
  unsigned waves = __builtin_amdgcn_grid_size_x() / 64, group = __builtin_amdgcn_workgroup_id_x();
  for (unsigned round = 0; round < 2; round++) {
    if (__builtin_amdgcn_workitem_id_x() == 0) __hip_atomic_fetch_add(arrivals, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __builtin_amdgcn_ds_gws_barrier(waves - 1, 0);
    if (__builtin_amdgcn_workitem_id_x() == 0)
      seen[2 * group + round] = __hip_atomic_load(arrivals, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __builtin_amdgcn_ds_gws_barrier(waves - 1, 0);
  }
}
