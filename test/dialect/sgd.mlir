// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Learning rate and difference: 2 for each of 10 weights.
// CHECK-LABEL: net.network @plain
net.network @plain attributes {inputs = ["g", "lr"]} {
^bb0(%g: tensor<10xf32>, %lr: tensor<f32>):
  %w = net.parameter "w" "normal" : tensor<10xf32>
  // expected-remark@below {{matmul 0, other 20, transcendental 0}}
  net.sgd %w, %g, %lr {momentum = 0.0, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<10xf32>, tensor<10xf32>, tensor<f32>) -> ()
  net.return []
}

// Weight decay, 2 more.
// CHECK-LABEL: net.network @decay
net.network @decay attributes {inputs = ["g", "lr"]} {
^bb0(%g: tensor<10xf32>, %lr: tensor<f32>):
  %w = net.parameter "w" "normal" : tensor<10xf32>
  // expected-remark@below {{matmul 0, other 40, transcendental 0}}
  net.sgd %w, %g, %lr {momentum = 0.0, weight_decay = 0.1, nesterov = false, sparse = false} : (tensor<10xf32>, tensor<10xf32>, tensor<f32>) -> ()
  net.return []
}

// Momentum, 2 more.
// CHECK-LABEL: net.network @momentum
net.network @momentum attributes {inputs = ["g", "lr"]} {
^bb0(%g: tensor<10xf32>, %lr: tensor<f32>):
  %w = net.parameter "w" "normal" : tensor<10xf32>
  // expected-remark@below {{matmul 0, other 40, transcendental 0}}
  net.sgd %w, %g, %lr {momentum = 0.9, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<10xf32>, tensor<10xf32>, tensor<f32>) -> ()
  net.return []
}

// All of it: 2 + 2 + 2 + 2.
// CHECK-LABEL: net.network @nesterov
net.network @nesterov attributes {inputs = ["g", "lr"]} {
^bb0(%g: tensor<10xf32>, %lr: tensor<f32>):
  %w = net.parameter "w" "normal" : tensor<10xf32>
  // expected-remark@below {{matmul 0, other 80, transcendental 0}}
  net.sgd %w, %g, %lr {momentum = 0.9, weight_decay = 0.1, nesterov = true, sparse = false} : (tensor<10xf32>, tensor<10xf32>, tensor<f32>) -> ()
  net.return []
}

// -----

%w = net.constant 0.0 : tensor<10xf32>
%g = net.constant 0.0 : tensor<10xf32>
%lr = net.constant 0.0 : tensor<f32>
// expected-error@+2 {{nesterov needs a momentum}}
// expected-error@+1 {{failed to infer returned types}}
net.sgd %w, %g, %lr {momentum = 0.0, weight_decay = 0.0, nesterov = true, sparse = false} : (tensor<10xf32>, tensor<10xf32>, tensor<f32>) -> ()

// -----

%w = net.constant 0.0 : tensor<10xf32>
%g = net.constant 0.0 : tensor<9xf32>
%lr = net.constant 0.0 : tensor<f32>
// expected-error@+2 {{axis 0 is 10 in the parameter, 9 in its gradient}}
// expected-error@+1 {{failed to infer returned types}}
net.sgd %w, %g, %lr {momentum = 0.0, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<10xf32>, tensor<9xf32>, tensor<f32>) -> ()

// -----

%w = net.constant 0.0 : tensor<10xf32>
%g = net.constant 0.0 : tensor<10xf32>
%lr = net.constant 0.0 : tensor<10xf32>
// expected-error@+1 {{operand #2 must be a single number}}
net.sgd %w, %g, %lr {momentum = 0.0, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<10xf32>, tensor<10xf32>, tensor<10xf32>) -> ()
