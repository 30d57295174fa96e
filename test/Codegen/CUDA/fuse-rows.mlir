// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-fuse-rows))" %s | FileCheck %s
// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-fuse-rows),net-tile-kernels)" %s | FileCheck %s --check-prefix=EMITTED

// The ops of a softmax are one kernel, which alone has the sums.
// CHECK-LABEL: func.func private @softmax
// CHECK-NOT:   linalg
// CHECK:       scf.execute_region
// CHECK:         memref.alloc() : memref<2048xf32>
// CHECK:         linalg.fill
// CHECK:         arith.addf
// CHECK:         arith.divf
// CHECK:         scf.yield
// A lane reads 2 elements of a row once, and stores what another kernel reads.
// EMITTED-LABEL: func.func private @softmax
// EMITTED-SAME: net.threads = 65536 : i64
// EMITTED-COUNT-2: memref.load
// EMITTED-COUNT-5: nvvm.shfl.sync bfly
// EMITTED-NOT: memref.load
// EMITTED-COUNT-2: memref.store
// EMITTED-NOT: memref.store
// EMITTED: return
#map = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @softmax(%e: memref<2048x64xf32>, %y: memref<2048x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<2048xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<2048xf32>)
  linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<2048x64xf32>) outs(%sum : memref<2048xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = arith.addf %old, %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<2048x64xf32>, memref<2048xf32>) outs(%y : memref<2048x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %n = arith.divf %a, %b : f32
    linalg.yield %n : f32
  }
  return
}

// Elements may be written over those that were read, and the sum of products of elements is one of a row. Rows of 2048
// elements have a block of two warps each, which add up their sums in shared memory. A lane accesses 16 bytes: all loads
// come before the first store.
// CHECK-LABEL: func.func private @in_place
// CHECK:       scf.execute_region
// CHECK:         arith.mulf
// CHECK:         arith.subf
// CHECK:         scf.yield
// EMITTED-LABEL: func.func private @in_place
// EMITTED-SAME: net.threads = 8192 : i64
// EMITTED-SAME: net.threads_per_block = 64 : i64
// EMITTED-COUNT-16: vector.load {{.*}} vector<4xf32>
// EMITTED-NOT: vector.load
// EMITTED-COUNT-5: nvvm.shfl.sync bfly
// EMITTED: memref.store {{.*}} memref<2xf32, 3>
// EMITTED-NEXT: }
// EMITTED: nvvm.barrier0
// EMITTED-COUNT-2: memref.load {{.*}} memref<2xf32, 3>
// EMITTED-NOT: load
// EMITTED-COUNT-8: vector.store {{.*}} vector<4xf32>
// EMITTED-NOT: store
// EMITTED: return
func.func private @in_place(%w: memref<128x2048xf32> {llvm.align = 16 : i64}, %dw: memref<128x2048xf32> {llvm.align = 16 : i64}) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<128xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<128xf32>)
  linalg.generic {indexing_maps = [#map, #map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w, %dw : memref<128x2048xf32>, memref<128x2048xf32>) outs(%sum : memref<128xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %p = arith.mulf %a, %b : f32
    %n = arith.addf %old, %p : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%w, %sum : memref<128x2048xf32>, memref<128xf32>) outs(%dw : memref<128x2048xf32>) {
  ^bb0(%a: f32, %s: f32, %d: f32):
    %c = arith.subf %d, %s : f32
    %n = arith.mulf %a, %c : f32
    linalg.yield %n : f32
  }
  return
}

// What a row has once is computed by all lanes between a sum and the elements, as the root of a normalization, even over
// the sum. Only lane 0 stores what another kernel reads.
// CHECK-LABEL: func.func private @root
// CHECK:       scf.execute_region
// CHECK:         arith.addf
// CHECK:         math.rsqrt
// CHECK:         arith.mulf
// CHECK:         scf.yield
// EMITTED-LABEL: func.func private @root
// EMITTED: nvvm.shfl.sync
// EMITTED: math.rsqrt
// EMITTED-NOT: math.rsqrt
// EMITTED: scf.if
// EMITTED-NEXT: memref.store {{.*}} memref<2x64xf32>
// EMITTED: return
#each = affine_map<(h, i, j) -> (h, i, j)>
#rows = affine_map<(h, i, j) -> (h, i)>
#once = affine_map<(h, i) -> (h, i)>
func.func private @root(%x: memref<2x64x32xf32>, %sum: memref<2x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<2x64xf32>)
  linalg.generic {indexing_maps = [#each, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : memref<2x64x32xf32>) outs(%sum : memref<2x64xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = arith.addf %old, %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#once], iterator_types = ["parallel", "parallel"]} outs(%sum : memref<2x64xf32>) {
  ^bb0(%s: f32):
    %n = math.rsqrt %s : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#rows, #each], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sum : memref<2x64xf32>) outs(%x : memref<2x64x32xf32>) {
  ^bb0(%s: f32, %a: f32):
    %n = arith.mulf %a, %s : f32
    linalg.yield %n : f32
  }
  return
}

// A sum that adds to old values: all lanes load the old value before the barrier, after which one stores the new one.
// EMITTED-LABEL: func.func private @old
// EMITTED: memref.load {{.*}} memref<128xf32>
// EMITTED: nvvm.barrier0
// EMITTED-NOT: memref.load {{.*}} memref<128xf32>
// EMITTED: memref.store {{.*}} memref<128xf32>
// EMITTED: return
func.func private @old(%x: memref<128x2048xf32>, %y: memref<128x2048xf32>, %sum: memref<128xf32>) {
  linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<128x2048xf32>) outs(%sum : memref<128xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = arith.addf %old, %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<128x2048xf32>, memref<128xf32>) outs(%y : memref<128x2048xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %n = arith.divf %a, %s : f32
    linalg.yield %n : f32
  }
  return
}

// Ops that share nothing that was reduced stay apart, and so do those of which one writes over what another one reads of
// other rows.
// CHECK-LABEL: func.func private @apart
// CHECK-NOT:   scf.execute_region
// CHECK:       return
#first = affine_map<(i, j) -> (0, j)>
func.func private @apart(%x: memref<2048x64xf32>, %y: memref<2048x64xf32>, %sum: memref<2048xf32>) {
  linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<2048x64xf32>) outs(%sum : memref<2048xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = arith.addf %old, %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#first, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : memref<2048x64xf32>, memref<2048x64xf32>) outs(%y : memref<2048x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %n = arith.addf %a, %b : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%y, %sum : memref<2048x64xf32>, memref<2048xf32>) outs(%x : memref<2048x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %n = arith.divf %a, %b : f32
    linalg.yield %n : f32
  }
  return
}
