// RUN: netc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK:      net.optimizer {
// CHECK-NEXT: ^bb0(%[[P:.*]]: tensor<?xf32, #net.axes<"P">>, %{{.*}}: tensor<?xf32, #net.axes<"P">>, %{{.*}}: tensor<f32>):
// CHECK-NEXT:   net.relu %[[P]]
// CHECK:      net.gradient %{{.*}}, %{{.*}} : tensor<4xf32>
net.step @run attributes {inputs = [], network = "Net"} {
  %w = net.parameter "w" "uniform" : tensor<4xf32>
  %dw = net.constant 0.0 : tensor<4xf32>
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %r = net.relu %p : (tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
  }
  net.gradient %w, %dw : tensor<4xf32>, tensor<4xf32>
  net.return []
}

// -----

net.step @arguments attributes {inputs = [], network = "Net"} {
  // expected-error@+1 {{takes 1 values, expected a parameter, its gradient and the number of the step}}
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>):
    %r = net.relu %p : (tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
  }
  net.return []
}

// -----

net.step @fixed attributes {inputs = [], network = "Net"} {
  // expected-error@+1 {{takes a parameter of type 'tensor<4xf32>', expected a vector whose size is a symbol}}
  net.optimizer {
  ^bb0(%p: tensor<4xf32>, %g: tensor<4xf32>, %step: tensor<f32>):
    %r = net.relu %p : (tensor<4xf32>) -> tensor<4xf32>
  }
  net.return []
}

// -----

net.step @product attributes {inputs = [], network = "Net"} {
  // expected-error@+1 {{expected a vector whose size is a symbol, or a matrix of two}}
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"2*P">>, %g: tensor<?xf32, #net.axes<"2*P">>, %step: tensor<f32>):
    %r = net.relu %p : (tensor<?xf32, #net.axes<"2*P">>) -> tensor<?xf32, #net.axes<"2*P">>
  }
  net.return []
}

// -----

net.step @gradient attributes {inputs = [], network = "Net"} {
  // expected-error@+1 {{takes a parameter of type 'tensor<?xf32, #net.axes<"P">>' and a gradient of type 'tensor<f32>'}}
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<f32>, %step: tensor<f32>):
    %r = net.relu %p : (tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
  }
  net.return []
}

// -----

net.step @step attributes {inputs = [], network = "Net"} {
  // expected-error@+1 {{takes the step as 'tensor<1xf32>', expected one number}}
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<1xf32>):
    %r = net.relu %p : (tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
  }
  net.return []
}

// -----

net.step @two attributes {inputs = [], network = "Net"} {
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %r = net.relu %p : (tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
  }
  // expected-error@+1 {{is the second one of its step}}
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    %r = net.relu %p : (tensor<?xf32, #net.axes<"P">>) -> tensor<?xf32, #net.axes<"P">>
  }
  net.return []
}

// -----

net.step @other_shape attributes {inputs = [], network = "Net"} {
  %w = net.parameter "w" "uniform" : tensor<4xf32>
  %dw = net.constant 0.0 : tensor<5xf32>
  // expected-error@+1 {{failed to verify that all of {parameter, gradient} have same shape}}
  "net.gradient"(%w, %dw) : (tensor<4xf32>, tensor<5xf32>) -> ()
  net.return []
}

// -----

net.step @no_parameter attributes {inputs = [], network = "Net"} {
  %dw = net.constant 0.0 : tensor<5xf32>
  // expected-error@+1 {{failed to verify that its first operand is a parameter}}
  net.gradient %dw, %dw : tensor<5xf32>, tensor<5xf32>
  net.return []
}

// -----

net.step @reads_the_step attributes {inputs = [], network = "Net"} {
  %lr = net.constant 0.0 : tensor<f32>
  // expected-note@+1 {{required by region isolation constraints}}
  net.optimizer {
  ^bb0(%p: tensor<?xf32, #net.axes<"P">>, %g: tensor<?xf32, #net.axes<"P">>, %step: tensor<f32>):
    // expected-error@+1 {{using value defined outside the region}}
    net.sgd %p, %g, %lr {momentum = 0.9, weight_decay = 0.0, nesterov = false, sparse = false} : (tensor<?xf32, #net.axes<"P">>, tensor<?xf32, #net.axes<"P">>, tensor<f32>) -> ()
  }
  net.return []
}

// -----

net.step @square attributes {inputs = [], network = "Net"} {
  // expected-error@+1 {{takes a parameter of type 'tensor<?x?xf32, #net.axes<"P", "P">>', expected a vector whose size is a symbol, or a matrix of two}}
  net.optimizer {
  ^bb0(%p: tensor<?x?xf32, #net.axes<"P", "P">>, %g: tensor<?x?xf32, #net.axes<"P", "P">>, %step: tensor<f32>):
    %r = net.relu %p : (tensor<?x?xf32, #net.axes<"P", "P">>) -> tensor<?x?xf32, #net.axes<"P", "P">>
  }
  net.return []
}
