// RUN: netc-opt %s --net-apply-precision --split-input-file | FileCheck %s
// RUN: netc-opt %s --net-apply-precision --net-differentiate --split-input-file | FileCheck %s --check-prefix=BACK

// A product reads copies in bf16, one of each value. Its bias follows it, and so does a number. The residual stream is f32,
// and an element-wise op reads both as they are. The loss is f32.
// CHECK-LABEL: net.step @mixed
// CHECK:       ^bb0(%[[X:.*]]: tensor<4x8xf32>)
// CHECK:         %[[W:.*]] = net.parameter "w" "fan_in" : tensor<8x8xf32>
// CHECK:         %[[XL:.*]] = net.convert %[[X]] : {{.*}} -> tensor<4x8xbf16>
// CHECK:         %[[WL:.*]] = net.convert %[[W]] : {{.*}} -> tensor<8x8xbf16>
// CHECK:         %[[A:.*]] = net.linear %[[XL]], %[[WL]]
// CHECK:         %[[BL:.*]] = net.convert %{{.*}} : tensor<8xf32> -> tensor<8xbf16>
// CHECK:         %[[BB:.*]] = net.broadcast %[[BL]]
// CHECK:         %[[C:.*]] = net.add %[[A]], %[[BB]] : {{.*}} -> tensor<4x8xbf16>
// CHECK:         net.constant 5.000000e-01 : tensor<4x8xbf16>
// CHECK:         %[[D:.*]] = net.mul %[[C]], %{{.*}} : {{.*}} -> tensor<4x8xbf16>
// CHECK:         %[[E:.*]] = net.add %[[X]], %[[D]] : (tensor<4x8xf32>, tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-NOT:     net.convert %[[X]]
// CHECK:         net.linear %[[XL]], %[[WL]]
// CHECK:         %{{.*}} = net.mse %{{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>)

// A gradient has the format of its value: that of a weight is a product in bf16, then f32.
// BACK-LABEL: net.step @mixed
// BACK:         %[[DW1:.*]] = net.einsum "a0 m, a0 k -> m k"{{.*}} -> tensor<8x8xbf16>
// BACK:         %[[DW2:.*]] = net.einsum "a0 m, a0 k -> m k"{{.*}} -> tensor<8x8xbf16>
// BACK:         %[[SUM:.*]] = net.add %[[DW1]], %[[DW2]]
// BACK:         %[[WIDE:.*]] = net.convert %[[SUM]] {{.*}} -> tensor<8x8xf32>
// BACK:         net.gradient %{{.*}}, %[[WIDE]]
net.step @mixed attributes {inputs = ["x"], network = "N", run = #net.run<precision = "mixed(bf16)">} {
^bb0(%x: tensor<4x8xf32>):
  %w = net.parameter "w" "fan_in" : tensor<8x8xf32>
  %b = net.parameter "b" "zeros" : tensor<8xf32>
  %a = net.linear %x, %w {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %bb = net.broadcast %b {axes = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %c = net.add %a, %bb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %half = net.constant 0.5 : tensor<4x8xf32>
  %d = net.mul %c, %half : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = net.add %x, %d : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %f = net.linear %x, %w {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss = net.mse %e, %f : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// Statistics of a batch leave their values in bf16, with those of f32 beside them; those of an example give f32.
// A learned scale widens what is no normalization.
// CHECK-LABEL: net.step @norms
// CHECK:         %[[XL:.*]] = net.convert %{{.*}} : tensor<4x8xf32>
// CHECK:         %[[A:.*]] = net.linear %[[XL]]
// CHECK:         net.normalize %[[A]] {{.*}}over = array<i64: 0>} : (tensor<4x8xbf16>) -> (tensor<4x8xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK:         net.mul %{{.*}} : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK:         %[[R:.*]] = net.relu %{{.*}} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK:         net.mul %[[R]], %{{.*}} : (tensor<4x8xbf16>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK:         net.normalize %{{.*}} {{.*}}over = array<i64: 1>} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>,
net.step @norms attributes {inputs = ["x"], network = "N", run = #net.run<precision = "mixed(bf16)">} {
^bb0(%x: tensor<4x8xf32>):
  %w = net.parameter "w" "fan_in" : tensor<8x8xf32>
  %s = net.parameter "s" "ones" : tensor<8xf32>
  %a = net.linear %x, %w {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %y, %mean, %variance, %rstd = net.normalize %a {by_channel = false, eps = 1.0e-5 : f64, over = array<i64: 0>} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %ss = net.broadcast %s {axes = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %z = net.mul %y, %ss : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = net.relu %z : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = net.mul %r, %ss : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %u, %mean2, %variance2, %rstd2 = net.normalize %t {by_channel = false, eps = 1.0e-5 : f64, over = array<i64: 1>} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %loss = net.mean %u {over = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// A number is divided in f32, as by PyTorch's `reciprocal`, and a value in the wider of both formats. The gradient of `1 / x`
// needs no more than the quotient.
// CHECK-LABEL: net.step @quotients
// CHECK:         %[[A:.*]] = net.linear {{.*}} -> tensor<4x8xbf16>
// CHECK:         net.div %[[A]], %[[A]] : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
// CHECK:         net.div %{{.*}}, %[[A]] : (tensor<4x8xf32>, tensor<4x8xbf16>) -> tensor<4x8xf32>
// BACK-LABEL: net.step @quotients
// BACK:         %[[QUOTIENT:.*]] = net.div {{.*}} -> tensor<4x8xf32>
// BACK:         %[[ONCE:.*]] = net.mul %[[DY:.*]], %[[QUOTIENT]]
// BACK-NEXT:    %[[TWICE:.*]] = net.mul %[[ONCE]], %[[QUOTIENT]]
// BACK-NEXT:    net.neg %[[TWICE]]
net.step @quotients attributes {inputs = ["x"], network = "N", run = #net.run<precision = "mixed(bf16)">} {
^bb0(%x: tensor<4x8xf32>):
  %w = net.parameter "w" "fan_in" : tensor<8x8xf32>
  %a = net.linear %x, %w {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = net.div %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %one = net.constant 1.0 : tensor<4x8xf32>
  %c = net.div %one, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = net.add %b, %c : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss = net.mean %d {over = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// The state of a loop is in what its iterations make of it, if it starts with a number. The weight is converted outside.
// CHECK-LABEL: net.step @loop
// CHECK:         %[[W:.*]] = net.parameter "w"
// CHECK-DAG:     %[[ZERO:.*]] = net.constant 0.000000e+00 : tensor<4x8xbf16>
// CHECK-DAG:     %[[WL:.*]] = net.convert %[[W]]
// CHECK:         net.scan {{.*}} init %[[ZERO]]
// CHECK:         ^bb0(%{{.*}}: tensor<4x8xbf16>, %[[H:.*]]: tensor<4x8xbf16>):
// CHECK-NEXT:      net.linear %[[H]], %[[WL]]
net.step @loop attributes {inputs = ["x"], network = "N", run = #net.run<precision = "mixed(bf16)">} {
^bb0(%x: tensor<4x3x8xf32>):
  %w = net.parameter "w" "fan_in" : tensor<8x8xf32>
  %zero = net.constant 0.0 : tensor<4x8xf32>
  %last = net.scan #net.poly<"3"> over %x [1] init %zero out [] {
  ^bb0(%xt: tensor<4x8xf32>, %h: tensor<4x8xf32>):
    %u = net.linear %h, %w {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %v = net.linear %xt, %w {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %n = net.add %u, %v : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %t = net.tanh %n : (tensor<4x8xf32>) -> tensor<4x8xf32>
    net.yield %t : tensor<4x8xf32>
  } : (tensor<4x3x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss = net.mean %last {over = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// With all values low, so are the inputs that a loop goes through or begins with.
// CHECK-LABEL: net.step @whole_loop
// CHECK-DAG:     %[[X:.*]] = net.convert %x
// CHECK-DAG:     %[[START:.*]] = net.convert %start
// CHECK-DAG:     %[[ZERO:.*]] = net.constant 0.000000e+00 : tensor<4x8xf16>
// CHECK:         net.scan {{.*}} over %[[X]] [1] init %[[ZERO]], %[[START]]
// CHECK-NEXT:    ^bb0(%{{.*}}: tensor<4x8xf16>, %{{.*}}: tensor<4x8xf16>, %{{.*}}: tensor<4x8xf16>):
// CHECK-NOT:     f32
// CHECK:           net.yield
net.step @whole_loop attributes {inputs = ["x", "start"], network = "N", run = #net.run<precision = "pure(f16)">} {
^bb0(%x: tensor<4x3x8xf32>, %start: tensor<4x8xf32>):
  %zero = net.constant 0.0 : tensor<4x8xf32>
  %last:2 = net.scan #net.poly<"3"> over %x [1] init %zero, %start out [] {
  ^bb0(%xt: tensor<4x8xf32>, %h: tensor<4x8xf32>, %s: tensor<4x8xf32>):
    %n = net.add %xt, %h : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %m = net.mul %xt, %s : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    net.yield %n, %m : tensor<4x8xf32>, tensor<4x8xf32>
  } : (tensor<4x3x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %sum = net.add %last#0, %last#1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss = net.mean %sum {over = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// With all values low, parameters are the master of what is read.
// CHECK-LABEL: net.step @whole
// CHECK:         net.parameter "w" "fan_in" : tensor<8x8xf32>
// CHECK:         net.softmax %{{.*}} -> tensor<4x8xbf16>
// CHECK:         net.mse %{{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
net.step @whole attributes {inputs = ["x"], network = "N", run = #net.run<precision = "megatron(bf16)">} {
^bb0(%x: tensor<4x8xf32>):
  %w = net.parameter "w" "fan_in" : tensor<8x8xf32>
  %a = net.linear %x, %w {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %s = net.softmax %a {over = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %loss = net.mse %s, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// What learns has a master, and all that read it read its conversion. What is frozen is in the format of the weights itself.
// CHECK-LABEL: net.step @master
// CHECK:         %[[W:.*]] = net.parameter "w" "fan_in" {net.state_format = bf16} : tensor<8x8xf32>
// CHECK:         %[[F:.*]] = net.parameter "f" "fan_in" {trainable = false} : tensor<8x8xbf16>
// CHECK:         %[[WL:.*]] = net.convert %[[W]] {net.weight} : {{.*}} -> tensor<8x8xbf16>
// CHECK:         net.linear %{{.*}}, %[[WL]]
// CHECK:         net.linear %{{.*}}, %[[F]]
// CHECK-NOT:     net.convert %[[W]]
// BACK-LABEL:  net.step @master
// BACK:          %[[WIDE:.*]] = net.convert %{{.*}} -> tensor<8x8xf32>
// BACK:          net.gradient %{{.*}}, %[[WIDE]] {{.*}} : tensor<8x8xf32>, tensor<8x8xf32>
net.step @master attributes {inputs = ["x"], network = "N", run = #net.run<precision = "{ products = bf16, residual = bf16, weights = bf16, master = f32, states = bf16 }">} {
^bb0(%x: tensor<4x8xf32>):
  %w = net.parameter "w" "fan_in" : tensor<8x8xf32>
  %f = net.parameter "f" "fan_in" {trainable = false} : tensor<8x8xf32>
  %a = net.linear %x, %w {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = net.linear %a, %f {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %c = net.linear %b, %w {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss = net.mse %c, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}

// -----

// Products in f32 read weights in bf16 through a conversion. A gradient is in the format that is asked for: in f32, that of the
// product, before its conversion to the format of the weight. A stated type is that of the gradient, too.
// CHECK-LABEL: net.step @weights
// CHECK:         %[[W:.*]] = net.parameter "w" "fan_in" {net.gradient_format = f32, net.state_format = f32} : tensor<8x8xbf16>
// CHECK:         %[[T:.*]] = net.parameter "t" "fan_in" : tensor<8x8xf16>
// CHECK:         %[[WIDE:.*]] = net.convert %[[W]] : {{.*}} -> tensor<8x8xf32>
// CHECK:         net.linear %{{.*}}, %[[WIDE]] {{.*}} -> tensor<4x8xf32>
// BACK-LABEL:  net.step @weights
// BACK:          net.gradient %{{.*}}, %[[D:.*]] {{.*}} : tensor<8x8xbf16>, tensor<8x8xf32>
// BACK:          net.gradient %{{.*}}, %{{.*}} : tensor<8x8xf16>, tensor<8x8xf16>
net.step @weights attributes {inputs = ["x"], network = "N", run = #net.run<precision = "{ weights = bf16 }">} {
^bb0(%x: tensor<4x8xf32>):
  %w = net.parameter "w" "fan_in" : tensor<8x8xf32>
  %t = net.parameter "t" "fan_in" : tensor<8x8xf16>
  %a = net.linear %x, %w {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %wide = net.convert %t : tensor<8x8xf16> -> tensor<8x8xf32>
  %b = net.linear %a, %wide {over = 1 : i64} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %loss = net.mse %b, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<f32>
  net.return %loss : tensor<f32> ["loss"]
}
