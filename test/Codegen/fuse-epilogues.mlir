// RUN: netc-opt --net-fuse-epilogues %s | FileCheck %s
// RUN: netc-opt --net-fuse-epilogues '--net-lower-kernels=isa=avx512_bf16 print-schedules=true' %s 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: netc-opt --net-fuse-epilogues --net-lower-kernels=isa=avx512_bf16 %s | FileCheck %s --check-prefix=LOOPS

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#each = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>

// What rounds a product and adds a bias goes with it, and with what it starts from.
// CHECK-LABEL: func @rounded
// CHECK:         scf.execute_region {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.generic
// CHECK:           linalg.generic
// CHECK:           scf.yield
// SCHEDULE:    contraction m=[56] n=[64] k=[64] | {{.*}} | fold fill | epilogue
// A tile of sums stays where its thread has it, and is read as it is rounded.
// LOOPS-LABEL: func @rounded
// LOOPS:         scf.parallel
// LOOPS:           %[[TILE:.*]] = memref.alloca() {alignment = 64 : i64} : memref<448xf32>
// LOOPS:           vector.store {{.*}}, %[[TILE]]
// LOOPS:           scf.for
// LOOPS:             vector.load %[[TILE]]
// LOOPS:             arith.truncf {{.*}} : vector<16xf32> to vector<16xbf16>
// LOOPS:             vector.store {{.*}} : memref<3584xbf16>, vector<16xbf16>
// LOOPS-NOT:     execute_region
// LOOPS:         return
func.func @rounded(%bias: memref<64xf32>) -> memref<56x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<56x64xbf16>
  %w = memref.alloc() : memref<64x64xbf16>
  %sums = memref.alloc() : memref<56x64xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<56x64xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<56x64xbf16>, memref<64x64xbf16>) outs(%sums : memref<56x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  %y = memref.alloc() : memref<56x64xbf16>
  linalg.generic {indexing_maps = [#each, #column, #each], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : memref<56x64xf32>, memref<64xf32>) outs(%y : memref<56x64xbf16>) {
  ^bb0(%sum: f32, %b: f32, %old: bf16):
    %s = arith.addf %sum, %b : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  }
  return %y : memref<56x64xbf16>
}

// Not where it writes what other tiles still read.
// CHECK-LABEL: func @inPlace
// CHECK-NOT:     execute_region
func.func @inPlace() -> memref<56x64xf32> {
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<56x64xf32>
  %w = memref.alloc() : memref<64x64xf32>
  %sums = memref.alloc() : memref<56x64xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<56x64xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<56x64xf32>, memref<64x64xf32>) outs(%sums : memref<56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<56x64xf32>) outs(%x : memref<56x64xf32>) {
  ^bb0(%sum: f32, %old: f32):
    %s = arith.addf %sum, %old : f32
    linalg.yield %s : f32
  }
  return %x : memref<56x64xf32>
}

// Nor where something else reads the sums.
// CHECK-LABEL: func @readTwice
// CHECK-NOT:     execute_region
func.func @readTwice() -> (memref<56x64xf32>, memref<56x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<56x64xf32>
  %w = memref.alloc() : memref<64x64xf32>
  %sums = memref.alloc() : memref<56x64xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<56x64xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<56x64xf32>, memref<64x64xf32>) outs(%sums : memref<56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  %y = memref.alloc() : memref<56x64xf32>
  linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<56x64xf32>) outs(%y : memref<56x64xf32>) {
  ^bb0(%sum: f32, %old: f32):
    %s = arith.mulf %sum, %sum : f32
    linalg.yield %s : f32
  }
  return %sums, %y : memref<56x64xf32>, memref<56x64xf32>
}

// Of two products that one op adds up, the later one takes it; the first is a kernel of its own.
// CHECK-LABEL: func @two
// CHECK:         linalg.fill
// CHECK-NEXT:    linalg.generic
// CHECK:         scf.execute_region {
// CHECK-NEXT:      linalg.fill
// CHECK-NEXT:      linalg.generic
// CHECK-NOT:     scf.execute_region
// CHECK:           arith.addf
// CHECK:           scf.yield
// CHECK:         return
func.func @two() -> memref<56x64xf32> {
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<56x64xf32>
  %w = memref.alloc() : memref<64x64xf32>
  %first = memref.alloc() : memref<56x64xf32>
  linalg.fill ins(%zero : f32) outs(%first : memref<56x64xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<56x64xf32>, memref<64x64xf32>) outs(%first : memref<56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  %second = memref.alloc() : memref<56x64xf32>
  linalg.fill ins(%zero : f32) outs(%second : memref<56x64xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<56x64xf32>, memref<64x64xf32>) outs(%second : memref<56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  %y = memref.alloc() : memref<56x64xf32>
  linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%first, %second : memref<56x64xf32>, memref<56x64xf32>) outs(%y : memref<56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return %y : memref<56x64xf32>
}
