// RUN: netc-opt '--net-lower-kernels=isa=avx512 print-schedules=true' %s -o /dev/null 2>&1 \
// RUN:   | FileCheck --check-prefixes=CHECK,AVX512 %s
// RUN: netc-opt '--net-lower-kernels=isa=avx2 print-schedules=true' %s -o /dev/null 2>&1 \
// RUN:   | FileCheck --check-prefixes=CHECK,AVX2 %s
// RUN: netc-opt --net-lower-kernels=isa=avx512 %s -o /dev/null 2>&1 | FileCheck --allow-empty --check-prefix=SILENT %s
// RUN: not netc-opt --net-lower-kernels=isa=sse %s -o /dev/null 2>&1 | FileCheck --check-prefix=UNKNOWN %s
// UNKNOWN: Cannot find option named 'sse'

// How contractions are computed is printed where they stand, if asked for.
// SILENT-NOT: remark

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A tile keeps as many sums as there are registers, less those for a row of B and
// an element of A.
// AVX512: contraction-schedule.mlir:[[@LINE+3]]:3: remark: contraction m=[56] n=[64] k=[64] | micro-kernel 14 x 2 vectors |
// AVX2:   contraction-schedule.mlir:[[@LINE+2]]:3: remark: contraction m=[56] n=[64] k=[64] | micro-kernel 6 x 2 vectors |
func.func @product(%x: memref<56x64xf32>, %w: memref<64x64xf32>, %y: memref<56x64xf32>) {
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<56x64xf32>, memref<64x64xf32>) outs(%y : memref<56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Long rows that are read once are read in the order of memory.
// AVX512: contraction m=[8] n=[4096] k=[2048] | {{.*}} | stream 512 | kc 8 | threads over column blocks
func.func @stream(%x: memref<8x2048xf32>, %w: memref<2048x4096xf32>, %y: memref<8x4096xf32>) {
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x2048xf32>, memref<2048x4096xf32>) outs(%y : memref<8x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Rows of both operands that are far apart: threads take columns, and pack B.
// Tiles of few rows want micro-panels of A, too: what they read of it maps to few
// sets of the cache.
// AVX512: contraction m=[512] n=[4096] k=[512] | {{.*}} | column blocks 512 | mc {{[0-9]+}} | kc {{[0-9]+}} | pack B | threads over column blocks
// AVX2:   contraction m=[512] n=[4096] k=[512] | {{.*}} | column blocks 512 | mc {{[0-9]+}} | kc {{[0-9]+}} | pack A, B | threads over column blocks
func.func @column_blocks(%x: memref<512x512xf32>, %w: memref<512x4096xf32>, %y: memref<512x4096xf32>) {
  linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<512x512xf32>, memref<512x4096xf32>) outs(%y : memref<512x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Of B in panels, tiles of few rows read a part that L1 holds; rows of A, which
// evict each other from it, are packed.
// AVX512: contraction m=[1024] n=[32, 32] k=[1024] | {{.*}} | kc 1024 | threads over rows
// AVX2:   contraction m=[1024] n=[32, 32] k=[1024] | micro-kernel 6 x 2 vectors | mc {{[0-9]+}} | kc 256 | pack A | threads over rows
func.func @panels(%x: memref<1024x1024xf32>, %w: memref<32x1024x32xf32>, %y: memref<1024x1024xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (p, k, n)>, affine_map<(m, n, k, p) -> (m, p * 32 + n)>], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<1024x1024xf32>, memref<32x1024x32xf32>) outs(%y : memref<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Few rows of both, along which the sums go: dot products.
// AVX512: contraction m=[6] n=[8] k=[512] | micro-kernel 6 x 3 dot products | kc 512 |
// AVX2:   contraction m=[6] n=[8] k=[512] | micro-kernel 3 x 2 dot products | kc 512 |
func.func @dots(%x: memref<8x512xf32>, %w: memref<6x512xf32>, %y: memref<8x6xf32>) {
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x512xf32>, memref<6x512xf32>) outs(%y : memref<8x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A depthwise convolution: vectors of channels, of both operands.
// CHECK: contraction m=[2, 14, 14] n=[64] k=[3, 3] | micro-kernel {{.*}} element-wise vectors | mc {{.*}} | kc 9 | threads over rows
func.func @depthwise(%x: memref<2x16x16x64xf32>, %w: memref<3x3x64xf32>, %y: memref<2x14x14x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, y, x, c, i, j) -> (n, y + i, x + j, c)>, affine_map<(n, y, x, c, i, j) -> (i, j, c)>, affine_map<(n, y, x, c, i, j) -> (n, y, x, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<2x16x16x64xf32>, memref<3x3x64xf32>) outs(%y : memref<2x14x14x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Products of a batch are so many threads' work.
// CHECK: contraction batch=[8] m=[64] n=[64] k=[64] | {{.*}} | threads over batch
func.func @batch(%x: memref<8x64x64xf32>, %w: memref<8x64x64xf32>, %y: memref<8x64x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, m, n, k) -> (i, m, k)>, affine_map<(i, m, n, k) -> (i, k, n)>, affine_map<(i, m, n, k) -> (i, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<8x64x64xf32>, memref<8x64x64xf32>) outs(%y : memref<8x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
