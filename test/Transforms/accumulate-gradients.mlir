// RUN: netc-opt %s --net-accumulate-gradients --split-input-file --verify-diagnostics | FileCheck %s
// RUN: netc-opt %s --net-accumulate-gradients=axes=N=12 --net-bind-axes --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=BOUND
// RUN: netc-opt %s --net-accumulate-gradients=run=parts --split-input-file | FileCheck %s --check-prefix=CHOSEN

// What is there becomes the first of three parts; a loop goes through the others, and adds their gradients to its. The
// update follows, once, and the losses of all parts are returned.
// CHECK-LABEL: net.step @parts
// CHECK-SAME:    N = #net.moments<fixed "6">
// CHECK:         ^bb0(%[[X:.*]]: tensor<?x4xf32, #net.axes<"N", "4">>, %[[SHARED:.*]]: tensor<4xf32>):
// CHECK-NEXT:    %[[ALL:.*]] = net.reshape %[[X]] {{.*}} -> tensor<3x?x4xf32, #net.axes<"3", "1/3*N", "4">>
// CHECK-NEXT:    %[[SLICE:.*]] = net.slice %[[ALL]] {axis = 0 : i64, start = #net.poly<"0">}
// CHECK-NEXT:    %[[FIRST:.*]] = net.reshape %[[SLICE]]
// CHECK-NEXT:    %[[OTHERS:.*]] = net.slice %[[ALL]] {axis = 0 : i64, start = #net.poly<"1">}
// CHECK-NEXT:    %[[W:.*]] = net.parameter "w"
// CHECK-NEXT:    net.broadcast %[[W]]
// CHECK-NEXT:    %[[Y:.*]] = net.mul %[[FIRST]]
// CHECK-NEXT:    %[[LOSS:.*]] = net.sum %[[Y]] {over = array<i64: 0, 1>}
// CHECK-NEXT:    %[[G:.*]] = net.sum %[[Y]] {net.phase = #net<phase weight>
// CHECK-NEXT:    %[[LOOP:.*]]:2 = net.scan <"2"> over %[[OTHERS]] [0] init %[[G]] out [0]
// CHECK-NEXT:    ^bb0(%[[PART:.*]]: tensor<?x4xf32, #net.axes<"1/3*N", "4">>, %[[SUM:.*]]: tensor<4xf32>):
// CHECK-NEXT:      net.broadcast %[[W]]
// CHECK-NEXT:      %[[Y2:.*]] = net.mul %[[PART]]
// CHECK-NEXT:      %[[LOSS2:.*]] = net.sum %[[Y2]]
// CHECK-NEXT:      %[[G2:.*]] = net.sum %[[Y2]]
// CHECK-NEXT:      %[[NEXT:.*]] = net.add %[[SUM]], %[[G2]] {net.phase = #net<phase weight>}
// CHECK-NEXT:      net.yield %[[LOSS2]], %[[NEXT]]
// CHECK:         %[[ONE:.*]] = net.reshape %[[LOSS]] : (tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT:    %[[LOSSES:.*]] = net.concat %[[ONE]], %[[LOOP]]#0
// CHECK-NEXT:    %[[RATE:.*]] = net.constant
// CHECK-NEXT:    net.sgd %[[W]], %[[LOOP]]#1, %[[RATE]]
// CHECK-NEXT:    net.return %[[LOSSES]] : tensor<3xf32>
// BOUND-LABEL: net.step @parts
// BOUND:         ^bb0(%{{.*}}: tensor<12x4xf32>, %{{.*}}: tensor<4xf32>):
// BOUND:         net.scan <"2"> over %{{.*}} [0] init
// BOUND:         : (tensor<2x4x4xf32>, tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>)
// Only the run that is asked for.
// CHOSEN-LABEL: net.step @parts
// CHOSEN:         net.scan
// CHOSEN-NOT:     net.scan
net.step @parts attributes {network = "net", axes = {N = #net.moments<fixed "2">}, inputs = ["x", "shared"], run = #net.run<accumulate = "3">} {
^bb0(%x: tensor<?x4xf32, #net.axes<"N", "4">>, %shared: tensor<4xf32>):
  %w = net.parameter "w" "zeros" : tensor<4xf32>
  %b = net.broadcast %w {axes = array<i64: 1>} : (tensor<4xf32>) -> tensor<?x4xf32, #net.axes<"N", "4">>
  %y = net.mul %x, %b : (tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
  %loss = net.sum %y {over = array<i64: 0, 1>} : (tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<f32>
  %g = net.sum %y {net.phase = #net<phase weight>, over = array<i64: 0>} : (tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<4xf32>
  %rate = net.constant 0.1 {net.phase = #net<phase update>} : tensor<f32>
  net.sgd %w, %g, %rate {momentum = 0.0 : f64, nesterov = false, net.phase = #net<phase update>, sparse = false, weight_decay = 0.0 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> ()
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// A loss that nothing computes is the same in each part.
// CHECK-LABEL: net.step @input
// CHECK:         ^bb0(%{{.*}}: tensor<?x4xf32, #net.axes<"N", "4">>, %[[L:.*]]: tensor<f32>):
// CHECK:         %[[LOOP:.*]] = net.scan <"1">
// CHECK:           net.yield %[[L]]
// CHECK:         %[[ONE:.*]] = net.reshape %[[L]]
// CHECK:         net.concat %[[ONE]], %[[LOOP]]
net.step @input attributes {network = "net", axes = {N = #net.moments<fixed "2">}, inputs = ["x", "l"], run = #net.run<accumulate = "2">} {
^bb0(%x: tensor<?x4xf32, #net.axes<"N", "4">>, %l: tensor<f32>):
  net.return %l : tensor<f32> ["loss"]
}

// -----

// CHECK-LABEL: net.step @parameter
// CHECK:         %[[W:.*]] = net.parameter "w"
// CHECK:         %[[G:.*]] = net.constant
// CHECK:         %[[LOOP:.*]]:2 = net.scan <"1"> over %{{.*}} [0] init %[[G]] out [0]
// CHECK:           net.yield %[[W]], %{{.*}}
net.step @parameter attributes {network = "net", axes = {N = #net.moments<fixed "2">}, inputs = ["x"], run = #net.run<accumulate = "2">} {
^bb0(%x: tensor<?x4xf32, #net.axes<"N", "4">>):
  %w = net.parameter "w" "fan_in" : tensor<f32>
  %v = net.reshape %w {net.phase = #net<phase update>} : (tensor<f32>) -> tensor<1xf32>
  %d = net.constant 0.5 {net.phase = #net<phase weight>} : tensor<f32>
  %g = net.reshape %d {net.phase = #net<phase update>} : (tensor<f32>) -> tensor<1xf32>
  %rate = net.constant 1.0 {net.phase = #net<phase update>} : tensor<f32>
  net.sgd %v, %g, %rate {momentum = 0.0 : f64, nesterov = false, net.phase = #net<phase update>, sparse = false, weight_decay = 0.0 : f64} : (tensor<1xf32>, tensor<1xf32>, tensor<f32>) -> ()
  net.return %w : tensor<f32> ["loss"]
}
