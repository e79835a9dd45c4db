// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: write_workgroup_ids
// args: out *u32 out
// block: any; only work-item (0, 0, 0) writes
// grid: any, in x, y and z
// does: with w = x + grid.x * (y + grid.y * z): out[4w..4w+4) = x, y, z, w
// for: three-dimensional grids; out holds 4 words per workgroup
KERNEL void write_workgroup_ids(u32 *out) {
  if (item_x() != 0 || item_y() != 0 || item_z() != 0) return;
  u32 linear = group_x() + grid_x() * (group_y() + grid_y() * group_z());
  out[4 * linear + 0] = group_x();
  out[4 * linear + 1] = group_y();
  out[4 * linear + 2] = group_z();
  out[4 * linear + 3] = linear;
}

// kernel: write_positions
// args: out *u32 out
// block: any, in x, y and z
// grid: any, in x, y and z
// does: with t the linear work-item of the whole grid, x fastest in the block, then workgroups x fastest: out[12t..12t+12) = item x, y, z, workgroup x, y, z, block x, y, z, grid x, y, z (in workgroups)
// for: ids, and sizes from the hidden arguments; out holds 12 words per work-item
KERNEL void write_positions(u32 *out) {
  u32 group = group_x() + grid_x() * (group_y() + grid_y() * group_z());
  u32 item = item_x() + block_x() * (item_y() + block_y() * item_z());
  u32 *row = out + 12 * (group * block_x() * block_y() * block_z() + item);
  row[0] = item_x(), row[1] = item_y(), row[2] = item_z();
  row[3] = group_x(), row[4] = group_y(), row[5] = group_z();
  row[6] = block_x(), row[7] = block_y(), row[8] = block_z();
  row[9] = grid_x(), row[10] = grid_y(), row[11] = grid_z();
}

// kernel: write_hidden_arguments
// args: out *u64[13] out
// block: any; only work-item (0, 0, 0) of workgroup (0, 0, 0) writes
// grid: any, in x, y and z
// does: out[0..3) = block counts x, y, z; out[3..6) = block size x, y, z; out[6..9) = remainders x, y, z; out[9..12) = global offsets x, y, z; out[12] = grid dimensions
// for: every field of the hidden arguments that a launch sets (code object version 5; version 4 has the offsets alone, and the rest is in the packet)
// no host code: only AMD's launches have hidden arguments
KERNEL void write_hidden_arguments(u64 *out) {
  if (item_x() | item_y() | item_z() | group_x() | group_y() | group_z()) return;
#ifdef CODE_OBJECT_V4
  const auto *offsets = (const __attribute__((address_space(4))) u64 *)__builtin_amdgcn_implicitarg_ptr();
  const auto *packet = (const __attribute__((address_space(4))) u8 *)__builtin_amdgcn_dispatch_ptr();
  for (u32 d = 0; d < 3; d++) {
    u32 block = *(const __attribute__((address_space(4))) u16 *)(packet + 4 + 2 * d);
    u32 items = *(const __attribute__((address_space(4))) u32 *)(packet + 12 + 4 * d);
    out[d] = items / block, out[3 + d] = block, out[6 + d] = items % block;
    out[9 + d] = offsets[d];
  }
  out[12] = *(const __attribute__((address_space(4))) u16 *)(packet + 2) & 3;
#else
  const auto *bytes = (const __attribute__((address_space(4))) u8 *)__builtin_amdgcn_implicitarg_ptr();
  for (u32 d = 0; d < 3; d++) {
    out[d] = *(const __attribute__((address_space(4))) u32 *)(bytes + 4 * d);
    out[3 + d] = *(const __attribute__((address_space(4))) u16 *)(bytes + 12 + 2 * d);
    out[6 + d] = *(const __attribute__((address_space(4))) u16 *)(bytes + 18 + 2 * d);
    out[9 + d] = *(const __attribute__((address_space(4))) u64 *)(bytes + 40 + 8 * d);
  }
  out[12] = *(const __attribute__((address_space(4))) u16 *)(bytes + 64);
#endif
}

// kernel: write_dispatch_packet
// args: out *u32[8] out
// block: any; only work-item (0, 0, 0) of workgroup (0, 0, 0) writes
// grid: any, in x, y and z
// lds: any
// does: out = block x, y, z; grid x, y, z in work-items; LDS bytes of the dispatch (static, 16, plus dynamic); 1 if the packet's argument address is this kernel's
// for: the AQL dispatch packet; agents may round the LDS size up
// no host code: only AMD's launches have a packet
KERNEL void write_dispatch_packet(u32 *out) {
  SHARED static u32 fixed[4];
  if (item_x() | item_y() | item_z() | group_x() | group_y() | group_z()) return;
  *(volatile u32 *)fixed = 1;
  const auto *packet = (const __attribute__((address_space(4))) u8 *)__builtin_amdgcn_dispatch_ptr();
  for (u32 d = 0; d < 3; d++) {
    out[d] = *(const __attribute__((address_space(4))) u16 *)(packet + 4 + 2 * d);
    out[3 + d] = *(const __attribute__((address_space(4))) u32 *)(packet + 12 + 4 * d);
  }
  out[6] = *(const __attribute__((address_space(4))) u32 *)(packet + 28);
  out[7] = *(const __attribute__((address_space(4))) u64 *)(packet + 40) == (u64)__builtin_amdgcn_kernarg_segment_ptr();
}
