// RUN: netc-opt %s --net-differentiate --split-input-file --verify-diagnostics | FileCheck %s
// RUN: netc-opt %s --net-differentiate --split-input-file --mlir-print-debuginfo --mlir-print-local-scope --verify-diagnostics | FileCheck %s --check-prefix=LOC

// The layer that is fed by data gets no input gradient: its backward pass is one
// product, that of every other layer two.
// CHECK-LABEL: net.step @first_layer
//       CHECK:   %[[W1:.*]] = net.parameter "w1"
//       CHECK:   %[[W2:.*]] = net.parameter "w2"
//       CHECK:   %[[A:.*]] = net.relu
//       CHECK:   %[[LOSS:.*]] = net.mse
//       CHECK:   %[[SEED:.*]] = net.constant 1.0{{.*}} {net.phase = #net<phase input>} : tensor<f32>
//  CHECK-NEXT:   %[[DY:.*]] = net.mse_grad %[[SEED]], {{.*}}phase input
//  CHECK-NEXT:   %[[W2T:.*]] = net.transpose %[[W2]] {{.*}}phase input
//  CHECK-NEXT:   %[[DA:.*]] = net.linear %[[DY]], %[[W2T]] {{.*}}phase input
//  CHECK-NEXT:   %[[DW2:.*]] = net.einsum {{.*}}(%[[DY]], %[[A]]) {{.*}}phase weight
//  CHECK-NEXT:   %[[DH:.*]] = net.relu_grad %[[DA]], %[[A]] {{.*}}phase input
//  CHECK-NEXT:   %[[DW1:.*]] = net.einsum {{.*}}(%[[DH]], %x) {{.*}}phase weight
//  CHECK-NEXT:   net.gradient %[[W1]], %[[DW1]]
//  CHECK-NEXT:   net.gradient %[[W2]], %[[DW2]]
//  CHECK-NEXT:   net.return %[[LOSS]]
//
// Gradients carry the names of their ops.
//   LOC-LABEL: net.step @first_layer
//         LOC:   net.relu_grad {{.*}} loc("fc1.relu")
//         LOC:   net.gradient {{.*}} loc("fc1.weight")
net.step @first_layer attributes {inputs = ["x", "t"], network = "M"} {
^bb0(%x: tensor<8x4xf32>, %t: tensor<8x2xf32>):
  %w1 = net.parameter "w1" "uniform" : tensor<3x4xf32> loc("fc1.weight")
  %w2 = net.parameter "w2" "uniform" : tensor<2x3xf32> loc("fc2.weight")
  %h = net.linear %x, %w1 {over = 1} : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32> loc("fc1")
  %a = net.relu %h : (tensor<8x3xf32>) -> tensor<8x3xf32> loc("fc1.relu")
  %y = net.linear %a, %w2 {over = 1} : (tensor<8x3xf32>, tensor<2x3xf32>) -> tensor<8x2xf32> loc("fc2")
  %loss = net.mse %y, %t : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// A frozen layer above a trained one hands its input's gradient on, and has none
// itself; below the lowest trained layer there is no gradient at all.
// CHECK-LABEL: net.network @frozen
//       CHECK:   %[[W1:.*]] = net.parameter "below"
//       CHECK:   %[[W2:.*]] = net.parameter "trained"
//       CHECK:   %[[W3:.*]] = net.parameter "above"
//       CHECK:   %[[X1:.*]] = net.linear %x, %[[W1]]
//       CHECK:   net.linear
//       CHECK:   net.linear
//  CHECK-NEXT:   %[[DY:.*]] = net.constant 1.0
//  CHECK-NEXT:   %[[W3T:.*]] = net.transpose %[[W3]]
//  CHECK-NEXT:   %[[D2:.*]] = net.linear %[[DY]], %[[W3T]] {{.*}}phase input
//  CHECK-NEXT:   %[[DW2:.*]] = net.einsum {{.*}}(%[[D2]], %[[X1]]) {{.*}}phase weight
//  CHECK-NEXT:   net.gradient %[[W2]], %[[DW2]]
//  CHECK-NEXT:   net.return
net.network @frozen attributes {inputs = ["x"]} {
^bb0(%x: tensor<8x4xf32>):
  %w1 = net.parameter "below" "uniform" {trainable = false} : tensor<4x4xf32>
  %w2 = net.parameter "trained" "uniform" : tensor<4x4xf32>
  %w3 = net.parameter "above" "uniform" {trainable = false} : tensor<4x4xf32>
  %a = net.linear %x, %w1 {over = 1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b = net.linear %a, %w2 {over = 1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %c = net.linear %b, %w3 {over = 1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  net.return %c : tensor<8x4xf32> ["y"]
}

// -----

// Without anything to train there is no backward pass.
// CHECK-LABEL: net.network @all_frozen
//       CHECK:   net.linear
//  CHECK-NEXT:   net.return
net.network @all_frozen attributes {inputs = ["x"]} {
^bb0(%x: tensor<8x4xf32>):
  %w = net.parameter "w" "uniform" {trainable = false} : tensor<4x4xf32>
  %y = net.linear %x, %w {over = 1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  net.return %y : tensor<8x4xf32> ["y"]
}

// -----

// A weight that is used twice has one gradient, and the sum belongs to it.
// CHECK-LABEL: net.network @shared_weight
//       CHECK:   %[[W:.*]] = net.parameter
//       CHECK:   %[[D2:.*]] = net.einsum {{.*}}phase weight
//       CHECK:   %[[D1:.*]] = net.einsum {{.*}}phase weight
//  CHECK-NEXT:   %[[DW:.*]] = net.add %[[D2]], %[[D1]] {net.phase = #net<phase weight>}
//  CHECK-NEXT:   net.gradient %[[W]], %[[DW]]
//   CHECK-NOT:   net.gradient
net.network @shared_weight attributes {inputs = ["x"]} {
^bb0(%x: tensor<8x4xf32>):
  %w = net.parameter "w" "uniform" : tensor<4x4xf32>
  %a = net.linear %x, %w {over = 1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b = net.linear %a, %w {over = 1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  net.return %b : tensor<8x4xf32> ["y"]
}

// -----

// An activation that is used twice, by a residual connection: one sum.
// CHECK-LABEL: net.network @two_uses
//       CHECK:   %[[DY:.*]] = net.constant 1.0
//       CHECK:   %[[DR:.*]] = net.relu_grad %[[DY]]
//  CHECK-NEXT:   net.add %[[DY]], %[[DR]] {net.phase = #net<phase input>}
//   CHECK-NOT:   net.add
net.network @two_uses attributes {inputs = ["x"]} {
^bb0(%x: tensor<8x4xf32>):
  %w = net.parameter "w" "uniform" : tensor<4x4xf32>
  %a = net.linear %x, %w {over = 1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b = net.relu %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = net.add %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  net.return %y : tensor<8x4xf32> ["y"]
}

// -----

// Not differentiated: an op that the results do not depend on, a branch of data, a
// result of integers.
// CHECK-LABEL: net.network @unused
//       CHECK:   net.tanh
//       CHECK:   net.sigmoid
//       CHECK:   net.constant 1.0{{.*}} : tensor<8x4xf32>
//   CHECK-NOT:   net.constant
//   CHECK-NOT:   net.tanh_grad
//   CHECK-NOT:   net.sigmoid_grad
//       CHECK:   net.return
net.network @unused attributes {inputs = ["x", "ids"]} {
^bb0(%x: tensor<8x4xf32>, %ids: tensor<8xi32>):
  %w = net.parameter "w" "uniform" : tensor<4x4xf32>
  %a = net.linear %x, %w {over = 1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %unused = net.tanh %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %data = net.sigmoid %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = net.mul %a, %data : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  net.return %y, %ids : tensor<8x4xf32>, tensor<8xi32> ["y", "ids"]
}

// -----

// What is made of weights alone counts as a weight.
// CHECK-LABEL: net.network @made_of_weights
//       CHECK:   net.constant
//       CHECK:   net.einsum {{.*}}phase weight
//       CHECK:   net.tanh_grad {{.*}}phase weight
//       CHECK:   net.gradient
net.network @made_of_weights attributes {inputs = ["x"]} {
^bb0(%x: tensor<8x4xf32>):
  %w = net.parameter "w" "uniform" : tensor<4x4xf32>
  %v = net.tanh %w : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = net.linear %x, %v {over = 1} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  net.return %y : tensor<8x4xf32> ["y"]
}

// -----

net.step @two_losses attributes {inputs = ["x"], network = "M"} {
^bb0(%x: tensor<4xf32>):
  %w = net.parameter "w" "uniform" : tensor<4xf32>
  %y = net.mse %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  // expected-error@+1 {{hands back 2 values, expected the loss alone}}
  net.return %y, %y : tensor<f32>, tensor<f32> ["a", "b"]
}

// -----

net.step @vector attributes {inputs = ["x"], network = "M"} {
^bb0(%x: tensor<4xf32>):
  %w = net.parameter "w" "uniform" : tensor<4xf32>
  %y = net.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{hands back a loss of type 'tensor<4xf32>', expected one number}}
  net.return %y : tensor<4xf32> ["loss"]
}

// -----

net.network @gradient_of_gradient attributes {inputs = ["x"]} {
^bb0(%x: tensor<4xf32>):
  %w = net.parameter "w" "uniform" : tensor<4xf32>
  // expected-error@+1 {{has no gradient}}
  %y = net.relu_grad %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  net.return %y : tensor<4xf32> ["y"]
}

// -----

// expected-error@+1 {{is differentiated already}}
net.network @twice attributes {inputs = ["x"]} {
^bb0(%x: tensor<4xf32>):
  %w = net.parameter "w" "uniform" : tensor<4xf32>
  %y = net.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dy = net.constant 1.0 {net.phase = #net<phase input>} : tensor<4xf32>
  net.return %y : tensor<4xf32> ["y"]
}
