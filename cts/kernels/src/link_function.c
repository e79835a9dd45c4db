// SPDX-License-Identifier: MIT OR Apache-2.0
// C: a function that link_user lacks. The code object has no variable, so the address at which HIP loads it is unknown.

// symbol: link_scale function(f32) -> f32, global: 5x
__attribute__((noinline, visibility("default"))) float link_scale(float x) { return x * 5; }

// kernel: link_alone
// args: values *f32 inout
// block: x, any up to 1024
// grid: x = 1
// does: values[x] = 5v for each work-item
// for: a function whose address is unknown
__attribute__((amdgpu_kernel, visibility("protected"))) void link_alone(
    __attribute__((address_space(1))) float *values) {
  unsigned x = __builtin_amdgcn_workitem_id_x();
  values[x] = link_scale(values[x]);
}
