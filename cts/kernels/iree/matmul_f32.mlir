// SPDX-License-Identifier: MIT OR Apache-2.0
func.func @matmul_f32(%a: tensor<100x70xf32>, %b: tensor<70x60xf32>) -> tensor<100x60xf32> {
  %zero = arith.constant 0.0 : f32
  %out = tensor.empty() : tensor<100x60xf32>
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<100x60xf32>) -> tensor<100x60xf32>
  %c = linalg.matmul ins(%a, %b : tensor<100x70xf32>, tensor<70x60xf32>) outs(%start : tensor<100x60xf32>) -> tensor<100x60xf32>
  return %c : tensor<100x60xf32>
}
