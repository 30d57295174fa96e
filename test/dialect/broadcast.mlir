// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// The gradient sums over the new axes: 4 * 8 * 3 additions.
// CHECK-LABEL: net.network @broadcast
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.sum %[[DY]] {{.*}}over = array<i64: 0, 2>} : (tensor<4x8x3xf32>) -> tensor<8xf32>
net.network @broadcast attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<8xf32>
  // expected-remark@below {{matmul 0, other 96, transcendental 0}}
  %y = net.broadcast %x {axes = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8x3xf32>
  net.return %y : tensor<4x8x3xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<8xf32>
// expected-error@+1 {{cannot broadcast: axis 0 is 8, axis 0 of the result 4}}
%y = net.broadcast %x {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<4x8xf32>

// -----

// A size of 1 is not stretched.
%x = net.constant 0.0 : tensor<1xf32>
// expected-error@+1 {{cannot broadcast: axis 0 is 1, axis 0 of the result 4}}
%y = net.broadcast %x {axes = array<i64: 0>} : (tensor<1xf32>) -> tensor<4xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{cannot broadcast: the axes must keep their order}}
%y = net.broadcast %x {axes = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{cannot broadcast: 1 places for 2 axes}}
%y = net.broadcast %x {axes = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{`broadcast` works over axis 2, its operand has 2 axes}}
%y = net.broadcast %x {axes = array<i64: 0, 2>} : (tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{`broadcast` works over axis 0 twice}}
%y = net.broadcast %x {axes = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
