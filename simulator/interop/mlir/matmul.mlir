// SPDX-License-Identifier: MIT OR Apache-2.0
// A matrix product of 37 x 41 and 41 x 29 by tiles of 16 x 16 in workgroup memory.
// result: 0
module attributes {gpu.container_module} {
  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = arith.constant 37 : index
    %k = arith.constant 41 : index
    %n = arith.constant 29 : index
    %tile = arith.constant 16 : index
    %gn = arith.constant 2 : index
    %gm = arith.constant 3 : index
    %zero = arith.constant 0 : i32
    %a = memref.alloc() : memref<37x41xf32>
    %b = memref.alloc() : memref<41x29xf32>
    %c = memref.alloc() : memref<37x29xf32>
    // Small integers, so that sums in any order are exact.
    scf.for %i = %c0 to %m step %c1 {
      scf.for %j = %c0 to %k step %c1 {
        %s = arith.subi %i, %j : index
        %v = arith.index_cast %s : index to i32
        %f = arith.sitofp %v : i32 to f32
        memref.store %f, %a[%i, %j] : memref<37x41xf32>
      }
    }
    scf.for %i = %c0 to %k step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %p = arith.muli %i, %j : index
        %seven = arith.constant 7 : index
        %q = arith.remui %p, %seven : index
        %v = arith.index_cast %q : index to i32
        %f = arith.sitofp %v : i32 to f32
        memref.store %f, %b[%i, %j] : memref<41x29xf32>
      }
    }
    %t0 = gpu.wait async
    %da, %t1 = gpu.alloc async [%t0] () : memref<37x41xf32>
    %db, %t2 = gpu.alloc async [%t1] () : memref<41x29xf32>
    %dc, %t3 = gpu.alloc async [%t2] () : memref<37x29xf32>
    %t4 = gpu.memcpy async [%t3] %da, %a : memref<37x41xf32>, memref<37x41xf32>
    %t5 = gpu.memcpy async [%t4] %db, %b : memref<41x29xf32>, memref<41x29xf32>
    %t6 = gpu.launch async [%t5] blocks(%bx, %by, %bz) in (%gx = %gn, %gy = %gm, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %tile, %sy = %tile, %sz = %c1)
        workgroup(%ta : memref<16x16xf32, #gpu.address_space<workgroup>>,
                  %tb : memref<16x16xf32, #gpu.address_space<workgroup>>) {
      %nothing = arith.constant 0.0 : f32
      %row0 = arith.muli %by, %tile : index
      %row = arith.addi %row0, %ty : index
      %column0 = arith.muli %bx, %tile : index
      %column = arith.addi %column0, %tx : index
      %row_in = arith.cmpi ult, %row, %m : index
      %column_in = arith.cmpi ult, %column, %n : index
      %sum = scf.for %start = %c0 to %k step %tile iter_args(%acc = %nothing) -> f32 {
        %ka = arith.addi %start, %tx : index
        %kb = arith.addi %start, %ty : index
        %ka_in = arith.cmpi ult, %ka, %k : index
        %kb_in = arith.cmpi ult, %kb, %k : index
        %load_a = arith.andi %row_in, %ka_in : i1
        %load_b = arith.andi %column_in, %kb_in : i1
        %va = scf.if %load_a -> f32 {
          %v = memref.load %da[%row, %ka] : memref<37x41xf32>
          scf.yield %v : f32
        } else {
          scf.yield %nothing : f32
        }
        %vb = scf.if %load_b -> f32 {
          %v = memref.load %db[%kb, %column] : memref<41x29xf32>
          scf.yield %v : f32
        } else {
          scf.yield %nothing : f32
        }
        memref.store %va, %ta[%ty, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
        memref.store %vb, %tb[%ty, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
        gpu.barrier
        %part = scf.for %i = %c0 to %tile step %c1 iter_args(%inner = %acc) -> f32 {
          %x = memref.load %ta[%ty, %i] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %y = memref.load %tb[%i, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %inner, %p : f32
          scf.yield %s : f32
        }
        gpu.barrier
        scf.yield %part : f32
      }
      %inside = arith.andi %row_in, %column_in : i1
      scf.if %inside {
        memref.store %sum, %dc[%row, %column] : memref<37x29xf32>
      }
      gpu.terminator
    }
    %t7 = gpu.memcpy async [%t6] %c, %dc : memref<37x29xf32>, memref<37x29xf32>
    gpu.wait [%t7]
    %none = arith.constant 0.0 : f32
    %wrong = scf.for %i = %c0 to %m step %c1 iter_args(%w0 = %zero) -> i32 {
      %row_wrong = scf.for %j = %c0 to %n step %c1 iter_args(%w1 = %w0) -> i32 {
        %e = scf.for %l = %c0 to %k step %c1 iter_args(%acc = %none) -> f32 {
          %x = memref.load %a[%i, %l] : memref<37x41xf32>
          %y = memref.load %b[%l, %j] : memref<41x29xf32>
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %acc, %p : f32
          scf.yield %s : f32
        }
        %v = memref.load %c[%i, %j] : memref<37x29xf32>
        %bad = arith.cmpf une, %v, %e : f32
        %d = arith.extui %bad : i1 to i32
        %r = arith.addi %w1, %d : i32
        scf.yield %r : i32
      }
      scf.yield %row_wrong : i32
    }
    return %wrong : i32
  }
}
