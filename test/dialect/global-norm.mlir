// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// 2 * (32 + 5) and a root. The gradient is the share of each element: a quotient once, then a product each.
// CHECK-LABEL: net.network @norm
// CHECK:       %[[X:.*]] = net.parameter "x"
// CHECK:       %[[Y:.*]] = net.global_norm %[[X]], %{{.*}} : (tensor<4x8xf32>, tensor<5xf32>) -> tensor<f32>
// CHECK:       %[[SHARE:.*]] = net.div %{{.*}}, %[[Y]]
// CHECK:       %[[SHARES:.*]] = net.broadcast %[[SHARE]] {axes = array<i64>{{.*}} : (tensor<f32>) -> tensor<4x8xf32>
// CHECK:       net.mul %[[X]], %[[SHARES]]
net.network @norm attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  %b = net.parameter "b" "normal" : tensor<5xf32>
  // expected-remark@+4 {{matmul 0, other 75, transcendental 1}}
  // expected-remark@+3 {{matmul 0, other 1, transcendental 0}}
  // expected-remark@+2 {{matmul 0, other 32, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 5, transcendental 0}}
  %y = net.global_norm %x, %b : (tensor<4x8xf32>, tensor<5xf32>) -> tensor<f32>
  net.return %y : tensor<f32> ["y"]
}

net.network @free attributes {inputs = ["x"]} {
^bb0(%x: tensor<?x8xf32, #net.axes<"N", "8">>):
  // expected-remark@below {{matmul 0, other 16*N + 1, transcendental 1}}
  %y = net.global_norm %x : (tensor<?x8xf32, #net.axes<"N", "8">>) -> tensor<f32>
  net.return %y : tensor<f32> ["y"]
}

// -----

// expected-error@+2 {{`global_norm` is of one tensor or more}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.global_norm : () -> tensor<f32>

// -----

%a = net.constant 0.0 : tensor<4xf32>
%b = net.constant 0.0 : tensor<4xf16>
// expected-error@+2 {{takes tensors of one element type, not of `f32` and `f16`}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.global_norm %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<f32>
