// RUN: netc-opt %s --net-differentiate --net-apply-optimizer | FileCheck %s
// RUN: netc-opt %s --net-differentiate --net-apply-optimizer | netc-opt --net-cost-remarks 2>&1 | FileCheck %s --check-prefix=COST
// RUN: not netc --check %S/Inputs/sparse-momentum.net 2>&1 | FileCheck %s --check-prefix=MOMENTUM

// Of a table, 3 rows of 4 are touched: 2 * 3 * 4 operations, and no dense gradient. A
// dense parameter is updated as ever: 2 * 4.
// CHECK-LABEL: net.step @rows
// CHECK-NOT: net.embedding_grad
// CHECK: net.sparse_sgd %{{.*}}, %{{.*}}, %ids, %{{.*}} {net.phase
// CHECK: net.sgd
// COST-DAG: remark: matmul 0, other 24, transcendental 0
// COST-DAG: remark: matmul 0, other 8, transcendental 0
net.step @rows attributes {inputs = ["ids"], network = "Rows"} {
^bb0(%ids: tensor<3xi64>):
  %table = net.parameter "table" "normal" : tensor<100x4xf32>
  %w = net.parameter "w" "normal" : tensor<4xf32>
  %rows = net.embedding %ids, %table : (tensor<3xi64>, tensor<100x4xf32>) -> tensor<3x4xf32>
  %v = net.broadcast %w {axes = array<i64: 1>} : (tensor<4xf32>) -> tensor<3x4xf32>
  %y = net.mul %rows, %v : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %loss = net.sum %y {over = array<i64: 0, 1>} : (tensor<3x4xf32>) -> tensor<f32>
  net.optimizer {
  ^bb0(%parameter: tensor<?xf32, #net.axes<"P">>, %gradient: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %lr = net.constant 1.000000e-01 : tensor<f32>
    net.sgd %parameter, %gradient, %lr {momentum = 0.0, weight_decay = 0.0, nesterov = false, sparse = true} : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>, tensor<f32>) -> ()
  }
  net.return %loss : tensor<f32> ["loss"]
}

// MOMENTUM: sparse-momentum.net:7:{{[0-9]+}}: error: `sparse` touches only the rows that a step read, so it goes without momentum and weight decay
