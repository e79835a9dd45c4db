// SPDX-License-Identifier: MIT OR Apache-2.0

// kernel: matmul_f32_dispatch_0_matmul_100x60x70_f32
// args: a *f32[7000] in, b *f32[4200] in, c *f32[6000] out
// block: 256 (fixed in the code object)
// grid: x = 2
// does: c[100,60] = a[100,70] * b[70,60], row major
// for: static LDS, v_mfma_f32_16x16x4_f32, sizes that no tile divides
func.func @matmul_f32(%a: tensor<100x70xf32>, %b: tensor<70x60xf32>) -> tensor<100x60xf32> {
  %zero = arith.constant 0.0 : f32
  %out = tensor.empty() : tensor<100x60xf32>
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<100x60xf32>) -> tensor<100x60xf32>
  %c = linalg.matmul ins(%a, %b : tensor<100x70xf32>, tensor<70x60xf32>) outs(%start : tensor<100x60xf32>) -> tensor<100x60xf32>
  return %c : tensor<100x60xf32>
}
