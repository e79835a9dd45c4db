// SPDX-License-Identifier: MIT OR Apache-2.0
// Lanes of one wave that read each other. Each group of 32 work-items is independent, so waves of 32 and of 64 agree.
// no host code of any kernel: a CPU has no waves
#include "device.h"

static DEVICE u32 lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }

// kernel: shuffle_32
// args: in *u32 in, from *u32 in, out *u32 out
// block: x, a multiple of 32 up to 1024
// grid: any
// does: within each stretch of 32 work-items: out[i] = in of the work-item from[i] % 32 of the stretch
// for: ds_bpermute
KERNEL void shuffle_32(const u32 *in, const u32 *from, u32 *out) {
  u32 i = global_x();
  u32 source = (lane() & ~31u) | (from[i] % 32);
  out[i] = __builtin_amdgcn_ds_bpermute(source * 4, in[i]);
}

// kernel: rows_16
// args: in *u32 in, out *u32 out
// block: x, a multiple of 32 up to 1024
// grid: any
// does: within each row of 16: out[4i..4i+4) = in of the work-item before (0 for the first); in of the mirrored one (15 - place); in of the one 3 places before, wrapping; in of its quad in the order 1 0 3 2
// for: data-parallel primitives (DPP): row_shr, row_mirror, row_ror, quad_perm
KERNEL void rows_16(const u32 *in, u32 *out) {
  u32 i = global_x();
  u32 v = in[i];
  out[4 * i] = __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, true);
  out[4 * i + 1] = __builtin_amdgcn_update_dpp(0, v, 0x140, 0xf, 0xf, true);
  out[4 * i + 2] = __builtin_amdgcn_update_dpp(0, v, 0x123, 0xf, 0xf, true);
  out[4 * i + 3] = __builtin_amdgcn_update_dpp(0, v, 0xb1, 0xf, 0xf, true);
}

// kernel: ballot_32
// args: in *u32 in, out *u32 out
// block: x, a multiple of 32 up to 1024
// grid: any
// does: within each stretch of 32: out[2i] = bit j set if in of work-item j is not 0; out[2i+1] = how many before i in the stretch are not 0
// for: ballots and lane counts
KERNEL void ballot_32(const u32 *in, u32 *out) {
  u32 i = global_x();
#if __AMDGCN_WAVEFRONT_SIZE == 32
  u32 votes = __builtin_amdgcn_ballot_w32(in[i] != 0);
#else
  u32 votes = (u32)(__builtin_amdgcn_ballot_w64(in[i] != 0) >> (lane() & 32));
#endif
  out[2 * i] = votes;
  out[2 * i + 1] = __builtin_popcount(votes & ((1u << (lane() & 31)) - 1));
}

// kernel: swizzle_32
// args: in *u32 in, out *u32 out
// block: x, a multiple of 32 up to 1024
// grid: any
// does: within each stretch of 32: out[2i] = in of work-item (place xor 31); out[2i+1] = in of work-item (place with bit 0 cleared)
// for: ds_swizzle
KERNEL void swizzle_32(const u32 *in, u32 *out) {
  u32 i = global_x();
  u32 v = in[i];
  out[2 * i] = __builtin_amdgcn_ds_swizzle(v, 0x7c1f);
  out[2 * i + 1] = __builtin_amdgcn_ds_swizzle(v, 0x001e);
}

// kernel: first_lane
// args: in *u32 in, out *u32 out, threshold u32
// block: x, a multiple of 64 up to 1024
// grid: any
// does: within each wave: out[i] = in of the first work-item whose in is at least threshold, for each work-item whose in is; the others write 0
// for: readfirstlane in divergent code; wave size differs between targets
KERNEL void first_lane(const u32 *in, u32 *out, u32 threshold) {
  u32 i = global_x();
  u32 v = in[i], r = 0;
  if (v >= threshold) r = __builtin_amdgcn_readfirstlane(v);
  out[i] = r;
}
