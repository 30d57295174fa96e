// RUN: netc-opt %s --net-differentiate --split-input-file --verify-diagnostics | FileCheck %s

// h' = tanh(w h + x). Backward through time: the last iteration first, the weight's
// gradients of all iterations added up. The gradient of tanh reads h', which is an output
// already; that of the product reads h, which the loop now hands out too.
// CHECK-LABEL: net.network @elman
//       CHECK:   %[[W:.*]] = net.parameter "w"
//       CHECK:   %[[H0:.*]] = net.parameter "h0"
//       CHECK:   %[[FORWARD:.*]]:3 = net.scan <"T"> over %x [0] init %[[H0]] out [0, 0] {
//       CHECK:   ^bb0(%{{.*}}, %[[H:.*]]: tensor<4xf32>):
//       CHECK:     %[[H1:.*]] = net.tanh
//       CHECK:     net.yield %[[H1]], %[[H]], %[[H1]]
//       CHECK:   %[[DHS:.*]] = net.constant 1.0
//   CHECK-DAG:   %[[DHT:.*]] = net.constant 0.0{{.*}}phase input{{.*}} : tensor<4xf32>
//   CHECK-DAG:   %[[DW0:.*]] = net.constant 0.0{{.*}}phase weight{{.*}} : tensor<4x4xf32>
//       CHECK:   %[[BACKWARD:.*]]:2 = net.scan <"T"> over %[[DHS]], %[[FORWARD]]#0, %[[FORWARD]]#1 [0, 0, 0] init %[[DHT]], %[[DW0]] out [] attributes {{.*}}reversed
//  CHECK-NEXT:   ^bb0(%[[DYT:.*]]: tensor<4xf32>, %[[YT:.*]]: tensor<4xf32>, %[[HT:.*]]: tensor<4xf32>, %[[DH:.*]]: tensor<4xf32>, %[[DW:.*]]: tensor<4x4xf32>):
//       CHECK:     %[[SUM:.*]] = net.add %[[DYT]], %[[DH]] {{.*}}phase input
//       CHECK:     %[[DA:.*]] = net.tanh_grad %[[SUM]], %[[YT]] {{.*}}phase input
//       CHECK:     %[[DH1:.*]] = net.linear %[[DA]], {{.*}}phase input
//       CHECK:     net.einsum {{.*}}phase weight
//       CHECK:     %[[DW1:.*]] = net.add %[[DW]], {{.*}}phase weight
//       CHECK:     net.yield %[[DH1]], %[[DW1]]
//       CHECK:   net.gradient %[[W]], %[[BACKWARD]]#1
//       CHECK:   net.gradient %[[H0]], %[[BACKWARD]]#0
net.network @elman attributes {inputs = ["x"]} {
^bb0(%x: tensor<?x4xf32, #net.axes<"T", "4">>):
  %w = net.parameter "w" "uniform" : tensor<4x4xf32>
  %h0 = net.parameter "h0" "zeros" : tensor<4xf32>
  %hs, %hT = net.scan <"T"> over %x [0] init %h0 out [0] {
  ^bb0(%xt: tensor<4xf32>, %h: tensor<4xf32>):
    %wh = net.linear %h, %w {over = 0} : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    %a = net.add %wh, %xt : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = net.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
    net.yield %h1, %h1 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<?x4xf32, #net.axes<"T", "4">>, tensor<4xf32>) -> (tensor<?x4xf32, #net.axes<"T", "4">>, tensor<4xf32>)
  net.return %hs : tensor<?x4xf32, #net.axes<"T", "4">> ["hs"]
}

// -----

// A sequence is read again, and what only moves its elements is done again: the
// forward loop hands out nothing for them. Its own gradient goes back in its place.
// The direction is reversed.
// CHECK-LABEL: net.network @read_again
//       CHECK:   %[[X:.*]] = net.mul
//       CHECK:   net.scan <"T"> over %[[X]] [1] out [1] attributes {reversed} {
//       CHECK:   %[[BACKWARD:.*]] = net.scan <"T"> over %{{.*}}, %[[X]] [1, 1] out [1] attributes {
//   CHECK-NOT:   reversed
//  CHECK-SAME:   {
//  CHECK-NEXT:   ^bb0(%[[DYT:.*]]: tensor<6xf32>, %[[XT:.*]]: tensor<6xf32>):
//  CHECK-NEXT:     %[[R:.*]] = net.reshape %[[XT]] {{.*}} -> tensor<2x3xf32>
//  CHECK-NEXT:     %[[SHAPED:.*]] = net.reshape %[[DYT]]
//       CHECK:     net.mul %[[SHAPED]], %[[R]]
//       CHECK:   net.mul %[[BACKWARD]]
net.network @read_again attributes {inputs = ["x"]} {
^bb0(%x: tensor<6x?xf32, #net.axes<"6", "T">>):
  %w = net.parameter "w" "uniform" : tensor<6x?xf32, #net.axes<"6", "T">>
  %s = net.mul %x, %w : (tensor<6x?xf32, #net.axes<"6", "T">>, tensor<6x?xf32, #net.axes<"6", "T">>) -> tensor<6x?xf32, #net.axes<"6", "T">>
  %y = net.scan <"T"> over %s [1] out [1] attributes {reversed} {
  ^bb0(%xt: tensor<6xf32>):
    %r = net.reshape %xt : (tensor<6xf32>) -> tensor<2x3xf32>
    %q = net.mul %r, %r : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %yt = net.reshape %q : (tensor<2x3xf32>) -> tensor<6xf32>
    net.yield %yt : tensor<6xf32>
  } : (tensor<6x?xf32, #net.axes<"6", "T">>) -> tensor<6x?xf32, #net.axes<"6", "T">>
  net.return %y : tensor<6x?xf32, #net.axes<"6", "T">> ["y"]
}

// -----

// Only what a result depends on is differentiated: `%n` counts on without
// consequence. What is captured and no weight is an activation.
// CHECK-LABEL: net.network @carried
//       CHECK:   %[[M:.*]] = net.linear %m
//       CHECK:   %[[BACKWARD:.*]]:2 = net.scan <"5"> over
//       CHECK:     net.add {{.*}}phase input
//   CHECK-NOT:     net.tanh_grad
//       CHECK:     net.yield
//       CHECK:   net.reshape %[[BACKWARD]]#1 {net.phase = #net<phase weight>}
net.network @carried attributes {inputs = ["x", "m"]} {
^bb0(%x: tensor<5x4xf32>, %m: tensor<4xf32>):
  %w = net.parameter "w" "uniform" : tensor<4x4xf32>
  %q = net.linear %m, %w {over = 0} : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  %zero = net.constant 0.0 : tensor<4xf32>
  %last, %count = net.scan <"5"> over %x [0] init %zero, %zero out [] {
  ^bb0(%xt: tensor<4xf32>, %h: tensor<4xf32>, %n: tensor<4xf32>):
    %hx = net.add %h, %xt : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %h1 = net.mul %hx, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %nq = net.mul %n, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n1 = net.tanh %nq : (tensor<4xf32>) -> tensor<4xf32>
    net.yield %h1, %n1 : tensor<4xf32>, tensor<4xf32>
  } : (tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  net.return %last : tensor<4xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<5x4xf32>
// expected-error@+1 {{sequence 0 has no axis 0 of size `6`}}
net.scan <"6"> over %x [0] out [] {
^bb0(%xt: tensor<4xf32>):
  net.yield
} : (tensor<5x4xf32>) -> ()

// -----

%x = net.constant 0.0 : tensor<5x4xf32>
// expected-error@+1 {{gives 2 axes for 1 sequences}}
net.scan <"5"> over %x [0, 1] out [] {
^bb0(%xt: tensor<4xf32>):
  net.yield
} : (tensor<5x4xf32>) -> ()

// -----

%x = net.constant 0.0 : tensor<5x4xf32>
// expected-error@+1 {{body takes sequence 0 as 'tensor<5xf32>'}}
net.scan <"5"> over %x [0] out [] {
^bb0(%xt: tensor<5xf32>):
  net.yield
} : (tensor<5x4xf32>) -> ()

// -----

%x = net.constant 0.0 : tensor<5x4xf32>
// expected-error@+1 {{body takes 2 values, expected 1}}
net.scan <"5"> over %x [0] out [] {
^bb0(%xt: tensor<4xf32>, %h: tensor<4xf32>):
  net.yield
} : (tensor<5x4xf32>) -> ()

// -----

%x = net.constant 0.0 : tensor<5x4xf32>
// expected-error@+1 {{yields 1 values and has 1 results, expected 0 outputs and 0 carried values}}
%y = net.scan <"5"> over %x [0] out [] {
^bb0(%xt: tensor<4xf32>):
  net.yield %xt : tensor<4xf32>
} : (tensor<5x4xf32>) -> tensor<5x4xf32>

// -----

%x = net.constant 0.0 : tensor<5x4xf32>
// expected-error@+1 {{output 0 has type 'tensor<6x4xf32>', its element 'tensor<4xf32>'}}
%y = net.scan <"5"> over %x [0] out [0] {
^bb0(%xt: tensor<4xf32>):
  net.yield %xt : tensor<4xf32>
} : (tensor<5x4xf32>) -> tensor<6x4xf32>

// -----

%h = net.constant 0.0 : tensor<4xf32>
%z = net.constant 0.0 : tensor<5xf32>
// expected-error@+1 {{carried value 0 changes its type from 'tensor<4xf32>'}}
%y = net.scan <"5"> init %h out [] {
^bb0(%ht: tensor<4xf32>):
  net.yield %z : tensor<5xf32>
} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error@+1 {{must end in `net.yield`}}
net.scan <"5"> out [] {
  %z = net.constant 0.0 : tensor<5xf32>
} : () -> ()

// -----

// expected-error@+1 {{runs `1/2` times}}
net.scan <"1/2"> out [] {
  net.yield
} : () -> ()

// -----

// A weight is there before the loop.
net.scan <"5"> out [] {
  // expected-error@+1 {{failed to verify that it stands outside of loops}}
  %w = net.parameter "w" "zeros" : tensor<5xf32>
  net.yield
} : () -> ()

// -----

net.scan <"5"> out [] {
  // expected-error@+1 {{failed to verify that it stands outside of loops}}
  %w = net.buffer "w" "zeros" : tensor<5xf32>
  net.yield
} : () -> ()

// -----

// expected-error@+1 {{expects parent op 'net.scan'}}
net.yield
