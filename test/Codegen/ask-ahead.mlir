// RUN: netc-opt --net-lower-kernels=isa=avx512 %s | FileCheck %s

// What memory brings too late is asked for before.

// The panels of a matrix that stays near pass by each tile of rows. Meanwhile
// each turn of the sum asks for a line of the rows of the next tile, which
// follow: 14 * 256 = 3584 elements on. The result's memory is not filled: sums
// start from the number.
// CHECK-LABEL: func.func @next_tile
// CHECK-NOT:   memref.store
// CHECK:       scf.parallel {{.*}} to (%c4096{{.*}}) step (%c14{{.*}})
// CHECK:         scf.for %{{.*}} to %c8{{.*}} step %c1
// CHECK-NOT:       vector.load
// CHECK:           scf.for %{{.*}} to %c256{{.*}} step %c1{{.*}} iter_args
// CHECK:             arith.addi %{{.*}}, %c3584
// CHECK:             arith.muli %{{.*}}, %c16
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

// Of a larger matrix, the next panel is asked for, too, while the rows of a
// block pass by this one, both vectors a turn; the 1024 rows are cut into 8 equal
// blocks, though tiles have 13.
// CHECK-LABEL: func.func @next_panel
// CHECK:       scf.parallel {{.*}} to (%c1024{{.*}}) step (%c128{{.*}})
// CHECK:         scf.for %{{.*}} to %c32{{.*}} step %c1
// CHECK:           scf.for %{{.*}} to %c117{{.*}} step %c13
// CHECK:             scf.for %{{.*}} to %c1024{{.*}} step %c1{{.*}} iter_args
// CHECK-COUNT-3:       memref.prefetch %{{.*}}, read, locality<2>, data : memref<1048576xf32>
// CHECK-NOT:           memref.prefetch
// CHECK-COUNT-26:      vector.fma
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

// Rows that a turn of the sum leaves far behind: those of the turn after the
// seventh next, and of the next block of the sum. The other operand is copied,
// for many tiles of rows.
// CHECK-LABEL: func.func @next_block
// CHECK:       %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<6272xf32>
// CHECK:       vector.store %{{.*}}, %[[PANEL]]
// CHECK:       scf.for %{{.*}} to %c196{{.*}} step %c1{{.*}} iter_args
// CHECK:         vector.load %[[PANEL]]
// CHECK:         arith.addi %{{.*}}, %c4096
// CHECK:         memref.prefetch %{{.*}}, read, locality<3>, data : memref<3211264xf32>
// CHECK:         arith.addi %{{.*}}, %c100352
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

// Sums of one product have no next turn.
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
