// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-pack-operands))" %s | FileCheck %s

// CHECK-DAG: #[[TO_PANELS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 32 + d4, d3, d1, d2)>
// CHECK-DAG: #[[IN_PANELS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d7, d5, d6, d4, d3)>
// CHECK-DAG: #[[OF_PANELS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d7 * 32 + d3)>
// CHECK-DAG: #[[MATRIX:.*]] = affine_map<(d0, d1, d2) -> (d0 * 32 + d2, d1)>

// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 + -d5 + 2, d2 + -d6 + 2, d4)>
// CHECK-DAG: #[[SQUARES:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0 * 32 + d2, d1)>
// CHECK-DAG: #[[SQUARES_TO:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3 * 32 + d1, d2)>

// The copy of a weight is written as panels of 32 columns, over which the
// convolution has a loop.
// CHECK-LABEL: func.func @weight
// CHECK:       %[[PANELS:.*]] = linalg.generic {indexing_maps = [#[[TO_PANELS]],
// CHECK-SAME:    ins(%{{.*}} : tensor<64x16x3x3xf32>) outs(%{{.*}} : tensor<2x3x3x16x32xf32>)
// CHECK:       linalg.generic {indexing_maps = [#{{.*}}, #[[IN_PANELS]], #[[OF_PANELS]]]
// CHECK-SAME:    ins(%{{.*}}, %[[PANELS]] :
func.func @weight(%x: tensor<2x8x8x16xf32>, %w: tensor<64x16x3x3xf32>, %y: tensor<2x6x6x64xf32>) -> tensor<2x6x6x64xf32> {
  %e = tensor.empty() : tensor<3x3x16x64xf32>
  %t = linalg.transpose ins(%w : tensor<64x16x3x3xf32>) outs(%e : tensor<3x3x16x64xf32>) permutation = [2, 3, 1, 0]
  %z = linalg.generic {indexing_maps = [affine_map<(n, h, w, o, i, kh, kw) -> (n, h + kh, w + kw, i)>,
                                        affine_map<(n, h, w, o, i, kh, kw) -> (kh, kw, i, o)>,
                                        affine_map<(n, h, w, o, i, kh, kw) -> (n, h, w, o)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %t : tensor<2x8x8x16xf32>, tensor<3x3x16x64xf32>) outs(%y : tensor<2x6x6x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x6x6x64xf32>
  return %z : tensor<2x6x6x64xf32>
}

// A matrix that more rows share than caches hold is copied.
// CHECK-LABEL: func.func @many_rows
// CHECK:       linalg.generic {indexing_maps = [#[[MATRIX]],
// CHECK-SAME:    ins(%{{.*}} : tensor<64x512xf32>) outs(%{{.*}} : tensor<2x512x32xf32>)
// CHECK:       linalg.generic
// CHECK-SAME:    ins(%{{.*}}, %{{.*}} : tensor<1024x512xf32>, tensor<2x512x32xf32>)
func.func @many_rows(%x: tensor<1024x512xf32>, %w: tensor<64x512xf32>, %y: tensor<1024x64xf32>) -> tensor<1024x64xf32> {
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1024x512xf32>, tensor<64x512xf32>) outs(%y : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1024x64xf32>
  return %z : tensor<1024x64xf32>
}

// Where it is kept in panels it is read there, by loops that run as it lies.
// CHECK-LABEL: func.func @kept
// CHECK:       linalg.generic {indexing_maps = [#[[TURNED]], #[[IN_PANELS]], #[[OF_PANELS]]]
// CHECK-SAME:    ins(%{{.*}}, %arg1 : tensor<2x8x8x16xf32>, tensor<2x3x3x16x32xf32>)
func.func @kept(%x: tensor<2x8x8x16xf32>, %w: tensor<2x3x3x16x32xf32>, %y: tensor<2x6x6x64xf32>) -> tensor<2x6x6x64xf32> {
  %e = tensor.empty() : tensor<3x3x16x64xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(kh, kw, i, o) -> (o floordiv 32, 2 - kh, 2 - kw, i, o mod 32)>, affine_map<(kh, kw, i, o) -> (kh, kw, i, o)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w : tensor<2x3x3x16x32xf32>) outs(%e : tensor<3x3x16x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<3x3x16x64xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(n, h, w, o, i, kh, kw) -> (n, h + kh, w + kw, i)>,
                                        affine_map<(n, h, w, o, i, kh, kw) -> (kh, kw, i, o)>,
                                        affine_map<(n, h, w, o, i, kh, kw) -> (n, h, w, o)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %t : tensor<2x8x8x16xf32>, tensor<3x3x16x64xf32>) outs(%y : tensor<2x6x6x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x6x6x64xf32>
  return %z : tensor<2x6x6x64xf32>
}

// Panels of the other side's columns are copied square by square: both loops are
// cut.
// CHECK-LABEL: func.func @other_panels
// CHECK:       linalg.generic {indexing_maps = [#[[SQUARES]], #[[SQUARES_TO]]]
// CHECK-SAME:    ins(%arg1 : tensor<2x64x32xf32>) outs(%{{.*}} : tensor<2x64x32xf32>)
// CHECK:       linalg.generic
func.func @other_panels(%x: tensor<8x64xf32>, %w: tensor<2x64x32xf32>, %y: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, o) -> (i floordiv 32, o, i mod 32)>, affine_map<(i, o) -> (i, o)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<2x64x32xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64x64xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(n, o, i) -> (n, i)>, affine_map<(n, o, i) -> (i, o)>, affine_map<(n, o, i) -> (n, o)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<8x64xf32>, tensor<64x64xf32>) outs(%y : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  return %z : tensor<8x64xf32>
}

// For few it is not.
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT:   tensor.empty
// CHECK:       ins(%{{.*}}, %{{.*}} : tensor<128x512xf32>, tensor<64x512xf32>)
func.func @few_rows(%x: tensor<128x512xf32>, %w: tensor<64x512xf32>, %y: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<128x512xf32>, tensor<64x512xf32>) outs(%y : tensor<128x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<128x64xf32>
  return %z : tensor<128x64xf32>
}

// What a product starts from stands next to it, and becomes part of it.
// CHECK-LABEL: func.func @start
// CHECK:       linalg.transpose
// CHECK:       linalg.fill
// CHECK-NEXT:  linalg.generic
func.func @start(%x: tensor<8x4xf32>, %w: tensor<16x4xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %g = tensor.empty() : tensor<4x16xf32>
  %t = linalg.transpose ins(%w : tensor<16x4xf32>) outs(%g : tensor<4x16xf32>) permutation = [1, 0]
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : tensor<8x4xf32>, tensor<4x16xf32>) outs(%f : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %z : tensor<8x16xf32>
}
