// RUN: netc-opt --net-place-results --split-input-file %s | FileCheck %s

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

// -----

#matrix = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A result is written over the operand that was computed last, and that nothing
// reads any more. The other one is read later. The two tensors do not alias for
// the analysis of bufferization, which would compare all reads and writes of a
// chain of such ops.
// CHECK-LABEL: @over
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK: %[[A:.*]] = linalg.exp
// CHECK: %[[B:.*]] = linalg.negf
// CHECK: %[[MEMORY:.*]] = bufferization.to_memref %[[B]]
// CHECK: %[[OVER:.*]] = bufferization.to_tensor %[[MEMORY]] restrict writable
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<2x3xf32>) outs(%[[OVER]] : tensor<2x3xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: arith.subf %[[IN]], %[[OUT]]
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[C]] :
func.func @over(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %a = linalg.exp ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = linalg.negf ins(%a : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = linalg.generic {indexing_maps = [#matrix, #matrix, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.subf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  %init = tensor.empty() : tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #matrix, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %c : tensor<2x3xf32>, tensor<2x3xf32>) outs(%init : tensor<2xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %sum : tensor<2xf32>
}

// -----

#matrix = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// Not over what is read elsewhere, or in another order, nor over an argument;
// nor what becomes a part of another tensor.
// CHECK-LABEL: @apart
// CHECK-SAME: %[[X:.*]]: tensor<3x3xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<3x3xf32>
// CHECK: %[[T:.*]] = linalg.generic {{.*}} outs(%[[E]]
// CHECK: %[[B:.*]] = linalg.negf ins(%[[T]]
// CHECK: linalg.generic {{.*}} ins(%[[B]] : tensor<3x3xf32>) outs(%[[E]]
// CHECK: tensor.insert_slice
func.func @apart(%x: tensor<3x3xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<3x3xf32>
  %t = linalg.generic {indexing_maps = [#turned, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.negf %p : f32
    linalg.yield %s : f32
  } -> tensor<3x3xf32>
  %b = linalg.negf ins(%t : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %c = linalg.generic {indexing_maps = [#matrix, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x3xf32>
  %whole = tensor.empty() : tensor<4x3xf32>
  %part = tensor.insert_slice %c into %whole[0, 0] [3, 3] [1, 1] : tensor<3x3xf32> into tensor<4x3xf32>
  return %part : tensor<4x3xf32>
}

// -----

#vector = affine_map<(d0) -> (d0)>
#scalar = affine_map<(d0) -> ()>

// A sum that goes on from tensor to tensor: the analysis sees two short chains.
// CHECK-LABEL: @norm
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK: %[[A:.*]] = linalg.generic {{.*}} outs(%[[FILL]] : tensor<f32>)
// CHECK: %[[MEMORY:.*]] = bufferization.to_memref %[[A]]
// CHECK: %[[OVER:.*]] = bufferization.to_tensor %[[MEMORY]] restrict writable
// CHECK: linalg.generic {{.*}} outs(%[[OVER]] : tensor<f32>)
func.func @norm(%x: tensor<3xf32>, %y: tensor<5xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %a = linalg.generic {indexing_maps = [#vector, #scalar], iterator_types = ["reduction"]}
      ins(%x : tensor<3xf32>) outs(%none : tensor<f32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %b = linalg.generic {indexing_maps = [#vector, #scalar], iterator_types = ["reduction"]}
      ins(%y : tensor<5xf32>) outs(%a : tensor<f32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %b : tensor<f32>
}

// -----

// Two tensors that begin with the same part have memory of their own.
// CHECK-LABEL: @insert_anew
// CHECK-SAME: (%[[A:[^:]*]]: tensor<2xf32>, %[[B:[^:]*]]: tensor<2xf32>, %[[C:[^:]*]]: tensor<2xf32>
// CHECK-DAG: %[[E1:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-DAG: %[[E2:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-DAG: %[[A1:.*]] = tensor.insert_slice %[[A]] into %[[E1]][0]
// CHECK-DAG: %[[A2:.*]] = tensor.insert_slice %[[A]] into %[[E2]][0]
// CHECK: %[[AB:.*]] = tensor.insert_slice %[[B]] into %[[A1]][2]
// CHECK: %[[AC:.*]] = tensor.insert_slice %[[C]] into %[[A2]][2]
// CHECK: return %[[AB]], %[[AC]]
func.func @insert_anew(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %begun = tensor.insert_slice %a into %e[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %ab = tensor.insert_slice %b into %begun[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %ac = tensor.insert_slice %c into %begun[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %ab, %ac : tensor<4xf32>, tensor<4xf32>
}

// -----

// What was written is copied.
// CHECK-LABEL: @insert_over
// CHECK-COUNT-1: tensor.insert_slice %{{.*}} into %{{.*}}[0]
// CHECK-NOT: [0]
// CHECK: return
func.func @insert_over(%t: tensor<4xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %begun = tensor.insert_slice %a into %t[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %ab = tensor.insert_slice %b into %begun[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %aa = tensor.insert_slice %a into %begun[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %ab, %aa : tensor<4xf32>, tensor<4xf32>
}

// -----

#vector = affine_map<(d0) -> (d0)>

// A part that is read after another one is inserted has a buffer of its own; one that is read before, none.
// CHECK-LABEL: @apart
// CHECK: %[[OWN:.*]] = bufferization.alloc_tensor() : tensor<2xf32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} outs(%[[OWN]]
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} ins(%[[P]] {{.*}} outs(%[[EMPTY:.*]] : tensor<2xf32>)
// CHECK: tensor.insert_slice %[[P]]
// CHECK: tensor.insert_slice %[[Q]]
func.func @apart(%a: tensor<2xf32>) -> (tensor<6xf32>, tensor<2xf32>) {
  %e = tensor.empty() : tensor<2xf32>
  %p = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%a : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%in: f32, %o: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %e2 = tensor.empty() : tensor<2xf32>
  %q = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%p : tensor<2xf32>) outs(%e2 : tensor<2xf32>) {
  ^bb0(%in: f32, %o: f32):
    %s = arith.mulf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %whole = tensor.empty() : tensor<6xf32>
  %one = tensor.insert_slice %p into %whole[0] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %two = tensor.insert_slice %q into %one[2] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %three = tensor.insert_slice %a into %two[4] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %e3 = tensor.empty() : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%p : tensor<2xf32>) outs(%e3 : tensor<2xf32>) {
  ^bb0(%in: f32, %o: f32):
    %s = arith.subf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %three, %r : tensor<6xf32>, tensor<2xf32>
}
