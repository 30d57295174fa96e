// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%x = net.constant 0.0 : tensor<?x?x512xf32, #net.axes<"N", "T", "512">>
%w = net.constant 0.0 : tensor<64x512xf32>

// 64 sums of 512 products for each of N*T vectors, a product and a sum being two
// operations: 2 * 64 * 512 = 65536.
// expected-remark@+1 {{matmul 65536*N*T, other 0, transcendental 0}}
%y = net.linear %x, %w {over = 2} : (tensor<?x?x512xf32, #net.axes<"N", "T", "512">>, tensor<64x512xf32>) -> tensor<?x?x64xf32, #net.axes<"N", "T", "64">>

// -----

// 2 * 4 * 8 * 16 forward, for x and for w.
// CHECK-LABEL: net.network @linear
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[W:.*]] = net.parameter "w"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[WT:.*]] = net.transpose %[[W]] {{.*}}order = array<i64: 1, 0>
//       CHECK:   %[[DX:.*]] = net.linear %[[DY]], %[[WT]] {net.phase = {{.*}}, over = 1 : i64}
//       CHECK:   %[[DW:.*]] = net.einsum "a0 m, a0 k -> m k"(%[[DY]], %[[X]])
//       CHECK:   net.gradient %[[X]], %[[DX]]
//       CHECK:   net.gradient %[[W]], %[[DW]]
net.network @linear attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  %w = net.parameter "w" "normal" : tensor<16x8xf32>
  // expected-remark@+1 {{matmul 1024, other 0, transcendental 0}}
  %y = net.linear %x, %w {over = 1} : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  net.return %y : tensor<4x16xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<2x3x5xf32>
%w = net.constant 0.0 : tensor<8x3xf32>
// Any axis can be contracted: 2 * 8 * (2 * 3 * 5).
// expected-remark@+1 {{matmul 480, other 0, transcendental 0}}
%y = net.linear %x, %w {over = 1} : (tensor<2x3x5xf32>, tensor<8x3xf32>) -> tensor<2x8x5xf32>

// -----

%x = net.constant 0.0 : tensor<4x256xf32>
%w = net.constant 0.0 : tensor<64x512xf32>
// expected-error@+2 {{`linear` takes 512 features, axis 1 of its input has 256}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.linear %x, %w {over = 1} : (tensor<4x256xf32>, tensor<64x512xf32>) -> tensor<4x64xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
%w = net.constant 0.0 : tensor<2x2x8xf32>
// expected-error@+2 {{`linear` takes a weight of 2 axes, it has 3}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.linear %x, %w {over = 1} : (tensor<4x8xf32>, tensor<2x2x8xf32>) -> tensor<4x2xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
%w = net.constant 0.0 : tensor<2x8xf16>
// expected-error@+2 {{`linear` takes tensors of one element type, not of `f32` and `f16`}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.linear %x, %w {over = 1} : (tensor<4x8xf32>, tensor<2x8xf16>) -> tensor<4x2xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
%w = net.constant 0.0 : tensor<2x8xf32>
// expected-error@+2 {{`linear` works over axis -1, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.linear %x, %w {over = -1} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>

// -----

%x = net.constant 0.0 : tensor<4x8xi64>
%w = net.constant 0.0 : tensor<2x8xi64>
// expected-error@+1 {{operand #0 must be a tensor of floating-point numbers, but got 'tensor<4x8xi64>'}}
%y = net.linear %x, %w {over = 1} : (tensor<4x8xi64>, tensor<2x8xi64>) -> tensor<4x2xi64>

// -----

%x = net.constant 0.0 : tensor<4x8xf32>
%w = net.constant 0.0 : tensor<2x8xf32>
// expected-error@+2 {{inferred type(s) 'tensor<4x2xf32>' are incompatible with return type(s) of operation 'tensor<4x8xf32>'}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.linear %x, %w {over = 1} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
