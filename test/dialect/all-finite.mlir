// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-cost-remarks | FileCheck %s

// A magnitude and a comparison an element, of both. What is done when they are finite counts in any case.
// CHECK-LABEL: net.step @when
// CHECK:         %[[FINITE:.*]] = net.all_finite %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<5xf32>) -> tensor<i1>
// CHECK:         net.when %[[FINITE]] {
// CHECK-NEXT:      net.add
// CHECK-NEXT:      net.assign
// CHECK-NEXT:    } : tensor<i1>
net.step @when attributes {inputs = ["x"], network = "N"} {
^bb0(%x: tensor<4x8xf32>):
  %b = net.buffer "b" "zeros" : tensor<5xf32>
  // expected-remark@+1 {{matmul 0, other 74, transcendental 0}}
  %finite = net.all_finite %x, %b : (tensor<4x8xf32>, tensor<5xf32>) -> tensor<i1>
  net.when %finite {
    // expected-remark@+1 {{matmul 0, other 5, transcendental 0}}
    %twice = net.add %b, %b : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    net.assign %b, %twice : (tensor<5xf32>, tensor<5xf32>) -> ()
  } : tensor<i1>
  %loss = net.constant 0.0 : tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}
