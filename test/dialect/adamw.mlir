// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// As Adam: 14 for each of 10 weights, with one root.
// CHECK-LABEL: net.network @plain
net.network @plain attributes {inputs = ["g", "lr", "step"]} {
^bb0(%g: tensor<10xf32>, %lr: tensor<f32>, %step: tensor<f32>):
  %w = net.parameter "w" "normal" : tensor<10xf32>
  // expected-remark@below {{matmul 0, other 140, transcendental 10}}
  net.adamw %w, %g, %lr, %step {b1 = 0.9, b2 = 0.999, eps = 1.0e-8, weight_decay = 0.0} : (tensor<10xf32>, tensor<10xf32>, tensor<f32>, tensor<f32>) -> ()
  net.return []
}

// Decoupled weight decay is one product with 1 - lr wd.
// CHECK-LABEL: net.network @decay
net.network @decay attributes {inputs = ["g", "lr", "step"]} {
^bb0(%g: tensor<10xf32>, %lr: tensor<f32>, %step: tensor<f32>):
  %w = net.parameter "w" "normal" : tensor<10xf32>
  // expected-remark@below {{matmul 0, other 150, transcendental 10}}
  net.adamw %w, %g, %lr, %step {b1 = 0.9, b2 = 0.999, eps = 1.0e-8, weight_decay = 0.1} : (tensor<10xf32>, tensor<10xf32>, tensor<f32>, tensor<f32>) -> ()
  net.return []
}

// -----

%w = net.constant 0.0 : tensor<10xf32>
%g = net.constant 0.0 : tensor<9xf32>
%lr = net.constant 0.0 : tensor<f32>
// expected-error@+2 {{axis 0 is 10 in the parameter, 9 in its gradient}}
// expected-error@+1 {{failed to infer returned types}}
net.adamw %w, %g, %lr, %lr {b1 = 0.9, b2 = 0.999, eps = 1.0e-8, weight_decay = 0.0} : (tensor<10xf32>, tensor<9xf32>, tensor<f32>, tensor<f32>) -> ()
