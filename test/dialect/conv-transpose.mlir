// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%x = net.constant 0.0 : tensor<?x8x16x16xf32, #net.axes<"N", "8", "16", "16">>
%w = net.constant 0.0 : tensor<8x3x4x4xf32>
// Each of 8 * 16 * 16 inputs goes to 3 * 4 * 4 taps: 2 * 2048 * 48.
// expected-remark@+1 {{matmul 196608*N, other 0, transcendental 0}}
%y = net.conv_transpose %x, %w {stride = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, extra = array<i64: 0, 0>, over = array<i64: 2, 3>, channel = 1} : (tensor<?x8x16x16xf32, #net.axes<"N", "8", "16", "16">>, tensor<8x3x4x4xf32>) -> tensor<?x3x32x32xf32, #net.axes<"N", "3", "32", "32">>

// -----

// 2 * (2 * 4 * 3) * (3 * 3), three times.
// CHECK-LABEL: net.network @conv_transpose
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[W:.*]] = net.parameter "w"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[DX:.*]] = net.conv %[[DY]], %[[W]]
//       CHECK:   %[[DW:.*]] = net.conv_weight_grad %[[DY]], %[[X]]
net.network @conv_transpose attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x4x3xf32>
  %w = net.parameter "w" "normal" : tensor<4x3x3xf32>
  // expected-remark@+1 {{matmul 432, other 0, transcendental 0}}
  %y = net.conv_transpose %x, %w {stride = array<i64: 3>, low = array<i64: 0>, high = array<i64: 1>, dilation = array<i64: 1>, groups = 2, extra = array<i64: 1>, over = array<i64: 2>, channel = 1} : (tensor<2x4x3xf32>, tensor<4x3x3xf32>) -> tensor<2x6x9xf32>
  net.return %y : tensor<2x6x9xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<?x8x?xf32, #net.axes<"N", "8", "T">>
%w = net.constant 0.0 : tensor<8x2x3xf32>
// Twice as long, in two groups: 2 * 8 * T inputs to 2 * 3 taps.
// expected-remark@+1 {{matmul 96*N*T, other 0, transcendental 0}}
%y = net.conv_transpose %x, %w {stride = array<i64: 2>, low = array<i64: 1>, high = array<i64: 0>, dilation = array<i64: 1>, groups = 2, extra = array<i64: 0>, over = array<i64: 2>, channel = 1} : (tensor<?x8x?xf32, #net.axes<"N", "8", "T">>, tensor<8x2x3xf32>) -> tensor<?x4x?xf32, #net.axes<"N", "4", "2*T">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`conv_transpose` takes 6 channels, its input has 4}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv_transpose %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, extra = array<i64: 0, 0>, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<4x6x3x3xf32>
// expected-error@+2 {{`extra` of `conv_transpose` is 2, it must be below the stride 2}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv_transpose %x, %w {stride = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, extra = array<i64: 0, 2>, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<4x6x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<4x6x3x3xf32>
// expected-error@+2 {{`extra` of `conv_transpose` is -1, possible are 0 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv_transpose %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, extra = array<i64: -1, 0>, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<4x6x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<4x6x3x3xf32>
// expected-error@+2 {{`extra` of `conv_transpose` has length 0, it works over 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv_transpose %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, extra = array<i64>, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<4x6x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x1x8xf32, #net.axes<"N", "4", "1", "8">>
%w = net.constant 0.0 : tensor<4x6x1x3xf32>
// expected-error@+2 {{axis 2 of the result of `conv_transpose` has -1 elements, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv_transpose %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, extra = array<i64: 0, 0>, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x1x8xf32, #net.axes<"N", "4", "1", "8">>, tensor<4x6x1x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>
