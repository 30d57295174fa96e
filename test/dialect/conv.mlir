// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%x = net.constant 0.0 : tensor<?x3x224x224xf32, #net.axes<"N", "3", "224", "224">>
%w = net.constant 0.0 : tensor<64x3x7x7xf32>
// 64 * 112 * 112 outputs, each from 3 * 7 * 7 taps: 2 * 802816 * 147.
// expected-remark@+1 {{matmul 236027904*N, other 0, transcendental 0}}
%y = net.conv %x, %w {stride = array<i64: 2, 2>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x3x224x224xf32, #net.axes<"N", "3", "224", "224">>, tensor<64x3x7x7xf32>) -> tensor<?x64x112x112xf32, #net.axes<"N", "64", "112", "112">>

// -----

// The two last elements are in no window, their gradient is zero.
// CHECK-LABEL: net.network @tail
//       CHECK:   net.conv_transpose {{.*}}extra = array<i64: 2>
net.network @tail attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x4x11xf32>
  %w = net.parameter "w" "normal" : tensor<6x2x3xf32>
  // expected-remark@+1 {{matmul 576, other 0, transcendental 0}}
  %y = net.conv %x, %w {stride = array<i64: 3>, low = array<i64: 2>, high = array<i64: 1>, dilation = array<i64: 1>, groups = 2, over = array<i64: 2>, channel = 1} : (tensor<2x4x11xf32>, tensor<6x2x3xf32>) -> tensor<2x6x4xf32>
  net.return %y : tensor<2x6x4xf32> ["y"]
}

// -----

// 2 * (2 * 6 * 4) * (2 * 3), three times.
// CHECK-LABEL: net.network @conv
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[W:.*]] = net.parameter "w"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[DX:.*]] = net.conv_transpose %[[DY]], %[[W]] {channel = 1 : i64, dilation = array<i64: 1>, extra = array<i64: 0>, groups = 2 : i64, high = array<i64: 1>, low = array<i64: 2>,
//       CHECK:   %[[DW:.*]] = net.conv_weight_grad %[[X]], %[[DY]]
net.network @conv attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x4x9xf32>
  %w = net.parameter "w" "normal" : tensor<6x2x3xf32>
  // expected-remark@+1 {{matmul 576, other 0, transcendental 0}}
  %y = net.conv %x, %w {stride = array<i64: 3>, low = array<i64: 2>, high = array<i64: 1>, dilation = array<i64: 1>, groups = 2, over = array<i64: 2>, channel = 1} : (tensor<2x4x9xf32>, tensor<6x2x3xf32>) -> tensor<2x6x4xf32>
  net.return %y : tensor<2x6x4xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<?x14x14x32xf32, #net.axes<"N", "14", "14", "32">>
%w = net.constant 0.0 : tensor<32x1x3x3xf32>
// Channels last, one group a channel: 2 * 32 * 14 * 14 outputs of 9 taps.
// expected-remark@+1 {{matmul 112896*N, other 0, transcendental 0}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 32, over = array<i64: 1, 2>, channel = 3} : (tensor<?x14x14x32xf32, #net.axes<"N", "14", "14", "32">>, tensor<32x1x3x3xf32>) -> tensor<?x14x14x32xf32, #net.axes<"N", "14", "14", "32">>

// -----

%x = net.constant 0.0 : tensor<?x?x4xf32, #net.axes<"N", "T", "4">>
%w = net.constant 0.0 : tensor<8x4x3xf32>
// A causal window over a free axis: 2 * 8 * T outputs of 4 * 3 taps.
// expected-remark@+1 {{matmul 192*N*T, other 0, transcendental 0}}
%y = net.conv %x, %w {stride = array<i64: 1>, low = array<i64: 4>, high = array<i64: 0>, dilation = array<i64: 2>, groups = 1, over = array<i64: 1>, channel = 2} : (tensor<?x?x4xf32, #net.axes<"N", "T", "4">>, tensor<8x4x3xf32>) -> tensor<?x?x8xf32, #net.axes<"N", "T", "8">>

// -----

%x = net.constant 0.0 : tensor<?x3x32x32xf32, #net.axes<"N", "3", "32", "32">>
%dy = net.constant 0.0 : tensor<?x16x16x16xf32, #net.axes<"N", "16", "16", "16">>
// As many operations as forward: 2 * 16 * 16 * 16 * (3 * 3 * 3).
// expected-remark@+1 {{matmul 221184*N, other 0, transcendental 0}}
%dw = net.conv_weight_grad %x, %dy {stride = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x3x32x32xf32, #net.axes<"N", "3", "32", "32">>, tensor<?x16x16x16xf32, #net.axes<"N", "16", "16", "16">>) -> tensor<16x3x3x3xf32>

// -----

%x = net.constant 0.0 : tensor<?x32x8x8xf32, #net.axes<"N", "32", "8", "8">>
%w = net.constant 0.0 : tensor<6x64x3x3xf32>
// expected-error@+2 {{`conv` takes 64 channels, its input has 32}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x32x8x8xf32, #net.axes<"N", "32", "8", "8">>, tensor<6x64x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3xf32>
// expected-error@+2 {{`conv` over 2 axes takes a weight of 4 axes, it has 3}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x1x3x3xf32>
// expected-error@+2 {{`groups` of `conv` is 4, which does not divide 6 channels}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 4, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x1x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`groups` of `conv` is 0, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 0, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`stride` of `conv` has length 1, it works over 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`stride` of `conv` is 0, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 0, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`low` of `conv` is -1, possible are 0 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: -1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`high` of `conv` is 1099511627777, possible are 0 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1099511627777, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`dilation` of `conv` is -9223372036854775808, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: -9223372036854775808, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`conv` works over axis 4, its operand has 4 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 4>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`conv` works over axis 2 twice}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 2>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`conv` works over axis 3 twice}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 3} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4xf32>
// expected-error@+2 {{`conv` has no axis to work over; label axes D, H, W or L, or set `over`}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64>, low = array<i64>, high = array<i64>, dilation = array<i64>, groups = 1, over = array<i64>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x5x8xf32, #net.axes<"N", "4", "5", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{window of `conv` spans 9 elements, axis 2 has 7, padding included}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 4, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x5x8xf32, #net.axes<"N", "4", "5", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x?x8xf32, #net.axes<"N", "4", "T", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`T` must have a fixed size; write `T = 128` in the net's signature, for instance}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 2, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x?x8xf32, #net.axes<"N", "4", "T", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x?x8xf32, #net.axes<"N", "4", "T - 2", "8">>
%w = net.constant 0.0 : tensor<6x4x3x3xf32>
// expected-error@+2 {{`T - 2` must have a fixed size; write `T = 128` in the net's signature, for instance}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 2, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x?x8xf32, #net.axes<"N", "4", "T - 2", "8">>, tensor<6x4x3x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
%w = net.constant 0.0 : tensor<6x4x?x3xf32, #net.axes<"6", "4", "K", "3">>
// expected-error@+2 {{`K` must have a fixed size; write `K = 128` in the net's signature, for instance}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>, tensor<6x4x?x3xf32, #net.axes<"6", "4", "K", "3">>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x4x1099511627776x8xf32, #net.axes<"N", "4", "1099511627776", "8">>
%w = net.constant 0.0 : tensor<6x4x1x3xf32>
// expected-error@+2 {{axis 2 of the result of `conv` has 1099511627778 elements, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.conv %x, %w {stride = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x4x1099511627776x8xf32, #net.axes<"N", "4", "1099511627776", "8">>, tensor<6x4x1x3xf32>) -> tensor<?x6x8x8xf32, #net.axes<"N", "6", "8", "8">>

// -----

%x = net.constant 0.0 : tensor<?x3x32x32xf32, #net.axes<"N", "3", "32", "32">>
%dy = net.constant 0.0 : tensor<?x16x16x16xf32, #net.axes<"N", "16", "16", "16">>
// expected-error@+1 {{takes a gradient 'tensor<?x16x16x16xf32, #net.axes<"N", "16", "16", "16">>', it is given}}
%dw = net.conv_weight_grad %x, %x {stride = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, groups = 1, over = array<i64: 2, 3>, channel = 1} : (tensor<?x3x32x32xf32, #net.axes<"N", "3", "32", "32">>, tensor<?x3x32x32xf32, #net.axes<"N", "3", "32", "32">>) -> tensor<16x3x3x3xf32>
