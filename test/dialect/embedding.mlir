// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%ids = net.constant 0.0 : tensor<?x?xi64, #net.axes<"N", "T">>
%table = net.constant 0.0 : tensor<30000x512xf32>
%dy = net.constant 0.0 : tensor<?x?x512xf32, #net.axes<"N", "T", "512">>
// A look-up computes nothing.
%y = net.embedding %ids, %table : (tensor<?x?xi64, #net.axes<"N", "T">>, tensor<30000x512xf32>) -> tensor<?x?x512xf32, #net.axes<"N", "T", "512">>

// Each element of dy is added to the table.
// expected-remark@+1 {{matmul 0, other 512*N*T, transcendental 0}}
%dtable = net.embedding_grad %dy, %ids : (tensor<?x?x512xf32, #net.axes<"N", "T", "512">>, tensor<?x?xi64, #net.axes<"N", "T">>) -> tensor<30000x512xf32>

// -----

// One addition for each of 3 * 5 * 4 elements.
// CHECK-LABEL: net.network @embedding
//       CHECK:   %[[TABLE:.*]] = net.parameter "table"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[DTABLE:.*]] = net.embedding_grad %[[DY]], %ids
//       CHECK:   net.gradient %[[TABLE]], %[[DTABLE]]
net.network @embedding attributes {inputs = ["ids"]} {
^bb0(%ids: tensor<3x5xi64>):
  %table = net.parameter "table" "normal" : tensor<10x4xf32>
  // expected-remark@+1 {{matmul 0, other 60, transcendental 0}}
  %y = net.embedding %ids, %table : (tensor<3x5xi64>, tensor<10x4xf32>) -> tensor<3x5x4xf32>
  net.return %y : tensor<3x5x4xf32> ["y"]
}

// -----

%ids = net.constant 0.0 : tensor<4xf32>
%table = net.constant 0.0 : tensor<30000x512xf32>
// expected-error@+2 {{`embedding` takes whole numbers, such as `i32`, not `f32`}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.embedding %ids, %table : (tensor<4xf32>, tensor<30000x512xf32>) -> tensor<4x512xf32>

// -----

%ids = net.constant 0.0 : tensor<4xi32>
%table = net.constant 0.0 : tensor<10x2x3xf32>
// expected-error@+2 {{`embedding` takes a table of 2 axes, it has 3}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.embedding %ids, %table : (tensor<4xi32>, tensor<10x2x3xf32>) -> tensor<4x3xf32>

// -----

%dy = net.constant 0.0 : tensor<4x8xf32>
%ids = net.constant 0.0 : tensor<4xi32>
// expected-error@+1 {{takes a gradient 'tensor<4x16xf32>', it is given 'tensor<4x8xf32>'}}
%dtable = net.embedding_grad %dy, %ids : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<10x16xf32>

// -----

%ids = net.constant 0.0 : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xi64>
%table = net.constant 0.0 : tensor<10x8xf32>
// expected-error@+2 {{result of `embedding` has 65 axes, at most 64 are possible}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.embedding %ids, %table : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xi64>, tensor<10x8xf32>) -> tensor<1x8xf32>
