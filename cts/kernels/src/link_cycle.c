// SPDX-License-Identifier: MIT OR Apache-2.0
// C: definitions that link_user lacks, and that need a definition of link_user in turn, so neither can be loaded first.
// flags: -Wl,-z,undefs

// symbol: link_scale function(f32) -> f32, global: x * link_seed
// symbol: link_bias f32 = 1, in global memory
// symbol: link_seed f32, undefined: in link_user
extern __attribute__((visibility("default"), address_space(1))) float link_seed;
__attribute__((noinline, visibility("default"))) float link_scale(float x) { return x * link_seed; }
__attribute__((visibility("default"), address_space(1))) float link_bias = 1;

// kernel: link_read_seed
// args: out *f32[1] out
// block: x = 1
// grid: x = 1
// does: out[0] = link_seed
// for: code objects that need each other
__attribute__((amdgpu_kernel, visibility("protected"))) void link_read_seed(
    __attribute__((address_space(1))) float *out) {
  out[0] = link_seed;
}
