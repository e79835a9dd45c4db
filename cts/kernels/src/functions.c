// SPDX-License-Identifier: MIT OR Apache-2.0
// C, with device functions of every visibility beside the kernel.

// symbol: twofold function(f32) -> f32, global: 2x
// symbol: threefold function(f32) -> f32, protected: 3x
// symbol: fourfold function(f32) -> f32, hidden: not in the dynamic symbol table
// symbol: fivefold function(f32) -> f32, local: only in the full symbol table
__attribute__((noinline, visibility("default"))) float twofold(float x) { return x * 2; }
__attribute__((noinline, visibility("protected"))) float threefold(float x) { return x * 3; }
__attribute__((noinline, visibility("hidden"))) float fourfold(float x) { return x * 4; }
__attribute__((noinline)) static float fivefold(float x) { return x * 5; }

// kernel: use_functions
// args: values *f32 inout
// block: x, any up to 1024
// grid: x = 1
// does: values[x] = 2v + 3v + 4v + 5v, summed from the left, for each work-item
// for: device functions as symbols
__attribute__((amdgpu_kernel, visibility("protected"))) void use_functions(
    __attribute__((address_space(1))) float *values) {
  unsigned x = __builtin_amdgcn_workitem_id_x();
  float v = values[x];
  values[x] = twofold(v) + threefold(v) + fourfold(v) + fivefold(v);
}
