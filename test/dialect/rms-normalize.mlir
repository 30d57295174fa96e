// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// 8 elements to each of 4 roots. Forward 3 * 32 + 3 * 4 with 4 roots, backward
// 5 * 32 + 4.
// CHECK-LABEL: net.network @rms
// CHECK:       %[[Y:.*]], %[[RSTD:.*]] = net.rms_normalize
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.rms_normalize_grad %[[DY]], %[[Y]], %[[RSTD]] {{.*}}over = array<i64: 1>}
// CHECK-SAME:    : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
net.network @rms attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-remark@+2 {{matmul 0, other 108, transcendental 4}}
  // expected-remark@+1 {{matmul 0, other 164, transcendental 0}}
  %y, %rstd = net.rms_normalize %x {over = array<i64: 1>, eps = 1.0e-6} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  net.return %y : tensor<4x8xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`rms_normalize` works over axis 2, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y:2 = net.rms_normalize %x {over = array<i64: 2>, eps = 1.0e-6} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)

// -----

net.network @through_rstd attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  // expected-error@below {{cannot differentiate `rms_normalize` through its rstd}}
  %y:2 = net.rms_normalize %x {over = array<i64: 1>, eps = 1.0e-6} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  net.return %y#1 : tensor<4xf32> ["rstd"]
}
