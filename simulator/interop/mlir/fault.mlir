// SPDX-License-Identifier: MIT OR Apache-2.0
// A kernel that writes behind its memory, and that nobody waits for before the copy of its results.
// fails: mgpuLaunchKernel of `main_kernel` with 2 x 1 x 1 blocks of 64 x 1 x 1 threads, on stream 1, failed:
module attributes {gpu.container_module} {
  func.func @main() -> i32 {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %block = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    // Some devices only notice accesses that leave all of their memory.
    %far = arith.constant 0x10000000000 : index
    %host = memref.alloc() : memref<64xi32>
    %t0 = gpu.wait async
    %x, %t1 = gpu.alloc async [%t0] () : memref<64xi32>
    %t2 = gpu.launch async [%t1] blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %block, %sy = %c1, %sz = %c1) {
      %base = arith.muli %bx, %far : index
      %i = arith.addi %base, %tx : index
      %w = arith.index_cast %i : index to i32
      memref.store %w, %x[%i] : memref<64xi32>
      gpu.terminator
    }
    %t3 = gpu.memcpy async [%t2] %host, %x : memref<64xi32>, memref<64xi32>
    gpu.wait [%t3]
    return %zero : i32
  }
}
