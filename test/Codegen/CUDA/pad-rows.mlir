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
