// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-merge-elementwise))" %s | FileCheck %s

#map = affine_map<(i) -> (i)>

// A mean, the reciprocal of what follows from it, and an average that goes on in memory are one op.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:  %[[SUM:[a-z0-9]*]]: tensor<8xf32>, %[[OLD:[a-z0-9]*]]: memref<8xf32>
// CHECK:       %[[ALL:.*]]:3 = linalg.generic {{.*}} ins(%[[SUM]], %{{.*}} : tensor<8xf32>, tensor<8xf32>) outs(%{{.*}}, %{{.*}}, %{{.*}} :
// CHECK-NEXT:  ^bb0(%[[S:.*]]: f32, %[[A:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[MEAN:.*]] = arith.divf %[[S]], %{{.*}}
// CHECK-NEXT:    %[[ROOT:.*]] = math.rsqrt %[[MEAN]]
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addf %[[A]], %[[MEAN]]
// CHECK-NEXT:    linalg.yield %[[MEAN]], %[[ROOT]], %[[NEXT]]
// CHECK-NOT:   linalg.generic
// CHECK:       bufferization.materialize_in_destination %[[ALL]]#2
// CHECK:       return %[[ALL]]#0, %[[ALL]]#1
func.func @chain(%sum: tensor<8xf32>, %old: memref<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %count = arith.constant 3.0 : f32
  %average = bufferization.to_tensor %old restrict writable : memref<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %mean = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.divf %a, %count : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %root = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%mean : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = math.rsqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %next = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%average, %mean : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  bufferization.materialize_in_destination %next in restrict writable %old : (tensor<8xf32>, memref<8xf32>) -> ()
  return %mean, %root : tensor<8xf32>, tensor<8xf32>
}

// What reads memory after it is written, or an op between, does not move up. Ops that have nothing in common stay apart.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: linalg.generic
func.func @apart(%x: tensor<8xf32>, %y: tensor<8xf32>, %old: memref<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %average = bufferization.to_tensor %old restrict writable : memref<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %a1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %a2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  bufferization.materialize_in_destination %a1 in restrict writable %old : (tensor<8xf32>, memref<8xf32>) -> ()
  %a3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%average, %a1 : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %a2, %a3, %a1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
