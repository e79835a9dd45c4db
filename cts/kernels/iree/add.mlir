// SPDX-License-Identifier: MIT OR Apache-2.0
func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %sum = arith.addf %a, %b : tensor<?xf32>
  return %sum : tensor<?xf32>
}
