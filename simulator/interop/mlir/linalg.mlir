// SPDX-License-Identifier: MIT OR Apache-2.0
// A program without a word about GPUs: MLIR's passes make kernels of its loops. y = relu(a * b + bias).
// first: convert-linalg-to-parallel-loops,func.func(gpu-map-parallel-loops),convert-parallel-loops-to-gpu,lower-affine
// result: 0
module {
  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = arith.constant 12 : index
    %k = arith.constant 20 : index
    %n = arith.constant 33 : index
    %zero = arith.constant 0 : i32
    %none = arith.constant 0.0 : f32
    %a = memref.alloc() : memref<12x20xf32>
    %b = memref.alloc() : memref<20x33xf32>
    %bias = memref.alloc() : memref<33xf32>
    %y = memref.alloc() : memref<12x33xf32>
    scf.for %i = %c0 to %m step %c1 {
      scf.for %j = %c0 to %k step %c1 {
        %s = arith.subi %i, %j : index
        %v = arith.index_cast %s : index to i32
        %f = arith.sitofp %v : i32 to f32
        memref.store %f, %a[%i, %j] : memref<12x20xf32>
      }
    }
    scf.for %i = %c0 to %n step %c1 {
      %v = arith.index_cast %i : index to i32
      %f = arith.sitofp %v : i32 to f32
      memref.store %f, %bias[%i] : memref<33xf32>
      scf.for %j = %c0 to %k step %c1 {
        %five = arith.constant 5 : index
        %p = arith.muli %i, %j : index
        %q = arith.remui %p, %five : index
        %r = arith.index_cast %q : index to i32
        %g = arith.sitofp %r : i32 to f32
        memref.store %g, %b[%j, %i] : memref<20x33xf32>
      }
    }
    %any_a = memref.cast %a : memref<12x20xf32> to memref<*xf32>
    %any_b = memref.cast %b : memref<20x33xf32> to memref<*xf32>
    %any_bias = memref.cast %bias : memref<33xf32> to memref<*xf32>
    %any_y = memref.cast %y : memref<12x33xf32> to memref<*xf32>
    gpu.host_register %any_a : memref<*xf32>
    gpu.host_register %any_b : memref<*xf32>
    gpu.host_register %any_bias : memref<*xf32>
    gpu.host_register %any_y : memref<*xf32>
    linalg.fill ins(%none : f32) outs(%y : memref<12x33xf32>)
    linalg.matmul ins(%a, %b : memref<12x20xf32>, memref<20x33xf32>) outs(%y : memref<12x33xf32>)
    linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%bias : memref<33xf32>) outs(%y : memref<12x33xf32>) {
    ^bb0(%add: f32, %old: f32):
      %s = arith.addf %old, %add : f32
      %r = arith.maximumf %s, %none : f32
      linalg.yield %r : f32
    }
    gpu.host_unregister %any_a : memref<*xf32>
    gpu.host_unregister %any_b : memref<*xf32>
    gpu.host_unregister %any_bias : memref<*xf32>
    gpu.host_unregister %any_y : memref<*xf32>
    %wrong = scf.for %i = %c0 to %m step %c1 iter_args(%w0 = %zero) -> i32 {
      %row = scf.for %j = %c0 to %n step %c1 iter_args(%w1 = %w0) -> i32 {
        %start = memref.load %bias[%j] : memref<33xf32>
        %e = scf.for %l = %c0 to %k step %c1 iter_args(%acc = %start) -> f32 {
          %x = memref.load %a[%i, %l] : memref<12x20xf32>
          %z = memref.load %b[%l, %j] : memref<20x33xf32>
          %p = arith.mulf %x, %z : f32
          %s = arith.addf %acc, %p : f32
          scf.yield %s : f32
        }
        %r = arith.maximumf %e, %none : f32
        %v = memref.load %y[%i, %j] : memref<12x33xf32>
        %bad = arith.cmpf une, %v, %r : f32
        %d = arith.extui %bad : i1 to i32
        %t = arith.addi %w1, %d : i32
        scf.yield %t : i32
      }
      scf.yield %row : i32
    }
    return %wrong : i32
  }
}
