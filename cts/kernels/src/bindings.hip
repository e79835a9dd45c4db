// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels that differ in the number of their arguments only. Benchmarks use them, so they are for every GPU that owners have.
// targets: gfx1100 gfx90a gfx942 gfx900 gfx906 gfx908 gfx1010 gfx1012 gfx1030 gfx1031 gfx1032 gfx1034 gfx1035 gfx1036 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1200 gfx1201 gfx9-4-generic
#include "device.h"

// kernel: bindings_1
// args: out *u32[64] out
// block: x = 64
// grid: x = 1
// does: out[i] = i + the sum of in[i] over all inputs (mod 2^32)
// for: the cost of a dispatch by the number of its buffers
KERNEL void bindings_1(u32 *out) {
  u32 i = item_x();
  out[i] = i;
}

// kernel: bindings_2
// args: in0 *u32[64] in, out *u32[64] out
// block: x = 64
// grid: x = 1
// does: out[i] = i + the sum of in[i] over all inputs (mod 2^32)
// for: the cost of a dispatch by the number of its buffers
KERNEL void bindings_2(const u32 *in0, u32 *out) {
  u32 i = item_x();
  out[i] = i + in0[i];
}

// kernel: bindings_8
// args: in0 *u32[64] in, in1 *u32[64] in, in2 *u32[64] in, in3 *u32[64] in, in4 *u32[64] in, in5 *u32[64] in, in6 *u32[64] in, out *u32[64] out
// block: x = 64
// grid: x = 1
// does: out[i] = i + the sum of in[i] over all inputs (mod 2^32)
// for: the cost of a dispatch by the number of its buffers
KERNEL void bindings_8(const u32 *in0, const u32 *in1, const u32 *in2, const u32 *in3, const u32 *in4, const u32 *in5,
    const u32 *in6, u32 *out) {
  u32 i = item_x();
  out[i] = i + in0[i] + in1[i] + in2[i] + in3[i] + in4[i] + in5[i] + in6[i];
}

// kernel: bindings_32
// args: in0 *u32[64] in, in1 *u32[64] in, in2 *u32[64] in, in3 *u32[64] in, in4 *u32[64] in, in5 *u32[64] in, in6 *u32[64] in, in7 *u32[64] in, in8 *u32[64] in, in9 *u32[64] in, in10 *u32[64] in, in11 *u32[64] in, in12 *u32[64] in, in13 *u32[64] in, in14 *u32[64] in, in15 *u32[64] in, in16 *u32[64] in, in17 *u32[64] in, in18 *u32[64] in, in19 *u32[64] in, in20 *u32[64] in, in21 *u32[64] in, in22 *u32[64] in, in23 *u32[64] in, in24 *u32[64] in, in25 *u32[64] in, in26 *u32[64] in, in27 *u32[64] in, in28 *u32[64] in, in29 *u32[64] in, in30 *u32[64] in, out *u32[64] out
// block: x = 64
// grid: x = 1
// does: out[i] = i + the sum of in[i] over all inputs (mod 2^32)
// for: the cost of a dispatch by the number of its buffers
KERNEL void bindings_32(const u32 *in0, const u32 *in1, const u32 *in2, const u32 *in3, const u32 *in4, const u32 *in5,
    const u32 *in6, const u32 *in7, const u32 *in8, const u32 *in9, const u32 *in10, const u32 *in11, const u32 *in12, const
    u32 *in13, const u32 *in14, const u32 *in15, const u32 *in16, const u32 *in17, const u32 *in18, const u32 *in19, const
    u32 *in20, const u32 *in21, const u32 *in22, const u32 *in23, const u32 *in24, const u32 *in25, const u32 *in26, const
    u32 *in27, const u32 *in28, const u32 *in29, const u32 *in30, u32 *out) {
  u32 i = item_x();
  out[i] = i + in0[i] + in1[i] + in2[i] + in3[i] + in4[i] + in5[i] + in6[i] + in7[i] + in8[i] + in9[i] +
           in10[i] + in11[i] + in12[i] + in13[i] + in14[i] + in15[i] + in16[i] + in17[i] + in18[i] + in19[i] + in20[i] +
           in21[i] + in22[i] + in23[i] + in24[i] + in25[i] + in26[i] + in27[i] + in28[i] + in29[i] + in30[i];
}

// kernel: constants_16
// args: in *u32[64] in, c0 u32, c1 u32, c2 u32, c3 u32, c4 u32, c5 u32, c6 u32, c7 u32, c8 u32, c9 u32, c10 u32, c11 u32, c12 u32, c13 u32, c14 u32, c15 u32, out *u32[64] out
// block: x = 64
// grid: x = 1
// does: out[i] = i + in[i] + c0 + ... + c15 (mod 2^32)
// for: the cost of a dispatch by the number of its constants
KERNEL void constants_16(const u32 *in, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u32 c5, u32 c6, u32 c7, u32 c8, u32 c9,
    u32 c10, u32 c11, u32 c12, u32 c13, u32 c14, u32 c15, u32 *out) {
  u32 i = item_x();
  out[i] = i + in[i] + c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + c10 + c11 + c12 + c13 + c14 + c15;
}
