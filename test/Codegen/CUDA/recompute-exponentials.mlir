// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-recompute-exponentials))" %s | FileCheck %s

// A softmax stores no exponentials: the sum and the quotients compute them.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME:  %[[X:[a-z0-9]*]]: tensor<512x256xf32>, %[[MOST:[a-z0-9]*]]: tensor<512xf32>
// CHECK:       %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[MOST]] :
// CHECK:         math.exp
// CHECK:         arith.addf
// CHECK:       linalg.generic {{.*}} ins(%[[X]], %[[MOST]], %[[SUM]] :
// CHECK:         math.exp
// CHECK:         arith.divf
// CHECK-NOT:   linalg.generic
#map = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @softmax(%x: tensor<512x256xf32>, %most: tensor<512xf32>) -> tensor<512x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x256xf32>
  %exponentials = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %most : tensor<512x256xf32>, tensor<512xf32>) outs(%e : tensor<512x256xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %d = arith.subf %a, %m : f32
    %n = math.exp %d : f32
    linalg.yield %n : f32
  } -> tensor<512x256xf32>
  %s = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%s : tensor<512xf32>) -> tensor<512xf32>
  %sum = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exponentials : tensor<512x256xf32>) outs(%f : tensor<512xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = arith.addf %old, %a : f32
    linalg.yield %n : f32
  } -> tensor<512xf32>
  %y = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%exponentials, %sum : tensor<512x256xf32>, tensor<512xf32>) outs(%e : tensor<512x256xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %n = arith.divf %a, %b : f32
    linalg.yield %n : f32
  } -> tensor<512x256xf32>
  return %y : tensor<512x256xf32>
}

// What has to be stored anyway is read.
// CHECK-LABEL: func.func @stored
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// CHECK: return
func.func @stored(%x: tensor<512x256xf32>) -> (tensor<512x256xf32>, tensor<512x256xf32>) {
  %e = tensor.empty() : tensor<512x256xf32>
  %exponentials = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<512x256xf32>) outs(%e : tensor<512x256xf32>) {
  ^bb0(%a: f32, %out: f32):
    %n = math.exp %a : f32
    linalg.yield %n : f32
  } -> tensor<512x256xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%exponentials : tensor<512x256xf32>) outs(%e : tensor<512x256xf32>) {
  ^bb0(%a: f32, %out: f32):
    %n = arith.addf %a, %a : f32
    linalg.yield %n : f32
  } -> tensor<512x256xf32>
  return %exponentials, %y : tensor<512x256xf32>, tensor<512x256xf32>
}
