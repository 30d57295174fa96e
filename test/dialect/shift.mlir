// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// CHECK-LABEL: net.network @shift
// CHECK:       net.shift %{{.*}} {by = 1 : i64, over = 1 : i64}
net.network @shift attributes {inputs = ["tokens"]} {
^bb0(%tokens: tensor<4x?xi32, #net.axes<"4", "T">>):
  %y = net.shift %tokens {by = 1, over = 1} : (tensor<4x?xi32, #net.axes<"4", "T">>) -> tensor<4x?xi32, #net.axes<"4", "T">>
  net.return %y : tensor<4x?xi32, #net.axes<"4", "T">> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<512xi32>
// expected-error@+2 {{cannot shift by 600: axis 0 is 512}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.shift %x {by = 600, over = 0} : (tensor<512xi32>) -> tensor<512xi32>

// -----

%x = net.constant 0.0 : tensor<512xi32>
// expected-error@+2 {{cannot shift by -1: axis 0 is 512}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.shift %x {by = -1, over = 0} : (tensor<512xi32>) -> tensor<512xi32>

// -----

%x = net.constant 0.0 : tensor<512xi32>
// expected-error@+2 {{`shift` works over axis 1, its operand has 1 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.shift %x {by = 1, over = 1} : (tensor<512xi32>) -> tensor<512xi32>

// -----

%x = net.constant 0.0 : tensor<512xf32>
// expected-error@+1 {{operand #0 must be a tensor of integers}}
%y = net.shift %x {by = 1, over = 0} : (tensor<512xf32>) -> tensor<512xf32>
