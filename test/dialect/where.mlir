// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// Comparing floats counts, choosing and arithmetic on whole numbers do not.
// CHECK-LABEL: net.network @where
// CHECK:       %[[C:.*]] = net.compare %x, %{{.*}} {relation = "<"}
// CHECK:       net.where %[[C]], %{{.*}}, %{{.*}} : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
net.network @where attributes {inputs = ["x", "n"]} {
^bb0(%x: tensor<4x3xf32>, %n: tensor<4x3xi64>):
  %y = net.parameter "y" "normal" : tensor<4x3xf32>
  // expected-remark@+1 {{matmul 0, other 12, transcendental 0}}
  %c = net.compare %x, %y {relation = "<"} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
  %z = net.where %c, %x, %y : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %m = net.add %n, %n : (tensor<4x3xi64>, tensor<4x3xi64>) -> tensor<4x3xi64>
  %e = net.compare %m, %n {relation = "=="} : (tensor<4x3xi64>, tensor<4x3xi64>) -> tensor<4x3xi1>
  net.return %z, %e : tensor<4x3xf32>, tensor<4x3xi1> ["z", "e"]
}

// -----

// Of two equal elements the first has the gradient.
// CHECK-LABEL: net.network @extremes
// CHECK:       net.compare %{{.*}}, %{{.*}} {{{.*}}relation = ">="
// CHECK:       net.compare %{{.*}}, %{{.*}} {{{.*}}relation = "<="
net.network @extremes attributes {inputs = ["x"]} {
^bb0(%x: tensor<4x3xf32>):
  // expected-remark@+1 {{matmul 0, other 12, transcendental 0}}
  %y = net.parameter "y" "normal" : tensor<4x3xf32>
  // expected-remark@+1 {{matmul 0, other 12, transcendental 0}}
  %a = net.minimum %x, %y : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  // expected-remark@+1 {{matmul 0, other 12, transcendental 0}}
  %b = net.maximum %a, %y : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  net.return %b : tensor<4x3xf32> ["b"]
}

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{`compare` has relation `<>`, it must be <, <=, >, >=, == or !=}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.compare %x, %x {relation = "<>"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>

// -----

%c = net.constant 0.0 : tensor<5xi1>
%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{the tensors of `where` do not fit: axis 0 is 5 in the condition, 4 in what is chosen from}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.where %c, %x, %x : (tensor<5xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: net.literal dense<[1, 2, 3]> : tensor<3xi64> : tensor<3xi64>
%l = net.literal dense<[1, 2, 3]> : tensor<3xi64> : tensor<3xi64>

// -----

// expected-error@+1 {{has values 'tensor<3xi64>' for a result 'tensor<4xi64>'}}
%l = net.literal dense<[1, 2, 3]> : tensor<3xi64> : tensor<4xi64>

// -----

// CHECK: net.table "sine" : tensor<4x2xf32>
%t = net.table "sine" : tensor<4x2xf32>
// CHECK: net.table "sine" {theta = 5.000000e+05 : f64} : tensor<4x2xf32>
%s = net.table "sine" {theta = 5.0e5} : tensor<4x2xf32>

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+1 {{operand #0 must be a tensor of truth values, but got 'tensor<4xf32>'}}
%y = net.where %x, %x, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
