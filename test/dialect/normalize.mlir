// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Batch normalization of [N, C, P], 40 elements to each of 3 means. Forward
// 5 * 120 + 4 * 3 and a root for each mean; backward 7 * 120 + 2 * 3.
// CHECK-LABEL: net.network @batch
// CHECK:       %[[Y:.*]], %{{.*}}, %{{.*}}, %[[RSTD:.*]] = net.normalize
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.normalize_grad %[[DY]], %[[Y]], %[[RSTD]] {{.*}}over = array<i64: 0, 2>}
// CHECK-SAME:    : (tensor<4x3x10xf32>, tensor<4x3x10xf32>, tensor<3xf32>) -> tensor<4x3x10xf32>
net.network @batch attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x3x10xf32>
  // expected-remark@+2 {{matmul 0, other 612, transcendental 3}}
  // expected-remark@+1 {{matmul 0, other 846, transcendental 0}}
  %y, %mean, %variance, %rstd = net.normalize %x {by_channel = false, over = array<i64: 0, 2>, eps = 1.0e-5} : (tensor<4x3x10xf32>) -> (tensor<4x3x10xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  net.return %y : tensor<4x3x10xf32> ["y"]
}

// Layer normalization: a mean for each of N T positions.
net.network @layer attributes {inputs = ["x"]} {
^bb0(%x: tensor<?x?x8xf32, #net.axes<"N", "T", "8">>):
  // expected-remark@below {{matmul 0, other 44*N*T, transcendental N*T}}
  %y, %mean, %variance, %rstd = net.normalize %x {by_channel = false, over = array<i64: 2>, eps = 1.0e-5} : (tensor<?x?x8xf32, #net.axes<"N", "T", "8">>) -> (tensor<?x?x8xf32, #net.axes<"N", "T", "8">>, tensor<?x?xf32, #net.axes<"N", "T">>, tensor<?x?xf32, #net.axes<"N", "T">>, tensor<?x?xf32, #net.axes<"N", "T">>)
  net.return []
}

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`normalize` works over axis 0 twice}}
// expected-error@+1 {{failed to infer returned types}}
%y:4 = net.normalize %x {by_channel = false, over = array<i64: 0, 0>, eps = 1.0e-5} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)

// -----

%dy = net.constant 0.0 : tensor<4x8xf32>
%y = net.constant 0.0 : tensor<4x8xf32>
%rstd = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{axis 0 is 8 in the mean, 4 in `rstd`}}
// expected-error@+1 {{failed to infer returned types}}
%dx = net.normalize_grad %dy, %y, %rstd {over = array<i64: 0>} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>

// -----

net.network @through_mean attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-error@below {{cannot differentiate `normalize` through its mean, variance or rstd}}
  %y:4 = net.normalize %x {by_channel = false, over = array<i64: 0>, eps = 1.0e-5} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  net.return %y#1 : tensor<8xf32> ["mean"]
}

// -----

net.network @through_variance attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-error@below {{cannot differentiate `normalize` through its mean, variance or rstd}}
  %y:4 = net.normalize %x {by_channel = false, over = array<i64: 0>, eps = 1.0e-5} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  net.return %y#2 : tensor<8xf32> ["variance"]
}
