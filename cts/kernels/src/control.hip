// SPDX-License-Identifier: MIT OR Apache-2.0
#include "device.h"

// kernel: collatz
// args: in *u32 in, out *u32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: out[i] = steps for in[i] (at least 1) to reach 1 by x -> x / 2 if even, 3x + 1 if odd, mod 2^32, for i < n
// for: loops whose lanes leave at different times
KERNEL void collatz(const u32 *in, u32 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  u32 x = in[i], steps = 0;
  while (x != 1) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    steps++;
  }
  out[i] = steps;
}

// kernel: dispatch_case
// args: in *u32 in, out *u32 out, n i32
// block: x, any
// grid: x = ceil(n / block.x)
// does: with v = in[i], for i < n: v % 6 == 0: out[i] = v + 1; 1: v * 3; 2: v ^ 0xffff; 3: v >> 2; 4: sum of 0..v % 16; 5: 0
// for: a switch that every lane may take differently
KERNEL void dispatch_case(const u32 *in, u32 *out, i32 n) {
  i32 i = global_x();
  if (i >= n) return;
  u32 v = in[i], r = 0;
  switch (v % 6) {
    case 0: r = v + 1; break;
    case 1: r = v * 3; break;
    case 2: r = v ^ 0xffff; break;
    case 3: r = v >> 2; break;
    case 4:
      for (u32 j = 0; j < v % 16; j++) r += j;
      break;
    default: break;
  }
  out[i] = r;
}

extern SHARED u32 dynamic[];

// kernel: scan_block
// args: in *u32 in, out *u32 out, n i32
// block: x, any up to 1024
// grid: x = ceil(n / block.x)
// lds: block.x * 4
// does: out[i] = sum, mod 2^32, of in from the first element of i's workgroup to in[i], for i < n
// for: many barriers, in a last workgroup that is partly idle too
KERNEL void scan_block(const u32 *in, u32 *out, i32 n) {
  i32 i = global_x();
  u32 x = item_x();
  dynamic[x] = i < n ? in[i] : 0;
  for (u32 step = 1; step < block_x(); step *= 2) {
    block_barrier();
    u32 left = x >= step ? dynamic[x - step] : 0;
    block_barrier();
    dynamic[x] += left;
  }
  if (i < n) out[i] = dynamic[x];
}
