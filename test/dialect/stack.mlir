// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// The new axis stands after the first; each operand's gradient is one layer of it.
// CHECK-LABEL: net.network @stack
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       %[[A:.*]] = net.slice %[[DY]] {axis = 1 : i64,{{.*}} start = #net.poly<"0">} : (tensor<4x2x8xf32>) -> tensor<4x1x8xf32>
// CHECK:       net.reshape %[[A]] {{.*}}: (tensor<4x1x8xf32>) -> tensor<4x8xf32>
// CHECK:       %[[B:.*]] = net.slice %[[DY]] {axis = 1 : i64,{{.*}} start = #net.poly<"1">} : (tensor<4x2x8xf32>) -> tensor<4x1x8xf32>
// CHECK:       net.reshape %[[B]] {{.*}}: (tensor<4x1x8xf32>) -> tensor<4x8xf32>
net.network @stack attributes {inputs = []} {
  %a = net.parameter "a" "normal" : tensor<4x8xf32>
  %b = net.parameter "b" "normal" : tensor<4x8xf32>
  %y = net.stack %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x2x8xf32>
  net.return %y : tensor<4x2x8xf32> ["y"]
}

// Numbers become a vector.
// CHECK-LABEL: net.network @numbers
// CHECK:       net.slice %{{.*}} {axis = 0 : i64,{{.*}} start = #net.poly<"1">} : (tensor<2xf32>) -> tensor<1xf32>
net.network @numbers attributes {inputs = []} {
  %a = net.parameter "a" "normal" : tensor<f32>
  %b = net.parameter "b" "normal" : tensor<f32>
  %y = net.stack %a, %b : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  net.return %y : tensor<2xf32> ["y"]
}

// -----

// expected-error@+2 {{cannot stack: no tensors}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.stack : () -> tensor<4xf32>

// -----

%a = net.constant 0.0 : tensor<4xf32>
%b = net.constant 0.0 : tensor<5xf32>
// expected-error@+2 {{the tensors of `stack` do not fit: axis 0 is 4 in one tensor, 5 in another}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.stack %a, %b : (tensor<4xf32>, tensor<5xf32>) -> tensor<4x2xf32>

// -----

%a = net.constant 0.0 : tensor<4xf32>
%b = net.constant 0.0 : tensor<4xi32>
// expected-error@+2 {{takes tensors of one element type, not of `f32` and `i32`}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.stack %a, %b : (tensor<4xf32>, tensor<4xi32>) -> tensor<4x2xf32>
