// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-propagate-transposes))" %s | FileCheck %s

// What stands between two convolutions takes their order; of the transposes, each
// of which meets its inverse, none is left.
// CHECK-LABEL: func.func @between
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<2x8x8x4xf32>) outs(%{{.*}} : tensor<2x8x8x4xf32>)
// CHECK: return %{{.*}} : tensor<2x8x8x4xf32>
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @between(%x: tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xf32> {
  %e0 = tensor.empty() : tensor<2x4x8x8xf32>
  %t0 = linalg.transpose ins(%x : tensor<2x8x8x4xf32>) outs(%e0 : tensor<2x4x8x8xf32>) permutation = [0, 3, 1, 2]
  %e1 = tensor.empty() : tensor<2x4x8x8xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%t0 : tensor<2x4x8x8xf32>) outs(%e1 : tensor<2x4x8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<2x4x8x8xf32>
  %e2 = tensor.empty() : tensor<2x8x8x4xf32>
  %t1 = linalg.transpose ins(%y : tensor<2x4x8x8xf32>) outs(%e2 : tensor<2x8x8x4xf32>) permutation = [0, 2, 3, 1]
  return %t1 : tensor<2x8x8x4xf32>
}

// A product reads a transposed matrix as it stands, if vectors can run along it.
// CHECK-LABEL: func.func @product
// CHECK-NOT: linalg.transpose
func.func @product(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<16x8xf32>
  %t = linalg.transpose ins(%w : tensor<8x16xf32>) outs(%e : tensor<16x8xf32>) permutation = [1, 0]
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<4x8xf32>, tensor<16x8xf32>) outs(%y : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  return %z : tensor<4x16xf32>
}

// A product whose result is only read in another order is written in it.
// CHECK-LABEL: func.func @transposed_product
// CHECK-NOT:   linalg.transpose
// CHECK:       linalg.generic {{.*}} outs(%{{.*}} : tensor<16x4xf32>)
// CHECK-NOT:   linalg.transpose
func.func @transposed_product(%x: tensor<8x4xf32>, %w: tensor<8x16xf32>) -> tensor<16x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x4xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  %g = tensor.empty() : tensor<16x4xf32>
  %t = linalg.transpose ins(%z : tensor<4x16xf32>) outs(%g : tensor<16x4xf32>) permutation = [1, 0]
  return %t : tensor<16x4xf32>
}

// Of many rows, a matrix is read as it stands along the sum, too: panels of it
// are transposed as they are copied.
// CHECK-LABEL: func.func @many_rows
// CHECK-NOT:   linalg.transpose
func.func @many_rows(%x: tensor<512x64xf32>, %w: tensor<16x64xf32>, %y: tensor<512x16xf32>) -> tensor<512x16xf32> {
  %e = tensor.empty() : tensor<64x16xf32>
  %t = linalg.transpose ins(%w : tensor<16x64xf32>) outs(%e : tensor<64x16xf32>) permutation = [1, 0]
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<512x64xf32>, tensor<64x16xf32>) outs(%y : tensor<512x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<512x16xf32>
  return %z : tensor<512x16xf32>
}
