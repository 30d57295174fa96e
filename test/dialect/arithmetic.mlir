// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

// One operation for each of 10 * N elements.
%a = net.constant 0.0 : tensor<?x10xf32, #net.axes<"N", "10">>
%b = net.constant 0.0 : tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 0}}
%add = net.add %a, %b : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 0}}
%sub = net.sub %a, %b : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 0}}
%mul = net.mul %a, %b : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 0}}
%div = net.div %a, %b : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>

// -----

// Minus dy for b.
// CHECK-LABEL: net.network @sub
//       CHECK:   %[[A:.*]] = net.parameter "a"
//       CHECK:   %[[B:.*]] = net.parameter "b"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[DB:.*]] = net.neg %[[DY]]
//       CHECK:   net.gradient %[[A]], %[[DY]]
//       CHECK:   net.gradient %[[B]], %[[DB]]
net.network @sub attributes {inputs = []} {
  %a = net.parameter "a" "normal" : tensor<5x5xf32>
  %b = net.parameter "b" "normal" : tensor<5x5xf32>
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.sub %a, %b : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// A square has the sum of both gradients.
// CHECK-LABEL: net.network @mul
//       CHECK:   %[[A:.*]] = net.parameter "a"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[DA:.*]] = net.mul %[[DY]], %[[A]]
//       CHECK:   %[[DB:.*]] = net.mul %[[DY]], %[[A]]
//       CHECK:   %[[SUM:.*]] = net.add %[[DA]], %[[DB]]
//       CHECK:   net.gradient %[[A]], %[[SUM]]
net.network @mul attributes {inputs = []} {
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %a = net.parameter "a" "normal" : tensor<5x5xf32>
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.mul %a, %a : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// dy / b for a, and minus y times that for b.
// CHECK-LABEL: net.network @div
//       CHECK:   %[[A:.*]] = net.parameter "a"
//       CHECK:   %[[B:.*]] = net.parameter "b"
//       CHECK:   %[[Y:.*]] = net.div
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[DA:.*]] = net.div %[[DY]], %[[B]]
//       CHECK:   %[[PRODUCT:.*]] = net.mul %[[DA]], %[[Y]]
//       CHECK:   %[[DB:.*]] = net.neg %[[PRODUCT]]
//       CHECK:   net.gradient %[[A]], %[[DA]]
//       CHECK:   net.gradient %[[B]], %[[DB]]
net.network @div attributes {inputs = []} {
  %a = net.parameter "a" "normal" : tensor<5x5xf32>
  %b = net.parameter "b" "normal" : tensor<5x5xf32>
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.div %a, %b : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

%a = net.constant 0.0 : tensor<4x3xi64>
// Arithmetic on whole numbers is not counted.
%y = net.add %a, %a : (tensor<4x3xi64>, tensor<4x3xi64>) -> tensor<4x3xi64>

// -----

%a = net.constant 0.0 : tensor<2x3x500xf32>
%b = net.constant 0.0 : tensor<2x3x512xf32>
// expected-error@+2 {{the tensors of `add` do not fit: axis 2 is 500 on the left, 512 on the right}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.add %a, %b : (tensor<2x3x500xf32>, tensor<2x3x512xf32>) -> tensor<2x3x500xf32>

// -----

%a = net.constant 0.0 : tensor<?x8xf32, #net.axes<"N", "8">>
%b = net.constant 0.0 : tensor<?x8xf32, #net.axes<"T", "8">>
// expected-error@+2 {{the tensors of `mul` do not fit: axis 0 is N on the left, T on the right}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.mul %a, %b : (tensor<?x8xf32, #net.axes<"N", "8">>, tensor<?x8xf32, #net.axes<"T", "8">>) -> tensor<?x8xf32, #net.axes<"N", "8">>

// -----

%a = net.constant 0.0 : tensor<2x3xf32>
%b = net.constant 0.0 : tensor<2xf32>
// expected-error@+2 {{the tensors of `div` do not fit: 2 axes on the left, 1 on the right}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.div %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>

// -----

%a = net.constant 0.0 : tensor<3xf32>
%b = net.arange : tensor<3xi64>
// expected-error@+2 {{`sub` takes tensors of one element type, not of `f32` and `i64`}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.sub %a, %b : (tensor<3xf32>, tensor<3xi64>) -> tensor<3xf32>

// -----

// Of several formats, the widest; of two of 16 bits, f32.
%a = net.constant 0.0 : tensor<2xbf16>
%b = net.constant 0.0 : tensor<2xf32>
%c = net.constant 0.0 : tensor<2xf16>
// expected-remark@+1 {{matmul 0, other 2, transcendental 0}}
%y = net.sub %a, %b : (tensor<2xbf16>, tensor<2xf32>) -> tensor<2xf32>
// expected-remark@+1 {{matmul 0, other 2, transcendental 0}}
%z = net.mul %a, %c : (tensor<2xbf16>, tensor<2xf16>) -> tensor<2xf32>
// expected-remark@+1 {{matmul 0, other 2, transcendental 0}}
%v = net.add %a, %a : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
