// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// CHECK-LABEL: net.network @reshape
// CHECK:       net.reshape %{{.*}} : (tensor<4x8xf32>) -> tensor<2x16xf32>
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.reshape %[[DY]] {{.*}}: (tensor<2x16xf32>) -> tensor<4x8xf32>
net.network @reshape attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  %y = net.reshape %x : (tensor<4x8xf32>) -> tensor<2x16xf32>
  net.return %y : tensor<2x16xf32> ["y"]
}

// The products of the sizes are equal polynomials.
// CHECK-LABEL: net.network @free
net.network @free attributes {inputs = ["x"]} {
^bb0(%x: tensor<?x?x8xf32, #net.axes<"N", "T + 1", "8">>):
  %y = net.reshape %x : (tensor<?x?x8xf32, #net.axes<"N", "T + 1", "8">>) -> tensor<?x2xf32, #net.axes<"4*N*T + 4*N", "2">>
  net.return %y : tensor<?x2xf32, #net.axes<"4*N*T + 4*N", "2">> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4x6xf32>
// expected-error@+1 {{cannot reshape: the tensor has 24 elements, the new shape 25}}
%y = net.reshape %x : (tensor<4x6xf32>) -> tensor<5x5xf32>

// -----

%x = net.constant 0.0 : tensor<?xf32, #net.axes<"N">>
// expected-error@+1 {{cannot reshape: the tensor has N elements, the new shape T}}
%y = net.reshape %x : (tensor<?xf32, #net.axes<"N">>) -> tensor<?xf32, #net.axes<"T">>

// -----

%x = net.constant 0.0 : tensor<1099511627776x1099511627776x1099511627776x1099511627776xf32>
// expected-error@+1 {{cannot reshape: the tensor has <overflow> elements, the new shape <overflow>}}
%y = net.reshape %x : (tensor<1099511627776x1099511627776x1099511627776x1099511627776xf32>) -> tensor<1099511627776x1099511627776x1099511627776x1099511627776x2xf32>

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+1 {{takes tensors of one element type, not of `f32` and `f16`}}
%y = net.reshape %x : (tensor<4xf32>) -> tensor<4xf16>
