// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// 27 * 26 / 2 pairs.
// CHECK-LABEL: net.network @pairs
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.lower_triangle_grad %[[DY]] {{.*}}: (tensor<4x351xf32>) -> tensor<4x27x27xf32>
net.network @pairs attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x27x27xf32>
  %y = net.lower_triangle %x : (tensor<4x27x27xf32>) -> tensor<4x351xf32>
  net.return %y : tensor<4x351xf32> ["y"]
}

// CHECK-LABEL: net.network @free
net.network @free attributes {inputs = ["x"]} {
^bb0(%x: tensor<?x?xf32, #net.axes<"T", "T">>):
  %y = net.lower_triangle %x : (tensor<?x?xf32, #net.axes<"T", "T">>) -> tensor<?xf32, #net.axes<"1/2*T^2 - 1/2*T">>
  net.return []
}

// -----

%x = net.constant 0.0 : tensor<3x4xf32>
// expected-error@+2 {{a triangle needs two equal axes at the end, the tensor has 3 and 4}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.lower_triangle %x : (tensor<3x4xf32>) -> tensor<3xf32>

// -----

%x = net.constant 0.0 : tensor<3xf32>
// expected-error@+2 {{a triangle needs two equal axes at the end, the tensor has 1}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.lower_triangle %x : (tensor<3xf32>) -> tensor<3xf32>

// -----

%x = net.constant 0.0 : tensor<1x1xf32>
// expected-error@+2 {{axis 0 of the result of `lower_triangle` has 0 elements, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.lower_triangle %x : (tensor<1x1xf32>) -> tensor<1xf32>

// -----

%dy = net.constant 0.0 : tensor<4xf32>
// expected-error@+1 {{takes a gradient 'tensor<3xf32>', it is given 'tensor<4xf32>'}}
%dx = net.lower_triangle_grad %dy : (tensor<4xf32>) -> tensor<3x3xf32>
