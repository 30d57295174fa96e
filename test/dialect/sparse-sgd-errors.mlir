// RUN: netc-opt %s --split-input-file --verify-diagnostics

%table = net.constant 0.0 : tensor<100x4xf32>
%ids = net.constant 0.0 : tensor<3xi64>
%dy = net.constant 0.0 : tensor<2x4xf32>
%lr = net.constant 0.0 : tensor<f32>
// expected-error@+1 {{takes a row of the table for each number in `ids`}}
net.sparse_sgd %table, %dy, %ids, %lr : (tensor<100x4xf32>, tensor<2x4xf32>, tensor<3xi64>, tensor<f32>) -> ()
