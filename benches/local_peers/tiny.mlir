// SPDX-License-Identifier: MIT OR Apache-2.0
// The kernels of tiny.c as IREE compiles them.
#layout = #hal.pipeline.layout<constants = 0, bindings = [#hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>]>
hal.executable.source public @tiny {
  hal.executable.export public @copies_four ordinal(0) layout(#layout) count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  }
  hal.executable.export public @doubles_one ordinal(1) layout(#layout) count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  }
  builtin.module {
    func.func @copies_four() {
      %c0 = arith.constant 0 : index
      %in = hal.interface.binding.subspan layout(#layout) binding(0) alignment(64) : memref<4xf32>
      %out = hal.interface.binding.subspan layout(#layout) binding(1) alignment(64) : memref<4xf32>
      %x = vector.load %in[%c0] : memref<4xf32>, vector<4xf32>
      vector.store %x, %out[%c0] : memref<4xf32>, vector<4xf32>
      return
    }
    func.func @doubles_one() {
      %i = hal.interface.workgroup.id[0] : index
      %in = hal.interface.binding.subspan layout(#layout) binding(0) alignment(64) : memref<100000xf32>
      %out = hal.interface.binding.subspan layout(#layout) binding(1) alignment(64) : memref<100000xf32>
      %x = memref.load %in[%i] : memref<100000xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %out[%i] : memref<100000xf32>
      return
    }
  }
}
