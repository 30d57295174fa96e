// RUN: netc-opt %s --net-differentiate --net-recompute --split-input-file --verify-diagnostics | FileCheck %s
// RUN: netc-opt %s --net-differentiate --net-recompute --cse --canonicalize --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=MERGED

// Of each copy, what comes into it is kept. All of it is run again before what reads it, with the same mask; averages
// move once, and weights are not made again.
// CHECK-LABEL: net.step @full
// CHECK:         %[[W0:.*]] = net.parameter "w0"
// CHECK:         %[[Y0:.*]] = net.linear %{{.*}}, %[[W0]]
// CHECK:         %[[M0:.*]] = net.mean %[[Y0]]
// CHECK:         net.moving_average %{{.*}}, %[[M0]]
// CHECK:         net.tanh %[[Y0]]
// CHECK:         %[[X1:.*]], %[[MASK0:.*]] = net.dropout {{.*}} {net.draw = 0 : i64
// CHECK:         %[[W1:.*]] = net.parameter "w1"
// CHECK:         %[[Y1:.*]] = net.linear %[[X1]], %[[W1]]
// CHECK:         %[[Z1:.*]] = net.tanh %[[Y1]]
// CHECK:         %[[OUT:.*]], %[[MASK1:.*]] = net.dropout %[[Z1]] {net.draw = 1 : i64
// CHECK:         %[[LOSS:.*]] = net.sum %[[OUT]]
// CHECK-NOT:     phase recompute
// CHECK:         net.broadcast {{.*}}phase input
// CHECK-NEXT:    %[[Y1B:.*]] = net.linear %[[X1]], %[[W1]] {net.phase = #net<phase recompute>
// CHECK-NEXT:    net.mean %[[Y1B]] {{.*}}phase recompute
// CHECK-NEXT:    %[[Z1B:.*]] = net.tanh %[[Y1B]] {net.phase = #net<phase recompute>
// CHECK-NEXT:    %{{.*}}, %[[MASK1B:.*]] = net.dropout %[[Z1B]] {net.draw = 1 : i64, net.phase = #net<phase recompute>
// CHECK-NEXT:    net.dropout_grad %{{.*}}, %[[MASK1B]]
// CHECK-NEXT:    net.tanh_grad %{{.*}}, %[[Z1B]]
// CHECK:         net.einsum {{.*}}(%{{.*}}, %[[X1]]) {net.phase = #net<phase weight>
// CHECK-NEXT:    %[[Y0B:.*]] = net.linear %{{.*}}, %[[W0]] {net.phase = #net<phase recompute>
// CHECK-NEXT:    net.mean %[[Y0B]]
// CHECK-NEXT:    %[[Z0B:.*]] = net.tanh %[[Y0B]]
// CHECK-NEXT:    %{{.*}}, %[[MASK0B:.*]] = net.dropout %[[Z0B]] {net.draw = 0 : i64, net.phase = #net<phase recompute>
// CHECK-NEXT:    net.dropout_grad %{{.*}}, %[[MASK0B]]
// CHECK-NOT:     net.moving_average

// What is run again stays apart from what was run before.
// MERGED-LABEL: net.step @full
// MERGED-COUNT-2: net.tanh {{.*}}phase recompute
!x = tensor<4x8xf32>
!m = tensor<4x8xi1>
!w = tensor<8x8xf32>
net.step @full attributes {inputs = ["x"], network = "Net", run = #net.run<recompute = "full">} {
^bb0(%x: !x):
  %w0 = net.parameter "w0" "uniform" : !w loc("layer.0.weight")
  %y0 = net.linear %x, %w0 {over = 1, net.copy = "layer.0"} : (!x, !w) -> !x loc("layer.0.linear")
  %mean = net.mean %y0 {over = array<i64: 0>, net.copy = "layer.0"} : (!x) -> tensor<8xf32> loc("layer.0.mean")
  %average = net.buffer "average" "zeros" : tensor<8xf32> loc("layer.0.average")
  net.moving_average %average, %mean {momentum = 0.1, net.copy = "layer.0"} : (tensor<8xf32>, tensor<8xf32>) -> () loc("layer.0.moving_average")
  %z0 = net.tanh %y0 {net.copy = "layer.0"} : (!x) -> !x loc("layer.0.tanh")
  %x1, %mask0 = net.dropout %z0 {p = 0.1, over = array<i64: 0, 1>, net.copy = "layer.0"} : (!x) -> (!x, !m) loc("layer.0.dropout")
  %w1 = net.parameter "w1" "uniform" {net.copy = "layer.1"} : !w loc("layer.1.weight")
  %y1 = net.linear %x1, %w1 {over = 1, net.copy = "layer.1"} : (!x, !w) -> !x loc("layer.1.linear")
  %unread = net.mean %y1 {over = array<i64: 0>, net.copy = "layer.1"} : (!x) -> tensor<8xf32> loc("layer.1.mean")
  %z1 = net.tanh %y1 {net.copy = "layer.1"} : (!x) -> !x loc("layer.1.tanh")
  %out, %mask1 = net.dropout %z1 {p = 0.1, over = array<i64: 0, 1>, net.copy = "layer.1"} : (!x) -> (!x, !m) loc("layer.1.dropout")
  %loss = net.sum %out {over = array<i64: 0, 1>} : (!x) -> tensor<f32> loc("sum")
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// Every second copy; and copies in pairs, of which the last is left alone.
// CHECK-LABEL: net.step @every
// CHECK:         %[[A:.*]] = net.add
// CHECK:         %[[B0:.*]] = net.tanh %[[A]]
// CHECK:         %[[C0:.*]] = net.exp %[[B0]]
// CHECK:         net.tanh %{{.*}} {net.phase = #net<phase recompute>}
// CHECK-NEXT:    net.exp %{{.*}} {net.phase = #net<phase recompute>}
// CHECK-NOT:     phase recompute
// CHECK:         net.return
// CHECK-LABEL: net.step @together
// CHECK:         %[[A:.*]] = net.add
// CHECK:         net.exp
// CHECK:         net.exp
// CHECK:         net.tanh %{{.*}} {net.phase = #net<phase recompute>}
// CHECK-NEXT:    net.exp %{{.*}} {net.phase = #net<phase recompute>}
// CHECK-NOT:     phase recompute
// CHECK:         %[[B0:.*]] = net.tanh %[[A]] {net.phase = #net<phase recompute>}
// CHECK-NEXT:    %[[C0:.*]] = net.exp %[[B0]] {net.phase = #net<phase recompute>}
// CHECK-NEXT:    %[[B1:.*]] = net.tanh %[[C0]] {net.phase = #net<phase recompute>}
// CHECK-NEXT:    net.exp %[[B1]] {net.phase = #net<phase recompute>}
// CHECK-NOT:     phase recompute
// CHECK:         net.return
!x = tensor<4xf32>
net.step @every attributes {inputs = ["x"], network = "Net", run = #net.run<recompute = "full", recompute_every = "2">} {
^bb0(%x: !x):
  %w = net.parameter "w" "uniform" : !x
  %a = net.add %x, %w : (!x, !x) -> !x loc("add")
  %b0 = net.tanh %a {net.copy = "layer.0"} : (!x) -> !x loc("layer.0.tanh")
  %c0 = net.exp %b0 {net.copy = "layer.0"} : (!x) -> !x loc("layer.0.exp")
  %b1 = net.tanh %c0 {net.copy = "layer.1"} : (!x) -> !x loc("layer.1.tanh")
  %c1 = net.exp %b1 {net.copy = "layer.1"} : (!x) -> !x loc("layer.1.exp")
  %b2 = net.tanh %c1 {net.copy = "layer.2"} : (!x) -> !x loc("layer.2.tanh")
  %c2 = net.exp %b2 {net.copy = "layer.2"} : (!x) -> !x loc("layer.2.exp")
  %loss = net.sum %c2 {over = array<i64: 0>} : (!x) -> tensor<f32> loc("sum")
  net.return %loss : tensor<f32> ["loss"]
}
net.step @together attributes {inputs = ["x"], network = "Net", run = #net.run<recompute = "full", recompute_together = "2">} {
^bb0(%x: !x):
  %w = net.parameter "w" "uniform" : !x
  %a = net.add %x, %w : (!x, !x) -> !x loc("add")
  %b0 = net.tanh %a {net.copy = "layer.0"} : (!x) -> !x loc("layer.0.tanh")
  %c0 = net.exp %b0 {net.copy = "layer.0"} : (!x) -> !x loc("layer.0.exp")
  %b1 = net.tanh %c0 {net.copy = "layer.1"} : (!x) -> !x loc("layer.1.tanh")
  %c1 = net.exp %b1 {net.copy = "layer.1"} : (!x) -> !x loc("layer.1.exp")
  %b2 = net.tanh %c1 {net.copy = "layer.2"} : (!x) -> !x loc("layer.2.tanh")
  %c2 = net.exp %b2 {net.copy = "layer.2"} : (!x) -> !x loc("layer.2.exp")
  %loss = net.sum %c2 {over = array<i64: 0>} : (!x) -> tensor<f32> loc("sum")
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// Of a loop that is run again, the first run hands out what is read of it only.
// CHECK-LABEL: net.step @loop
// CHECK:         %[[O:.*]] = net.scan <"5"> over %{{.*}} [0] out [0] {
// CHECK:         net.sum %[[O]]
// CHECK:         net.scan <"5"> over {{.*}} out [0, 0] attributes {net.phase = #net<phase recompute>} {
// CHECK:         net.scan <"5"> {{.*}}reversed
!s = tensor<5x8xf32>
!v = tensor<8xf32>
net.step @loop attributes {inputs = ["x"], network = "Net", run = #net.run<recompute = "full">} {
^bb0(%x: !s):
  %w = net.parameter "w" "uniform" : !v loc("w")
  %o = net.scan <"5"> over %x [0] out [0] attributes {net.copy = "layer.0"} {
  ^bb0(%xt: !v):
    %a = net.mul %xt, %w : (!v, !v) -> !v loc("layer.0.mul")
    %b = net.tanh %a : (!v) -> !v loc("layer.0.tanh")
    %c = net.mul %b, %w : (!v, !v) -> !v loc("layer.0.mul_2")
    net.yield %c : !v
  } : (!s) -> !s loc("layer.0.scan")
  %loss = net.sum %o {over = array<i64: 0, 1>} : (!s) -> tensor<f32> loc("sum")
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// From the scores of an attention to what they weigh; other products are not of it.
// CHECK-LABEL: net.step @selective
// CHECK:         %[[W:.*]] = net.parameter
// CHECK:         %[[R:.*]] = net.relu
// CHECK:         %[[Y:.*]] = net.einsum "t s, s d -> t d"
// CHECK:         %[[Z:.*]] = net.relu %[[Y]]
// CHECK:         %[[DZ:.*]] = net.relu_grad %{{.*}}, %[[Z]]
// CHECK:         %[[SCORES:.*]] = net.einsum "t d, s d -> t s"(%[[R]], %[[R]]) {net.phase = #net<phase recompute>}
// CHECK-NEXT:    %[[WEIGHTS:.*]] = net.softmax %[[SCORES]] {net.phase = #net<phase recompute>
// CHECK-NEXT:    net.einsum "t s, s d -> t d"(%[[WEIGHTS]], %[[R]]) {net.phase = #net<phase recompute>}
// CHECK-NEXT:    net.einsum "t s, t d -> s d"(%[[WEIGHTS]], %[[DZ]]) {net.phase = #net<phase input>}
// CHECK-NEXT:    net.softmax_grad %{{.*}}, %[[WEIGHTS]]
// CHECK-NOT:     phase recompute
// CHECK:         net.return
!x = tensor<4x8xf32>
!w = tensor<8x8xf32>
!a = tensor<4x4xf32>
net.step @selective attributes {inputs = ["x"], network = "Net", run = #net.run<recompute = "selective">} {
^bb0(%x: !x):
  %w = net.parameter "w" "uniform" : !w loc("weight")
  %q = net.linear %x, %w {over = 1} : (!x, !w) -> !x loc("query")
  %r = net.relu %q : (!x) -> !x loc("relu")
  %scores = net.einsum "t d, s d -> t s"(%r, %r) : (!x, !x) -> !a loc("scores")
  %weights = net.softmax %scores {over = 1} : (!a) -> !a loc("softmax")
  %y = net.einsum "t s, s d -> t d"(%weights, %r) : (!a, !x) -> !x loc("weighted")
  %z = net.relu %y : (!x) -> !x loc("relu_2")
  %loss = net.sum %z {over = array<i64: 0, 1>} : (!x) -> tensor<f32> loc("sum")
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// What the ops say is run again whatever the run says, but only what the backward pass needs: not what leaves the part.
// In a copy of a block that is run again, too, such a part is made from what the copy makes.
// CHECK-LABEL: net.step @marked
// CHECK:         %[[A:.*]] = net.add
// CHECK:         %[[D:.*]] = net.exp
// CHECK:         net.mul %{{.*}}, %[[D]]
// CHECK-NEXT:    %[[B1:.*]] = net.tanh %[[A]] {net.phase = #net<phase recompute>}
// CHECK-NEXT:    %[[C1:.*]] = net.tanh %[[B1]] {{.*}}phase recompute
// CHECK-NEXT:    net.exp %[[C1]] {{.*}}phase recompute
// CHECK-NEXT:    %[[C2:.*]] = net.tanh %[[B1]] {net.phase = #net<phase recompute>, net.recomputed = 0
// CHECK-NEXT:    net.tanh_grad %{{.*}}, %[[C2]]
// CHECK-NEXT:    net.tanh_grad %{{.*}}, %[[B1]]
!x = tensor<4xf32>
net.step @marked attributes {inputs = ["x"], network = "Net", run = #net.run<recompute = "full">} {
^bb0(%x: !x):
  %w = net.parameter "w" "uniform" : !x
  %a = net.add %x, %w : (!x, !x) -> !x loc("add")
  %b = net.tanh %a {net.copy = "layer.0"} : (!x) -> !x loc("layer.0.tanh")
  %c = net.tanh %b {net.recomputed = 0 : i64, net.copy = "layer.0"} : (!x) -> !x loc("layer.0.tanh_2")
  %d = net.exp %c {net.recomputed = 0 : i64, net.copy = "layer.0"} : (!x) -> !x loc("layer.0.exp")
  %loss = net.sum %d {over = array<i64: 0>} : (!x) -> tensor<f32> loc("sum")
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// Where nothing learns, nothing is read again.
// CHECK-LABEL: net.step @frozen
// CHECK-NOT:     phase recompute
// CHECK:         net.return
!x = tensor<4xf32>
net.step @frozen attributes {inputs = ["x"], network = "Net", run = #net.run<recompute = "full">} {
^bb0(%x: !x):
  %b = net.tanh %x {net.copy = "layer.0"} : (!x) -> !x loc("layer.0.tanh")
  %w = net.parameter "w" "uniform" : !x
  %a = net.add %b, %w : (!x, !x) -> !x loc("add")
  %loss = net.sum %a {over = array<i64: 0>} : (!x) -> tensor<f32> loc("sum")
  net.return %loss : tensor<f32> ["loss"]
}

// -----

!x = tensor<4xf32>
// expected-error@+1 {{nothing can be recomputed: `Net` has no copies of a block in a `repeat` or a list}}
net.step @copies attributes {inputs = ["x"], network = "Net", run = #net.run<recompute = "full">} {
^bb0(%x: !x):
  %loss = net.sum %x {over = array<i64: 0>} : (!x) -> tensor<f32> loc("sum")
  net.return %loss : tensor<f32> ["loss"]
}

// -----

!x = tensor<4xf32>
// expected-error@+1 {{nothing can be recomputed: `Net` has no attention, which is two products of activations}}
net.step @attention attributes {inputs = ["x"], network = "Net", run = #net.run<recompute = "selective">} {
^bb0(%x: !x):
  %loss = net.sum %x {over = array<i64: 0>} : (!x) -> tensor<f32> loc("sum")
  net.return %loss : tensor<f32> ["loss"]
}
