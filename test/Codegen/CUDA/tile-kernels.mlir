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

// A lane loads several elements of a long row before it needs the first of them.
// CHECK-LABEL: func.func private @long_rows
// CHECK: scf.for %{{.*}} = %{{.*}} to %c768{{.*}} step %c256
// CHECK-COUNT-8: arith.addf
// CHECK: scf.for %{{.*}} to %c800{{.*}} step %c32
// CHECK: arith.addf
func.func private @long_rows(%a: memref<3x800xf32>, %c: memref<3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<3x800xf32>) outs(%c : memref<3xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %m = arith.addf %x, %sum : f32
    linalg.yield %m : f32
  }
  return
}

// Threads of a block read columns side by side, in several rows at once: here four lanes in eight rows. They load four rows ahead,
// then the rest, and leave their sums in shared memory.
// CHECK: memref.global "private" @columns_columns_0 : memref<64xf32, 3>
// CHECK-LABEL: func.func private @columns(
// CHECK-SAME: net.threads = 32 : i64, net.threads_per_block = 32 : i64
// CHECK: scf.for
// CHECK-COUNT-4: memref.load
// CHECK-COUNT-4: arith.addf
// CHECK: scf.for
// CHECK: memref.load
// CHECK-NEXT: arith.addf
// CHECK: memref.store %{{.*}} : memref<64xf32, 3>
// CHECK: nvvm.barrier0
// CHECK: scf.for
// CHECK: memref.load %{{.*}} : memref<64xf32, 3>
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

// They read 16 bytes each, and what is the same in all rows once: a mean per column, of which eight are 32 bytes. Sums that start
// at 0 are part of the kernel, even several.
// CHECK-LABEL: func.func private @two_sums(
// CHECK-SAME: net.threads = 512 : i64, net.threads_per_block = 256 : i64
// CHECK: vector.load %{{.*}} : memref<64xf32>, vector<8xf32>
// CHECK: scf.for
// CHECK-COUNT-4: vector.load %{{.*}} : memref<65536xbf16>, vector<8xbf16>
// CHECK-NOT: linalg.fill
func.func private @two_sums(%a: memref<1024x64xbf16> {llvm.align = 16 : i64}, %mean: memref<64xf32> {llvm.align = 16 : i64},
                            %sums: memref<64xf32>, %squares: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sums : memref<64xf32>)
  linalg.fill ins(%zero : f32) outs(%squares : memref<64xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>, affine_map<(i, k) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%a, %mean : memref<1024x64xbf16>, memref<64xf32>) outs(%sums, %squares : memref<64xf32>, memref<64xf32>) {
  ^bb0(%x: bf16, %m: f32, %sum: f32, %square: f32):
    %w = arith.extf %x : bf16 to f32
    %d = arith.subf %w, %m : f32
    %s = arith.addf %sum, %d : f32
    %p = arith.mulf %d, %d : f32
    %q = arith.addf %square, %p : f32
    linalg.yield %s, %q : f32, f32
  }
  return
}

// A warp reads a row by 16 bytes a lane, too.
// CHECK-LABEL: func.func private @wide_rows
// CHECK: vector.load %{{.*}} : memref<768xbf16>, vector<8xbf16>
// CHECK-COUNT-8: arith.addf
// CHECK-COUNT-5: nvvm.shfl.sync bfly
func.func private @wide_rows(%a: memref<3x256xbf16> {llvm.align = 16 : i64}, %c: memref<3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<3x256xbf16>) outs(%c : memref<3xf32>) {
  ^bb0(%x: bf16, %sum: f32):
    %w = arith.extf %x : bf16 to f32
    %s = arith.addf %sum, %w : f32
    linalg.yield %s : f32
  }
  return
}

// Rows of many elements that share a bias per column: a thread computes four of them.
// CHECK-LABEL: func.func private @biased
// CHECK-SAME: net.threads = 1048576 : i64
// CHECK-COUNT-4: vector.load %{{.*}} : memref<33554432xbf16>, vector<8xbf16>
// CHECK-COUNT-4: vector.store
func.func private @biased(%a: memref<524288x64xbf16> {llvm.align = 16 : i64}, %bias: memref<64xf32> {llvm.align = 16 : i64},
                          %c: memref<524288x64xbf16> {llvm.align = 16 : i64}) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%a, %bias : memref<524288x64xbf16>, memref<64xf32>) outs(%c : memref<524288x64xbf16>) {
  ^bb0(%x: bf16, %y: f32, %old: bf16):
    %w = arith.extf %x : bf16 to f32
    %s = arith.addf %w, %y : f32
    %n = arith.truncf %s : f32 to bf16
    linalg.yield %n : bf16
  }
  return
}

// Most of what is read are f32 of each channel: a thread accesses four at once.
// CHECK-LABEL: func.func private @normalized
// CHECK-COUNT-2: vector.load %{{.*}} : memref<64xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}} : memref<65536xbf16>, vector<4xbf16>
func.func private @normalized(%a: memref<1024x64xbf16> {llvm.align = 16 : i64}, %scale: memref<64xf32> {llvm.align = 16 : i64},
                              %shift: memref<64xf32> {llvm.align = 16 : i64}, %c: memref<1024x64xbf16> {llvm.align = 16 : i64}) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>,
                                   affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%a, %scale, %shift : memref<1024x64xbf16>, memref<64xf32>, memref<64xf32>) outs(%c : memref<1024x64xbf16>) {
  ^bb0(%x: bf16, %y: f32, %z: f32, %old: bf16):
    %w = arith.extf %x : bf16 to f32
    %p = arith.mulf %w, %y : f32
    %s = arith.addf %p, %z : f32
    %n = arith.truncf %s : f32 to bf16
    linalg.yield %n : bf16
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

// A thread has elements of a long row that lie apart, of which it loads all before it computes. The last block of a row has fewer.
// CHECK-LABEL: func.func private @apart
// CHECK-SAME: net.threads = 512 : i64
// CHECK: scf.if
// CHECK-COUNT-8: memref.load
// CHECK-COUNT-8: math.sqrt
// CHECK: } else {
// CHECK: scf.for
// CHECK: math.sqrt
// CHECK-NOT: math.sqrt
func.func private @apart(%a: memref<2x1025xf32> {llvm.align = 16 : i64}, %c: memref<2x1025xbf16> {llvm.align = 16 : i64}) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<2x1025xf32>) outs(%c : memref<2x1025xbf16>) {
  ^bb0(%x: f32, %old: bf16):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i32
    %f = arith.sitofp %i : i32 to f32
    %s = arith.addf %x, %f : f32
    %r = math.sqrt %s : f32
    %n = arith.truncf %r : f32 to bf16
    linalg.yield %n : bf16
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

// So does what is contiguous in the other direction, as the turned taps of a
// convolution's weights.
// CHECK-LABEL: func.func private @turned
// CHECK-SAME: net.threads_per_block = 256 : i64
// CHECK: memref.store %{{.*}} : memref<[[TURNED:[0-9]+]]xf32, 3>
// CHECK: nvvm.barrier0
// CHECK: memref.load %{{.*}} : memref<[[TURNED]]xf32, 3>
func.func private @turned(%a: memref<64x9xf32>, %c: memref<9x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, 8 - i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64x9xf32>) outs(%c : memref<9x64xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
