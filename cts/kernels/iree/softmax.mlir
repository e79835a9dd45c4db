// SPDX-License-Identifier: MIT OR Apache-2.0

// kernel: softmax_dispatch_0_softmax_8x256xf32_dispatch_tensor_store
// args: x *f32[2048] in, y *f32[2048] out
// block: 64 (fixed in the code object)
// grid: x = 8
// does: y[r] = softmax of row r of x[8,256]
// for: reductions across a wave
func.func @softmax(%x: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %out = tensor.empty() : tensor<8x256xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<8x256xf32>) outs(%out : tensor<8x256xf32>) -> tensor<8x256xf32>
  return %y : tensor<8x256xf32>
}
