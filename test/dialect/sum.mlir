// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// 4 * 8 additions. The gradient only repeats.
// CHECK-LABEL: net.network @sum
// CHECK:       %[[DY:.*]] = net.constant 1.0{{.*}} : tensor<4xf32>
// CHECK:       net.broadcast %[[DY]] {axes = array<i64: 0>{{.*}}} : (tensor<4xf32>) -> tensor<4x8xf32>
net.network @sum attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-remark@below {{matmul 0, other 32, transcendental 0}}
  %y = net.sum %x {over = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  net.return %y : tensor<4xf32> ["y"]
}

// Over all axes, in any order.
// CHECK-LABEL: net.network @all
// CHECK:       net.broadcast %{{.*}} {axes = array<i64>{{.*}}} : (tensor<f32>) -> tensor<4x8xf32>
net.network @all attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-remark@below {{matmul 0, other 32, transcendental 0}}
  %y = net.sum %x {over = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<f32>
  net.return %y : tensor<f32> ["y"]
}

net.network @free attributes {inputs = ["x"]} {
^bb0(%x: tensor<?x?x8xf32, #net.axes<"N", "T", "8">>):
  // expected-remark@below {{matmul 0, other 8*N*T, transcendental 0}}
  %y = net.sum %x {over = array<i64: 0, 2>} : (tensor<?x?x8xf32, #net.axes<"N", "T", "8">>) -> tensor<?xf32, #net.axes<"T">>
  net.return %y : tensor<?xf32, #net.axes<"T">> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`sum` works over axis 2, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.sum %x {over = array<i64: 2>} : (tensor<4x8xf32>) -> tensor<4xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`sum` works over axis -1, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.sum %x {over = array<i64: -1>} : (tensor<4x8xf32>) -> tensor<4xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`sum` works over axis 1 twice}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.sum %x {over = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{inferred type(s) 'tensor<4xf32>' are incompatible}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.sum %x {over = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<8xf32>

// -----

%x = net.constant 0.0 : tensor<4xi32>
// expected-error@+1 {{operand #0 must be a tensor of floating-point numbers}}
%y = net.sum %x {over = array<i64: 0>} : (tensor<4xi32>) -> tensor<i32>
