// SPDX-License-Identifier: MIT OR Apache-2.0
// C: the definitions that link_user lacks.

// symbol: link_scale function(f32) -> f32, global: 3x
// symbol: link_bias f32 = 0.5, in global memory
__attribute__((noinline, visibility("default"))) float link_scale(float x) { return x * 3; }
__attribute__((visibility("default"), address_space(1))) float link_bias = 0.5f;

// kernel: link_set_bias
// args: value f32
// block: x = 1
// grid: x = 1
// does: link_bias = value
// for: a variable that two code objects share
__attribute__((amdgpu_kernel, visibility("protected"))) void link_set_bias(float value) { link_bias = value; }
