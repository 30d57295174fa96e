// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Difference, product, sum: 3 * 8.
// CHECK-LABEL: net.network @average
// CHECK:       net.moving_average
net.network @average attributes {inputs = ["mean"]} {
^bb0(%mean: tensor<8xf32>):
  %buffer = net.buffer "running_mean" "zeros" : tensor<8xf32>
  // expected-remark@below {{matmul 0, other 24, transcendental 0}}
  net.moving_average %buffer, %mean {momentum = 0.1} : (tensor<8xf32>, tensor<8xf32>) -> ()
  net.return []
}

// -----

%buffer = net.constant 0.0 : tensor<8xf32>
%value = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{axis 0 is 8 in the buffer, 4 in the value}}
// expected-error@+1 {{failed to infer returned types}}
net.moving_average %buffer, %value {momentum = 0.1} : (tensor<8xf32>, tensor<4xf32>) -> ()
