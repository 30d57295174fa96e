// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// 4 * 8 comparisons; backward one addition for each of the 4 that were taken.
// CHECK-LABEL: net.network @max
// CHECK:       %{{.*}}, %[[INDICES:.*]] = net.max
// CHECK:       %[[DY:.*]] = net.constant 1.0{{.*}} : tensor<4xf32>
// CHECK:       net.extreme_grad %[[DY]], %[[INDICES]] {{.*}}over = array<i64: 1>} : (tensor<4xf32>, tensor<4xi64>) -> tensor<4x8xf32>
net.network @max attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-remark@+2 {{matmul 0, other 32, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 4, transcendental 0}}
  %y, %indices = net.max %x {over = array<i64: 1>} : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  net.return %y : tensor<4xf32> ["y"]
}

// The axes may be free.
net.network @free attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<3x?x?xf32, #net.axes<"3", "H", "W">>
  // expected-remark@+2 {{matmul 0, other 3*H*W, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 3, transcendental 0}}
  %y, %indices = net.max %x {over = array<i64: 1, 2>} : (tensor<3x?x?xf32, #net.axes<"3", "H", "W">>) -> (tensor<3xf32>, tensor<3xi64>)
  net.return %y : tensor<3xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`max` works over axis 2, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y, %indices = net.max %x {over = array<i64: 2>} : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)

// -----

%dy = net.constant 0.0 : tensor<4xf32>
%indices = net.constant 0.0 : tensor<8xi64>
// expected-error@+1 {{the tensors of `extreme_grad` do not fit: axis 0 is 4 in what is kept, 8 in the indices}}
%dx = net.extreme_grad %dy, %indices {over = array<i64: 1>} : (tensor<4xf32>, tensor<8xi64>) -> tensor<4x8xf32>

// -----

%dy = net.constant 0.0 : tensor<8xf32>
%indices = net.constant 0.0 : tensor<4xi64>
// expected-error@+1 {{the tensors of `extreme_grad` do not fit: axis 0 is 4 in what is kept, 8 in the gradient}}
%dx = net.extreme_grad %dy, %indices {over = array<i64: 1>} : (tensor<8xf32>, tensor<4xi64>) -> tensor<4x8xf32>

// -----

%dy = net.constant 0.0 : tensor<4xf32>
%indices = net.constant 0.0 : tensor<4xi64>
// expected-error@+1 {{`extreme_grad` works over axis 2, its operand has 2 axes}}
%dx = net.extreme_grad %dy, %indices {over = array<i64: 2>} : (tensor<4xf32>, tensor<4xi64>) -> tensor<4x8xf32>
