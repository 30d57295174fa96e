// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%q = net.constant 0.0 : tensor<?x8x?x64xf32, #net.axes<"N", "8", "T", "64">>
%k = net.constant 0.0 : tensor<?x8x?x64xf32, #net.axes<"N", "8", "T", "64">>
// A product and a sum at each of N * 8 * T * T * 64 points.
// expected-remark@+1 {{matmul 1024*N*T^2, other 0, transcendental 0}}
%y = net.einsum "n h t k, n h s k -> n h t s"(%q, %k) : (tensor<?x8x?x64xf32, #net.axes<"N", "8", "T", "64">>, tensor<?x8x?x64xf32, #net.axes<"N", "8", "T", "64">>) -> tensor<?x8x?x?xf32, #net.axes<"N", "8", "T", "T">>

// -----

// Only x has t, so that all of t has one gradient: 2 * 2 * 4 * 5 operations make it.
// CHECK-LABEL: net.network @einsum
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[W:.*]] = net.parameter "w"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[ROWS:.*]] = net.einsum "n m, d m -> n d"(%[[DY]], %[[W]])
//       CHECK:   %[[DX:.*]] = net.broadcast %[[ROWS]] {axes = array<i64: 0, 2>
//       CHECK:   %[[DW:.*]] = net.einsum "n t d, n m -> d m"(%[[X]], %[[DY]])
net.network @einsum attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x3x4xf32>
  %w = net.parameter "w" "normal" : tensor<4x5xf32>
  // expected-remark@+2 {{matmul 240, other 0, transcendental 0}}
  // expected-remark@+1 {{matmul 80, other 0, transcendental 0}}
  %y = net.einsum "n t d, d m -> n m"(%x, %w) : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  net.return %y : tensor<2x5xf32> ["y"]
}

// -----

%a = net.constant 0.0 : tensor<2x3x4xf32>
%b = net.constant 0.0 : tensor<2x3x5xf32>
%c = net.constant 0.0 : tensor<2x3x4xf32>
// Two products and a sum at each of 2 * 3 * 4 * 5 points.
// expected-remark@+1 {{matmul 360, other 0, transcendental 0}}
%y = net.einsum "n t d, n t s, n t d -> n s"(%a, %b, %c) : (tensor<2x3x4xf32>, tensor<2x3x5xf32>, tensor<2x3x4xf32>) -> tensor<2x5xf32>

// -----

%a = net.constant 0.0 : tensor<2x3x4xf32>
%b = net.constant 0.0 : tensor<2x3x5xf32>
// Nothing is summed: one product for each element of the result, 2 * 3 * 4 * 5.
// expected-remark@+1 {{matmul 0, other 120, transcendental 0}}
%y = net.einsum "n t d, n t s -> n t d s"(%a, %b) : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x3x4x5xf32>

// -----

%a = net.constant 0.0 : tensor<2x3x4xf32>
// A sum alone: one addition an element.
// expected-remark@+1 {{matmul 0, other 24, transcendental 0}}
%y = net.einsum "n t d -> n d"(%a) : (tensor<2x3x4xf32>) -> tensor<2x4xf32>

// -----

%a = net.constant 0.0 : tensor<2x3x4xf32>
// A transpose computes nothing.
%y = net.einsum "n t d -> d n t"(%a) : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>

// -----

%a = net.constant 0.0 : tensor<3xf32>
%b = net.constant 0.0 : tensor<f32>
// A tensor without axes has no letters.
// expected-remark@+1 {{matmul 6, other 0, transcendental 0}}
%y = net.einsum "n, ->"(%a, %b) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>

// -----

%a = net.constant 0.0 : tensor<2x3xf32>
%b = net.constant 0.0 : tensor<3x4xf32>
// expected-error@+2 {{`einsum` needs one `->`, `n d, d m` has 0}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "n d, d m"(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a = net.constant 0.0 : tensor<2x3xf32>
// expected-error@+2 {{`einsum` needs one `->`, `n d -> n -> d` has 2}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "n d -> n -> d"(%a) : (tensor<2x3xf32>) -> tensor<2xf32>

// -----

%a = net.constant 0.0 : tensor<2x12xf32>
// expected-error@+2 {{`einsum` takes one name an axis, `(h` is none; groups are for `rearrange`}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "n (h k) -> n h k"(%a) : (tensor<2x12xf32>) -> tensor<2x3x4xf32>

// -----

%a = net.constant 0.0 : tensor<2x2xf32>
// expected-error@+2 {{`einsum` takes one name an axis, `2` is none}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "n 2 -> n"(%a) : (tensor<2x2xf32>) -> tensor<2xf32>

// -----

%a = net.constant 0.0 : tensor<2x2xf32>
// expected-error@+2 {{`einsum` takes one name an axis, `d.e` is none}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "n d.e -> n"(%a) : (tensor<2x2xf32>) -> tensor<2xf32>

// -----

%a = net.constant 0.0 : tensor<2x2xf32>
// expected-error@+2 {{`einsum` names axis `n` twice in one tensor}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "n n -> n"(%a) : (tensor<2x2xf32>) -> tensor<2xf32>

// -----

%a = net.constant 0.0 : tensor<2x3xf32>
// expected-error@+2 {{`einsum` has axis `m` in its result, but in no operand}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "n d -> n m"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%a = net.constant 0.0 : tensor<2x3xf32>
// expected-error@+2 {{`einsum` names the axes of 2 operands, it has 1}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "n d, d m -> n m"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%a = net.constant 0.0 : tensor<2x3x4xf32>
// expected-error@+2 {{`einsum` names 2 axes of operand 1, it has 3}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "n d -> n"(%a) : (tensor<2x3x4xf32>) -> tensor<2xf32>

// -----

%a = net.constant 0.0 : tensor<2x64xf32>
%b = net.constant 0.0 : tensor<32x5xf32>
// expected-error@+2 {{axis `d` of `einsum` is 64 before, 32 in operand 2}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "n d, d m -> n m"(%a, %b) : (tensor<2x64xf32>, tensor<32x5xf32>) -> tensor<2x5xf32>

// -----

%a = net.constant 0.0 : tensor<2xf32>
// expected-error@+2 {{`einsum` names 65 axes, at most 64 are possible}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.einsum "a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 a18 a19 a20 a21 a22 a23 a24 a25 a26 a27 a28 a29 a30 a31 a32 a33 a34 a35 a36 a37 a38 a39 a40 a41 a42 a43 a44 a45 a46 a47 a48 a49 a50 a51 a52 a53 a54 a55 a56 a57 a58 a59 a60 a61 a62 a63 a64 -> a0"(%a) : (tensor<2xf32>) -> tensor<2xf32>

// -----

%a = net.constant 0.0 : tensor<2xi64>
// expected-error@+1 {{must be variadic of a tensor of floating-point numbers}}
%y = net.einsum "n -> n"(%a) : (tensor<2xi64>) -> tensor<2xi64>
