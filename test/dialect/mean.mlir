// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// 4 * 8 additions and 4 quotients; backward the 4 quotients alone.
// CHECK-LABEL: net.network @mean
// CHECK:       %[[DY:.*]] = net.constant 1.0{{.*}} : tensor<4xf32>
// CHECK:       %[[SHARE:.*]] = net.mean_grad %[[DY]] {count = #net.poly<"8">{{.*}}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:       net.broadcast %[[SHARE]] {axes = array<i64: 0>{{.*}}} : (tensor<4xf32>) -> tensor<4x8xf32>
net.network @mean attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-remark@+2 {{matmul 0, other 36, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 4, transcendental 0}}
  %y = net.mean %x {over = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  net.return %y : tensor<4xf32> ["y"]
}

// The number of elements may be a polynomial.
// CHECK-LABEL: net.network @free
// CHECK:       net.mean_grad %{{.*}} {count = #net.poly<"H*W">{{.*}}}
net.network @free attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<3x?x?xf32, #net.axes<"3", "H", "W">>
  // expected-remark@+2 {{matmul 0, other 3*H*W + 3, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 3, transcendental 0}}
  %y = net.mean %x {over = array<i64: 1, 2>} : (tensor<3x?x?xf32, #net.axes<"3", "H", "W">>) -> tensor<3xf32>
  net.return %y : tensor<3xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`mean` works over axis 9223372036854775807, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.mean %x {over = array<i64: 9223372036854775807>} : (tensor<4x8xf32>) -> tensor<4xf32>
