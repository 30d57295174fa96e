// RUN: netc-opt %s --cse --canonicalize | FileCheck %s
// RUN: netc-opt %s --net-differentiate --cse --canonicalize | FileCheck %s --check-prefix=BACKWARD

// Two equal activations stay two operations; ops that compute nothing merge with
// their equals; what nobody uses is gone.
// CHECK-LABEL: net.network @equal
//  CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8xf32>):
//  CHECK-NEXT:   %[[A:.*]] = net.relu %[[X]]
//  CHECK-NEXT:   %[[B:.*]] = net.relu %[[X]]
//  CHECK-NEXT:   %[[C:.*]] = net.transpose %[[X]]
//  CHECK-NEXT:   net.return %[[A]], %[[B]], %[[C]], %[[C]]
net.network @equal attributes {inputs = ["x"]} {
^bb0(%x: tensor<4x8xf32>):
  %a = net.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = net.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = net.transpose %x {order = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %d = net.transpose %x {order = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %unused = net.tanh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  net.return %a, %b, %c, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<8x4xf32> ["a", "b", "c", "d"]
}

// A gradient is used: the backward pass stays.
// BACKWARD-LABEL: net.network @trained
//       BACKWARD:   %[[DW:.*]] = net.mul {{.*}}phase weight
//       BACKWARD:   net.gradient %{{.*}}, %[[DW]]
net.network @trained attributes {inputs = ["x"]} {
^bb0(%x: tensor<4x8xf32>):
  %w = net.parameter "w" "uniform" : tensor<4x8xf32>
  %y = net.mul %w, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  net.return %y : tensor<4x8xf32> ["y"]
}
