// RUN: netc-opt --split-input-file --pass-pipeline="builtin.module(func.func(net-defer-accumulation))" %s | FileCheck %s

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#x = affine_map<(i, j) -> (i, j)>

// What is multiplied is read from one stack and written to another: one product
// over both, whose iterations are a sum. The loop carries the sum no more.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2, d1)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
// CHECK-LABEL: func.func @stacks(
// CHECK-SAME:    %[[XS:.*]]: tensor<9x2x16xf32>, %{{.*}}: tensor<2x9x4xf32>, %[[START:.*]]: tensor<4x16xf32>
// CHECK:      %[[LOOP:.*]] = scf.for {{.*}} -> (tensor<2x9x4xf32>)
// CHECK:        arith.negf
// CHECK-NOT:    arith.mulf
// CHECK:        scf.yield
// CHECK:      %[[SUM:.*]] = linalg.generic
// CHECK-SAME:   indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK-SAME:   ins(%[[LOOP]], %[[XS]] :
// CHECK-SAME:   outs(%[[START]] :
// CHECK:      return %[[LOOP]], %[[SUM]]
func.func @stacks(%xs: tensor<9x2x16xf32>, %stack: tensor<2x9x4xf32>, %start: tensor<4x16xf32>) -> (tensor<2x9x4xf32>, tensor<4x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<2x4xf32>
  %r:2 = scf.for %t = %c0 to %c9 step %c1 iter_args(%ys = %stack, %sum = %start) -> (tensor<2x9x4xf32>, tensor<4x16xf32>) {
    %at = arith.subi %c8, %t : index
    %x1 = tensor.extract_slice %xs[%at, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<9x2x16xf32> to tensor<1x2x16xf32>
    %x = tensor.collapse_shape %x1 [[0, 1], [2]] : tensor<1x2x16xf32> into tensor<2x16xf32>
    %old = tensor.extract_slice %ys[0, %at, 0] [2, 1, 4] [1, 1, 1] : tensor<2x9x4xf32> to tensor<2x4xf32>
    %y = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]} ins(%old : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    %new = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%y, %x : tensor<2x4xf32>, tensor<2x16xf32>) outs(%sum : tensor<4x16xf32>) {
    ^bb0(%in: f32, %other: f32, %out: f32):
      %p = arith.mulf %in, %other : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x16xf32>
    %next = tensor.insert_slice %y into %ys[0, %at, 0] [2, 1, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<2x9x4xf32>
    %kept = bufferization.materialize_in_destination %new in %sum : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    scf.yield %next, %kept : tensor<2x9x4xf32>, tensor<4x16xf32>
  }
  return %r#0, %r#1 : tensor<2x9x4xf32>, tensor<4x16xf32>
}

// -----

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#x = affine_map<(i, j) -> (i, j)>

// What is on no stack is put on one, if it is smaller than the sum.
// CHECK-LABEL: func.func @made(
// CHECK-SAME:    %[[XS:.*]]: tensor<9x2x16xf32>
// CHECK:      %[[EMPTY:.*]] = tensor.empty() : tensor<9x2x4xf32>
// CHECK:      %[[LOOP:.*]] = scf.for %[[T:.*]] = {{.*}} iter_args(%[[YS:.*]] = %[[EMPTY]])
// CHECK:        %[[Y:.*]] = linalg.generic
// CHECK:        tensor.insert_slice %[[Y]] into %[[YS]][%[[T]], 0, 0] [1, 2, 4]
// CHECK:      linalg.generic
// CHECK-SAME:   ins(%[[LOOP]], %[[XS]] :
func.func @made(%xs: tensor<9x2x16xf32>, %ys: tensor<9x2x4xf32>, %start: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<2x4xf32>
  %r = scf.for %t = %c0 to %c9 step %c1 iter_args(%sum = %start) -> (tensor<4x16xf32>) {
    %x = tensor.extract_slice %xs[%t, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<9x2x16xf32> to tensor<2x16xf32>
    %old = tensor.extract_slice %ys[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<9x2x4xf32> to tensor<2x4xf32>
    %y = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]} ins(%old : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    %new = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%y, %x : tensor<2x4xf32>, tensor<2x16xf32>) outs(%sum : tensor<4x16xf32>) {
    ^bb0(%in: f32, %other: f32, %out: f32):
      %p = arith.mulf %in, %other : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x16xf32>
    %kept = bufferization.materialize_in_destination %new in %sum : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    scf.yield %kept : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}

// -----

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#x = affine_map<(i, j) -> (i, j)>

// Where neither is on one, the loop makes two.
// CHECK-LABEL: func.func @two_made(
// CHECK:      %[[LOOP:.*]]:2 = scf.for
// CHECK:        scf.yield
// CHECK:      linalg.generic
// CHECK-SAME:   ins(%[[LOOP]]#0, %[[LOOP]]#1 :
func.func @two_made(%xs: tensor<8x2x16xf32>, %ys: tensor<8x2x4xf32>, %start: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cn = arith.constant 8 : index
  %ex = tensor.empty() : tensor<2x16xf32>
  %ey = tensor.empty() : tensor<2x4xf32>
  %r = scf.for %t = %c0 to %cn step %c1 iter_args(%sum = %start) -> (tensor<4x16xf32>) {
    %xt = tensor.extract_slice %xs[%t, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<8x2x16xf32> to tensor<2x16xf32>
    %x = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]} ins(%xt : tensor<2x16xf32>) outs(%ex : tensor<2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<2x16xf32>
    %yt = tensor.extract_slice %ys[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<8x2x4xf32> to tensor<2x4xf32>
    %y = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]} ins(%yt : tensor<2x4xf32>) outs(%ey : tensor<2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    %new = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%y, %x : tensor<2x4xf32>, tensor<2x16xf32>) outs(%sum : tensor<4x16xf32>) {
    ^bb0(%in: f32, %other: f32, %out: f32):
      %p = arith.mulf %in, %other : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x16xf32>
    %kept = bufferization.materialize_in_destination %new in %sum : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    scf.yield %kept : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}

// -----

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#x = affine_map<(i, j) -> (i, j)>

// A stack that takes more than four times the memory of the sum is not made.
// CHECK-LABEL: func.func @too_many(
// CHECK-NOT:  tensor.insert_slice
// CHECK:      return
func.func @too_many(%xs: tensor<9x2x16xf32>, %ys: tensor<9x2x4xf32>, %start: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cn = arith.constant 9 : index
  %ex = tensor.empty() : tensor<2x16xf32>
  %ey = tensor.empty() : tensor<2x4xf32>
  %r = scf.for %t = %c0 to %cn step %c1 iter_args(%sum = %start) -> (tensor<4x16xf32>) {
    %xt = tensor.extract_slice %xs[%t, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<9x2x16xf32> to tensor<2x16xf32>
    %x = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]} ins(%xt : tensor<2x16xf32>) outs(%ex : tensor<2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<2x16xf32>
    %yt = tensor.extract_slice %ys[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<9x2x4xf32> to tensor<2x4xf32>
    %y = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]} ins(%yt : tensor<2x4xf32>) outs(%ey : tensor<2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    %new = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%y, %x : tensor<2x4xf32>, tensor<2x16xf32>) outs(%sum : tensor<4x16xf32>) {
    ^bb0(%in: f32, %other: f32, %out: f32):
      %p = arith.mulf %in, %other : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x16xf32>
    %kept = bufferization.materialize_in_destination %new in %sum : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    scf.yield %kept : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}

// -----

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Elements of two stacks that meet in another order cannot be summed so.
// CHECK-LABEL: func.func @opposite(
// CHECK:      scf.for {{.*}} iter_args(%[[SUM:.*]] = %
// CHECK:        linalg.generic
// CHECK-SAME:     outs(%[[SUM]] :
// CHECK:        scf.yield
// CHECK-NOT:  linalg.generic
func.func @opposite(%xs: tensor<9x2x16xf32>, %ys: tensor<9x2x4xf32>, %start: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %t = %c0 to %c9 step %c1 iter_args(%sum = %start) -> (tensor<4x16xf32>) {
    %at = arith.subi %c8, %t : index
    %x = tensor.extract_slice %xs[%t, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<9x2x16xf32> to tensor<2x16xf32>
    %y = tensor.extract_slice %ys[%at, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<9x2x4xf32> to tensor<2x4xf32>
    %new = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%y, %x : tensor<2x4xf32>, tensor<2x16xf32>) outs(%sum : tensor<4x16xf32>) {
    ^bb0(%in: f32, %other: f32, %out: f32):
      %p = arith.mulf %in, %other : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x16xf32>
    %kept = bufferization.materialize_in_destination %new in %sum : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    scf.yield %kept : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}

// -----

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#x = affine_map<(i, j) -> (i, j)>

// What each turn rounds is summed unrounded, and added to the start of the loop.
// CHECK-LABEL: func.func @rounded(
// CHECK-SAME:    %[[XS:.*]]: tensor<9x2x16xbf16>, %[[YS:.*]]: tensor<9x2x4xbf16>, %[[START:.*]]: tensor<4x16xbf16>
// CHECK-NOT:  scf.for
// CHECK:      %[[ZEROS:.*]] = linalg.fill
// CHECK:      %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[YS]], %[[XS]] : {{.*}} outs(%[[ZEROS]] : tensor<4x16xf32>)
// CHECK:      %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[START]], %[[SUMS]] :
// CHECK:        arith.truncf
// CHECK:      return %[[ALL]]
func.func @rounded(%xs: tensor<9x2x16xbf16>, %ys: tensor<9x2x4xbf16>, %start: tensor<4x16xbf16>) -> tensor<4x16xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %t = %c0 to %c9 step %c1 iter_args(%sum = %start) -> (tensor<4x16xbf16>) {
    %x1 = tensor.extract_slice %xs[%t, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<9x2x16xbf16> to tensor<1x2x16xbf16>
    %x = tensor.collapse_shape %x1 [[0, 1], [2]] : tensor<1x2x16xbf16> into tensor<2x16xbf16>
    %y1 = tensor.extract_slice %ys[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<9x2x4xbf16> to tensor<1x2x4xbf16>
    %y = tensor.collapse_shape %y1 [[0, 1], [2]] : tensor<1x2x4xbf16> into tensor<2x4xbf16>
    %e = tensor.empty() : tensor<4x16xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
    %products = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%y, %x : tensor<2x4xbf16>, tensor<2x16xbf16>) outs(%zeros : tensor<4x16xf32>) {
    ^bb0(%in: bf16, %other: bf16, %out: f32):
      %a = arith.extf %in : bf16 to f32
      %b = arith.extf %other : bf16 to f32
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x16xf32>
    %f = tensor.empty() : tensor<4x16xbf16>
    %new = linalg.generic {indexing_maps = [#x, #x, #x], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %products : tensor<4x16xbf16>, tensor<4x16xf32>) outs(%f : tensor<4x16xbf16>) {
    ^bb0(%old: bf16, %more: f32, %out: bf16):
      %low = arith.truncf %more : f32 to bf16
      %a = arith.extf %old : bf16 to f32
      %b = arith.extf %low : bf16 to f32
      %s = arith.addf %a, %b : f32
      %n = arith.truncf %s : f32 to bf16
      linalg.yield %n : bf16
    } -> tensor<4x16xbf16>
    %kept = bufferization.materialize_in_destination %new in %sum : (tensor<4x16xbf16>, tensor<4x16xbf16>) -> tensor<4x16xbf16>
    scf.yield %kept : tensor<4x16xbf16>
  }
  return %r : tensor<4x16xbf16>
}
