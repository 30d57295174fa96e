// RUN: netc-opt --net-lower-kernels=isa=avx512 %s | FileCheck %s
// RUN: netc-opt '--net-lower-kernels=isa=avx512 print-schedules=true' %s -o /dev/null 2>&1 \
// RUN:   | FileCheck --check-prefix=SCHEDULE %s

// Rows of a tile are broadcast, columns are vectors of 16, and the sums stay in
// registers while k runs.
// SCHEDULE: m=[56] n=[64] k=[64] | micro-kernel 14 x 2 vectors |
// CHECK-LABEL: func.func @product
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: vector.load %{{.*}} : memref<4096xf32>, vector<16xf32>
// CHECK: memref.load
// CHECK: vector.broadcast
// CHECK: vector.fma
// CHECK: vector.store
// CHECK-NOT: linalg.generic
func.func @product(%x: memref<56x64xf32>, %w: memref<64x64xf32>, %y: memref<56x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<56x64xf32>, memref<64x64xf32>) outs(%y : memref<56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Axes that lie next to each other are one loop.
// CHECK-LABEL: func.func @elements
// CHECK: scf.for %{{.*}} = %{{.*}} to %c6 step %c1
// CHECK-NOT: scf.for
// CHECK: arith.negf %{{.*}} fastmath<reassoc,nsz,contract>
func.func @elements(%x: memref<2x3xf32>, %y: memref<2x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<2x3xf32>) outs(%y : memref<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  }
  return
}

// What is rounded to f16 may become arithmetic in f16, so it is not reordered.
// CHECK-LABEL: func.func @halves
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc,nsz,contract> : f32
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
func.func @halves(%x: memref<8xf16>, %y: memref<8xf16>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<8xf16>) outs(%y : memref<8xf16>) {
  ^bb0(%in: f16, %out: f16):
    %three = arith.constant 3.0 : f32
    %wide = arith.extf %in : f16 to f32
    %quotient = arith.divf %wide, %three : f32
    %rounded = arith.truncf %quotient : f32 to f16
    %again = arith.extf %rounded : f16 to f32
    %product = arith.mulf %again, %wide : f32
    %sum = arith.addf %product, %three : f32
    %result = arith.truncf %sum : f32 to f16
    linalg.yield %result : f16
  }
  return
}

// Columns stay in registers while chunks of rows pass by; what the chunks
// come to is combined in order, and then the rows that are left. The third
// vector of 40 columns is masked.
// CHECK-LABEL: func.func @columns
// CHECK:       %[[PARTS:.*]] = memref.alloca() : memref<[[SIZE:[0-9]+]]xf32>
// CHECK:       scf.parallel {{.*}} to (%[[CHUNKS:c[0-9]+]]{{.*}}) step
// CHECK:         scf.for %{{.*}} iter_args(%{{.*}}, %{{.*}}, %[[LAST:.*]] = %{{.*}})
// CHECK:           %[[ROW:.*]] = vector.maskedload
// CHECK:           arith.maximumf %[[LAST]], %[[ROW]] fastmath<reassoc,nsz,contract> : vector<16xf32>
// CHECK:         vector.store %{{.*}}, %[[PARTS]]{{.*}} : memref<[[SIZE]]xf32>
// CHECK:       scf.for %{{.*}} to %[[CHUNKS]]{{.*}} iter_args
// CHECK:         vector.load %[[PARTS]]
// CHECK:       scf.for %{{.*}} to %c9{{.*}} iter_args
// CHECK-NOT:   scf.for
// CHECK:       vector.maskedstore
func.func @columns(%x: memref<1001x40xf32>, %y: memref<40xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<1001x40xf32>) outs(%y : memref<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %out, %in : f32
    linalg.yield %m : f32
  }
  return
}

// Threads are not woken for each row of few columns.
// CHECK-LABEL: func.func @few_columns
// CHECK-NOT:   scf.parallel
// CHECK:       return
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @few_columns(%x: memref<100000x3xf32>, %y: memref<3xf32>) {
  linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<100000x3xf32>) outs(%y : memref<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}

// Where an iteration of the sum leaves the rows of both operands behind, and few
// rows of the result would read a copy, neither is packed: both are prefetched,
// the first and the last row of a tile, and each vector of the columns.
// SCHEDULE: m=[512] n=[512] k=[512] |
// SCHEDULE-NOT: pack
// SCHEDULE-SAME: | prefetch A +{{[0-9]+}} L1, B +{{[0-9]+}} L1, C L1{{$}}
// CHECK-LABEL: func.func @scattered
// CHECK-NOT:   memref.alloca
// CHECK:       scf.parallel
// CHECK:         iter_args
// CHECK:         memref.prefetch %[[X:.*]][%[[FIRST:.*]]], read, locality<3>
// CHECK:         %[[LAST:.*]] = arith.addi %[[FIRST]], %c13
// CHECK:         memref.prefetch %[[X]][%[[LAST]]], read, locality<3>
// CHECK-COUNT-2: memref.prefetch %{{.*}}, read, locality<3>
// CHECK-NOT:     memref.prefetch
// CHECK:         memref.load %[[X]]
// CHECK:         vector.fma
func.func @scattered(%x: memref<512x512xf32>, %dy: memref<512x512xf32>, %dw: memref<512x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dy : memref<512x512xf32>, memref<512x512xf32>) outs(%dw : memref<512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Columns of the result that lie far apart in B, while the sum's elements lie
// next to each other: squares of B are transposed into the copy, which one
// thread makes for all rows. The result is prefetched before the sums that are
// added to it.
// SCHEDULE: m=[128] n=[512] k=[512] | {{.*}} | pack B transposed | threads over panels |
// CHECK-LABEL: func.func @transposed
// CHECK:       scf.parallel
// CHECK:         %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{.*}}xf32>
// CHECK-COUNT-16: vector.load
// CHECK-COUNT-64: vector.shuffle
// CHECK:         vector.store %{{.*}}, %[[PANEL]]
// CHECK:         memref.prefetch %[[Y:[a-z_0-9]+]]{{.*}}, write
// CHECK:         vector.load %[[PANEL]]
// CHECK:         vector.fma
// CHECK:         %[[OLD:.*]] = vector.load %[[Y]]
// CHECK:         %[[SUM:.*]] = arith.addf %[[OLD]]
// CHECK:         vector.store %[[SUM]], %[[Y]]
func.func @transposed(%x: memref<128x512xf32>, %w: memref<512x512xf32>, %y: memref<128x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<128x512xf32>, memref<512x512xf32>) outs(%y : memref<128x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Rows that lie 2 KB apart would push each other out of the cache: threads take
// many of them, and each packs its own, row by row.
// SCHEDULE: m=[2048] n=[512] k=[512] | {{.*}} | pack A, B | threads over rows |
// CHECK-LABEL: func.func @colliding
// CHECK:       scf.parallel
// CHECK:         %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{.*}}xf32>
// CHECK:         %[[ROWS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{.*}}xf32>
// CHECK:         scf.for %{{.*}} step %c16
// CHECK:           %[[PART:.*]] = vector.load
// CHECK:           vector.store %[[PART]], %[[ROWS]]
// CHECK:         vector.load %[[PANEL]]
// CHECK:         memref.load %[[ROWS]]
// CHECK:         vector.fma
func.func @colliding(%x: memref<2048x512xf32>, %w: memref<512x512xf32>, %y: memref<2048x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2048x512xf32>, memref<512x512xf32>) outs(%y : memref<2048x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A transpose reads and writes vectors: squares are transposed in registers, of
// which the last ones are cut.
// CHECK-LABEL: func.func @squares
// CHECK:         scf.for %{{.*}} to %c32{{.*}} step %c16
// CHECK-COUNT-16:  vector.load
// CHECK-COUNT-64:  vector.shuffle
// CHECK-COUNT-16:  vector.store
// CHECK-COUNT-16:  vector.maskedload
// CHECK-COUNT-9:   vector.store
// CHECK:         vector.maskedstore
// CHECK-NOT:     linalg
func.func @squares(%x: memref<40x25xf32>, %y: memref<25x40xf32>) {
  linalg.transpose ins(%x : memref<40x25xf32>) outs(%y : memref<25x40xf32>) permutation = [1, 0]
  return
}

// Taps in reverse, nine of them that lie next to each other: what was loaded
// first is stored last.
// CHECK-LABEL: func.func @reversed
// CHECK:         vector.create_mask %c9
// CHECK-COUNT-16: vector.maskedload
// CHECK-COUNT-9: vector.store
// CHECK-NOT:     vector.store
// CHECK-NOT:     linalg
func.func @reversed(%w: memref<16x32x3x3xf32>, %y: memref<3x3x16x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, o, c) -> (o, c, 2 - i, 2 - j)>, affine_map<(i, j, o, c) -> (i, j, o, c)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w : memref<16x32x3x3xf32>) outs(%y : memref<3x3x16x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// 64 rows are five tiles of 13, or six of 11, which threads share evenly. The
// last one, of nine rows, is some thread's too.
// SCHEDULE: m=[64] n=[64] k=[500] | micro-kernel 11 x 2 vectors | mc 11 | {{.*}} | threads over rows |
// CHECK-LABEL: func.func @shared
// CHECK:       scf.parallel {{.*}} to (%c64{{.*}})
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK-COUNT-22:    vector.fma
// CHECK-NEXT:        scf.yield
// CHECK:         else
// CHECK:           scf.for
// CHECK-COUNT-18:    vector.fma
// CHECK-NEXT:        scf.yield
// CHECK:         scf.reduce
func.func @shared(%x: memref<500x64xf32>, %dy: memref<500x64xf32>, %dw: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dy : memref<500x64xf32>, memref<500x64xf32>) outs(%dw : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Images of which one is more than a block: threads take images, and each cuts
// its own by rows, on one copy of the panel.
// SCHEDULE: m=[8, 56, 56] n=[256] k=[3, 768] | {{.*}} | mc [1, {{[0-9]+}}, 56] | {{.*}} | pack B | threads over rows |
// CHECK-LABEL: func.func @images
// CHECK:       scf.parallel {{.*}} to (%c8{{.*}}) step (%c1{{.*}})
// CHECK:         memref.alloca
// CHECK-NOT:     memref.alloca
// CHECK:         scf.for
// CHECK:         scf.reduce
func.func @images(%x: memref<8x58x58x256xf32>, %w: memref<3x3x256x256xf32>, %y: memref<8x56x56x256xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, y, x, o, i, j, c) -> (n, y + i, x + j, c)>, affine_map<(n, y, x, o, i, j, c) -> (i, j, c, o)>, affine_map<(n, y, x, o, i, j, c) -> (n, y, x, o)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : memref<8x58x58x256xf32>, memref<3x3x256x256xf32>) outs(%y : memref<8x56x56x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Few rows read a matrix once, whose rows lie far apart: its next rows are
// prefetched, and sums are not cut.
// SCHEDULE: m=[8] n=[512] k=[2048] | micro-kernel 8 x 2 vectors | kc 2048 | threads over columns | prefetch B +{{[0-9]+}} L1, C L1 | fold fill
// CHECK-LABEL: func.func @once
// CHECK:       scf.parallel
// CHECK:         scf.for %{{.*}} to %c2048{{.*}} step %c1{{.*}} iter_args
// CHECK-COUNT-2:   memref.prefetch %{{.*}}, read, locality<3>, data : memref<1048576xf32>
// CHECK-COUNT-16:  vector.fma
func.func @once(%dy: memref<8x2048xf32>, %w: memref<2048x512xf32>, %dx: memref<8x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dy, %w : memref<8x2048xf32>, memref<2048x512xf32>) outs(%dx : memref<8x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A small result of long sums: threads take parts of the sums, with results of
// their own, which are added up.
// SCHEDULE: m=[64] n=[64] k=[4096] | {{.*}} | split k 512 | {{.*}} | threads over k |
// CHECK-LABEL: func.func @parts
// CHECK:       %[[PARTS:.*]] = memref.alloca() {alignment = 64 : i64}
// CHECK:       scf.parallel {{.*}} to (%c4096{{.*}})
// CHECK:         vector.store %{{.*}}, %[[PARTS]]
// CHECK:         vector.fma
// CHECK:         vector.store %{{.*}}, %[[PARTS]]
// CHECK:         scf.reduce
// CHECK:       scf.for
// CHECK-COUNT-8: vector.load %[[PARTS]]
// CHECK:         vector.store
func.func @parts(%x: memref<4096x64xf32>, %dy: memref<4096x64xf32>, %dw: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dy : memref<4096x64xf32>, memref<4096x64xf32>) outs(%dw : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A larger one: threads take its rows, and the sums in blocks of which all
// columns stay in L2.
// SCHEDULE: m=[256] n=[1024] k=[1536] | {{.*}} | block k [[BLOCK:[0-9]+]] | {{.*}} | kc [[BLOCK]] | threads over rows |
// CHECK-LABEL: func.func @blocks_of_k
// CHECK:       scf.for %{{.*}} to %c1536
// CHECK-NEXT:    arith.constant
// CHECK:         scf.parallel {{.*}} to (%c256{{.*}})
// CHECK:           vector.fma
func.func @blocks_of_k(%x: memref<1536x256xf32>, %dy: memref<1536x1024xf32>, %dw: memref<256x1024xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dy : memref<1536x256xf32>, memref<1536x1024xf32>) outs(%dw : memref<256x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Shorter sums, which each thread could take at once, are added up all the same.
// SCHEDULE: m=[512] n=[1024] k=[256] | {{.*}} | block k {{[0-9]+}} |
// SCHEDULE-NOT: fold fill
// CHECK-LABEL: func.func @short_blocks_of_k
// CHECK:       memref.store %cst{{.*}} : memref<524288xf32>
// CHECK:       scf.for %{{.*}} to %c256
// CHECK:         scf.parallel
// CHECK:           vector.fma
// CHECK:           vector.load %{{.*}} : memref<524288xf32>
// CHECK:           arith.addf %{{.*}} : vector<16xf32>
func.func @short_blocks_of_k(%x: memref<256x512xf32>, %dy: memref<256x1024xf32>, %dw: memref<512x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%dw : memref<512x1024xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dy : memref<256x512xf32>, memref<256x1024xf32>) outs(%dw : memref<512x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// What an average took of its window is given back to many elements: no sum of
// columns.
// CHECK-LABEL: func.func @given_back
// CHECK-NOT:   vector
// CHECK:       return
func.func @given_back(%dy: memref<2x16xf32>, %window: memref<2xf32>, %dx: memref<4x16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, c, j) -> (i, c)>, affine_map<(i, c, j) -> (j)>, affine_map<(i, c, j) -> (i * 2 + j, c)>],
                  iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%dy, %window : memref<2x16xf32>, memref<2xf32>) outs(%dx : memref<4x16xf32>) {
  ^bb0(%in: f32, %w: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}

// Threads take the iterations of a loop that says they are independent.
// CHECK-LABEL: func.func @independent
// CHECK:       scf.parallel (%[[I:.*]]) =
// CHECK:         scf.for %[[J:.*]] =
// CHECK:           memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
// CHECK:         scf.reduce
func.func @independent(%x: memref<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      memref.store %one, %x[%i, %j] : memref<8x4xf32>
    }
  } {net.independent}
  return
}

// A sum that is cut into parts is added to what the memory was filled with, even
// if each tile of a part is summed at once.
// SCHEDULE: m=[5, 5] n=[2, 32] k=[3, 768] | {{.*}} | split k {{[0-9]+}} |
// SCHEDULE-NOT: fold fill
// CHECK-LABEL: func.func @parts_of_panels
// CHECK:       memref.store %{{.*}}, %{{.*}} : memref<1600xf32>
// CHECK:       memref.alloca() {alignment = 64 : i64}
// CHECK:       scf.parallel
// CHECK:       vector.load %{{.*}} : memref<1600xf32>, vector<16xf32>
func.func @parts_of_panels(%x: memref<7x7x256xf32>, %w: memref<2x3x3x256x32xf32>, %y: memref<5x5x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<5x5x64xf32>)
  linalg.generic {indexing_maps = [affine_map<(h, w, o, i, kh, kw, p) -> (h + kh, w + kw, i)>,
                                   affine_map<(h, w, o, i, kh, kw, p) -> (p, kh, kw, i, o)>,
                                   affine_map<(h, w, o, i, kh, kw, p) -> (h, w, p * 32 + o)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%x, %w : memref<7x7x256xf32>, memref<2x3x3x256x32xf32>) outs(%y : memref<5x5x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Short rows are copied as vectors.
// CHECK-LABEL: func.func @short_rows
// CHECK:       scf.parallel
// CHECK:       scf.for
// CHECK:       vector.load %{{.*}} : memref<65536xf32>, vector<16xf32>
// CHECK:       vector.store %{{.*}} : memref<65536xf32>, vector<16xf32>
func.func @short_rows(%w: memref<256x256xf32>, %panels: memref<8x256x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(p, k, n) -> (k, p * 32 + n)>, affine_map<(p, k, n) -> (p, k, n)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : memref<256x256xf32>) outs(%panels : memref<8x256x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// A vocabulary whose rows make no whole panels: threads take panels of it, pack
// each once, and all rows pass by.
// SCHEDULE: m=[1024] n=[10000] k=[512] | {{.*}} | panels 32 | kc 512 | pack B transposed | threads over panels |
// CHECK-LABEL: func.func @passing
// CHECK:       scf.parallel {{.*}} to (%c10000{{.*}}) step (%c32{{.*}})
// CHECK:         %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{.*}}xf32>
// CHECK:         vector.store %{{.*}}, %[[PANEL]]
// CHECK:           vector.load %[[PANEL]]
// CHECK:           vector.fma
// CHECK:         scf.reduce
func.func @passing(%x: memref<1024x512xf32>, %w: memref<10000x512xf32>, %y: memref<1024x10000xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1024x512xf32>, memref<10000x512xf32>) outs(%y : memref<1024x10000xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// What is the same in all iterations of the innermost loop, as the row that a number
// tells, is worked out before it.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for %{{.*}} = %{{.*}} to %c5
// CHECK:   %[[NUMBER:.*]] = memref.load %{{.*}} : memref<5xi64>
// CHECK:   %[[ROW:.*]] = arith.index_cast %[[NUMBER]]
// CHECK:   scf.for %[[COLUMN:.*]] = %{{.*}} to %c7
// CHECK-NOT: index_cast
// CHECK:     %[[ELEMENT:.*]] = memref.load %{{.*}}[%[[ROW]], %[[COLUMN]]] : memref<3x7xf32>
// CHECK:     memref.store %[[ELEMENT]]
func.func @rows(%ids: memref<5xi64>, %table: memref<3x7xf32>, %y: memref<5x7xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%ids : memref<5xi64>) outs(%y : memref<5x7xf32>) {
  ^bb0(%id: i64, %old: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %element = memref.load %table[%row, %column] : memref<3x7xf32>
    linalg.yield %element : f32
  }
  return
}
