// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-rematerialize-operands))" %s | FileCheck %s

#rows = affine_map<(m, n) -> (m, n)>
#columns = affine_map<(m, n) -> (n)>

// An activation of what is read anyway is computed again.
// CHECK-LABEL: func.func @follows
// CHECK-SAME:      %[[DY:[a-z0-9]*]]: tensor<1024x64xf32>, %[[X:[a-z0-9]*]]: tensor<1024x64xf32>, %[[M:[a-z0-9]*]]: tensor<64xf32>
// CHECK:       %[[Y:.*]] = linalg.generic
// CHECK:       %[[DX:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[DY]], %[[X]], %[[M]] : tensor<1024x64xf32>, tensor<1024x64xf32>, tensor<64xf32>)
// CHECK-NEXT:  ^bb0(%[[D:.*]]: f32, %[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK:         %[[C:.*]] = arith.subf %[[A]], %[[B]]
// CHECK-NEXT:    %[[R:.*]] = arith.maximumf %[[C]],
// CHECK:         arith.cmpf ogt, %[[R]],
// CHECK:       return %[[Y]], %[[DX]]
func.func @follows(%dy: tensor<1024x64xf32>, %x: tensor<1024x64xf32>, %m: tensor<64xf32>) -> (tensor<1024x64xf32>, tensor<1024x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x64xf32>
  %y = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<1024x64xf32>, tensor<64xf32>) outs(%e : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %c = arith.subf %a, %b : f32
    %r = arith.maximumf %c, %zero : f32
    linalg.yield %r : f32
  } -> tensor<1024x64xf32>
  %dx = linalg.generic {indexing_maps = [#rows, #rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%dy, %y, %x : tensor<1024x64xf32>, tensor<1024x64xf32>, tensor<1024x64xf32>) outs(%e : tensor<1024x64xf32>) {
  ^bb0(%d: f32, %v: f32, %a: f32, %out: f32):
    %is = arith.cmpf ogt, %v, %zero : f32
    %g = arith.select %is, %d, %zero : f32
    %p = arith.mulf %g, %a : f32
    linalg.yield %p : f32
  } -> tensor<1024x64xf32>
  return %y, %dx : tensor<1024x64xf32>, tensor<1024x64xf32>
}

// Not where that would read more,
// CHECK-LABEL: func.func @reads_more
// CHECK:       %[[Y:.*]] = linalg.generic
// CHECK:       linalg.generic
// CHECK-SAME:      ins(%{{.*}}, %[[Y]] :
func.func @reads_more(%dy: tensor<1024x64xf32>, %x: tensor<1024x64xf32>) -> (tensor<1024x64xf32>, tensor<1024x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x64xf32>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x64xf32>) outs(%e : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<1024x64xf32>
  %dx = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%dy, %y : tensor<1024x64xf32>, tensor<1024x64xf32>) outs(%e : tensor<1024x64xf32>) {
  ^bb0(%d: f32, %v: f32, %out: f32):
    %is = arith.cmpf ogt, %v, %zero : f32
    %g = arith.select %is, %d, %zero : f32
    linalg.yield %g : f32
  } -> tensor<1024x64xf32>
  return %y, %dx : tensor<1024x64xf32>, tensor<1024x64xf32>
}

// nor where it reads other elements,
// CHECK-LABEL: func.func @elsewhere
// CHECK:       %[[Y:.*]] = linalg.generic
// CHECK:       linalg.generic
// CHECK-SAME:      ins(%[[Y]], %{{.*}} :
func.func @elsewhere(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<512x512xf32>
  %z = linalg.generic {indexing_maps = [#rows, affine_map<(m, n) -> (n, m)>, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%y, %x : tensor<512x512xf32>, tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%v: f32, %a: f32, %out: f32):
    %p = arith.mulf %v, %a : f32
    linalg.yield %p : f32
  } -> tensor<512x512xf32>
  return %y, %z : tensor<512x512xf32>, tensor<512x512xf32>
}

// nor where computing takes longer than reading.
// CHECK-LABEL: func.func @takes_long
// CHECK:       %[[Y:.*]] = linalg.generic
// CHECK:       linalg.generic
// CHECK-SAME:      ins(%[[Y]], %{{.*}} :
func.func @takes_long(%x: tensor<1024x64xf32>) -> (tensor<1024x64xf32>, tensor<1024x64xf32>) {
  %e = tensor.empty() : tensor<1024x64xf32>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x64xf32>) outs(%e : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = math.tanh %a : f32
    linalg.yield %r : f32
  } -> tensor<1024x64xf32>
  %z = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%y, %x : tensor<1024x64xf32>, tensor<1024x64xf32>) outs(%e : tensor<1024x64xf32>) {
  ^bb0(%v: f32, %a: f32, %out: f32):
    %p = arith.mulf %v, %a : f32
    linalg.yield %p : f32
  } -> tensor<1024x64xf32>
  return %y, %z : tensor<1024x64xf32>, tensor<1024x64xf32>
}
