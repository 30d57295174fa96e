// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Reading windows is free; backward one sum for each element of them.
// CHECK-LABEL: net.network @unfold
// CHECK:       net.unfold_grad %{{.*}} {{{.*}}over = 1 : i64} : (tensor<2x6x3x4xf32>) -> tensor<2x6x4xf32>
net.network @unfold attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x6x4xf32>
  // expected-remark@+1 {{matmul 0, other 144, transcendental 0}}
  %y = net.unfold %x {over = 1 : i64, size = #net.poly<"3">} : (tensor<2x6x4xf32>) -> tensor<2x6x3x4xf32>
  net.return %y : tensor<2x6x3x4xf32> ["y"]
}

// -----

// Sums from the places on are the gradient of sums up to them.
// CHECK-LABEL: net.network @cumsum
// CHECK:       net.cumsum %{{.*}} {net.phase = {{.*}}over = 1 : i64, reverse = true
net.network @cumsum attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x6xf32>
  // expected-remark@+1 {{matmul 0, other 12, transcendental 0}}
  %y = net.cumsum %x {over = 1 : i64, reverse = false} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  net.return %y : tensor<2x6xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<2x6xf32>
// expected-error@+2 {{`unfold` works over axis 2, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.unfold %x {over = 2 : i64, size = #net.poly<"3">} : (tensor<2x6xf32>) -> tensor<2x6x3xf32>

// -----

%x = net.constant 0.0 : tensor<2x6xf32>
// expected-error@+1 {{adds up axis 2, its operand has 2 axes}}
%y = net.unfold_grad %x {over = 1 : i64} : (tensor<2x6xf32>) -> tensor<2xf32>

// -----

%x = net.constant 0.0 : tensor<2x6x3xf32>
// expected-error@+1 {{the tensors of `unfold_grad` do not fit: axis 1 is 6 without the windows, 5 in the result}}
%y = net.unfold_grad %x {over = 1 : i64} : (tensor<2x6x3xf32>) -> tensor<2x5xf32>
