// RUN: netc-opt %s --split-input-file --verify-diagnostics --net-differentiate --net-cost-remarks | FileCheck %s

// ceil(1.25 * 6 * 2 / 4) = 4 slots for each of 4 experts. The rows move for nothing; backward the
// two choices of each row are brought back and added, 6 * 2 * 3 sums.
// CHECK-LABEL: net.network @dispatch
// CHECK:       %slots, %[[PLACES:.*]] = net.dispatch
// CHECK-SAME:    -> (tensor<4x4x3xf32>, tensor<6x2xi64>)
// CHECK:       %[[DSLOTS:.*]] = net.constant 1.0
// CHECK:       %[[BACK:.*]] = net.collect %[[DSLOTS]], %[[PLACES]] {{.*}}: (tensor<4x4x3xf32>, tensor<6x2xi64>) -> tensor<6x2x3xf32>
// CHECK:       net.sum %[[BACK]] {{.*}}over = array<i64: 1>}
net.network @dispatch attributes {inputs = ["choices"]} {
^bb0(%choices: tensor<6x2xi64>):
  %x = net.parameter "x" "normal" : tensor<6x3xf32>
  // expected-remark@+1 {{matmul 0, other 36, transcendental 0}}
  %slots, %places = net.dispatch %x, %choices {experts = 4 : i64, capacity = 1.25} : (tensor<6x3xf32>, tensor<6x2xi64>) -> (tensor<4x4x3xf32>, tensor<6x2xi64>)
  net.return %slots : tensor<4x4x3xf32> ["slots"]
}

// What is collected goes back to the slots.
// CHECK-LABEL: net.network @collect
// CHECK:       %[[DY:.*]] = net.constant 1.0
// CHECK:       net.collect_grad %[[DY]], %places{{.*}}: (tensor<6x2x3xf32>, tensor<6x2xi64>) -> tensor<4x4x3xf32>
net.network @collect attributes {inputs = ["x", "choices"]} {
^bb0(%x: tensor<6x3xf32>, %choices: tensor<6x2xi64>):
  %slots = net.parameter "slots" "normal" : tensor<4x4x3xf32>
  %_, %places = net.dispatch %x, %choices {experts = 4 : i64, capacity = 1.25} : (tensor<6x3xf32>, tensor<6x2xi64>) -> (tensor<4x4x3xf32>, tensor<6x2xi64>)
  %y = net.collect %slots, %places : (tensor<4x4x3xf32>, tensor<6x2xi64>) -> tensor<6x2x3xf32>
  net.return %y : tensor<6x2x3xf32> ["y"]
}

// The slots are a share of free axes, and 1.1 is eleven tenths.
// CHECK-LABEL: net.network @free
// CHECK: net.dispatch {{.*}} -> (tensor<8x?x3xf32, #net.axes<"8", "11/40*N*T", "3">>, tensor<?x?x2xi64, #net.axes<"N", "T", "2">>)
net.network @free attributes {inputs = ["x", "choices"]} {
^bb0(%x: tensor<?x?x3xf32, #net.axes<"N", "T", "3">>, %choices: tensor<?x?x2xi64, #net.axes<"N", "T", "2">>):
  %slots, %places = net.dispatch %x, %choices {experts = 8 : i64, capacity = 1.1} : (tensor<?x?x3xf32, #net.axes<"N", "T", "3">>, tensor<?x?x2xi64, #net.axes<"N", "T", "2">>) -> (tensor<8x?x3xf32, #net.axes<"8", "11/40*N*T", "3">>, tensor<?x?x2xi64, #net.axes<"N", "T", "2">>)
  net.return %slots : tensor<8x?x3xf32, #net.axes<"8", "11/40*N*T", "3">> ["slots"]
}

// -----

%x = net.constant 0.0 : tensor<6xf32>
%choices = net.constant 0.0 : tensor<1xi64>
// expected-error@+2 {{`dispatch` takes rows of features, its operand has 1 axes}}
// expected-error@+1 {{failed to infer returned types}}
%slots, %places = net.dispatch %x, %choices {experts = 4 : i64, capacity = 1.0} : (tensor<6xf32>, tensor<1xi64>) -> (tensor<4x1x6xf32>, tensor<1xi64>)

// -----

%x = net.constant 0.0 : tensor<6x3xf32>
%choices = net.constant 0.0 : tensor<5x2xi64>
// expected-error@+2 {{the tensors of `dispatch` do not fit: axis 0 is 6 in the rows, 5 in the choices}}
// expected-error@+1 {{failed to infer returned types}}
%slots, %places = net.dispatch %x, %choices {experts = 4 : i64, capacity = 1.0} : (tensor<6x3xf32>, tensor<5x2xi64>) -> (tensor<4x3x3xf32>, tensor<5x2xi64>)

// -----

%x = net.constant 0.0 : tensor<6x3xf32>
%choices = net.constant 0.0 : tensor<6x2xi64>
// expected-error@+2 {{`dispatch` has 0 experts of capacity 1.000000e+00, both must be positive}}
// expected-error@+1 {{failed to infer returned types}}
%slots, %places = net.dispatch %x, %choices {experts = 0 : i64, capacity = 1.0} : (tensor<6x3xf32>, tensor<6x2xi64>) -> (tensor<4x3x3xf32>, tensor<6x2xi64>)

// -----

%slots = net.constant 0.0 : tensor<4x3xf32>
%places = net.constant 0.0 : tensor<6x2xi64>
// expected-error@+2 {{`collect` takes [experts, slots, features], its operand has 2 axes}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.collect %slots, %places : (tensor<4x3xf32>, tensor<6x2xi64>) -> tensor<6x2x3xf32>

// -----

%slots = net.constant 0.0 : tensor<4x4x3xf32>
%places = net.constant 0.0 : tensor<6x2xi64>
// expected-error@+2 {{`collect` takes the places that `dispatch` made}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.collect %slots, %places : (tensor<4x4x3xf32>, tensor<6x2xi64>) -> tensor<6x2x3xf32>

// -----

%x = net.constant 0.0 : tensor<6x3xf32>
%choices = net.constant 0.0 : tensor<6x2xi64>
%slots, %places = net.dispatch %x, %choices {experts = 4 : i64, capacity = 1.0} : (tensor<6x3xf32>, tensor<6x2xi64>) -> (tensor<4x3x3xf32>, tensor<6x2xi64>)
%others = net.constant 0.0 : tensor<4x4x3xf32>
// expected-error@+2 {{`collect` takes the 4 x 3 slots that `dispatch` made, here are 4 x 4}}
// expected-error@+1 {{failed to infer returned types}}
%y = net.collect %others, %places : (tensor<4x4x3xf32>, tensor<6x2xi64>) -> tensor<6x2x3xf32>

// -----

%x = net.constant 0.0 : tensor<6x3xf32>
%choices = net.constant 0.0 : tensor<6x2xi64>
%slots, %places = net.dispatch %x, %choices {experts = 4 : i64, capacity = 1.25} : (tensor<6x3xf32>, tensor<6x2xi64>) -> (tensor<4x4x3xf32>, tensor<6x2xi64>)
%dy = net.constant 0.0 : tensor<6x1x3xf32>
// expected-error@+1 {{takes a gradient 'tensor<6x2x3xf32>', it is given 'tensor<6x1x3xf32>'}}
%dslots = net.collect_grad %dy, %places : (tensor<6x1x3xf32>, tensor<6x2xi64>) -> tensor<4x4x3xf32>
