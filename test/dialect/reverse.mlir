// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// CHECK-LABEL: net.network @reverse
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.reverse %[[DY]] {{.*}}over = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
net.network @reverse attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  %y = net.reverse %x {over = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  net.return %y : tensor<4x8xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
// expected-error@+2 {{`reverse` works over axis 2, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.reverse %x {over = 2} : (tensor<4x8xf32>) -> tensor<4x8xf32>
