// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies in, a kernel and a copy out in one stream, which a token orders.
// result: 0
module attributes {gpu.container_module} {
  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1000 : index
    %block = arith.constant 256 : index
    %grid = arith.constant 4 : index
    %zero = arith.constant 0 : i32
    %three = arith.constant 3.0 : f32
    %a = memref.alloc(%n) : memref<?xf32>
    %b = memref.alloc(%n) : memref<?xf32>
    %c = memref.alloc(%n) : memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      %x = arith.index_cast %i : index to i32
      %f = arith.sitofp %x : i32 to f32
      %g = arith.addf %f, %f : f32
      memref.store %f, %a[%i] : memref<?xf32>
      memref.store %g, %b[%i] : memref<?xf32>
    }
    %t0 = gpu.wait async
    %da, %t1 = gpu.alloc async [%t0] (%n) : memref<?xf32>
    %db, %t2 = gpu.alloc async [%t1] (%n) : memref<?xf32>
    %dc, %t3 = gpu.alloc async [%t2] (%n) : memref<?xf32>
    %t4 = gpu.memcpy async [%t3] %da, %a : memref<?xf32>, memref<?xf32>
    %t5 = gpu.memcpy async [%t4] %db, %b : memref<?xf32>, memref<?xf32>
    %t6 = gpu.launch async [%t5] blocks(%bx, %by, %bz) in (%gx = %grid, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %block, %sy = %c1, %sz = %c1) {
      %base = arith.muli %bx, %block : index
      %i = arith.addi %base, %tx : index
      %in = arith.cmpi ult, %i, %n : index
      scf.if %in {
        %x = memref.load %da[%i] : memref<?xf32>
        %y = memref.load %db[%i] : memref<?xf32>
        %s = arith.addf %x, %y : f32
        memref.store %s, %dc[%i] : memref<?xf32>
      }
      gpu.terminator
    }
    %t7 = gpu.memcpy async [%t6] %c, %dc : memref<?xf32>, memref<?xf32>
    %t8 = gpu.dealloc async [%t7] %da : memref<?xf32>
    %t9 = gpu.dealloc async [%t8] %db : memref<?xf32>
    %t10 = gpu.dealloc async [%t9] %dc : memref<?xf32>
    gpu.wait [%t10]
    %wrong = scf.for %i = %c0 to %n step %c1 iter_args(%w = %zero) -> i32 {
      %x = arith.index_cast %i : index to i32
      %f = arith.sitofp %x : i32 to f32
      %e = arith.mulf %f, %three : f32
      %v = memref.load %c[%i] : memref<?xf32>
      %bad = arith.cmpf une, %v, %e : f32
      %d = arith.extui %bad : i1 to i32
      %r = arith.addi %w, %d : i32
      scf.yield %r : i32
    }
    return %wrong : i32
  }
}
