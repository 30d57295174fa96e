// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%x = net.constant 0.0 : tensor<?x8x?x?xf32, #net.axes<"N", "8", "T", "T">>
// A comparison of the two positions for each element.
// expected-remark@+1 {{matmul 0, other 8*N*T^2, transcendental 0}}
%y = net.mask %x {causal = true, value = 0xFFF0000000000000 : f64, window = 0 : i64} : (tensor<?x8x?x?xf32, #net.axes<"N", "8", "T", "T">>) -> tensor<?x8x?x?xf32, #net.axes<"N", "8", "T", "T">>
// Nothing is hidden.
%z = net.mask %x {causal = false, value = 0.0, window = 0 : i64} : (tensor<?x8x?x?xf32, #net.axes<"N", "8", "T", "T">>) -> tensor<?x8x?x?xf32, #net.axes<"N", "8", "T", "T">>

// -----

// What is hidden has no gradient.
// CHECK-LABEL: net.network @mask
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.mask %[[DY]] {causal = true, net.phase = {{.*}}, value = 0.0
net.network @mask attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.mask %x {causal = true, value = -1.0e9, window = 0 : i64} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+1 {{needs two axes, its operand has 1}}
%y = net.mask %x {causal = true, value = 0.0, window = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK-LABEL: net.network @window
// CHECK:       net.mask %{{.*}} {causal = true, net.phase = {{.*}}, value = 0.0{{.*}}, window = 2 : i64
net.network @window attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x4xf32>
  // expected-remark@+1 {{matmul 0, other 16, transcendental 0}}
  %y = net.mask %x {causal = true, value = -1.0e9, window = 2 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  net.return %y : tensor<4x4xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4x4xf32>
// expected-error@+1 {{has a window of -1 places}}
%y = net.mask %x {causal = true, value = 0.0, window = -1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
