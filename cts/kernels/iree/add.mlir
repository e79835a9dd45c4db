// SPDX-License-Identifier: MIT OR Apache-2.0

// kernel: add_dispatch_0_elementwise_D_f32
// args: a *f32 in, b *f32 in, out *f32 out, b_low i32, b_high i32, n_low i32, n_high i32
// block: 64 (fixed in the code object)
// grid: x = ceil(n / 64)
// does: out[i] = a[i] + b[i] for i < n; b_low, b_high and n_low, n_high are n as two 32-bit halves, twice (the length of b, then of a)
// for: IREE's form: bindings, then 32-bit constants; out-of-range accesses clipped by buffer descriptors or branches
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %sum = arith.addf %a, %b : tensor<?xf32>
  return %sum : tensor<?xf32>
}
