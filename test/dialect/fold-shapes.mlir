// RUN: netc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: net.network @reshape
// CHECK-NEXT:  ^bb0(%[[X:.*]]: tensor<4x8xf32>):
// Each of two in a row is of a part of the network, whose shapes a report tells.
// CHECK-NEXT:    %[[A:.*]] = net.reshape %[[X]] : (tensor<4x8xf32>) -> tensor<2x16xf32>
// CHECK-NEXT:    %[[BACK:.*]] = net.reshape %[[A]]
// CHECK-NEXT:    %[[Y:.*]] = net.reshape %[[A]] : (tensor<2x16xf32>) -> tensor<32xf32>
// CHECK-NEXT:    net.return %[[X]], %[[BACK]], %[[Y]]
net.network @reshape attributes {inputs = ["x"]} {
^bb0(%x: tensor<4x8xf32>):
  %same = net.reshape %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = net.reshape %x : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %back = net.reshape %a : (tensor<2x16xf32>) -> tensor<4x8xf32>
  %flat = net.reshape %a : (tensor<2x16xf32>) -> tensor<32xf32>
  net.return %same, %back, %flat : tensor<4x8xf32>, tensor<4x8xf32>, tensor<32xf32> ["same", "back", "flat"]
}

// CHECK-LABEL: net.network @transpose
// CHECK-NEXT:  ^bb0(%[[X:.*]]: tensor<2x3x4xf32>):
// CHECK-NEXT:    %[[Y:.*]] = net.transpose %[[X]] {order = array<i64: 2, 1, 0>} : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
// CHECK-NEXT:    net.return %[[X]], %[[X]], %[[Y]]
net.network @transpose attributes {inputs = ["x"]} {
^bb0(%x: tensor<2x3x4xf32>):
  %same = net.transpose %x {order = array<i64: 0, 1, 2>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %a = net.transpose %x {order = array<i64>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %back = net.transpose %a {order = array<i64>} : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32>
  %turned = net.transpose %a {order = array<i64: 1, 2, 0>} : (tensor<2x4x3xf32>) -> tensor<4x3x2xf32>
  net.return %same, %back, %turned : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4x3x2xf32> ["same", "back", "turned"]
}

// CHECK-LABEL: net.network @whole
// CHECK-NEXT:  ^bb0(%[[X:.*]]: tensor<4x8xf32>):
// CHECK-NEXT:    net.return %[[X]], %[[X]], %[[X]]
net.network @whole attributes {inputs = ["x"]} {
^bb0(%x: tensor<4x8xf32>):
  %a = net.broadcast %x {axes = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = net.concat %x {over = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = net.slice %x {axis = 1, start = #net.poly<"0">} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  net.return %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32> ["a", "b", "c"]
}
