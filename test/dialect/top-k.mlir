// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-cost-remarks | FileCheck %s

// Two looks at 4 * 8 elements.
// CHECK-LABEL: net.network @choose
// CHECK: net.top_k %x {k = 2 : i64, over = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x2xi64>
net.network @choose attributes {inputs = ["x", "free"]} {
^bb0(%x: tensor<4x8xf32>, %free: tensor<?x8xf32, #net.axes<"N", "8">>):
  // expected-remark@+1 {{matmul 0, other 64, transcendental 0}}
  %a = net.top_k %x {k = 2 : i64, over = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x2xi64>
  // expected-remark@+1 {{matmul 0, other 24*N, transcendental 0}}
  %b = net.top_k %free {k = 3 : i64, over = 1 : i64} : (tensor<?x8xf32, #net.axes<"N", "8">>) -> tensor<?x3xi64, #net.axes<"N", "3">>
  net.return %a, %b : tensor<4x2xi64>, tensor<?x3xi64, #net.axes<"N", "3">> ["a", "b"]
}

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`top_k` takes the 9 largest elements, of axis 1 there are 8}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.top_k %x {k = 9 : i64, over = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x9xi64>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`top_k` works over axis 3, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.top_k %x {k = 1 : i64, over = 3 : i64} : (tensor<4x8xf32>) -> tensor<4x1xi64>

// -----

%x = net.constant 0.0 : tensor<?xf32, #net.axes<"T">>
// expected-error@+2 {{`top_k` looks along axis 0, which is T and must have a fixed size}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.top_k %x {k = 1 : i64, over = 0 : i64} : (tensor<?xf32, #net.axes<"T">>) -> tensor<1xi64>
