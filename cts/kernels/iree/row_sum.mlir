// SPDX-License-Identifier: MIT OR Apache-2.0

// kernel: row_sum_dispatch_0_reduction_DxD_f32
// args: x *f32 in, sums *f32 out, columns_low i32, columns_high i32, rows_low i32, rows_high i32
// block: 1024 (fixed in the code object)
// grid: x = rows
// does: sums[r] = sum of row r of x[rows, columns], in some order
// for: sixteen waves in one workgroup, sizes known at run time
func.func @row_sum(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %first = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %first : tensor<?x?xf32>
  %out = tensor.empty(%rows) : tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%start : tensor<?xf32>) dimensions = [1]
  return %sum : tensor<?xf32>
}
