// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Difference, square, sum: 3 * 32, and one quotient. Backward difference and
// product, 2 * 32, and one product with 2 / 32.
// CHECK-LABEL: net.network @mse
// CHECK:       %[[DLOSS:.*]] = net.constant 1.0{{.*}} : tensor<f32>
// CHECK:       net.mse_grad %[[DLOSS]], %{{.*}}, %target {{.*}}: (tensor<f32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NOT:   net.neg
net.network @mse attributes {inputs = ["target"]} {
^bb0(%target: tensor<4x8xf32>):
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-remark@+2 {{matmul 0, other 97, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 65, transcendental 0}}
  %loss = net.mse %x, %target : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// The gradient of the target is that of x, negated: 32 more.
// CHECK-LABEL: net.network @both
// CHECK:       %[[DX:.*]] = net.mse_grad
// CHECK:       net.neg %[[DX]]
net.network @both attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  %target = net.parameter "target" "normal" : tensor<4x8xf32>
  // expected-remark@+3 {{matmul 0, other 97, transcendental 0}}
  // expected-remark@+2 {{matmul 0, other 65, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 32, transcendental 0}}
  %loss = net.mse %x, %target : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

%x = net.constant 0.0 : tensor<4xf32>
%t = net.constant 0.0 : tensor<4x1xf32>
// expected-error@+2 {{the tensors of `mse` do not fit: 1 axes on the left, 2 in the target}}
// expected-error@+1 {{failed to infer returned types}}
%l = net.mse %x, %t : (tensor<4xf32>, tensor<4x1xf32>) -> tensor<f32>
