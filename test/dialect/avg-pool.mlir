// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%x = net.constant 0.0 : tensor<?x8x6x6xf32, #net.axes<"N", "8", "6", "6">>
// 4 sums and a quotient for each of 8 * 3 * 3 windows.
// expected-remark@+1 {{matmul 0, other 360*N, transcendental 0}}
%y = net.avg_pool %x {k = array<i64: 2, 2>, stride = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, ceil = false, over = array<i64: 2, 3>} : (tensor<?x8x6x6xf32, #net.axes<"N", "8", "6", "6">>) -> tensor<?x8x3x3xf32, #net.axes<"N", "8", "3", "3">>

// -----

// What `ceil` adds is padding to the gradient.
// CHECK-LABEL: net.network @avg_pool
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.avg_pool_grad %[[DY]] {high = array<i64: 1>, k = array<i64: 2>
net.network @avg_pool attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x1x7xf32>
  // expected-remark@+1 {{matmul 0, other 24, transcendental 0}}
  %y = net.avg_pool %x {k = array<i64: 2>, stride = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, ceil = true, over = array<i64: 2>} : (tensor<2x1x7xf32>) -> tensor<2x1x4xf32>
  net.return %y : tensor<2x1x4xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<?x?x4xf32, #net.axes<"N", "T", "4">>
// 3 sums and a quotient for each of 4 * (T - 2) windows.
// expected-remark@+1 {{matmul 0, other 16*N*T - 32*N, transcendental 0}}
%y = net.avg_pool %x {k = array<i64: 3>, stride = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, ceil = false, over = array<i64: 1>} : (tensor<?x?x4xf32, #net.axes<"N", "T", "4">>) -> tensor<?x?x4xf32, #net.axes<"N", "T - 2", "4">>

// -----

%dy = net.constant 0.0 : tensor<?x8x3x3xf32, #net.axes<"N", "8", "3", "3">>
// A quotient for each dy, then an addition for each of 4 taps.
// expected-remark@+1 {{matmul 0, other 360*N, transcendental 0}}
%dx = net.avg_pool_grad %dy {k = array<i64: 2, 2>, stride = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, over = array<i64: 2, 3>} : (tensor<?x8x3x3xf32, #net.axes<"N", "8", "3", "3">>) -> tensor<?x8x6x6xf32, #net.axes<"N", "8", "6", "6">>

// -----

%x = net.constant 0.0 : tensor<?x8x6x6xf32, #net.axes<"N", "8", "6", "6">>
// expected-error@+2 {{`avg_pool` pads 2 elements, its window spans 2}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.avg_pool %x {k = array<i64: 2, 2>, stride = array<i64: 2, 2>, low = array<i64: 2, 0>, high = array<i64: 0, 0>, ceil = false, over = array<i64: 2, 3>} : (tensor<?x8x6x6xf32, #net.axes<"N", "8", "6", "6">>) -> tensor<?x8x3x3xf32, #net.axes<"N", "8", "3", "3">>

// -----

%x = net.constant 0.0 : tensor<?x8x6x6xf32, #net.axes<"N", "8", "6", "6">>
// expected-error@+2 {{window of `avg_pool` spans 7 elements, axis 3 has 6, padding included}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.avg_pool %x {k = array<i64: 2, 7>, stride = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, ceil = false, over = array<i64: 2, 3>} : (tensor<?x8x6x6xf32, #net.axes<"N", "8", "6", "6">>) -> tensor<?x8x3x3xf32, #net.axes<"N", "8", "3", "3">>

// -----

%dy = net.constant 0.0 : tensor<2x8x3x3xf32>
// expected-error@+1 {{takes a gradient 'tensor<2x8x4x3xf32>', it is given 'tensor<2x8x3x3xf32>'}}
%dx = net.avg_pool_grad %dy {k = array<i64: 2, 2>, stride = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, over = array<i64: 2, 3>} : (tensor<2x8x3x3xf32>) -> tensor<2x8x8x6xf32>
