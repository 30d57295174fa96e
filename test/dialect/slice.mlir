// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// CHECK-LABEL: net.network @slice
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.slice_grad %[[DY]] {axis = 1 : i64,{{.*}} start = #net.poly<"2">} : (tensor<4x3xf32>) -> tensor<4x8xf32>
net.network @slice attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  %y = net.slice %x {axis = 1, start = #net.poly<"2">} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  net.return %y : tensor<4x3xf32> ["y"]
}

// The last place of a free axis.
// CHECK-LABEL: net.network @last
// CHECK:       net.slice_grad %{{.*}} {axis = 0 : i64,{{.*}} start = #net.poly<"T - 1">} : (tensor<1xf32>) -> tensor<?xf32, #net.axes<"T">>
net.network @last attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<?xf32, #net.axes<"T">>
  %y = net.slice %x {axis = 0, start = #net.poly<"T - 1">} : (tensor<?xf32, #net.axes<"T">>) -> tensor<1xf32>
  net.return %y : tensor<1xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{cannot slice: positions 6 to 9 of axis 1, which is 8}}
%y = net.slice %x {axis = 1, start = #net.poly<"6">} : (tensor<4x8xf32>) -> tensor<4x3xf32>

// -----

%x = net.constant 0.0 : tensor<?xf32, #net.axes<"T">>
// expected-error@+1 {{cannot slice: positions T - 1 to T + 1 of axis 0, which is T}}
%y = net.slice %x {axis = 0, start = #net.poly<"T - 1">} : (tensor<?xf32, #net.axes<"T">>) -> tensor<2xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{cannot slice: positions -1 to 0 of axis 1, which is 8}}
%y = net.slice %x {axis = 1, start = #net.poly<"-1">} : (tensor<4x8xf32>) -> tensor<4x1xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{cannot slice: positions 1/2 to 3/2 of axis 1, which is 8}}
%y = net.slice %x {axis = 1, start = #net.poly<"1/2">} : (tensor<4x8xf32>) -> tensor<4x1xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{cannot slice: positions <overflow> to <overflow> of axis 1, which is 8}}
%y = net.slice %x {axis = 1, start = #net.poly<"999999999999999999999999999999999999999999">} : (tensor<4x8xf32>) -> tensor<4x1xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{`slice` works over axis 2, its operand has 2 axes}}
%y = net.slice %x {axis = 2, start = #net.poly<"0">} : (tensor<4x8xf32>) -> tensor<4x1xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{the tensors of `slice` do not fit: 2 axes in the whole, 1 in the slice}}
%y = net.slice %x {axis = 1, start = #net.poly<"0">} : (tensor<4x8xf32>) -> tensor<4xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+1 {{the tensors of `slice` do not fit: axis 0 is 4 in the whole, 3 in the slice}}
%y = net.slice %x {axis = 1, start = #net.poly<"0">} : (tensor<4x8xf32>) -> tensor<3x1xf32>

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+1 {{takes tensors of one element type, not of `f32` and `f16`}}
%y = net.slice %x {axis = 0, start = #net.poly<"0">} : (tensor<4xf32>) -> tensor<2xf16>

// -----

%dy = net.constant 0.0 : tensor<4x3xf32>
// expected-error@+1 {{cannot slice: positions 6 to 9 of axis 1, which is 8}}
%dx = net.slice_grad %dy {axis = 1, start = #net.poly<"6">} : (tensor<4x3xf32>) -> tensor<4x8xf32>
