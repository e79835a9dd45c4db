// SPDX-License-Identifier: MIT OR Apache-2.0
// OpenCL C: the only language of clang's that can fix the block size in the code object, and that names arguments there.

// kernel: fixed_block
// args: in *u32 in, out *u32 out, n u32
// block: 64 x 2 (fixed in the code object: .reqd_workgroup_size)
// grid: x = ceil(n / 128)
// does: out[i] = in[i] + 1 for i < n, with i = 128 * workgroup + x + 64 * y
// for: launches with another block size must be refused
__attribute__((reqd_work_group_size(64, 2, 1)))
kernel void fixed_block(global const uint *in, global uint *out, uint n) {
  uint i = __builtin_amdgcn_workgroup_id_x() * 128 + __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workitem_id_y();
  if (i < n) out[i] = in[i] + 1;
}

// kernel: local_argument
// args: in *u32 in, exchange lds(u32), out *u32 out
// block: x = 64 (fixed in the code object)
// grid: any
// lds: 256, through the argument
// does: reverses each stretch of 64 elements into out
// for: an argument of kind dynamic_shared_pointer: the offset of dynamic LDS, 4 bytes, set by the runtime or given as 0
__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void local_argument(global const uint *in, local uint *exchange, global uint *out) {
  uint x = __builtin_amdgcn_workitem_id_x(), base = 64 * __builtin_amdgcn_workgroup_id_x();
  exchange[x] = in[base + x];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  out[base + x] = exchange[63 - x];
}
