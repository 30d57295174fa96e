// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%x = net.constant 0.0 : tensor<?x4x10x6xf32, #net.axes<"N", "4", "10", "6">>
// Windows 0-3, 3-6 and 6-9 of 10, three of 2 of 6: 4 * (12 * 6) sums and 4 * 3 * 3
// quotients.
// expected-remark@+1 {{matmul 0, other 324*N, transcendental 0}}
%y = net.adaptive_avg_pool %x {size = array<i64: 3, 3>, over = array<i64: 2, 3>} : (tensor<?x4x10x6xf32, #net.axes<"N", "4", "10", "6">>) -> tensor<?x4x3x3xf32, #net.axes<"N", "4", "3", "3">>

// -----

// 7 + 4 - 1 elements in all windows and 4 quotients, twice.
// CHECK-LABEL: net.network @adaptive_avg_pool
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.adaptive_avg_pool_grad %[[DY]] {net.phase = {{.*}}, over = array<i64: 2>}
net.network @adaptive_avg_pool attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x1x7xf32>
  // expected-remark@+1 {{matmul 0, other 28, transcendental 0}}
  %y = net.adaptive_avg_pool %x {size = array<i64: 4>, over = array<i64: 2>} : (tensor<2x1x7xf32>) -> tensor<2x1x4xf32>
  net.return %y : tensor<2x1x4xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<?x4x?x?xf32, #net.axes<"N", "4", "H", "W">>
// One window needs no size: every element once, and a quotient a channel.
// expected-remark@+1 {{matmul 0, other 4*H*N*W + 4*N, transcendental 0}}
%y = net.adaptive_avg_pool %x {size = array<i64: 1, 1>, over = array<i64: 2, 3>} : (tensor<?x4x?x?xf32, #net.axes<"N", "4", "H", "W">>) -> tensor<?x4x1x1xf32, #net.axes<"N", "4", "1", "1">>

// -----

%dy = net.constant 0.0 : tensor<?x4x3x3xf32, #net.axes<"N", "4", "3", "3">>
// As many additions to dx as sums forward.
// expected-remark@+1 {{matmul 0, other 324*N, transcendental 0}}
%dx = net.adaptive_avg_pool_grad %dy {over = array<i64: 2, 3>} : (tensor<?x4x3x3xf32, #net.axes<"N", "4", "3", "3">>) -> tensor<?x4x10x6xf32, #net.axes<"N", "4", "10", "6">>

// -----

%x = net.constant 0.0 : tensor<?x4x?x6xf32, #net.axes<"N", "4", "H", "6">>
// expected-error@+2 {{`H` must have a fixed size; write `H = 128` in the net's signature, for instance}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.adaptive_avg_pool %x {size = array<i64: 7, 7>, over = array<i64: 2, 3>} : (tensor<?x4x?x6xf32, #net.axes<"N", "4", "H", "6">>) -> tensor<?x4x7x7xf32, #net.axes<"N", "4", "7", "7">>

// -----

%x = net.constant 0.0 : tensor<?x4x10x6xf32, #net.axes<"N", "4", "10", "6">>
// expected-error@+2 {{`size` of `adaptive_avg_pool` is 0, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.adaptive_avg_pool %x {size = array<i64: 3, 0>, over = array<i64: 2, 3>} : (tensor<?x4x10x6xf32, #net.axes<"N", "4", "10", "6">>) -> tensor<?x4x3x3xf32, #net.axes<"N", "4", "3", "3">>

// -----

%x = net.constant 0.0 : tensor<?x4x10x6xf32, #net.axes<"N", "4", "10", "6">>
// expected-error@+2 {{`size` of `adaptive_avg_pool` has length 1, it works over 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.adaptive_avg_pool %x {size = array<i64: 3>, over = array<i64: 2, 3>} : (tensor<?x4x10x6xf32, #net.axes<"N", "4", "10", "6">>) -> tensor<?x4x3x3xf32, #net.axes<"N", "4", "3", "3">>

// -----

%x = net.constant 0.0 : tensor<?x4x10x6xf32, #net.axes<"N", "4", "10", "6">>
// expected-error@+2 {{`adaptive_avg_pool` has no axis to work over; label axes D, H, W or L, or set `over`}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.adaptive_avg_pool %x {size = array<i64>, over = array<i64>} : (tensor<?x4x10x6xf32, #net.axes<"N", "4", "10", "6">>) -> tensor<?x4x3x3xf32, #net.axes<"N", "4", "3", "3">>

// -----

%dy = net.constant 0.0 : tensor<?x4x3x3xf32, #net.axes<"N", "4", "3", "3">>
// expected-error@+1 {{takes a gradient 'tensor<2x4x3x3xf32>', it is given 'tensor<?x4x3x3xf32, }}
%dx = net.adaptive_avg_pool_grad %dy {over = array<i64: 2, 3>} : (tensor<?x4x3x3xf32, #net.axes<"N", "4", "3", "3">>) -> tensor<2x4x10x6xf32>

// -----

%dy = net.constant 0.0 : tensor<2x4x?x3xf32, #net.axes<"2", "4", "H", "3">>
// expected-error@+1 {{`H` must have a fixed size; write `H = 128` in the net's signature, for instance}}
%dx = net.adaptive_avg_pool_grad %dy {over = array<i64: 2, 3>} : (tensor<2x4x?x3xf32, #net.axes<"2", "4", "H", "3">>) -> tensor<2x4x10x6xf32>

// -----

%dy = net.constant 0.0 : tensor<2x4x3x3xf32>
// expected-error@+1 {{`adaptive_avg_pool_grad` works over axis 4, its operand has 4 axes}}
%dx = net.adaptive_avg_pool_grad %dy {over = array<i64: 2, 4>} : (tensor<2x4x3x3xf32>) -> tensor<2x4x10x6xf32>
