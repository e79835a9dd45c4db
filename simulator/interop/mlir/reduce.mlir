// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums of rows in two ways: gpu.all_reduce, and a tree in workgroup memory with barriers.
// result: 0
module attributes {gpu.container_module} {
  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rows = arith.constant 7 : index
    %columns = arith.constant 128 : index
    %half = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %five = arith.constant 5 : i32
    %in = memref.alloc() : memref<7x128xi32>
    %out = memref.alloc() : memref<7x2xi32>
    scf.for %r = %c0 to %rows step %c1 {
      scf.for %c = %c0 to %columns step %c1 {
        %r0 = arith.index_cast %r : index to i32
        %c00 = arith.index_cast %c : index to i32
        %p = arith.muli %c00, %r0 : i32
        %v = arith.subi %p, %five : i32
        memref.store %v, %in[%r, %c] : memref<7x128xi32>
      }
    }
    %t0 = gpu.wait async
    %din, %t1 = gpu.alloc async [%t0] () : memref<7x128xi32>
    %dout, %t2 = gpu.alloc async [%t1] () : memref<7x2xi32>
    %t3 = gpu.memcpy async [%t2] %din, %in : memref<7x128xi32>, memref<7x128xi32>
    %t4 = gpu.launch async [%t3] blocks(%bx, %by, %bz) in (%gx = %rows, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %columns, %sy = %c1, %sz = %c1)
        workgroup(%tile : memref<128xi32, #gpu.address_space<workgroup>>) {
      %v = memref.load %din[%bx, %tx] : memref<7x128xi32>
      memref.store %v, %tile[%tx] : memref<128xi32, #gpu.address_space<workgroup>>
      gpu.barrier
      scf.while (%width = %half) : (index) -> index {
        %more = arith.cmpi ugt, %width, %c0 : index
        scf.condition(%more) %width : index
      } do {
      ^bb0(%width: index):
        %active = arith.cmpi ult, %tx, %width : index
        scf.if %active {
          %other = arith.addi %tx, %width : index
          %x = memref.load %tile[%tx] : memref<128xi32, #gpu.address_space<workgroup>>
          %y = memref.load %tile[%other] : memref<128xi32, #gpu.address_space<workgroup>>
          %s = arith.addi %x, %y : i32
          memref.store %s, %tile[%tx] : memref<128xi32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        %next = arith.divui %width, %c2 : index
        scf.yield %next : index
      }
      %all = gpu.all_reduce add %v uniform {} : (i32) -> (i32)
      %first = arith.cmpi eq, %tx, %c0 : index
      scf.if %first {
        %sum = memref.load %tile[%c0] : memref<128xi32, #gpu.address_space<workgroup>>
        memref.store %sum, %dout[%bx, %c0] : memref<7x2xi32>
        memref.store %all, %dout[%bx, %c1] : memref<7x2xi32>
      }
      gpu.terminator
    }
    %t5 = gpu.memcpy async [%t4] %out, %dout : memref<7x2xi32>, memref<7x2xi32>
    gpu.wait [%t5]
    %wrong = scf.for %r = %c0 to %rows step %c1 iter_args(%w = %zero) -> i32 {
      %expected = scf.for %c = %c0 to %columns step %c1 iter_args(%sum = %zero) -> i32 {
        %v = memref.load %in[%r, %c] : memref<7x128xi32>
        %s = arith.addi %sum, %v : i32
        scf.yield %s : i32
      }
      %x = memref.load %out[%r, %c0] : memref<7x2xi32>
      %y = memref.load %out[%r, %c1] : memref<7x2xi32>
      %bx = arith.cmpi ne, %x, %expected : i32
      %by = arith.cmpi ne, %y, %expected : i32
      %b = arith.ori %bx, %by : i1
      %d = arith.extui %b : i1 to i32
      %n = arith.addi %w, %d : i32
      scf.yield %n : i32
    }
    return %wrong : i32
  }
}
