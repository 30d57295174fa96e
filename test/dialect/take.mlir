// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Free; backward one sum for each of 4 * 2 elements that were taken.
// CHECK-LABEL: net.network @take
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.take_grad %[[DY]], %places {{.*}}over = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xi32>) -> tensor<4x8xf32>
net.network @take attributes {inputs = ["places"]} {
^bb0(%places: tensor<4x2xi32>):
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-remark@+1 {{matmul 0, other 8, transcendental 0}}
  %y = net.take %x, %places {over = 1 : i64} : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>
  net.return %y : tensor<4x2xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
%places = net.constant 0.0 : tensor<5x2xi64>
// expected-error@+2 {{the tensors of `take` do not fit: axis 0 is 4 in the tensor, 5 in the places}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.take %x, %places {over = 1 : i64} : (tensor<4x8xf32>, tensor<5x2xi64>) -> tensor<5x2xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
%places = net.constant 0.0 : tensor<4xi64>
// expected-error@+2 {{the tensors of `take` do not fit: 2 axes in the tensor, 1 in the places}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.take %x, %places {over = 1 : i64} : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
%places = net.constant 0.0 : tensor<4x2xi64>
// expected-error@+2 {{`take` works over axis 2, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.take %x, %places {over = 2 : i64} : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>

// -----

%dy = net.constant 0.0 : tensor<4x3xf32>
%places = net.constant 0.0 : tensor<4x2xi64>
// expected-error@+1 {{takes a gradient 'tensor<4x2xf32>', it is given 'tensor<4x3xf32>'}}
%dx = net.take_grad %dy, %places {over = 1 : i64} : (tensor<4x3xf32>, tensor<4x2xi64>) -> tensor<4x8xf32>
