// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-merge-reductions))" %s | FileCheck %s

// Two sums over the same tensor are taken in one pass, where the second stood;
// what reads the first comes later.
// CHECK-LABEL: func.func @together
// CHECK-SAME:      %[[DY:[a-z0-9]*]]: tensor<64x16xf32>, %[[X:[a-z0-9]*]]: tensor<64x16xf32>
// CHECK:       %[[SUMS:.*]]:2 = linalg.generic
// CHECK-SAME:    iterator_types = ["reduction", "parallel"]
// CHECK-SAME:    ins(%[[DY]], %[[X]] : tensor<64x16xf32>, tensor<64x16xf32>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[OFFSET:.*]]: f32, %[[SCALE:.*]]: f32):
// CHECK-NEXT:    %[[S0:.*]] = arith.addf %[[OFFSET]], %[[A]]
// CHECK-NEXT:    %[[P:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT:    %[[S1:.*]] = arith.addf %[[SCALE]], %[[P]]
// CHECK-NEXT:    linalg.yield %[[S0]], %[[S1]]
// CHECK-NOT:   linalg.generic
// CHECK:       return %[[SUMS]]#0, %[[SUMS]]#1
#rows = affine_map<(m, n) -> (m, n)>
#columns = affine_map<(m, n) -> (n)>
func.func @together(%dy: tensor<64x16xf32>, %x: tensor<64x16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %offset = linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%dy : tensor<64x16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %scale = linalg.generic {indexing_maps = [#rows, #rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%dy, %x : tensor<64x16xf32>, tensor<64x16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %offset, %scale : tensor<16xf32>, tensor<16xf32>
}

// A variance needs the mean first.
// CHECK-LABEL: func.func @one_after_the_other
// CHECK-COUNT-2: linalg.generic
func.func @one_after_the_other(%x: tensor<64x16xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %total = linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %squares = linalg.generic {indexing_maps = [#rows, #columns, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x, %total : tensor<64x16xf32>, tensor<16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %t: f32, %sum: f32):
    %d = arith.subf %a, %t : f32
    %p = arith.mulf %d, %d : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %squares : tensor<16xf32>
}

// What a parameter was is read before it is updated.
// CHECK-LABEL: func.func @before_an_update
// CHECK:       linalg.generic
// CHECK:       bufferization.materialize_in_destination
// CHECK:       linalg.generic
memref.global "private" @scale : memref<16xf32> = uninitialized
func.func @before_an_update(%dy: tensor<64x16xf32>, %new: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %slot = memref.get_global @scale : memref<16xf32>
  %old = bufferization.to_tensor %slot restrict writable : memref<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %scaled = linalg.generic {indexing_maps = [#rows, #columns, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%dy, %old : tensor<64x16xf32>, tensor<16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  bufferization.materialize_in_destination %new in restrict writable %slot : (tensor<16xf32>, memref<16xf32>) -> ()
  %sum = linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%dy : tensor<64x16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %t: f32):
    %s = arith.addf %t, %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %scaled, %sum : tensor<16xf32>, tensor<16xf32>
}
