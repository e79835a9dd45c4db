// SPDX-License-Identifier: MIT OR Apache-2.0
// Three streams: two that fill and add side by side, one that joins them by events, and the first again behind the join.
// result: 0
// seeds: 8
module attributes {gpu.container_module} {
  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 512 : index
    %block = arith.constant 128 : index
    %grid = arith.constant 4 : index
    %zero = arith.constant 0 : i32
    %ten = arith.constant 10 : i32
    %hundred = arith.constant 100 : i32
    %device = arith.constant 0 : i32
    gpu.set_default_device %device
    %host = memref.alloc() : memref<512xi32>
    %again = memref.alloc() : memref<512xi32>
    %a0 = gpu.wait async
    %b0 = gpu.wait async
    %x, %a1 = gpu.alloc async [%a0] () : memref<512xi32>
    %y, %b1 = gpu.alloc async [%b0] () : memref<512xi32>
    %z, %a2 = gpu.alloc async [%a1] () : memref<512xi32>
    %a3 = gpu.memset async [%a2] %x, %ten : memref<512xi32>, i32
    %b3 = gpu.memset async [%b1] %y, %hundred : memref<512xi32>, i32
    // x = 10 + i
    %a4 = gpu.launch async [%a3] blocks(%bx, %by, %bz) in (%gx = %grid, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %block, %sy = %c1, %sz = %c1) {
      %base = arith.muli %bx, %block : index
      %i = arith.addi %base, %tx : index
      %w = arith.index_cast %i : index to i32
      %v = memref.load %x[%i] : memref<512xi32>
      %s = arith.addi %v, %w : i32
      memref.store %s, %x[%i] : memref<512xi32>
      gpu.terminator
    }
    // y = 100 * i
    %b4 = gpu.launch async [%b3] blocks(%bx, %by, %bz) in (%gx = %grid, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %block, %sy = %c1, %sz = %c1) {
      %base = arith.muli %bx, %block : index
      %i = arith.addi %base, %tx : index
      %w = arith.index_cast %i : index to i32
      %v = memref.load %y[%i] : memref<512xi32>
      %s = arith.muli %v, %w : i32
      memref.store %s, %y[%i] : memref<512xi32>
      gpu.terminator
    }
    // A third stream waits for both: z = x + y.
    %c00 = gpu.wait async [%a4, %b4]
    %c01 = gpu.launch async [%c00] blocks(%bx, %by, %bz) in (%gx = %grid, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %block, %sy = %c1, %sz = %c1) {
      %base = arith.muli %bx, %block : index
      %i = arith.addi %base, %tx : index
      %v = memref.load %x[%i] : memref<512xi32>
      %w = memref.load %y[%i] : memref<512xi32>
      %s = arith.addi %v, %w : i32
      memref.store %s, %z[%i] : memref<512xi32>
      gpu.terminator
    }
    %c02 = gpu.memcpy async [%c01] %host, %z : memref<512xi32>, memref<512xi32>
    // The host's bytes go back behind the copy that wrote them, without a wait in between.
    %d0 = gpu.wait async [%c02]
    %d1 = gpu.memcpy async [%d0] %x, %host : memref<512xi32>, memref<512xi32>
    %d2 = gpu.launch async [%d1] blocks(%bx, %by, %bz) in (%gx = %grid, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %block, %sy = %c1, %sz = %c1) {
      %base = arith.muli %bx, %block : index
      %i = arith.addi %base, %tx : index
      %v = memref.load %x[%i] : memref<512xi32>
      %s = arith.addi %v, %v : i32
      memref.store %s, %x[%i] : memref<512xi32>
      gpu.terminator
    }
    %d3 = gpu.memcpy async [%d2] %again, %x : memref<512xi32>, memref<512xi32>
    %d4 = gpu.dealloc async [%d3] %x : memref<512xi32>
    %d5 = gpu.dealloc async [%d4] %y : memref<512xi32>
    %d6 = gpu.dealloc async [%d5] %z : memref<512xi32>
    gpu.wait [%d6]
    %wrong = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
      %w = arith.index_cast %i : index to i32
      %e0 = arith.addi %ten, %w : i32
      %e1 = arith.muli %hundred, %w : i32
      %e = arith.addi %e0, %e1 : i32
      %e2 = arith.addi %e, %e : i32
      %v = memref.load %host[%i] : memref<512xi32>
      %v2 = memref.load %again[%i] : memref<512xi32>
      %b = arith.cmpi ne, %v, %e : i32
      %bb = arith.cmpi ne, %v2, %e2 : i32
      %bad = arith.ori %b, %bb : i1
      %d = arith.extui %bad : i1 to i32
      %r = arith.addi %sum, %d : i32
      scf.yield %r : i32
    }
    return %wrong : i32
  }
}
