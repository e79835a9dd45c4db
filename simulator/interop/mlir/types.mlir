// SPDX-License-Identifier: MIT OR Apache-2.0
// Kernels over f16, f64 and i64, with fills of two and four bytes.
// result: 0
module attributes {gpu.container_module} {
  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 320 : index
    %block = arith.constant 64 : index
    %grid = arith.constant 5 : index
    %zero = arith.constant 0 : i32
    %h = memref.alloc() : memref<320xf16>
    %d = memref.alloc() : memref<320xf64>
    %l = memref.alloc() : memref<320xi64>
    %w = memref.alloc() : memref<320xi32>
    %half = arith.constant 1.5 : f16
    %word = arith.constant 77 : i32
    %big = arith.constant 0x123456789AB : i64
    %third = arith.constant 0.1 : f64
    %t0 = gpu.wait async
    %dh, %t1 = gpu.alloc async [%t0] () : memref<320xf16>
    %dd, %t2 = gpu.alloc async [%t1] () : memref<320xf64>
    %dl, %t3 = gpu.alloc async [%t2] () : memref<320xi64>
    %dw, %t4 = gpu.alloc async [%t3] () : memref<320xi32>
    %t5 = gpu.memset async [%t4] %dh, %half : memref<320xf16>, f16
    %t6 = gpu.memset async [%t5] %dw, %word : memref<320xi32>, i32
    %t7 = gpu.launch async [%t6] blocks(%bx, %by, %bz) in (%gx = %grid, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %block, %sy = %c1, %sz = %c1) {
      %base = arith.muli %bx, %block : index
      %i = arith.addi %base, %tx : index
      %x = arith.index_cast %i : index to i64
      %x32 = arith.trunci %x : i64 to i32
      %f64 = arith.sitofp %x : i64 to f64
      %f16 = arith.sitofp %x32 : i32 to f16
      // f16: 1.5 + i; f64: i * 0.1; i64: i * big; i32: 77 - i.
      %h0 = memref.load %dh[%i] : memref<320xf16>
      %h1 = arith.addf %h0, %f16 : f16
      memref.store %h1, %dh[%i] : memref<320xf16>
      %d1 = arith.mulf %f64, %third : f64
      memref.store %d1, %dd[%i] : memref<320xf64>
      %l1 = arith.muli %x, %big : i64
      memref.store %l1, %dl[%i] : memref<320xi64>
      %w0 = memref.load %dw[%i] : memref<320xi32>
      %w1 = arith.subi %w0, %x32 : i32
      memref.store %w1, %dw[%i] : memref<320xi32>
      gpu.terminator
    }
    %t8 = gpu.memcpy async [%t7] %h, %dh : memref<320xf16>, memref<320xf16>
    %t9 = gpu.memcpy async [%t8] %d, %dd : memref<320xf64>, memref<320xf64>
    %t10 = gpu.memcpy async [%t9] %l, %dl : memref<320xi64>, memref<320xi64>
    %t11 = gpu.memcpy async [%t10] %w, %dw : memref<320xi32>, memref<320xi32>
    gpu.wait [%t11]
    %wrong = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
      %x = arith.index_cast %i : index to i64
      %x32 = arith.trunci %x : i64 to i32
      %f64 = arith.sitofp %x : i64 to f64
      %f32 = arith.sitofp %x32 : i32 to f32
      %one_half = arith.constant 1.5 : f32
      // Multiples of a half below 512 are exact in f16, so f32 computes the same.
      %he = arith.addf %f32, %one_half : f32
      %h0 = memref.load %h[%i] : memref<320xf16>
      %h1 = arith.extf %h0 : f16 to f32
      %hb = arith.cmpf une, %h1, %he : f32
      %de = arith.mulf %f64, %third : f64
      %d0 = memref.load %d[%i] : memref<320xf64>
      %db = arith.cmpf une, %d0, %de : f64
      %le = arith.muli %x, %big : i64
      %l0 = memref.load %l[%i] : memref<320xi64>
      %lb = arith.cmpi ne, %l0, %le : i64
      %we = arith.subi %word, %x32 : i32
      %w0 = memref.load %w[%i] : memref<320xi32>
      %wb = arith.cmpi ne, %w0, %we : i32
      %b0 = arith.ori %hb, %db : i1
      %b1 = arith.ori %lb, %wb : i1
      %b2 = arith.ori %b0, %b1 : i1
      %bad = arith.extui %b2 : i1 to i32
      %r = arith.addi %sum, %bad : i32
      scf.yield %r : i32
    }
    return %wrong : i32
  }
}
