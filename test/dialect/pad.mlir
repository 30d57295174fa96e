// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// CHECK-LABEL: net.network @pad
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.slice %[[DY]] {axis = 1 : i64,{{.*}} start = #net.poly<"1">} : (tensor<4x11xf32>) -> tensor<4x8xf32>
net.network @pad attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  %y = net.pad %x {over = 1, low = 1, high = 2, value = 0.0} : (tensor<4x8xf32>) -> tensor<4x11xf32>
  net.return %y : tensor<4x11xf32> ["y"]
}

// CHECK-LABEL: net.network @free
net.network @free attributes {inputs = ["x"]} {
^bb0(%x: tensor<?xf32, #net.axes<"T">>):
  %y = net.pad %x {over = 0, low = 1, high = 0, value = 0.0} : (tensor<?xf32, #net.axes<"T">>) -> tensor<?xf32, #net.axes<"T + 1">>
  net.return []
}

// -----

%x = net.constant 0.0 : tensor<8xf32>
// expected-error@+2 {{cannot pad by -1}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.pad %x {over = 0, low = 1, high = -1, value = 0.0} : (tensor<8xf32>) -> tensor<8xf32>

// -----

%x = net.constant 0.0 : tensor<8xf32>
// expected-error@+2 {{axis 0 of the result of `pad` has 18446744073709551622 elements, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.pad %x {over = 0, low = 9223372036854775807, high = 9223372036854775807, value = 0.0} : (tensor<8xf32>) -> tensor<8xf32>

// -----

%x = net.constant 0.0 : tensor<8xf32>
// expected-error@+2 {{`pad` works over axis 1, its operand has 1 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.pad %x {over = 1, low = 1, high = 0, value = 0.0} : (tensor<8xf32>) -> tensor<9xf32>
