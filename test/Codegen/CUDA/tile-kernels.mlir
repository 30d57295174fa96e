// RUN: netc-opt --net-tile-kernels %s | FileCheck %s
// RUN: not netc-opt --net-tile-kernels=arch=sm_1 %s -o /dev/null 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// UNKNOWN: error: unknown architecture `sm_1`

// Larger products have tiles in shared memory: here rows and sums stick out.
// CHECK: memref.global "private" @tiles_tile_a : memref<[[A:[0-9]+]]xf32, 3> = uninitialized
// CHECK: memref.global "private" @tiles_tile_b : memref<{{[0-9]+}}xf32, 3> = uninitialized
// CHECK-LABEL: func.func private @tiles
// CHECK-SAME: net.threads = {{[0-9]+}} : i64, net.threads_per_block = {{[0-9]+}} : i64
// CHECK: scf.for
// CHECK: scf.if
// CHECK: memref.store %{{.*}} : memref<[[A]]xf32, 3>
// CHECK: nvvm.barrier0
// CHECK: scf.for
// CHECK: math.fma
// CHECK: nvvm.barrier0
func.func private @tiles(%a: memref<35x50xf32>, %b: memref<50x64xf32>, %c: memref<35x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<35x64xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<35x50xf32>, memref<50x64xf32>) outs(%c : memref<35x64xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  return
}

// The lanes of a warp read a row, and exchange what each has found.
// CHECK-LABEL: func.func private @rows
// CHECK-SAME: net.threads = 96 : i64
// CHECK: scf.for
// CHECK: arith.maximumf
// CHECK-COUNT-5: nvvm.shfl.sync bfly
func.func private @rows(%a: memref<3x40xf32>, %c: memref<3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<3x40xf32>) outs(%c : memref<3xf32>) {
  ^bb0(%x: f32, %most: f32):
    %m = arith.maximumf %x, %most : f32
    linalg.yield %m : f32
  }
  return
}

// Threads read columns side by side as they are.
// CHECK-LABEL: func.func private @columns
// CHECK-NOT: net.threads
// CHECK: linalg.generic
func.func private @columns(%a: memref<40x3xf32>, %c: memref<3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<40x3xf32>) outs(%c : memref<3xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %s = arith.addf %sum, %x : f32
    linalg.yield %s : f32
  }
  return
}

// A thread computes as many elements as are 16 bytes, where these lie at a multiple of as many.
// CHECK-LABEL: func.func private @elements
// CHECK-SAME: net.threads = 10 : i64
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK-COUNT-4: math.sqrt
// CHECK: vector.store
func.func private @elements(%a: memref<5x8xf32> {llvm.align = 16 : i64}, %c: memref<5x8xf32> {llvm.align = 16 : i64}) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<5x8xf32>) outs(%c : memref<5x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %r = math.sqrt %x : f32
    linalg.yield %r : f32
  }
  return
}

// The last thread has fewer.
// CHECK-LABEL: func.func private @rest
// CHECK-SAME: net.threads = 3 : i64
// CHECK: scf.if
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: } else {
// CHECK-COUNT-2: math.sqrt
func.func private @rest(%a: memref<10xf32> {llvm.align = 16 : i64}, %c: memref<10xf32> {llvm.align = 16 : i64}) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<10xf32>) outs(%c : memref<10xf32>) {
  ^bb0(%x: f32, %old: f32):
    %r = math.sqrt %x : f32
    linalg.yield %r : f32
  }
  return
}

// Elsewhere one by one.
// CHECK-LABEL: func.func private @anywhere
// CHECK-SAME: net.threads = 40 : i64
// CHECK-NOT: vector.load
// CHECK: return
func.func private @anywhere(%a: memref<5x8xf32> {llvm.align = 4 : i64}, %c: memref<5x8xf32> {llvm.align = 16 : i64}) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<5x8xf32>) outs(%c : memref<5x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    %r = math.sqrt %x : f32
    linalg.yield %r : f32
  }
  return
}

// What lies in another order passes through shared memory.
// CHECK-LABEL: func.func private @transposed
// CHECK-SAME: net.threads = 1024 : i64, net.threads_per_block = 256 : i64
// CHECK: memref.get_global @transposed_square_0 : memref<[[SQUARE:[0-9]+]]xf32, 3>
// CHECK: memref.store %{{.*}} : memref<[[SQUARE]]xf32, 3>
// CHECK: nvvm.barrier0
// CHECK: memref.load %{{.*}} : memref<[[SQUARE]]xf32, 3>
// CHECK: memref.store %{{.*}} : memref<2240xf32>
func.func private @transposed(%a: memref<35x64xf32>, %c: memref<64x35xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<35x64xf32>) outs(%c : memref<64x35xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
