// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Forward 5 * 4 * 8, an exp each; backward 4 * 4 * 8.
// CHECK-LABEL: net.network @softmax
// CHECK:       %[[Y:.*]] = net.softmax
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.softmax_grad %[[DY]], %[[Y]] {{.*}}over = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
net.network @softmax attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-remark@+2 {{matmul 0, other 160, transcendental 32}}
  // expected-remark@+1 {{matmul 0, other 128, transcendental 0}}
  %y = net.softmax %x {over = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  net.return %y : tensor<4x8xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`softmax` works over axis 2, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.softmax %x {over = 2} : (tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`softmax` works over axis -1, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.softmax %x {over = -1} : (tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

%x = net.constant 0.0 : tensor<f32>
// expected-error@+2 {{`softmax` works over axis 0, its operand has 0 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.softmax %x {over = 0} : (tensor<f32>) -> tensor<f32>

// -----

%dy = net.constant 0.0 : tensor<4x7xf32>
%y = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{axis 1 is 7 on the left, 8 on the right}}
// expected-error@+1 {{failed to infer returned types}}
%dx = net.softmax_grad %dy, %y {over = 1} : (tensor<4x7xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
