// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// By default the last two axes change places.
// CHECK-LABEL: net.network @last_two
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.transpose %[[DY]] {{.*}}order = array<i64: 0, 2, 1>} : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
net.network @last_two attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x4x8xf32>
  %y = net.transpose %x {order = array<i64>} : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
  net.return %y : tensor<2x8x4xf32> ["y"]
}

// The gradient takes the inverse order.
// CHECK-LABEL: net.network @cycle
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.transpose %[[DY]] {{.*}}order = array<i64: 2, 0, 1>} : (tensor<4x8x2xf32>) -> tensor<2x4x8xf32>
net.network @cycle attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x4x8xf32>
  %y = net.transpose %x {order = array<i64: 1, 2, 0>} : (tensor<2x4x8xf32>) -> tensor<4x8x2xf32>
  net.return %y : tensor<4x8x2xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{cannot transpose: `order` lists 0 axes, the tensor has 1}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.transpose %x {order = array<i64>} : (tensor<4xf32>) -> tensor<4xf32>

// -----

%x = net.constant 0.0 : tensor<2x4x8xf32>
// expected-error@+2 {{cannot transpose: `order` lists 2 axes, the tensor has 3}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.transpose %x {order = array<i64: 1, 0>} : (tensor<2x4x8xf32>) -> tensor<4x2xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`transpose` works over axis 1 twice}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.transpose %x {order = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<8x8xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`transpose` works over axis -1, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.transpose %x {order = array<i64: 0, -1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
