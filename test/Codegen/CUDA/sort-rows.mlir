// RUN: netc-opt --pass-pipeline="builtin.module(func.func(net-sort-rows,canonicalize,cse))" %s | FileCheck %s

// Rows of 8 are added to rows of a table that 4 x 20 numbers name. A number that is none of the table changes nothing, in row 0.
// The places are sorted by row; each iteration takes the next of them, and adds up as before.
// CHECK-LABEL: func.func @embedding
// CHECK-SAME: %[[IDS:.*]]: tensor<4x20xi64>, %[[DY:.*]]: tensor<4x20x8xf32>, %[[TABLE:.*]]: tensor<100x8xf32>
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} outs(%{{.*}} : tensor<80xi64>)
// CHECK: tensor.extract %[[IDS]]
// CHECK: %[[KEYS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]}
// CHECK: tensor.extract %[[ROWS]]
// CHECK: arith.muli %{{.*}}, %c80
// CHECK: %[[ROW:.*]] = tensor.expand_shape %[[KEYS]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[ROW]], %[[ROW]] : tensor<1x80xi64>, tensor<1x80xi64>)
// CHECK: %[[RANKS:.*]] = tensor.collapse_shape
// CHECK: %[[ORDER:.*]] = scf.for
// CHECK: tensor.extract %[[RANKS]]
// CHECK: tensor.insert
// CHECK: } {net.independent}
// CHECK: %[[SORTED:.*]] = linalg.generic
// CHECK: tensor.extract %[[ORDER]]
// CHECK: tensor.extract %[[ROWS]]
// CHECK: scf.for %[[J:.*]] = %c0 to %c80 step %c1 iter_args(%{{.*}} = %[[TABLE]])
// CHECK: scf.for %[[C:.*]] = %c0 to %c8
// CHECK: tensor.extract %[[ORDER]][%[[J]]]
// CHECK: %[[NUMBER:.*]] = tensor.extract %[[SORTED]][%[[J]]]
// CHECK: %[[ROW:.*]] = arith.index_cast %[[NUMBER]]
// CHECK: tensor.extract %[[IDS]]
// CHECK: tensor.extract %{{.*}}[%[[ROW]], %[[C]]] : tensor<100x8xf32>
// CHECK: tensor.extract %[[DY]][%{{.*}}, %{{.*}}, %[[C]]]
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[ROW]], %[[C]]]
// CHECK: } {net.segments}
func.func @embedding(%ids: tensor<4x20xi64>, %dy: tensor<4x20x8xf32>, %table: tensor<100x8xf32>) -> tensor<100x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c20 = arith.constant 20 : index
  %zero = arith.constant 0 : i64
  %rows = arith.constant 100 : i64
  %0 = scf.for %n = %c0 to %c4 step %c1 iter_args(%a = %table) -> tensor<100x8xf32> {
    %1 = scf.for %t = %c0 to %c20 step %c1 iter_args(%b = %a) -> tensor<100x8xf32> {
      %2 = scf.for %c = %c0 to %c8 step %c1 iter_args(%d = %b) -> tensor<100x8xf32> {
        %id = tensor.extract %ids[%n, %t] : tensor<4x20xi64>
        %is_row = arith.cmpi ult, %id, %rows : i64
        %inside = arith.select %is_row, %id, %zero : i64
        %row = arith.index_cast %inside : i64 to index
        %old = tensor.extract %d[%row, %c] : tensor<100x8xf32>
        %more = tensor.extract %dy[%n, %t, %c] : tensor<4x20x8xf32>
        %sum = arith.addf %old, %more : f32
        %new = arith.select %is_row, %sum, %old : f32
        %next = tensor.insert %new into %d[%row, %c] : tensor<100x8xf32>
        scf.yield %next : tensor<100x8xf32>
      }
      scf.yield %2 : tensor<100x8xf32>
    }
    scf.yield %1 : tensor<100x8xf32>
  }
  return %0 : tensor<100x8xf32>
}

// Of many places, those of segments of 256 are sorted first, and the ranks in the other segments found by bisection. 5000 places fill
// 20 segments but for 120; these come last.
// CHECK-LABEL: func.func @segments
// CHECK: %[[KEYS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} outs(%{{.*}} : tensor<5120xi64>)
// CHECK: arith.minui %{{.*}}, %c4999
// CHECK: arith.select
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<20x256xi64>, tensor<20x256xi64>)
// CHECK: %[[SORTED:.*]] = scf.for %{{.*}} = %c0 to %c5120
// CHECK: tensor.extract %[[KEYS]]
// CHECK: } {net.independent}
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<5000xi64>, tensor<20xi64>)
// CHECK-COUNT-9: tensor.extract %[[SORTED]]
// CHECK-NOT: tensor.extract
// CHECK: linalg.yield
// CHECK: scf.for %{{.*}} = %c0 to %c5000
func.func @segments(%ids: tensor<5000xi64>, %dy: tensor<5000x8xf32>, %table: tensor<100x8xf32>) -> tensor<100x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c5000 = arith.constant 5000 : index
  %0 = scf.for %n = %c0 to %c5000 step %c1 iter_args(%a = %table) -> tensor<100x8xf32> {
    %1 = scf.for %c = %c0 to %c8 step %c1 iter_args(%b = %a) -> tensor<100x8xf32> {
      %id = tensor.extract %ids[%n] : tensor<5000xi64>
      %row = arith.index_cast %id : i64 to index
      %old = tensor.extract %b[%row, %c] : tensor<100x8xf32>
      %more = tensor.extract %dy[%n, %c] : tensor<5000x8xf32>
      %sum = arith.addf %old, %more : f32
      %next = tensor.insert %sum into %b[%row, %c] : tensor<100x8xf32>
      scf.yield %next : tensor<100x8xf32>
    }
    scf.yield %1 : tensor<100x8xf32>
  }
  return %0 : tensor<100x8xf32>
}

// A row that depends on the table itself, as that of a counter does, cannot be known before.
// CHECK-LABEL: func.func @counts
// CHECK-NOT: net.segments
func.func @counts(%table: tensor<100xindex>) -> tensor<100xindex> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c80 = arith.constant 80 : index
  %0 = scf.for %n = %c0 to %c80 step %c1 iter_args(%a = %table) -> tensor<100xindex> {
    %row = tensor.extract %a[%n] : tensor<100xindex>
    %next = tensor.insert %n into %a[%row] : tensor<100xindex>
    scf.yield %next : tensor<100xindex>
  }
  return %0 : tensor<100xindex>
}

// Few places stay as they are.
// CHECK-LABEL: func.func @few
// CHECK-NOT: net.segments
func.func @few(%ids: tensor<20xindex>, %table: tensor<100xf32>) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %one = arith.constant 1.0 : f32
  %0 = scf.for %n = %c0 to %c20 step %c1 iter_args(%a = %table) -> tensor<100xf32> {
    %row = tensor.extract %ids[%n] : tensor<20xindex>
    %old = tensor.extract %a[%row] : tensor<100xf32>
    %sum = arith.addf %old, %one : f32
    %next = tensor.insert %sum into %a[%row] : tensor<100xf32>
    scf.yield %next : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}

// Many places, of which one row may have most: sums of at most 64 places of a row each, in the order of rows. Then the first of
// each row is added to it by a thread of its own, and the further ones one after another.
// CHECK-LABEL: func.func @many
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: %[[RANKS:.*]] = tensor.collapse_shape
// CHECK: %[[ORDER:.*]] = scf.for
// CHECK: %[[SORTED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2048xi64>)
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<2048xf32>
// CHECK: %[[PARTS:.*]] = scf.for %[[I:.*]] = %c0 to %c2048 {{.*}} -> (tensor<2048xi64>)
// CHECK: arith.remui %[[I]], %
// CHECK: } {net.independent}
// CHECK: %[[SUMS:.*]] = scf.for %[[J:.*]] = %c0 to %c2048 {{.*}} iter_args(%[[SUM:.*]] = %[[ZEROS]])
// CHECK: tensor.extract %[[PARTS]][%[[J]]]
// CHECK: arith.addf
// CHECK: } {net.segments}
// CHECK: %[[FIRST:.*]] = scf.for %{{.*}} = %c0 to %c2048
// CHECK: scf.if
// CHECK: tensor.extract %[[SUMS]]
// CHECK: } {net.independent}
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args(%{{.*}} = %[[FIRST]])
// CHECK: scf.if
// CHECK: tensor.extract %[[SUMS]]
// CHECK: } {net.segments}
func.func @many(%ids: tensor<2048xindex>, %dy: tensor<2048xf32>, %table: tensor<100xf32>) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2048 = arith.constant 2048 : index
  %0 = scf.for %n = %c0 to %c2048 step %c1 iter_args(%a = %table) -> tensor<100xf32> {
    %row = tensor.extract %ids[%n] : tensor<2048xindex>
    %old = tensor.extract %a[%row] : tensor<100xf32>
    %more = tensor.extract %dy[%n] : tensor<2048xf32>
    %sum = arith.addf %old, %more : f32
    %next = tensor.insert %sum into %a[%row] : tensor<100xf32>
    scf.yield %next : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}

// A product is no sum of parts.
// CHECK-LABEL: func.func @product
// CHECK-NOT: net.independent
// CHECK: } {net.independent}
// CHECK-NOT: net.independent
// CHECK: } {net.segments}
// CHECK-NOT: net.segments
func.func @product(%ids: tensor<2048xindex>, %dy: tensor<2048xf32>, %table: tensor<100xf32>) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2048 = arith.constant 2048 : index
  %0 = scf.for %n = %c0 to %c2048 step %c1 iter_args(%a = %table) -> tensor<100xf32> {
    %row = tensor.extract %ids[%n] : tensor<2048xindex>
    %old = tensor.extract %a[%row] : tensor<100xf32>
    %more = tensor.extract %dy[%n] : tensor<2048xf32>
    %sum = arith.mulf %old, %more : f32
    %next = tensor.insert %sum into %a[%row] : tensor<100xf32>
    scf.yield %next : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}
