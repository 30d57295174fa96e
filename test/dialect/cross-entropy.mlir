// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Class numbers: 5 * 4 * 10 for the softmax, 3 * 4 for the rows, one quotient;
// 4 * 10 exp and 4 log. Backward 2 * 4 * 10 and one quotient.
// CHECK-LABEL: net.network @classes
// CHECK:       %{{.*}}, %[[P:.*]] = net.cross_entropy
// CHECK:       %[[DLOSS:.*]] = net.constant 1.0{{.*}} : tensor<f32>
// CHECK:       net.cross_entropy_grad %[[DLOSS]], %[[P]], %{{.*}} {{.*}}over = 1 : i64, smoothing = 0.0{{.*}}} : (tensor<f32>, tensor<4x10xf32>, tensor<4xi32>) -> tensor<4x10xf32>
net.network @classes attributes {inputs = ["label"]} {
^bb0(%label: tensor<4xi32>):
  %x = net.parameter "x" "normal" : tensor<4x10xf32>
  // expected-remark@+2 {{matmul 0, other 213, transcendental 44}}
  // expected-remark@+1 {{matmul 0, other 81, transcendental 0}}
  %loss, %p = net.cross_entropy %x, %label {smoothing = 0.0, over = 1} : (tensor<4x10xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4x10xf32>)
  net.return %loss : tensor<f32> ["loss"]
}

// Smoothed class numbers: product and sum with the target for each element.
// 7 * 40 + 3 * 4 + 1, backward as before.
// CHECK-LABEL: net.network @smoothed
net.network @smoothed attributes {inputs = ["label"]} {
^bb0(%label: tensor<4xi32>):
  %x = net.parameter "x" "normal" : tensor<4x10xf32>
  // expected-remark@+2 {{matmul 0, other 293, transcendental 44}}
  // expected-remark@+1 {{matmul 0, other 81, transcendental 0}}
  %loss, %p = net.cross_entropy %x, %label {smoothing = 0.1, over = 1} : (tensor<4x10xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4x10xf32>)
  net.return %loss : tensor<f32> ["loss"]
}

// A distribution costs the same as smoothed class numbers.
// CHECK-LABEL: net.network @distribution
net.network @distribution attributes {inputs = ["target"]} {
^bb0(%target: tensor<4x10xf32>):
  %x = net.parameter "x" "normal" : tensor<4x10xf32>
  // expected-remark@+2 {{matmul 0, other 293, transcendental 44}}
  // expected-remark@+1 {{matmul 0, other 81, transcendental 0}}
  %loss, %p = net.cross_entropy %x, %target {smoothing = 0.0, over = 1} : (tensor<4x10xf32>, tensor<4x10xf32>) -> (tensor<f32>, tensor<4x10xf32>)
  net.return %loss : tensor<f32> ["loss"]
}

// Smoothing a distribution is two more for each element: 9 * 40 + 3 * 4 + 1,
// backward 4 * 40 + 1.
// CHECK-LABEL: net.network @smoothed_distribution
net.network @smoothed_distribution attributes {inputs = ["target"]} {
^bb0(%target: tensor<4x10xf32>):
  %x = net.parameter "x" "normal" : tensor<4x10xf32>
  // expected-remark@+2 {{matmul 0, other 373, transcendental 44}}
  // expected-remark@+1 {{matmul 0, other 161, transcendental 0}}
  %loss, %p = net.cross_entropy %x, %target {smoothing = 0.1, over = 1} : (tensor<4x10xf32>, tensor<4x10xf32>) -> (tensor<f32>, tensor<4x10xf32>)
  net.return %loss : tensor<f32> ["loss"]
}

// The classes may be any axis; N T rows here.
net.network @free attributes {inputs = ["x", "label"]} {
^bb0(%x: tensor<?x10x?xf32, #net.axes<"N", "10", "T">>, %label: tensor<?x?xi64, #net.axes<"N", "T">>):
  // expected-remark@below {{matmul 0, other 53*N*T + 1, transcendental 11*N*T}}
  %loss, %p = net.cross_entropy %x, %label {smoothing = 0.0, over = 1} : (tensor<?x10x?xf32, #net.axes<"N", "10", "T">>, tensor<?x?xi64, #net.axes<"N", "T">>) -> (tensor<f32>, tensor<?x10x?xf32, #net.axes<"N", "10", "T">>)
  net.return []
}

// -----

%x = net.constant 0.0 : tensor<4x10xf32>
%t = net.constant 0.0 : tensor<5xi32>
// expected-error@+2 {{axis 0 is 4 in the logits without their classes, 5 in the target}}
// expected-error@+1 {{failed to infer returned types}}
%l:2 = net.cross_entropy %x, %t {smoothing = 0.0, over = 1} : (tensor<4x10xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<4x10xf32>)

// -----

%x = net.constant 0.0 : tensor<4x10xf32>
%t = net.constant 0.0 : tensor<4x12xf32>
// expected-error@+2 {{axis 1 is 10 in the logits, 12 in the target}}
// expected-error@+1 {{failed to infer returned types}}
%l:2 = net.cross_entropy %x, %t {smoothing = 0.0, over = 1} : (tensor<4x10xf32>, tensor<4x12xf32>) -> (tensor<f32>, tensor<4x10xf32>)

// -----

%x = net.constant 0.0 : tensor<4x10xf32>
%t = net.constant 0.0 : tensor<4x10xf16>
// expected-error@+2 {{takes tensors of one element type, not of `f32` and `f16`}}
// expected-error@+1 {{failed to infer returned types}}
%l:2 = net.cross_entropy %x, %t {smoothing = 0.0, over = 1} : (tensor<4x10xf32>, tensor<4x10xf16>) -> (tensor<f32>, tensor<4x10xf32>)

// -----

%x = net.constant 0.0 : tensor<4x10xf32>
%t = net.constant 0.0 : tensor<4xi32>
// expected-error@+2 {{smoothing is 1.5, possible are 0 to 1}}
// expected-error@+1 {{failed to infer returned types}}
%l:2 = net.cross_entropy %x, %t {smoothing = 1.5, over = 1} : (tensor<4x10xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4x10xf32>)

// -----

%x = net.constant 0.0 : tensor<4x10xf32>
%t = net.constant 0.0 : tensor<4xi32>
// expected-error@+2 {{smoothing is NaN, possible are 0 to 1}}
// expected-error@+1 {{failed to infer returned types}}
%l:2 = net.cross_entropy %x, %t {smoothing = 0x7FF8000000000000 : f64, over = 1} : (tensor<4x10xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4x10xf32>)

// -----

%x = net.constant 0.0 : tensor<4x10xf32>
%t = net.constant 0.0 : tensor<4xi32>
// expected-error@+2 {{`cross_entropy` works over axis 2, its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%l:2 = net.cross_entropy %x, %t {smoothing = 0.0, over = 2} : (tensor<4x10xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4x10xf32>)

// -----

%d = net.constant 0.0 : tensor<4xf32>
%p = net.constant 0.0 : tensor<4x10xf32>
%t = net.constant 0.0 : tensor<4xi32>
// expected-error@+1 {{operand #0 must be a single number}}
%dx = net.cross_entropy_grad %d, %p, %t {smoothing = 0.0, over = 1} : (tensor<4xf32>, tensor<4x10xf32>, tensor<4xi32>) -> tensor<4x10xf32>

// -----

net.network @through_probabilities attributes {inputs = ["label"]} {
^bb0(%label: tensor<4xi32>):
  %x = net.parameter "x" "normal" : tensor<4x10xf32>
  // expected-error@below {{cannot differentiate `cross_entropy` through its probabilities}}
  %loss, %p = net.cross_entropy %x, %label {smoothing = 0.0, over = 1} : (tensor<4x10xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4x10xf32>)
  net.return %p : tensor<4x10xf32> ["p"]
}

// -----

net.network @by_target attributes {inputs = ["x"]} {
^bb0(%x: tensor<4x10xf32>):
  %target = net.parameter "target" "normal" : tensor<4x10xf32>
  // expected-error@below {{cannot differentiate `cross_entropy` by its target}}
  %loss, %p = net.cross_entropy %x, %target {smoothing = 0.0, over = 1} : (tensor<4x10xf32>, tensor<4x10xf32>) -> (tensor<f32>, tensor<4x10xf32>)
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// Class numbers that were converted and taken apart are still those of the input.
net.step @classes attributes {inputs = ["label"], network = "M", classes = {label = #net.poly<"12">}} {
^bb0(%label: tensor<5x4xi8>):
  %x = net.constant 0.0 : tensor<4x10xf32>
  %wide = net.convert %label : tensor<5x4xi8> -> tensor<5x4xi64>
  %losses = net.scan #net.poly<"5"> over %wide [0] out [0] {
  ^bb0(%one: tensor<4xi64>):
    // expected-error@+1 {{the logits have 10 classes, `label` has 12}}
    %loss, %p = net.cross_entropy %x, %one {smoothing = 0.0, over = 1} : (tensor<4x10xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x10xf32>)
    net.yield %loss : tensor<f32>
  } : (tensor<5x4xi64>) -> tensor<5xf32>
  %sum = net.sum %losses {over = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  net.return %sum : tensor<f32> ["loss"]
}

// -----

// What is computed of class numbers is none.
net.step @computed attributes {inputs = ["label"], network = "M", classes = {label = #net.poly<"12">}} {
^bb0(%label: tensor<4xi64>):
  %x = net.constant 0.0 : tensor<4x10xf32>
  %table = net.constant 0.0 : tensor<12x10xf32>
  %y = net.embedding %label, %table : (tensor<4xi64>, tensor<12x10xf32>) -> tensor<4x10xf32>
  // expected-remark@+1 {{matmul 0, other 40, transcendental 0}}
  %best, %which = net.max %y {over = array<i64: 1>} : (tensor<4x10xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  // expected-remark@+1 {{matmul 0, other 213, transcendental 44}}
  %loss, %p = net.cross_entropy %x, %which {smoothing = 0.0, over = 1} : (tensor<4x10xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x10xf32>)
  net.return %loss : tensor<f32> ["loss"]
}
