// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-pack-results))" %s | FileCheck %s

// A result that is copied is written as panels, whose rows follow each other.
// CHECK-LABEL: func.func @result
// CHECK:       %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
// CHECK-SAME:    outs(%{{.*}} : tensor<2x48x32xf32>)
// CHECK:       %[[DW:.*]] = linalg.generic
// CHECK-SAME:    ins(%[[SUM]] : tensor<2x48x32xf32>) outs(%{{.*}} : tensor<64x48xf32>)
// CHECK:       return %[[DW]]
func.func @result(%x: tensor<100x48xf32>, %dy: tensor<100x64xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x64xf32>) -> tensor<48x64xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dy : tensor<100x48xf32>, tensor<100x64xf32>) outs(%f : tensor<48x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x64xf32>
  %g = tensor.empty() : tensor<64x48xf32>
  %t = linalg.transpose ins(%z : tensor<48x64xf32>) outs(%g : tensor<64x48xf32>) permutation = [1, 0]
  return %t : tensor<64x48xf32>
}

// Not where the copy only rounds it.
// CHECK-LABEL: func.func @rounded
// CHECK:       linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
func.func @rounded(%x: tensor<100x48xf32>, %dy: tensor<100x64xf32>) -> tensor<48x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x64xf32>) -> tensor<48x64xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %dy : tensor<100x48xf32>, tensor<100x64xf32>) outs(%f : tensor<48x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x64xf32>
  %g = tensor.empty() : tensor<48x64xbf16>
  %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%z : tensor<48x64xf32>) outs(%g : tensor<48x64xbf16>) {
  ^bb0(%a: f32, %c: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<48x64xbf16>
  return %t : tensor<48x64xbf16>
}
