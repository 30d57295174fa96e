// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

%x = net.constant 0.0 : tensor<?x64x112x112xf32, #net.axes<"N", "64", "112", "112">>
// 9 comparisons for each of 64 * 56 * 56 windows.
// expected-remark@+1 {{matmul 0, other 1806336*N, transcendental 0}}
%y, %indices = net.max_pool %x {k = array<i64: 3, 3>, stride = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, ceil = false, over = array<i64: 2, 3>} : (tensor<?x64x112x112xf32, #net.axes<"N", "64", "112", "112">>) -> (tensor<?x64x56x56xf32, #net.axes<"N", "64", "56", "56">>, tensor<?x64x56x56xi64, #net.axes<"N", "64", "56", "56">>)

// -----

// What `ceil` adds is padding to the gradient.
// CHECK-LABEL: net.network @max_pool
//       CHECK:   %{{.*}}, %[[INDICES:.*]] = net.max_pool
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.max_pool_grad %[[DY]], %[[INDICES]] {{.*}}high = array<i64: 1>
net.network @max_pool attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x1x7xf32>
  // expected-remark@+2 {{matmul 0, other 16, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 8, transcendental 0}}
  %y, %indices = net.max_pool %x {k = array<i64: 2>, stride = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilation = array<i64: 1>, ceil = true, over = array<i64: 2>} : (tensor<2x1x7xf32>) -> (tensor<2x1x4xf32>, tensor<2x1x4xi64>)
  net.return %y : tensor<2x1x4xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<2x1x7x7xf32>
// With `ceil` the window that begins at 6 counts: 4 * 4 windows of 4 taps.
// expected-remark@+1 {{matmul 0, other 128, transcendental 0}}
%y, %indices = net.max_pool %x {k = array<i64: 2, 2>, stride = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilation = array<i64: 1, 1>, ceil = true, over = array<i64: 2, 3>} : (tensor<2x1x7x7xf32>) -> (tensor<2x1x4x4xf32>, tensor<2x1x4x4xi64>)

// -----

%x = net.constant 0.0 : tensor<2x1x6x6xf32>
// One that would begin behind the image does not: 2 * 2 windows of 9.
// expected-remark@+1 {{matmul 0, other 72, transcendental 0}}
%y, %indices = net.max_pool %x {k = array<i64: 3, 3>, stride = array<i64: 6, 6>, low = array<i64: 2, 2>, high = array<i64: 2, 2>, dilation = array<i64: 1, 1>, ceil = true, over = array<i64: 2, 3>} : (tensor<2x1x6x6xf32>) -> (tensor<2x1x2x2xf32>, tensor<2x1x2x2xi64>)

// -----

%dy = net.constant 0.0 : tensor<2x1x4x4xf32>
%indices = net.constant 0.0 : tensor<2x1x4x4xi64>
// One addition for each window.
// expected-remark@+1 {{matmul 0, other 32, transcendental 0}}
%dx = net.max_pool_grad %dy, %indices {k = array<i64: 2, 2>, stride = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, over = array<i64: 2, 3>} : (tensor<2x1x4x4xf32>, tensor<2x1x4x4xi64>) -> tensor<2x1x7x7xf32>

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
// expected-error@+2 {{`max_pool` pads 3 elements, its window spans 3}}
// expected-error@+1 {{failed to infer returned types}}
%y, %indices = net.max_pool %x {k = array<i64: 3, 3>, stride = array<i64: 2, 2>, low = array<i64: 1, 3>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, ceil = false, over = array<i64: 2, 3>} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>) -> (tensor<?x4x4x4xf32, #net.axes<"N", "4", "4", "4">>, tensor<?x4x4x4xi64, #net.axes<"N", "4", "4", "4">>)

// -----

%x = net.constant 0.0 : tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>
// expected-error@+2 {{`k` of `max_pool` is 0, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y, %indices = net.max_pool %x {k = array<i64: 0, 3>, stride = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, ceil = false, over = array<i64: 2, 3>} : (tensor<?x4x8x8xf32, #net.axes<"N", "4", "8", "8">>) -> (tensor<?x4x4x4xf32, #net.axes<"N", "4", "4", "4">>, tensor<?x4x4x4xi64, #net.axes<"N", "4", "4", "4">>)

// -----

%x = net.constant 0.0 : tensor<?x4x?x8xf32, #net.axes<"N", "4", "T", "8">>
// expected-error@+2 {{`T` must have a fixed size; write `T = 128` in the net's signature, for instance}}
// expected-error@+1 {{failed to infer returned types}}
%y, %indices = net.max_pool %x {k = array<i64: 3, 3>, stride = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, ceil = false, over = array<i64: 2, 3>} : (tensor<?x4x?x8xf32, #net.axes<"N", "4", "T", "8">>) -> (tensor<?x4x?x4xf32, #net.axes<"N", "4", "T", "4">>, tensor<?x4x?x4xi64, #net.axes<"N", "4", "T", "4">>)

// -----

%dy = net.constant 0.0 : tensor<2x1x4x4xf32>
%indices = net.constant 0.0 : tensor<2x1x4xi64>
// expected-error@+1 {{takes indices of the shape of its gradient, not 'tensor<2x1x4xi64>'}}
%dx = net.max_pool_grad %dy, %indices {k = array<i64: 2, 2>, stride = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 1, 1>, dilation = array<i64: 1, 1>, over = array<i64: 2, 3>} : (tensor<2x1x4x4xf32>, tensor<2x1x4xi64>) -> tensor<2x1x7x7xf32>

// -----

%dy = net.constant 0.0 : tensor<2x1x4x4xf32>
%indices = net.constant 0.0 : tensor<2x1x3x3xi64>
// expected-error@+1 {{takes a gradient 'tensor<2x1x3x3xf32>', it is given 'tensor<2x1x4x4xf32>'}}
%dx = net.max_pool_grad %dy, %indices {k = array<i64: 2, 2>, stride = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilation = array<i64: 1, 1>, over = array<i64: 2, 3>} : (tensor<2x1x4x4xf32>, tensor<2x1x3x3xi64>) -> tensor<2x1x7x7xf32>
