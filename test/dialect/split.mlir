// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// One number: so many equal parts. A part that nobody uses has a gradient of zeros.
// CHECK-LABEL: net.network @equal
// CHECK:       %[[ZEROS:.*]] = net.constant 0.0{{.*}} : tensor<4x4xf32>
// CHECK:       net.concat %{{.*}}, %[[ZEROS]] {{.*}}over = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
net.network @equal attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<4x8xf32>
  %a, %b = net.split %x {parts = array<i64: 2>, over = 1} : (tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  net.return %a : tensor<4x4xf32> ["y"]
}

// CHECK-LABEL: net.network @sizes
net.network @sizes attributes {inputs = ["x"]} {
^bb0(%x: tensor<4x8xf32>):
  %y:3 = net.split %x {parts = array<i64: 1, 2, 5>, over = 1} : (tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x2xf32>, tensor<4x5xf32>)
  net.return []
}

// CHECK-LABEL: net.network @free
net.network @free attributes {inputs = ["x"]} {
^bb0(%x: tensor<?xf32, #net.axes<"4*T">>):
  %y:2 = net.split %x {parts = array<i64: 2>, over = 0} : (tensor<?xf32, #net.axes<"4*T">>) -> (tensor<?xf32, #net.axes<"2*T">>, tensor<?xf32, #net.axes<"2*T">>)
  net.return []
}

// -----

%x = net.constant 0.0 : tensor<10xf32>
// expected-error@+2 {{cannot split: axis 0 is 10, which has no 3 equal parts}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.split %x {parts = array<i64: 3>, over = 0} : (tensor<10xf32>) -> tensor<3xf32>

// -----

%x = net.constant 0.0 : tensor<?xf32, #net.axes<"T">>
// expected-error@+2 {{cannot split: axis 0 is T, which has no 2 equal parts}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.split %x {parts = array<i64: 2>, over = 0} : (tensor<?xf32, #net.axes<"T">>) -> tensor<3xf32>

// -----

%x = net.constant 0.0 : tensor<?xf32, #net.axes<"2*T + 1">>
// expected-error@+2 {{cannot split: axis 0 is 2*T + 1, which has no 2 equal parts}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.split %x {parts = array<i64: 2>, over = 0} : (tensor<?xf32, #net.axes<"2*T + 1">>) -> tensor<3xf32>

// -----

%x = net.constant 0.0 : tensor<10xf32>
// expected-error@+2 {{cannot split: the parts add up to 11, axis 0 is 10}}
// expected-error@+1 {{failed to infer returned types}}
%y:2 = net.split %x {parts = array<i64: 3, 8>, over = 0} : (tensor<10xf32>) -> (tensor<3xf32>, tensor<8xf32>)

// -----

%x = net.constant 0.0 : tensor<10xf32>
// expected-error@+2 {{cannot split: the parts add up to 0, axis 0 is 10}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.split %x {parts = array<i64>, over = 0} : (tensor<10xf32>) -> tensor<10xf32>

// -----

%x = net.constant 0.0 : tensor<10xf32>
// expected-error@+2 {{axis 0 of the result of `split` has -5 elements, possible are 1 to 1099511627776}}
// expected-error@+1 {{failed to infer returned types}}
%y:2 = net.split %x {parts = array<i64: -5, 15>, over = 0} : (tensor<10xf32>) -> (tensor<5xf32>, tensor<15xf32>)

// -----

%x = net.constant 0.0 : tensor<10xf32>
// expected-error@+2 {{cannot split into 0 parts, possible are 1 to 65536}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.split %x {parts = array<i64: 0>, over = 0} : (tensor<10xf32>) -> tensor<10xf32>

// -----

%x = net.constant 0.0 : tensor<1099511627776xf32>
// expected-error@+2 {{cannot split into 1099511627776 parts, possible are 1 to 65536}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.split %x {parts = array<i64: 1099511627776>, over = 0} : (tensor<1099511627776xf32>) -> tensor<1xf32>

// -----

%x = net.constant 0.0 : tensor<10xf32>
// expected-error@+2 {{`split` works over axis 1, its operand has 1 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.split %x {parts = array<i64: 1>, over = 1} : (tensor<10xf32>) -> tensor<10xf32>
