// RUN: netc-opt --net-place-writes --split-input-file %s | FileCheck %s

#vector = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>

// A vector is written to the weight as a vector.
// CHECK-LABEL: @reshaped
// CHECK: %[[W:.*]] = memref.get_global @w
// CHECK: %[[VECTOR:.*]] = memref.collapse_shape %[[W]] {{\[}}[0, 1]]
// CHECK: %[[OUT:.*]] = tensor.empty() : tensor<6xf32>
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} outs(%[[OUT]]
// CHECK: bufferization.materialize_in_destination %[[NEW]] in restrict writable %[[VECTOR]]
memref.global "private" @w : memref<2x3xf32>
func.func @reshaped() {
  %w = memref.get_global @w : memref<2x3xf32>
  %t = bufferization.to_tensor %w restrict writable : memref<2x3xf32>
  %x = tensor.collapse_shape %t [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  %z = tensor.expand_shape %y [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  bufferization.materialize_in_destination %z in restrict writable %w : (tensor<2x3xf32>, memref<2x3xf32>) -> ()
  return
}

// -----

#vector = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>

// What was there is read before the result is written.
// CHECK-LABEL: @late
// CHECK: %[[W:.*]] = memref.get_global @w
// CHECK: %[[OUT:.*]] = bufferization.alloc_tensor
// CHECK: linalg.generic {{.*}} outs(%[[OUT]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[W]]
memref.global "private" @w : memref<6xf32>
func.func @late() -> tensor<f32> {
  %w = memref.get_global @w : memref<6xf32>
  %x = bufferization.to_tensor %w restrict writable : memref<6xf32>
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  %init = tensor.empty() : tensor<f32>
  %sum = linalg.generic {indexing_maps = [#vector, #scalar], iterator_types = ["reduction"]}
      ins(%x : tensor<6xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  bufferization.materialize_in_destination %y in restrict writable %w : (tensor<6xf32>, memref<6xf32>) -> ()
  return %sum : tensor<f32>
}

// -----

#vector = affine_map<(d0) -> (d0)>

// Elements are gathered that may have been written.
// CHECK-LABEL: @gathered
// CHECK: bufferization.alloc_tensor
memref.global "private" @w : memref<6xf32>
func.func @gathered() {
  %w = memref.get_global @w : memref<6xf32>
  %x = bufferization.to_tensor %w restrict writable : memref<6xf32>
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#vector], iterator_types = ["parallel"]} outs(%e : tensor<6xf32>) {
  ^bb0(%b: f32):
    %five = arith.constant 5 : index
    %i = linalg.index 0 : index
    %j = arith.subi %five, %i : index
    %a = tensor.extract %x[%j] : tensor<6xf32>
    linalg.yield %a : f32
  } -> tensor<6xf32>
  bufferization.materialize_in_destination %y in restrict writable %w : (tensor<6xf32>, memref<6xf32>) -> ()
  return
}
