// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

// Costs of each activation and its gradient, for each of 10 * N elements.
%x = net.constant 0.0 : tensor<?x10xf32, #net.axes<"N", "10">>
%dy = net.constant 0.0 : tensor<?x10xf32, #net.axes<"N", "10">>
// max(x, 0); then dy or 0.
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 0}}
%relu = net.relu %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 0}}
%d_relu = net.relu_grad %dy, %x : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// max, min; then two comparisons.
// expected-remark@+1 {{matmul 0, other 20*N, transcendental 0}}
%relu6 = net.relu6 %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 20*N, transcendental 0}}
%d_relu6 = net.relu6_grad %dy, %x : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// 1 / (1 + exp(-x)): sign, exp, sum, quotient; dy y (1 - y).
// expected-remark@+1 {{matmul 0, other 40*N, transcendental 10*N}}
%sigmoid = net.sigmoid %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 30*N, transcendental 0}}
%d_sigmoid = net.sigmoid_grad %dy, %x : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// dy (1 - y y).
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 10*N}}
%tanh = net.tanh %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 30*N, transcendental 0}}
%d_tanh = net.tanh_grad %dy, %x : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// x times a sigmoid; s by 4, dy s (1 + x (1 - s)) by 5.
// expected-remark@+1 {{matmul 0, other 50*N, transcendental 10*N}}
%silu = net.silu %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 90*N, transcendental 10*N}}
%d_silu = net.silu_grad %dy, %x : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// x times the normal distribution function by 4; that, the density by 4, x, sum, dy.
// expected-remark@+1 {{matmul 0, other 50*N, transcendental 10*N}}
%gelu = net.gelu %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 110*N, transcendental 20*N}}
%d_gelu = net.gelu_grad %dy, %x : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// the cubic by 5, tanh, 1 +, half, x; tanh by 6, its factors by 11.
// expected-remark@+1 {{matmul 0, other 90*N, transcendental 10*N}}
%gelu_tanh = net.gelu_tanh %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 170*N, transcendental 10*N}}
%d_gelu_tanh = net.gelu_tanh_grad %dy, %x : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// x / 6 + 1 / 2, max, min; two comparisons and dy / 6.
// expected-remark@+1 {{matmul 0, other 40*N, transcendental 0}}
%hardsigmoid = net.hardsigmoid %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 30*N, transcendental 0}}
%d_hardsigmoid = net.hardsigmoid_grad %dy, %x : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// x times a hardsigmoid; its slope by 5, dy.
// expected-remark@+1 {{matmul 0, other 50*N, transcendental 0}}
%hardswish = net.hardswish %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 60*N, transcendental 0}}
%d_hardswish = net.hardswish_grad %dy, %x : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// exp, sum, log; dy times a sigmoid.
// expected-remark@+1 {{matmul 0, other 30*N, transcendental 20*N}}
%softplus = net.softplus %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 50*N, transcendental 10*N}}
%d_softplus = net.softplus_grad %dy, %x : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// A comparison and a product.
// expected-remark@+1 {{matmul 0, other 20*N, transcendental 0}}
%leaky = net.leaky_relu %x {slope = 2.000000e-01} : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 20*N, transcendental 0}}
%d_leaky = net.leaky_relu_grad %dy, %x {slope = 2.000000e-01} : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// A comparison, exp, difference and product; a comparison, sum and product.
// expected-remark@+1 {{matmul 0, other 40*N, transcendental 10*N}}
%elu = net.elu %x {alpha = 1.0} : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 30*N, transcendental 0}}
%d_elu = net.elu_grad %dy, %x {alpha = 1.0} : (tensor<?x10xf32, #net.axes<"N", "10">>, tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// The nearest number within the bounds by two, and the difference.
// expected-remark@+1 {{matmul 0, other 30*N, transcendental 0}}
%softshrink = net.softshrink %x {lambda = 5.0e-01} : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>

// -----

// From the saved result, with the same alpha.
// CHECK-LABEL: net.network @elu
//       CHECK:   %[[Y:.*]] = net.elu
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.elu_grad %[[DY]], %[[Y]] {{.*}}alpha = 5.0
net.network @elu attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+2 {{matmul 0, other 100, transcendental 25}}
  // expected-remark@+1 {{matmul 0, other 75, transcendental 0}}
  %y = net.elu %x {alpha = 0.5} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+1 {{`elu` has alpha -1.000000e+00, it must not be negative}}
%y = net.elu %x {alpha = -1.0} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// Where the result is not zero: a comparison.
// CHECK-LABEL: net.network @softshrink
//       CHECK:   %[[Y:.*]] = net.softshrink
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[ZERO:.*]] = net.constant 0
//       CHECK:   %[[FOLLOWS:.*]] = net.compare %[[Y]], %[[ZERO]] {{.*}}relation = "!="
//       CHECK:   net.where %[[FOLLOWS]], %[[DY]], %[[ZERO]]
net.network @softshrink attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+2 {{matmul 0, other 75, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.softshrink %x {lambda = 0.2} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4xf32>
// expected-error@+1 {{`softshrink` has lambda -1.000000e+00, it must not be negative}}
%y = net.softshrink %x {lambda = -1.0} : (tensor<4xf32>) -> tensor<4xf32>

// -----

// With the same slope.
// CHECK-LABEL: net.network @leaky_relu
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.leaky_relu_grad %[[DY]], %[[X]] {{.*}}slope = 2.0
net.network @leaky_relu attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+1 {{matmul 0, other 50, transcendental 0}}
  %y = net.leaky_relu %x {slope = 0.2} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// From the saved operand.
// CHECK-LABEL: net.network @silu
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.silu_grad %[[DY]], %[[X]]
net.network @silu attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+2 {{matmul 0, other 125, transcendental 25}}
  // expected-remark@+1 {{matmul 0, other 225, transcendental 25}}
  %y = net.silu %x : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// From the saved result.
// CHECK-LABEL: net.network @relu
//       CHECK:   %[[Y:.*]] = net.relu
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.relu_grad %[[DY]], %[[Y]]
net.network @relu attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.relu %x : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

%x = net.constant 0.0 : tensor<4xi64>
// expected-error@+1 {{operand #0 must be a tensor of floating-point numbers, but got 'tensor<4xi64>'}}
%y = net.relu %x : (tensor<4xi64>) -> tensor<4xi64>

// -----

%dy = net.constant 0.0 : tensor<4xf32>
%y = net.constant 0.0 : tensor<5xf32>
// expected-error@+2 {{the tensors of `relu_grad` do not fit: axis 0 is 4 on the left, 5 on the right}}
// expected-error@+1 {{failed to infer returned types}}
%dx = net.relu_grad %dy, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
