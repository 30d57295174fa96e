// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Free; backward one sum for each of 2 * 5 * 3 elements that were read.
// CHECK-LABEL: net.network @gather
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       %[[ZERO:.*]] = net.constant 0.0
// CHECK:       net.scatter_add %[[ZERO]], %ids, %[[DY]] {net.phase = {{.*}}, over = 1 : i64
net.network @gather attributes {inputs = ["ids"]} {
^bb0(%ids: tensor<2x5xi32>):
  %x = net.parameter "x" "normal" : tensor<2x4x3xf32>
  // expected-remark@+1 {{matmul 0, other 30, transcendental 0}}
  %y = net.gather %x, %ids {over = 1 : i64} : (tensor<2x4x3xf32>, tensor<2x5xi32>) -> tensor<2x5x3xf32>
  net.return %y : tensor<2x5x3xf32> ["y"]
}

// -----

// The gradient of what is added is read where it was added; that of x passes.
// CHECK-LABEL: net.network @scatter_add
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.gather %[[DY]], %ids
// CHECK:       net.gradient %{{.*}}, %[[DY]]
net.network @scatter_add attributes {inputs = ["ids"]} {
^bb0(%ids: tensor<2x5xi32>):
  %x = net.parameter "x" "normal" : tensor<2x4x3xf32>
  %values = net.parameter "values" "normal" : tensor<2x5x3xf32>
  // expected-remark@+1 {{matmul 0, other 30, transcendental 0}}
  %y = net.scatter_add %x, %ids, %values {over = 1 : i64} : (tensor<2x4x3xf32>, tensor<2x5xi32>, tensor<2x5x3xf32>) -> tensor<2x4x3xf32>
  net.return %y : tensor<2x4x3xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<2x4x3xf32>
%ids = net.constant 0.0 : tensor<3x5xi64>
// expected-error@+2 {{`gather` takes numbers of rows along axis 1, the axes before it must be those of the rows}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.gather %x, %ids {over = 1 : i64} : (tensor<2x4x3xf32>, tensor<3x5xi64>) -> tensor<3x5x3xf32>

// -----

%x = net.constant 0.0 : tensor<2x4x3xf32>
%ids = net.constant 0.0 : tensor<2x5xi64>
%values = net.constant 0.0 : tensor<2x6x3xf32>
// expected-error@+2 {{the tensors of `scatter_add` do not fit: axis 1 is 5 by the numbers, 6 in the values}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.scatter_add %x, %ids, %values {over = 1 : i64} : (tensor<2x4x3xf32>, tensor<2x5xi64>, tensor<2x6x3xf32>) -> tensor<2x4x3xf32>

// -----

// expected-error@+1 {{numbers one axis, its result has 2}}
%y = net.arange : tensor<2x3xi64>
