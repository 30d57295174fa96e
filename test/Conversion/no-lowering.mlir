// RUN: not netc-opt --convert-net-to-linalg %s 2>&1 | FileCheck %s

// An optimizer is applied before a step can be lowered.
// CHECK: error: `optimizer` cannot be run yet: it has no lowering
net.step @run attributes {inputs = ["x"], network = "N"} {
^bb0(%x: tensor<2xf32>):
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %lr = net.constant 0.1 : tensor<f32>
    net.sgd %p, %g, %lr {momentum = 0.0, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>, tensor<f32>) -> ()
  }
  %loss = net.constant 0.0 : tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}
