// RUN: netc-opt %s --net-differentiate --net-apply-optimizer | FileCheck %s

// The gradient starts from the scale, and is divided by it before the optimizer sees it. Where a gradient is infinite, nothing is
// updated and the scale is halved; after so many steps in a row without, it is doubled.
// CHECK-LABEL: net.step @dynamic
// CHECK:         %[[START:.*]] = net.constant 1.024000e+03
// CHECK:         %[[GROWTH:.*]] = net.buffer "loss_scale_growth" "ones" {{.*}}phase update
// CHECK:         %[[SEED:.*]] = net.mul %[[GROWTH]], %[[START]]
// CHECK:         %[[DW:.*]] = net.mean_grad
// CHECK:         %[[INVERSE:.*]] = net.div %{{.*}}, %[[GROWTH]]
// CHECK:         %[[FACTOR:.*]] = net.broadcast %[[INVERSE]] {{.*}} -> tensor<8xf32>
// CHECK:         %[[UNSCALED:.*]] = net.mul %{{.*}}, %[[FACTOR]]
// CHECK:         %[[FINITE:.*]] = net.all_finite %[[UNSCALED]]
// CHECK:         %[[V:.*]] = net.buffer "w.v" "zeros"
// CHECK:         net.when %[[FINITE]]
// CHECK:           net.sgd
// CHECK:           net.assign %[[V]]
// CHECK:         } : tensor<i1>
// CHECK:         %[[BEFORE:.*]] = net.buffer "loss_scale_steps" "zeros"
// CHECK:         %[[STEPS:.*]] = net.add %[[BEFORE]],
// CHECK:         %[[ENOUGH:.*]] = net.compare %[[STEPS]]
// CHECK:         %[[UP:.*]] = net.where %[[ENOUGH]]
// CHECK:         %[[BY:.*]] = net.where %[[FINITE]], %[[UP]]
// CHECK:         %[[NEXT:.*]] = net.mul %[[GROWTH]], %[[BY]]
// CHECK:         net.assign %[[GROWTH]], %[[NEXT]]
// CHECK:         net.assign %[[BEFORE]]
net.step @dynamic attributes {inputs = [], network = "M", run = #net.run<loss_scale = "1024", loss_scale_growth = "2", loss_scale_interval = "100", loss_scale_backoff = "1/2">} {
  %w = net.parameter "w" "normal" : tensor<8xf32>
  %loss = net.mean %w {over = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %lr = net.constant 0.1 : tensor<f32>
    %v = net.buffer "v" "zeros" : tensor<?xf32, #net.axes<"P">>
    net.sgd %p, %g, %lr {momentum = 0.0, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>, tensor<f32>) -> ()
    net.assign %v, %g : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>) -> ()
  }
  net.return %loss : tensor<f32> ["loss"]
}

// A fixed scale: the loss is multiplied by it, the gradient by its inverse.
// CHECK-LABEL: net.step @fixed
// CHECK:         net.constant 8.000000e+00
// CHECK:         %[[INVERSE:.*]] = net.constant 1.250000e-01
// CHECK-NEXT:    %[[G:.*]] = net.mul %{{.*}}, %[[INVERSE]]
// CHECK:         net.sgd %{{.*}}, %[[G]],
net.step @fixed attributes {inputs = [], network = "M", run = #net.run<loss_scale = "8">} {
  %w = net.parameter "w" "normal" : tensor<8xf32>
  %loss = net.mean %w {over = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %lr = net.constant 0.1 : tensor<f32>
    net.sgd %p, %g, %lr {momentum = 0.0, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>, tensor<f32>) -> ()
  }
  net.return %loss : tensor<f32> ["loss"]
}
