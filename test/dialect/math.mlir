// RUN: netc-opt %s --net-differentiate --net-cost-remarks --split-input-file --verify-diagnostics | FileCheck %s

// Functions of one tensor, for each of 10 * N elements.
%x = net.constant 0.0 : tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 0}}
%neg = net.neg %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 10*N}}
%exp = net.exp %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 10*N}}
%log = net.log %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 10*N}}
%sqrt = net.sqrt %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 10*N}}
%sin = net.sin %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 10*N}}
%cos = net.cos %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 0}}
%abs = net.abs %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 20*N, transcendental 0}}
%sign = net.sign %x : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>

// Powers 1 to 4 are repeated multiplication, others one call of pow.
%p1_0 = net.power %x {exponent = 1.0} : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 0}}
%p2_0 = net.power %x {exponent = 2.0} : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 20*N, transcendental 0}}
%p3_0 = net.power %x {exponent = 3.0} : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 30*N, transcendental 0}}
%p4_0 = net.power %x {exponent = 4.0} : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 10*N}}
%p5_0 = net.power %x {exponent = 5.0} : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 10*N}}
%p0_5 = net.power %x {exponent = 0.5} : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>
// expected-remark@+1 {{matmul 0, other 10*N, transcendental 10*N}}
%pm1_0 = net.power %x {exponent = -1.0} : (tensor<?x10xf32, #net.axes<"N", "10">>) -> tensor<?x10xf32, #net.axes<"N", "10">>

// -----

// Flat almost everywhere.
// CHECK-LABEL: net.network @sign
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[ZERO:.*]] = net.constant 0
//       CHECK:   net.gradient %[[X]], %[[ZERO]]
net.network @sign attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+1 {{matmul 0, other 50, transcendental 0}}
  %y = net.sign %x : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// dy y.
// CHECK-LABEL: net.network @exp
//       CHECK:   %[[Y:.*]] = net.exp
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.mul %[[DY]], %[[Y]]
net.network @exp attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+2 {{matmul 0, other 25, transcendental 25}}
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.exp %x : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// dy / x.
// CHECK-LABEL: net.network @log
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.div %[[DY]], %[[X]]
net.network @log attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+2 {{matmul 0, other 25, transcendental 25}}
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.log %x : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// dy / 2y.
// CHECK-LABEL: net.network @sqrt
//       CHECK:   %[[Y:.*]] = net.sqrt
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[TWICE:.*]] = net.add %[[Y]], %[[Y]]
//       CHECK:   net.div %[[DY]], %[[TWICE]]
net.network @sqrt attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+2 {{matmul 0, other 25, transcendental 25}}
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.sqrt %x : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// cos(x) dy.
// CHECK-LABEL: net.network @sin
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[COS:.*]] = net.cos %[[X]]
//       CHECK:   net.mul %[[DY]], %[[COS]]
net.network @sin attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+2 {{matmul 0, other 25, transcendental 25}}
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.sin %x : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// -sin(x) dy.
// CHECK-LABEL: net.network @cos
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[SIN:.*]] = net.sin %[[X]]
//       CHECK:   %[[SLOPE:.*]] = net.neg %[[SIN]]
//       CHECK:   net.mul %[[DY]], %[[SLOPE]]
net.network @cos attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+2 {{matmul 0, other 25, transcendental 25}}
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.cos %x : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// sign(x) dy.
// CHECK-LABEL: net.network @abs
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[SIGN:.*]] = net.sign %[[X]]
//       CHECK:   net.mul %[[DY]], %[[SIGN]]
net.network @abs attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+2 {{matmul 0, other 25, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 50, transcendental 0}}
  %y = net.abs %x : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// Nothing depends on x.
// CHECK-LABEL: net.network @none
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[ZERO:.*]] = net.constant 0
//       CHECK:   net.gradient %[[X]], %[[ZERO]]
net.network @none attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+1 {{matmul 0, other 25, transcendental 25}}
  %y = net.power %x {exponent = 0.0} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// dy.
// CHECK-LABEL: net.network @one
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   net.gradient %[[X]], %[[DY]]
net.network @one attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  %y = net.power %x {exponent = 1.0} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// 2 x dy.
// CHECK-LABEL: net.network @square
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[TWO:.*]] = net.constant 2
//       CHECK:   %[[SLOPE:.*]] = net.mul %[[TWO]], %[[X]]
//       CHECK:   %[[DX:.*]] = net.mul %[[DY]], %[[SLOPE]]
net.network @square attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.power %x {exponent = 2.0} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}

// -----

// 3 x^2 dy.
// CHECK-LABEL: net.network @power
//       CHECK:   %[[X:.*]] = net.parameter "x"
//       CHECK:   %[[DY:.*]] = net.constant 1
//       CHECK:   %[[SQUARE:.*]] = net.power %[[X]] {exponent = 2
//       CHECK:   %[[THREE:.*]] = net.constant 3
//       CHECK:   %[[SLOPE:.*]] = net.mul %[[THREE]], %[[SQUARE]]
//       CHECK:   %[[DX:.*]] = net.mul %[[DY]], %[[SLOPE]]
net.network @power attributes {inputs = []} {
  %x = net.parameter "x" "normal" : tensor<5x5xf32>
  // expected-remark@+2 {{matmul 0, other 50, transcendental 0}}
  // expected-remark@+1 {{matmul 0, other 25, transcendental 0}}
  %y = net.power %x {exponent = 3.0} : (tensor<5x5xf32>) -> tensor<5x5xf32>
  net.return %y : tensor<5x5xf32> ["y"]
}
