// RUN: netc-opt '--net-lower-kernels=isa=avx512_bf16 print-schedules=true' %s -o %t 2>&1 | FileCheck --check-prefix=SCHEDULE %s
// RUN: FileCheck %s < %t
// RUN: netc-opt --net-lower-kernels=isa=avx512 %s | FileCheck --check-prefix=WIDE %s
// RUN: netc-opt --net-lower-kernels=isa=avx512_bf16 --net-lower-float16 %s | FileCheck --check-prefix=INTEGERS %s

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Pairs of two sums: rows of B are interleaved as they are loaded, the last one with zeros. A has pairs in memory.
// SCHEDULE: contraction m=[56] n=[64] k=[65] | micro-kernel 14 x 2 vectors of pairs | mc 14 | kc 65 | threads over rows
// CHECK-LABEL: func @product
// CHECK:         vector.shuffle {{.*}} : vector<16xbf16>, vector<16xbf16>
// CHECK:         vector.load {{.*}} : memref<3640xbf16>, vector<2xbf16>
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"({{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// Without the instruction, they are widened as they are loaded.
// WIDE-LABEL: func @product
// WIDE-NOT:     call_intrinsic
// WIDE:         arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// WIDE:         vector.fma
// INTEGERS-LABEL: func @product
// INTEGERS:     %[[B:.*]] = llvm.bitcast {{.*}} : vector<32xi16> to vector<32xbf16>
// INTEGERS:     llvm.call_intrinsic
func.func @product(%x: memref<56x65xbf16>, %w: memref<65x64xbf16>, %y: memref<56x64xf32>) {
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<56x65xbf16>, memref<65x64xbf16>) outs(%y : memref<56x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Rows of A lie next to each other: they are packed, too.
// SCHEDULE: contraction m=[512] n=[512] k=[64] | {{.*}} of pairs | mc 64 | kc 64 | pack A, B | threads
func.func @gradient(%x: memref<64x512xbf16>, %w: memref<64x512xbf16>, %y: memref<512x512xf32>) {
  linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<64x512xbf16>, memref<64x512xbf16>) outs(%y : memref<512x512xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
