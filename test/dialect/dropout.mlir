// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%x = net.constant 0.0 : tensor<?x?x8xf32, #net.axes<"N", "T", "8">>
%mask = net.constant 0.0 : tensor<?x?x8xi1, #net.axes<"N", "T", "8">>
%samples = net.constant 0.0 : tensor<?xi1, #net.axes<"N">>
// Each element is selected and scaled: 2 * 8 * N * T.
// expected-remark@+1 {{matmul 0, other 16*N*T, transcendental 0}}
%y, %m = net.dropout %x {p = 0.1, over = array<i64: 0, 1, 2>} : (tensor<?x?x8xf32, #net.axes<"N", "T", "8">>) -> (tensor<?x?x8xf32, #net.axes<"N", "T", "8">>, tensor<?x?x8xi1, #net.axes<"N", "T", "8">>)
// expected-remark@+1 {{matmul 0, other 16*N*T, transcendental 0}}
%dx = net.dropout_grad %x, %mask {p = 0.1, over = array<i64: 0, 1, 2>} : (tensor<?x?x8xf32, #net.axes<"N", "T", "8">>, tensor<?x?x8xi1, #net.axes<"N", "T", "8">>) -> tensor<?x?x8xf32, #net.axes<"N", "T", "8">>

// Whole examples: the mask has one axis.
// expected-remark@+1 {{matmul 0, other 16*N*T, transcendental 0}}
%z, %n = net.dropout %x {p = 0.0, over = array<i64: 0>} : (tensor<?x?x8xf32, #net.axes<"N", "T", "8">>) -> (tensor<?x?x8xf32, #net.axes<"N", "T", "8">>, tensor<?xi1, #net.axes<"N">>)
// expected-remark@+1 {{matmul 0, other 16*N*T, transcendental 0}}
%dz = net.dropout_grad %x, %samples {p = 0.0, over = array<i64: 0>} : (tensor<?x?x8xf32, #net.axes<"N", "T", "8">>, tensor<?xi1, #net.axes<"N">>) -> tensor<?x?x8xf32, #net.axes<"N", "T", "8">>

// -----

// The mask of the forward pass again.
// CHECK-LABEL: net.network @dropout
//       CHECK:   %{{.*}}, %[[MASK:.*]] = net.dropout
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.dropout_grad %[[DY]], %[[MASK]]
net.network @dropout attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+1 {{matmul 0, other 50, transcendental 0}}
  %y, %m = net.dropout %x {p = 0.25, over = array<i64: 0>} : (tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<5xi1>)
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{`dropout` has probability 1.000000e+00, it must be at least 0 and below 1}}
// expected-error@+1 {{failed to infer returned types}}
%y, %m = net.dropout %x {p = 1.0 : f64, over = array<i64: 0>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{`dropout` has probability -1.000000e-01, it must be at least 0 and below 1}}
// expected-error@+1 {{failed to infer returned types}}
%y, %m = net.dropout %x {p = -0.1 : f64, over = array<i64: 0>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{`dropout` has probability nan, it must be at least 0 and below 1}}
// expected-error@+1 {{failed to infer returned types}}
%y, %m = net.dropout %x {p = 0x7FF8000000000000 : f64, over = array<i64: 0>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{`dropout` works over axis 1, its operand has 1 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y, %m = net.dropout %x {p = 0.5, over = array<i64: 1>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)

// -----

%x = net.constant 0.0 : tensor<4x5xf32>
%mask = net.constant 0.0 : tensor<4xi1>
// expected-error@+2 {{`dropout_grad` takes a mask 'tensor<5xi1>', it is given 'tensor<4xi1>'}}
// expected-error@+1 {{failed to infer returned types}}
%dx = net.dropout_grad %x, %mask {p = 0.5, over = array<i64: 1>} : (tensor<4x5xf32>, tensor<4xi1>) -> tensor<4x5xf32>
