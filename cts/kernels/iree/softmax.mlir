// SPDX-License-Identifier: MIT OR Apache-2.0
func.func @softmax(%x: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %out = tensor.empty() : tensor<8x256xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<8x256xf32>) outs(%out : tensor<8x256xf32>) -> tensor<8x256xf32>
  return %y : tensor<8x256xf32>
}
