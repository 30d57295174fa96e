// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-pad-rows))" %s | FileCheck %s

// Rows of 33 elements of 16 bits become slices of rows of 40, so that chunks of 16 bytes can be copied.
// CHECK-LABEL: func.func @converted(
// CHECK: %[[ROWS:.*]] = tensor.empty() : tensor<64x40xbf16>
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[ROWS]][0, 0] [64, 33] [1, 1]
// CHECK: %[[A:.*]] = linalg.generic {{.*}} outs(%[[SLICE]] : tensor<64x33xbf16>)
// CHECK: linalg.generic {{.*}} ins(%[[A]], %{{.*}} : tensor<64x33xbf16>, tensor<33x64xbf16>)
#here = affine_map<(i, j) -> (i, j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @converted(%x: tensor<64x33xf32>, %b: tensor<33x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %none = tensor.empty() : tensor<64x33xbf16>
  %a = linalg.generic {indexing_maps = [#here, #here], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x33xf32>) outs(%none : tensor<64x33xbf16>) {
  ^bb0(%e: f32, %old: bf16):
    %r = arith.truncf %e : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<64x33xbf16>
  %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x33xbf16>, tensor<33x64xbf16>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x0: bf16, %y: bf16, %sum0: f32):
    %u = arith.extf %x0 : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %sum0, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %sum : tensor<64x64xf32>
}

// Others read the elements, too, or rows start at multiples already.
// CHECK-LABEL: func.func @kept(
// CHECK-NOT: extract_slice
func.func @kept(%x: tensor<64x33xf32>, %b: tensor<33x64xf32>, %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x33xbf16>) {
  %none = tensor.empty() : tensor<64x33xbf16>
  %a = linalg.generic {indexing_maps = [#here, #here], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x33xf32>) outs(%none : tensor<64x33xbf16>) {
  ^bb0(%e: f32, %old: bf16):
    %r = arith.truncf %e : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<64x33xbf16>
  %whole = tensor.empty() : tensor<33x64xbf16>
  %d = linalg.generic {indexing_maps = [#here, #here], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<33x64xf32>) outs(%whole : tensor<33x64xbf16>) {
  ^bb0(%e: f32, %old: bf16):
    %r = arith.truncf %e : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<33x64xbf16>
  %sum = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %d : tensor<64x33xbf16>, tensor<33x64xbf16>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x0: bf16, %y: bf16, %sum0: f32):
    %u = arith.extf %x0 : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %sum0, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %sum, %a : tensor<64x64xf32>, tensor<64x33xbf16>
}

// Images of 3 channels, whose windows of 7 x 7 are 2 apart: with 4 channels, windows start at multiples of 16 bytes, and
// with 8 taps, their rows are whole chunks. The zeros around the image are set with those between the channels.
// CHECK-LABEL: func.func @image(
// CHECK-SAME: %[[X:.*]]: tensor<2x16x16x3xbf16>, %[[W:.*]]: tensor<7x7x3x64xbf16>
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<2x21x22x4xbf16>
// CHECK: %[[IMAGE:.*]] = tensor.insert_slice %[[X]] into %[[ZEROS]][0, 3, 3, 0] [2, 16, 16, 3]
// CHECK: %[[NONE:.*]] = linalg.fill {{.*}} -> tensor<7x8x4x64xbf16>
// CHECK: %[[WEIGHT:.*]] = tensor.insert_slice %[[W]] into %[[NONE]][0, 0, 0, 0] [7, 7, 3, 64]
// CHECK: linalg.generic {{.*}} ins(%[[IMAGE]], %[[WEIGHT]] : tensor<2x21x22x4xbf16>, tensor<7x8x4x64xbf16>)
// CHECK-SAME: outs(%{{.*}} : tensor<2x8x8x64xf32>)
#window = affine_map<(n, i, j, o, c, k, l) -> (n, i * 2 + k, j * 2 + l, c)>
#weight = affine_map<(n, i, j, o, c, k, l) -> (k, l, c, o)>
#output = affine_map<(n, i, j, o, c, k, l) -> (n, i, j, o)>
func.func @image(%x: tensor<2x16x16x3xbf16>, %w: tensor<7x7x3x64xbf16>, %y: tensor<2x8x8x64xf32>) -> tensor<2x8x8x64xf32> {
  %zero = arith.constant 0.0 : bf16
  %none = tensor.empty() : tensor<2x21x21x3xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%none : tensor<2x21x21x3xbf16>) -> tensor<2x21x21x3xbf16>
  %image = tensor.insert_slice %x into %zeros[0, 3, 3, 0] [2, 16, 16, 3] [1, 1, 1, 1] : tensor<2x16x16x3xbf16> into tensor<2x21x21x3xbf16>
  %sum = linalg.generic {indexing_maps = [#window, #weight, #output],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%image, %w : tensor<2x21x21x3xbf16>, tensor<7x7x3x64xbf16>) outs(%y : tensor<2x8x8x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %old: f32):
    %u = arith.extf %a : bf16 to f32
    %v = arith.extf %b : bf16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %old, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x8x8x64xf32>
  return %sum : tensor<2x8x8x64xf32>
}

// The gradient of the weight has the same rows, of which those of the weight remain.
// CHECK-LABEL: func.func @weight(
// CHECK: %[[IMAGE:.*]] = tensor.insert_slice {{.*}} into tensor<2x21x22x4xbf16>
// CHECK: %[[NONE:.*]] = linalg.fill {{.*}} -> tensor<7x8x4x64xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[IMAGE]], %{{.*}} : tensor<2x21x22x4xbf16>, tensor<2x8x8x64xbf16>) outs(%[[NONE]] :
// CHECK: tensor.extract_slice %[[SUM]][0, 0, 0, 0] [7, 7, 3, 64] [1, 1, 1, 1] : tensor<7x8x4x64xf32> to tensor<7x7x3x64xf32>
func.func @weight(%x: tensor<2x21x21x3xbf16>, %dy: tensor<2x8x8x64xbf16>) -> tensor<7x7x3x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<7x7x3x64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%none : tensor<7x7x3x64xf32>) -> tensor<7x7x3x64xf32>
  %sum = linalg.generic {indexing_maps = [#window, #output, #weight],
                         iterator_types = ["reduction", "reduction", "reduction", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %dy : tensor<2x21x21x3xbf16>, tensor<2x8x8x64xbf16>) outs(%zeros : tensor<7x7x3x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %old: f32):
    %u = arith.extf %a : bf16 to f32
    %v = arith.extf %b : bf16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %old, %p : f32
    linalg.yield %s : f32
  } -> tensor<7x7x3x64xf32>
  return %sum : tensor<7x7x3x64xf32>
}

// One channel with windows side by side would take eight times the products.
// CHECK-LABEL: func.func @too_few(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
#beside = affine_map<(i, o, c, k) -> (i + k, c)>
#few = affine_map<(i, o, c, k) -> (k, c, o)>
#sums = affine_map<(i, o, c, k) -> (i, o)>
func.func @too_few(%x: tensor<32x1xbf16>, %w: tensor<3x1x64xbf16>, %y: tensor<30x64xf32>) -> tensor<30x64xf32> {
  %sum = linalg.generic {indexing_maps = [#beside, #few, #sums], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<32x1xbf16>, tensor<3x1x64xbf16>) outs(%y : tensor<30x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %old: f32):
    %u = arith.extf %a : bf16 to f32
    %v = arith.extf %b : bf16 to f32
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %old, %p : f32
    linalg.yield %s : f32
  } -> tensor<30x64xf32>
  return %sum : tensor<30x64xf32>
}
