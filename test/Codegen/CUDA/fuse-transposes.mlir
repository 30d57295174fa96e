// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-fuse-transposes))" %s | FileCheck %s

#map = affine_map<(i, j) -> (i, j)>

// What is only read transposed is written so, once for all readers.
// CHECK: #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @turned
// CHECK:       %[[Y:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[TURNED]]]{{.*}}} ins(%{{.*}} : tensor<4x6xf32>) outs(%{{.*}} : tensor<6x4xbf16>)
// CHECK-NOT:   linalg.transpose
// CHECK:       return %[[Y]], %[[Y]]
func.func @turned(%x: tensor<4x6xf32>) -> (tensor<6x4xbf16>, tensor<6x4xbf16>) {
  %e = tensor.empty() : tensor<4x6xbf16>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4x6xbf16>
  %e1 = tensor.empty() : tensor<6x4xbf16>
  %t1 = linalg.transpose ins(%y : tensor<4x6xbf16>) outs(%e1 : tensor<6x4xbf16>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<6x4xbf16>
  %t2 = linalg.transpose ins(%y : tensor<4x6xbf16>) outs(%e2 : tensor<6x4xbf16>) permutation = [1, 0]
  return %t1, %t2 : tensor<6x4xbf16>, tensor<6x4xbf16>
}

// What is also read as it is stays.
// CHECK-LABEL: func.func @both
// CHECK:       linalg.generic
// CHECK:       linalg.transpose
func.func @both(%x: tensor<4x6xf32>) -> (tensor<4x6xbf16>, tensor<6x4xbf16>) {
  %e = tensor.empty() : tensor<4x6xbf16>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x6xf32>) outs(%e : tensor<4x6xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4x6xbf16>
  %e1 = tensor.empty() : tensor<6x4xbf16>
  %t1 = linalg.transpose ins(%y : tensor<4x6xbf16>) outs(%e1 : tensor<6x4xbf16>) permutation = [1, 0]
  return %y, %t1 : tensor<4x6xbf16>, tensor<6x4xbf16>
}

// The op after a product may be done with its tiles, and stays.
// CHECK-LABEL: func.func @epilogue
// CHECK:       linalg.transpose
func.func @epilogue(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<6x4xbf16> {
  %zero = arith.constant 0.0 : f32
  %s = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%s : tensor<4x6xf32>) -> tensor<4x6xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %old, %m : f32
    linalg.yield %n : f32
  } -> tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x6xbf16>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<4x6xf32>) outs(%e : tensor<4x6xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4x6xbf16>
  %e1 = tensor.empty() : tensor<6x4xbf16>
  %t1 = linalg.transpose ins(%y : tensor<4x6xbf16>) outs(%e1 : tensor<6x4xbf16>) permutation = [1, 0]
  return %t1 : tensor<6x4xbf16>
}
