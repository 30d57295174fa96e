// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// t log x + (1 - t) log(1 - x), and the sum: 8 * 32, one quotient, two log each.
// Backward 5 * 32 and one quotient.
// CHECK-LABEL: net.network @bce
// CHECK:       %[[DLOSS:.*]] = net.constant 1.0{{.*}} : tensor<f32>
// CHECK:       net.bce_grad %[[DLOSS]], %{{.*}}, %target {{.*}}: (tensor<f32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
net.network @bce attributes {inputs = ["target"]} {
^bb0(%target: tensor<4x8xf32>):
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-remark@+2 {{matmul 0, other 257, transcendental 64}}
  // expected-remark@+1 {{matmul 0, other 161, transcendental 0}}
  %loss = net.bce %x, %target : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// A target of integers is converted.
net.network @integers attributes {inputs = ["x", "target"]} {
^bb0(%x: tensor<4xf32>, %target: tensor<4xi1>):
  // expected-remark@below {{matmul 0, other 33, transcendental 8}}
  %loss = net.bce %x, %target : (tensor<4xf32>, tensor<4xi1>) -> tensor<f32>
  net.return []
}

// -----

%x = net.constant 0.0 : tensor<4xf32>
%t = net.constant 0.0 : tensor<5xf32>
// expected-error@+2 {{axis 0 is 4 on the left, 5 in the target}}
// expected-error@+1 {{failed to infer returned types}}
%l = net.bce %x, %t : (tensor<4xf32>, tensor<5xf32>) -> tensor<f32>

// -----

%x = net.constant 0.0 : tensor<4xf32>
%t = net.constant 0.0 : tensor<4xf16>
// expected-error@+2 {{takes tensors of one element type, not of `f32` and `f16`}}
// expected-error@+1 {{failed to infer returned types}}
%l = net.bce %x, %t : (tensor<4xf32>, tensor<4xf16>) -> tensor<f32>

// -----

net.network @by_target attributes {inputs = ["x"]} {
^bb0(%x: tensor<4xf32>):
  %target = net.parameter "target" "normal" : tensor<4xf32>
  // expected-error@below {{cannot differentiate `bce` by its target}}
  %loss = net.bce %x, %target : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}
