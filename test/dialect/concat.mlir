// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Free sizes add up; the gradient of each operand stands where its part begins.
// CHECK-LABEL: net.network @concat
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.slice %[[DY]] {axis = 1 : i64,{{.*}} start = #net.poly<"0">} : ({{.*}}) -> tensor<4x?xf32, #net.axes<"4", "T">>
// CHECK:       net.slice %[[DY]] {axis = 1 : i64,{{.*}} start = #net.poly<"T">} : ({{.*}}) -> tensor<4x3xf32>
// CHECK:       net.slice %[[DY]] {axis = 1 : i64,{{.*}} start = #net.poly<"T + 3">} : ({{.*}}) -> tensor<4x?xf32, #net.axes<"4", "S">>
net.network @concat attributes {inputs = []} {
  %a = net.parameter "a" "normal" : tensor<4x?xf32, #net.axes<"4", "T">>
  %b = net.parameter "b" "normal" : tensor<4x3xf32>
  %c = net.parameter "c" "normal" : tensor<4x?xf32, #net.axes<"4", "S">>
  %y = net.concat %a, %b, %c {over = 1} : (tensor<4x?xf32, #net.axes<"4", "T">>, tensor<4x3xf32>, tensor<4x?xf32, #net.axes<"4", "S">>) -> tensor<4x?xf32, #net.axes<"4", "S + T + 3">>
  net.return %y : tensor<4x?xf32, #net.axes<"4", "S + T + 3">> ["y"]
}

// What is not trained gets no gradient.
// CHECK-LABEL: net.network @frozen
// CHECK-COUNT-1: net.slice
// CHECK-NOT:   net.slice
net.network @frozen attributes {inputs = ["x"]} {
^bb0(%x: tensor<4xf32>):
  %a = net.parameter "a" "normal" : tensor<4xf32>
  %y = net.concat %x, %a {over = 0} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  net.return %y : tensor<8xf32> ["y"]
}

// -----

// expected-error@+2 {{cannot concat: no tensors}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.concat {over = 0} : () -> tensor<4xf32>

// -----

%a = net.constant 0.0 : tensor<4x3x500xf32>
%b = net.constant 0.0 : tensor<4x3x512xf32>
// expected-error@+2 {{the tensors of `concat` do not fit: axis 2 is 500 in one tensor, 512 in another}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.concat %a, %b {over = 1} : (tensor<4x3x500xf32>, tensor<4x3x512xf32>) -> tensor<4x6x500xf32>

// -----

%a = net.constant 0.0 : tensor<4x3xf32>
%b = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{the tensors of `concat` do not fit: 2 axes in one tensor, 1 in another}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.concat %a, %b {over = 1} : (tensor<4x3xf32>, tensor<4xf32>) -> tensor<4x6xf32>

// -----

%a = net.constant 0.0 : tensor<4xf32>
%b = net.constant 0.0 : tensor<4xf16>
// expected-error@+2 {{takes tensors of one element type, not of `f32` and `f16`}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.concat %a, %b {over = 0} : (tensor<4xf32>, tensor<4xf16>) -> tensor<8xf32>

// -----

%a = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{`concat` works over axis 1, its operand has 1 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.concat %a, %a {over = 1} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>

// -----

%a = net.constant 0.0 : tensor<1099511627776xf32>
// expected-error@+2 {{axis 0 of the result of `concat` has 2199023255552 elements, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.concat %a, %a {over = 0} : (tensor<1099511627776xf32>, tensor<1099511627776xf32>) -> tensor<4xf32>
