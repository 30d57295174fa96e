// RUN: netc-opt --net-lower-kernels=isa=avx512 %s | FileCheck %s
// RUN: netc-opt '--net-lower-kernels=isa=avx512 print-schedules=true' %s -o /dev/null 2>&1 \
// RUN:   | FileCheck --check-prefix=SCHEDULE %s

// What memory brings too late is prefetched.

// The panels of a matrix that stays near pass by each tile of rows. Meanwhile
// each iteration of the sum prefetches a line of the rows of the next tile, which
// follow. The result's memory is not filled: sums start from the number.
// SCHEDULE: m=[4096] n=[8, 32] k=[256] | micro-kernel [[MR:[0-9]+]] x 2 vectors | mc [[MR]] | kc 256 | threads over rows | prefetch A next tile L2, C L1 | fold fill
// CHECK-LABEL: func.func @next_tile
// CHECK-NOT:   memref.store
// CHECK:       scf.parallel {{.*}} to (%c4096{{.*}})
// CHECK:         scf.for %{{.*}} to %c8{{.*}} step %c1
// CHECK-NOT:       vector.load
// CHECK:           scf.for %{{.*}} to %c256{{.*}} step %c1{{.*}} iter_args
// CHECK:             arith.muli
// CHECK:             memref.prefetch %{{.*}}, read, locality<2>, data : memref<1048576xf32>
// CHECK-NOT:         memref.prefetch
// CHECK:             scf.yield
func.func @next_tile(%x: memref<4096x256xf32>, %w: memref<8x256x32xf32>, %y: memref<4096x256xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4096x256xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (p, k, n)>,
                                   affine_map<(m, n, k, p) -> (m, p * 32 + n)>],
                  iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<4096x256xf32>, memref<8x256x32xf32>) outs(%y : memref<4096x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Of a larger matrix, the next panel is prefetched, too, while the rows of a block
// pass by this one, both vectors in each iteration. Blocks of rows are equal.
// SCHEDULE: m=[1024] n=[32, 32] k=[1024] | micro-kernel {{[0-9]+}} x 2 vectors | mc {{[0-9]+}} | kc 1024 | threads over rows | prefetch B +{{[0-9]+}} L2, A next tile L2, C L1
// CHECK-LABEL: func.func @next_panel
// CHECK:       scf.parallel {{.*}} to (%c1024{{.*}})
// CHECK:         scf.for %{{.*}} to %c32{{.*}} step %c1
// CHECK:             scf.for %{{.*}} to %c1024{{.*}} step %c1{{.*}} iter_args
// CHECK-COUNT-3:       memref.prefetch %{{.*}}, read, locality<2>, data : memref<1048576xf32>
// CHECK-NOT:           memref.prefetch
// CHECK:               vector.fma
func.func @next_panel(%x: memref<1024x1024xf32>, %w: memref<32x1024x32xf32>, %y: memref<1024x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<1024x1024xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (p, k, n)>,
                                   affine_map<(m, n, k, p) -> (m, p * 32 + n)>],
                  iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<1024x1024xf32>, memref<32x1024x32xf32>) outs(%y : memref<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Rows that an iteration of the sum leaves far behind: those of a later one, and
// of the next block of the sum. The other operand is packed, for many tiles of
// rows.
// SCHEDULE: m=[512] n=[128] k=[6272] | {{.*}} | pack B | threads over k | prefetch A +{{[0-9]+}} L1, A first row +{{[0-9]+}} L2, C L1
// CHECK-LABEL: func.func @next_block
// CHECK:       %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{.*}}xf32>
// CHECK:       vector.store %{{.*}}, %[[PANEL]]
// CHECK:       scf.for %{{.*}} step %c1{{.*}} iter_args
// CHECK:         vector.load %[[PANEL]]
// CHECK:         memref.prefetch %{{.*}}, read, locality<3>, data : memref<3211264xf32>
// CHECK:         memref.prefetch %{{.*}}, read, locality<2>, data : memref<3211264xf32>
func.func @next_block(%x: memref<6272x512xf32>, %d: memref<6272x128xf32>, %g: memref<512x128xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %d : memref<6272x512xf32>, memref<6272x128xf32>) outs(%g : memref<512x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Sums of one product have no next iteration.
// SCHEDULE: m=[20] n=[32] k=[] | micro-kernel 10 x 2 vectors | kc 1 | one thread | fold fill
// CHECK-LABEL: func.func @single
// CHECK-NOT:   memref.prefetch
// CHECK:       vector.fma
func.func @single(%x: memref<20x1xf32>, %w: memref<1x32xf32>, %y: memref<20x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<20x1xf32>, memref<1x32xf32>) outs(%y : memref<20x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
