// SPDX-License-Identifier: MIT OR Apache-2.0

// kernel: matmul_f16_dispatch_0_matmul_64x64x64_f16xf16xf32
// args: a *f16[4096] in, b *f16[4096] in, c *f32[4096] out
// block: 256 (fixed in the code object)
// grid: x = 1
// does: c[64,64] = a[64,64] * b[64,64], row major, f32 sums
// for: v_mfma_f32_16x16x16_f16
func.func @matmul_f16(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %out = tensor.empty() : tensor<64x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
