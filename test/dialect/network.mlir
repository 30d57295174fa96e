// RUN: netc-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: net.network @Net attributes {axes = {T = #net.moments<"20", "436">}, inputs = ["x", "ids"]} {
//  CHECK-NEXT: ^bb0(%x: tensor<?x4xf32, #net.axes<"N", "4">>, %ids: tensor<?xi32, #net.axes<"N">>):
//  CHECK-NEXT:   net.return %x, %ids : {{.*}} ["y", "ids"]
net.network @Net attributes {inputs = ["x", "ids"], axes = {T = #net.moments<"20", "436">}} {
^bb0(%a: tensor<?x4xf32, #net.axes<"N", "4">>, %b: tensor<?xi32, #net.axes<"N">>):
  net.return %a, %b : tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?xi32, #net.axes<"N">> ["y", "ids"]
}

// CHECK-LABEL: net.step @run attributes {inputs = [], network = "Net", run = #net.run<steps = "1000">} {
//  CHECK-NEXT:   %[[LOSS:.*]] = net.constant
//  CHECK-NEXT:   net.return %[[LOSS]] : tensor<f32> ["loss"]
net.step @run attributes {inputs = [], network = "Net", run = #net.run<steps = "1000">} {
  %loss = net.constant 0.0 : tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// expected-error@+1 {{names 1 inputs, its body takes 0}}
net.network @inputs attributes {inputs = ["x"]} {
  net.return []
}

// -----

// expected-error@+1 {{must end in `net.return`}}
net.network @no_return attributes {inputs = []} {
  %x = net.constant 0.0 : tensor<f32>
}

// -----

net.network @names attributes {inputs = []} {
  %x = net.constant 0.0 : tensor<f32>
  // expected-error@+1 {{names 0 results, returns 1}}
  net.return %x : tensor<f32> []
}

// -----

// expected-error@+1 {{expects parent op to be one of 'net.network, net.step'}}
net.return []
