// SPDX-License-Identifier: MIT OR Apache-2.0
// C: an incomplete kernel, with a function and a variable in another code object.
// flags: -Wl,-z,undefs

// symbol: link_scale function(f32) -> f32, undefined: in link_provider, link_function or link_cycle
// symbol: link_bias f32, undefined: in link_provider or link_cycle
// symbol: link_seed f32 = 2, in global memory
extern __attribute__((visibility("default"))) float link_scale(float x);
extern __attribute__((visibility("default"), address_space(1))) float link_bias;
__attribute__((visibility("default"), address_space(1))) float link_seed = 2;

// kernel: link_apply
// args: values *f32 inout
// block: x, any up to 1024
// grid: x = 1
// does: values[x] = link_scale(v) + link_bias for each work-item; with link_provider 3v + link_bias
// for: symbols that another code object defines
__attribute__((amdgpu_kernel, visibility("protected"))) void link_apply(
    __attribute__((address_space(1))) float *values) {
  unsigned x = __builtin_amdgcn_workitem_id_x();
  values[x] = link_scale(values[x]) + link_bias;
}
