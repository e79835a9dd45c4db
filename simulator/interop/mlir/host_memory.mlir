// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels without copies: over registered memory of the host, over memory that host and device share, and over the
// device's view of registered memory. Their launches have no token, so each waits for its end.
// result: 0
module attributes {gpu.container_module} {
  func.func private @mgpuMemGetDeviceMemRef1dInt32(%memory: memref<?xi32>) -> memref<?xi32>
  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    %block = arith.constant 64 : index
    %grid = arith.constant 4 : index
    %zero = arith.constant 0 : i32
    %dense = memref.alloc() : memref<4x64xi32>
    %flat = memref.alloc(%n) : memref<?xi32>
    %any = memref.cast %dense : memref<4x64xi32> to memref<*xi32>
    %any_flat = memref.cast %flat : memref<?xi32> to memref<*xi32>
    scf.for %i = %c0 to %n step %c1 {
      %w = arith.index_cast %i : index to i32
      %r = arith.divui %i, %block : index
      %c = arith.remui %i, %block : index
      memref.store %w, %dense[%r, %c] : memref<4x64xi32>
      memref.store %w, %flat[%i] : memref<?xi32>
    }
    gpu.host_register %any : memref<*xi32>
    gpu.host_register %any_flat : memref<*xi32>
    %shared = gpu.alloc host_shared () : memref<256xi32>
    scf.for %i = %c0 to %n step %c1 {
      memref.store %zero, %shared[%i] : memref<256xi32>
    }
    %view = call @mgpuMemGetDeviceMemRef1dInt32(%flat) : (memref<?xi32>) -> memref<?xi32>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %grid, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %block, %sy = %c1, %sz = %c1) {
      %base = arith.muli %bx, %block : index
      %i = arith.addi %base, %tx : index
      %x = memref.load %dense[%bx, %tx] : memref<4x64xi32>
      %y = memref.load %view[%i] : memref<?xi32>
      %s = arith.addi %x, %y : i32
      %t = arith.addi %s, %y : i32
      memref.store %s, %dense[%bx, %tx] : memref<4x64xi32>
      memref.store %t, %shared[%i] : memref<256xi32>
      gpu.terminator
    }
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %grid, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %block, %sy = %c1, %sz = %c1) {
      %base = arith.muli %bx, %block : index
      %i = arith.addi %base, %tx : index
      %y = memref.load %view[%i] : memref<?xi32>
      %t = arith.subi %zero, %y : i32
      memref.store %t, %view[%i] : memref<?xi32>
      gpu.terminator
    }
    gpu.host_unregister %any : memref<*xi32>
    gpu.host_unregister %any_flat : memref<*xi32>
    // dense = 2 i, shared = 3 i, flat = -i
    %wrong = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
      %w = arith.index_cast %i : index to i32
      %r = arith.divui %i, %block : index
      %c = arith.remui %i, %block : index
      %two = arith.addi %w, %w : i32
      %three = arith.addi %two, %w : i32
      %minus = arith.subi %zero, %w : i32
      %x = memref.load %dense[%r, %c] : memref<4x64xi32>
      %y = memref.load %shared[%i] : memref<256xi32>
      %z = memref.load %flat[%i] : memref<?xi32>
      %bx = arith.cmpi ne, %x, %two : i32
      %by = arith.cmpi ne, %y, %three : i32
      %bz = arith.cmpi ne, %z, %minus : i32
      %b0 = arith.ori %bx, %by : i1
      %bad = arith.ori %b0, %bz : i1
      %d = arith.extui %bad : i1 to i32
      %s = arith.addi %sum, %d : i32
      scf.yield %s : i32
    }
    %t0 = gpu.wait async
    %t1 = gpu.dealloc async [%t0] %shared : memref<256xi32>
    gpu.wait [%t1]
    memref.dealloc %dense : memref<4x64xi32>
    memref.dealloc %flat : memref<?xi32>
    return %wrong : i32
  }
}
