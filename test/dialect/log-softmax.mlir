// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// 5 an element, one of them exp, and a logarithm for each of 4 sums; backward 4 an element.
// CHECK-LABEL: net.network @log_softmax
// CHECK:       %[[Y:.*]] = net.log_softmax
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.log_softmax_grad %[[DY]], %[[Y]] {{.*}}over = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
net.network @log_softmax attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-remark@+2 {{matmul 0, other 164, transcendental 36}}
  // expected-remark@+1 {{matmul 0, other 128, transcendental 32}}
  %y = net.log_softmax %x {over = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  net.return %y : tensor<4x8xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<?x?xf32, #net.axes<"N", "V">>
// expected-remark@+1 {{matmul 0, other 5*N*V + N, transcendental N*V + N}}
%y = net.log_softmax %x {over = 1 : i64} : (tensor<?x?xf32, #net.axes<"N", "V">>) -> tensor<?x?xf32, #net.axes<"N", "V">>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`log_softmax` works over axis 2, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.log_softmax %x {over = 2 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
