// SPDX-License-Identifier: MIT OR Apache-2.0
func.func @row_sum(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %first = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %first : tensor<?x?xf32>
  %out = tensor.empty(%rows) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%start : tensor<?xf32>) dimensions = [1]
  return %sum : tensor<?xf32>
}
