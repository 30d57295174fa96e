// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-cost-remarks | FileCheck %s

// Numbers only.
// CHECK-LABEL: net.network @distances
// CHECK: net.relative_position %x {{.*}} -> tensor<?x5xi64, #net.axes<"T", "5">>
net.network @distances attributes {inputs = ["x"]} {
^bb0(%x: tensor<2x?x5xf32, #net.axes<"2", "T", "5">>):
  %y = net.relative_position %x {buckets = 32 : i64, distance = 128 : i64, causal = false} : (tensor<2x?x5xf32, #net.axes<"2", "T", "5">>) -> tensor<?x5xi64, #net.axes<"T", "5">>
  net.return %y : tensor<?x5xi64, #net.axes<"T", "5">> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+2 {{`relative_position` needs two axes, its operand has 1}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.relative_position %x {buckets = 32 : i64, distance = 128 : i64, causal = false} : (tensor<4xf32>) -> tensor<4x4xi64>

// -----

%x = net.constant 0.0 : tensor<4x4xf32>
// expected-error@+2 {{`relative_position` has 2 buckets, possible are even numbers from 4 to 4096}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.relative_position %x {buckets = 2 : i64, distance = 128 : i64, causal = false} : (tensor<4x4xf32>) -> tensor<4x4xi64>

// -----

%x = net.constant 0.0 : tensor<4x4xf32>
// expected-error@+2 {{`relative_position` reaches to distance 16, of its buckets 16 hold one distance each}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.relative_position %x {buckets = 32 : i64, distance = 16 : i64, causal = true} : (tensor<4x4xf32>) -> tensor<4x4xi64>
