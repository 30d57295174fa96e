// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Nothing is computed, so there is no remark.
// CHECK-LABEL: net.network @keep
// CHECK:       net.assign
net.network @keep attributes {inputs = ["x"]} {
^bb0(%x: tensor<8xf32>):
  %buffer = net.buffer "kept" "zeros" : tensor<8xf32>
  net.assign %buffer, %x : (tensor<8xf32>, tensor<8xf32>) -> ()
  net.return []
}

// -----

%buffer = net.constant 0.0 : tensor<8xf32>
%value = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{axis 0 is 8 in the place, 4 in the value}}
// expected-error@+1 {{failed to infer returned types}}
net.assign %buffer, %value : (tensor<8xf32>, tensor<4xf32>) -> ()
