// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-fuse-elementwise))" %s | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: arith.negf
// CHECK-NOT: linalg.generic
#map = affine_map<(i) -> (i)>
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = math.exp %in : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// A sum of products stays what it is.
// CHECK-LABEL: func.func @product
// CHECK-COUNT-2: linalg.generic
func.func @product(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.negf %in : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%n, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%y : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  return %z : tensor<4x16xf32>
}

// A sum of products that is added to what a loop carries begins with that.
// CHECK-LABEL: func.func @accumulate
// CHECK:      scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK-NOT:    linalg.fill
// CHECK:        linalg.generic
// CHECK-SAME:     outs(%[[SUM]] :
// CHECK-NOT:    linalg.generic
// CHECK:        scf.yield
func.func @accumulate(%x: tensor<8x4xf32>, %dy: tensor<8x16xf32>, %start: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %sum = scf.for %t = %c0 to %c9 step %c1 iter_args(%carried = %start) -> (tensor<4x16xf32>) {
    %e = tensor.empty() : tensor<4x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
    %dw = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %dy : tensor<8x4xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x16xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%carried, %dw : tensor<4x16xf32>, tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4x16xf32>
    scf.yield %next : tensor<4x16xf32>
  }
  return %sum : tensor<4x16xf32>
}

// A sum of few products that has more elements than caches hold is added up by
// what reads it, in the shape of the sum.
// CHECK-LABEL: func.func @short_sum
// CHECK-SAME:      %[[X:[a-z0-9]*]]: tensor<2x1024xf32>, %[[DY:[a-z0-9]*]]: tensor<2x1024xf32>, %[[W:[a-z0-9]*]]: tensor<1024x1024xf32>
// CHECK-NOT:   linalg.fill
// CHECK:       linalg.generic {indexing_maps = [#[[W_MAP:.*]], #[[ROW0:.*]], #[[COLUMN0:.*]], #[[ROW1:.*]], #[[COLUMN1:.*]], #[[W_MAP]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:    ins(%[[W]], %[[DY]], %[[X]], %[[DY]], %[[X]] :
// CHECK-NEXT:  ^bb0(%[[OLD:.*]]: f32, %[[R0:.*]]: f32, %[[C0:.*]]: f32, %[[R1:.*]]: f32, %[[C1:.*]]: f32,
// CHECK-NEXT:    %[[P0:.*]] = arith.mulf %[[R0]], %[[C0]]
// CHECK-NEXT:    %[[P1:.*]] = arith.mulf %[[R1]], %[[C1]]
// CHECK-NEXT:    %[[SUM:.*]] = arith.addf %[[P0]], %[[P1]]
// CHECK-NEXT:    arith.subf %[[OLD]], %[[SUM]]
// CHECK-NOT:   linalg.generic
func.func @short_sum(%x: tensor<2x1024xf32>, %dy: tensor<2x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<1048576xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %dw = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%dy, %x : tensor<2x1024xf32>, tensor<2x1024xf32>) outs(%f : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1024x1024xf32>
  %old = tensor.collapse_shape %w [[0, 1]] : tensor<1024x1024xf32> into tensor<1048576xf32>
  %gradient = tensor.collapse_shape %dw [[0, 1]] : tensor<1024x1024xf32> into tensor<1048576xf32>
  %out = tensor.empty() : tensor<1048576xf32>
  %new = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%old, %gradient : tensor<1048576xf32>, tensor<1048576xf32>) outs(%out : tensor<1048576xf32>) {
  ^bb0(%a: f32, %g: f32, %o: f32):
    %s = arith.subf %a, %g : f32
    linalg.yield %s : f32
  } -> tensor<1048576xf32>
  return %new : tensor<1048576xf32>
}

// Normalized elements are computed again where they are read, since means and
// deviations are near; a reduction of their products takes them in, too.
// CHECK-LABEL: func.func @normalized
// CHECK-SAME:      %[[X:[a-z0-9]*]]: tensor<64x16xf32>
// CHECK:       linalg.generic
// CHECK-SAME:    ins(%[[X]],
// CHECK:       %[[SUM:.*]] = linalg.generic
// CHECK-SAME:    ins(%{{.*}}, %[[X]],
// CHECK-NOT:   linalg.generic
// CHECK:       return %{{.*}}, %[[SUM]]
func.func @normalized(%x: tensor<64x16xf32>, %mean: tensor<16xf32>, %factor: tensor<16xf32>, %dy: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x16xf32>
  %normalized = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                                iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean, %factor : tensor<64x16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<64x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %p = arith.mulf %d, %c : f32
    linalg.yield %p : f32
  } -> tensor<64x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%normalized : tensor<64x16xf32>) outs(%e : tensor<64x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.maximumf %a, %zero : f32
    linalg.yield %p : f32
  } -> tensor<64x16xf32>
  %es = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%es : tensor<16xf32>) -> tensor<16xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>], iterator_types = ["reduction", "parallel"]}
      ins(%dy, %normalized : tensor<64x16xf32>, tensor<64x16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %y, %sum : tensor<64x16xf32>, tensor<16xf32>
}

// What a payload gathers of a tensor is computed where it is gathered; the
// tensor is not.
// CHECK-LABEL: func.func @gathered
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[TOP:.*]]: tensor<4xf32>
// CHECK: linalg.generic
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: %[[AT:.*]] = tensor.extract %[[X]][%[[ROW]], %[[COLUMN:.*]]]
// CHECK: %[[LARGEST:.*]] = tensor.extract %[[TOP]][%[[ROW]]]
// CHECK: arith.subf %[[AT]], %[[LARGEST]]
// CHECK-NOT: linalg.generic
func.func @gathered(%x: tensor<4x8xf32>, %top: tensor<4xf32>, %class: tensor<4xi32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %top : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %f = tensor.empty() : tensor<4xf32>
  %picked = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%class : tensor<4xi32>) outs(%f : tensor<4xf32>) {
  ^bb0(%c: i32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %c : i32 to index
    %v = tensor.extract %d[%i, %j] : tensor<4x8xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %picked : tensor<4xf32>
}

// A window is not such a sum: an op that reads its operand at one place of the
// window alone would infer the extent of the padded operand.
// CHECK-LABEL: func.func @window
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}"reduction"
// CHECK: linalg.generic {{.*}} ins(%[[SUM]]
#slide = affine_map<(d0, d1) -> (d0 + d1)>
#tap = affine_map<(d0, d1) -> (d1)>
#result = affine_map<(d0, d1) -> (d0)>
#each = affine_map<(d0) -> (d0)>
func.func @window(%x: tensor<1048578xf32>, %w: tensor<3xf32>) -> tensor<1048576xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1048576xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1048576xf32>) -> tensor<1048576xf32>
  %y = linalg.generic {indexing_maps = [#slide, #tap, #result], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<1048578xf32>, tensor<3xf32>) outs(%f : tensor<1048576xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<1048576xf32>
  %out = tensor.empty() : tensor<1048576xbf16>
  %rounded = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%y : tensor<1048576xf32>) outs(%out : tensor<1048576xbf16>) {
  ^bb0(%a: f32, %c: bf16):
    %r = arith.truncf %a : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<1048576xbf16>
  return %rounded : tensor<1048576xbf16>
}

// What takes long is computed once, not for each element.
// CHECK-LABEL: func.func @number
// CHECK: linalg.generic {{.*}} iterator_types = []
// CHECK: math.powf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK: arith.divf
func.func @number(%x: tensor<8xf32>, %step: tensor<f32>) -> tensor<8xf32> {
  %beta = arith.constant 0.9 : f32
  %none = tensor.empty() : tensor<f32>
  %power = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%step : tensor<f32>) outs(%none : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %n = math.powf %beta, %in : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.generic {indexing_maps = [#map, affine_map<(i) -> ()>, #map], iterator_types = ["parallel"]}
      ins(%x, %power : tensor<8xf32>, tensor<f32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %n = arith.divf %in, %by : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %z : tensor<8xf32>
}
