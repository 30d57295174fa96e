// RUN: netc-opt %s --net-differentiate | FileCheck %s

// No arithmetic, and x has the gradient of one of its uses alone.
// CHECK-LABEL: net.network @stop
// CHECK:         %[[X:.*]] = net.parameter "x"
// CHECK:         %[[Y:.*]] = net.stop_gradient %[[X]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:         net.sub %[[X]], %[[Y]]
// CHECK:         %[[DY:.*]] = net.constant 1
// CHECK-NOT:     net.add
// CHECK:         net.gradient %[[X]], %[[DY]]
net.network @stop attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4xf32>
  %target = net.stop_gradient %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = net.sub %x, %target : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  net.return %y : tensor<4xf32> ["y"]
}
