// RUN: netc-opt --convert-net-to-linalg %s | FileCheck %s

// A number is read with its sign, and compared with the size of its axis as one without: where it is
// outside, element 0 is read for it, and a zero taken.
// CHECK-LABEL: func.func @netc_step
net.step @run attributes {inputs = ["n", "table"], network = "N", run = #net.run<>} {
^bb0(%n: tensor<4xi8>, %table: tensor<3x2xf32>):
  // CHECK-DAG: %[[N:.*]] = bufferization.to_tensor {{.*}} : memref<4xi8>
  // CHECK-DAG: %[[TABLE:.*]] = bufferization.to_tensor {{.*}} : memref<3x2xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[N]] : tensor<4xi8>)
  // CHECK-NEXT: ^bb0(%[[NUMBER:.*]]: i8,
  // CHECK: %[[LONG:.*]] = arith.extsi %[[NUMBER]] : i8 to i64
  // CHECK: %[[SIZE:.*]] = arith.constant 3 : i64
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[LONG]], %[[SIZE]] : i64
  // CHECK: %[[CLAMPED:.*]] = arith.select %[[INSIDE]], %[[LONG]], %c0_i64
  // CHECK: %[[ROW:.*]] = arith.index_cast %[[CLAMPED]] : i64 to index
  // CHECK: %[[READ:.*]] = tensor.extract %[[TABLE]][%[[ROW]], %{{.*}}]
  // CHECK: %[[ZERO:.*]] = arith.constant 0.0
  // CHECK: %[[TAKEN:.*]] = arith.select %[[INSIDE]], %[[READ]], %[[ZERO]]
  // CHECK: linalg.yield %[[TAKEN]]
  %y = net.embedding %n, %table : (tensor<4xi8>, tensor<3x2xf32>) -> tensor<4x2xf32>

  // An element that is updated stays what it was.
  // CHECK: scf.for
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult
  // CHECK: %[[OLD:.*]] = tensor.extract %[[CARRIED:.*]][%[[ROW:.*]], %[[COLUMN:.*]]]
  // CHECK: %[[SUM:.*]] = arith.addf %[[OLD]],
  // CHECK: %[[NEW:.*]] = arith.select %[[INSIDE]], %[[SUM]], %[[OLD]]
  // CHECK: tensor.insert %[[NEW]] into %[[CARRIED]][%[[ROW]], %[[COLUMN]]]
  %dtable = net.embedding_grad %y, %n {net.phase = #net<phase weight>} : (tensor<4x2xf32>, tensor<4xi8>) -> tensor<3x2xf32>
  net.return %dtable : tensor<3x2xf32> ["table"]
}
