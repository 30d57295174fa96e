// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// A product for each element; backward two and a sum.
// CHECK-LABEL: net.network @cumprod
// CHECK:       %[[X:.*]] = net.parameter
// CHECK:       %[[Y:.*]] = net.cumprod %[[X]]
// CHECK:       %[[DY:.*]] = net.constant 1
// CHECK:       net.cumprod_grad %[[DY]], %[[X]], %[[Y]] {net.phase = {{.*}}over = 1 : i64, reverse = true
net.network @cumprod attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<2x6xf32>
  // expected-remark@+2 {{matmul 0, other 12, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 36, transcendental 0}}
  %y = net.cumprod %x {over = 1 : i64, reverse = true} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  net.return %y : tensor<2x6xf32> ["y"]
}
