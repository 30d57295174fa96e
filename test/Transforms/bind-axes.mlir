// RUN: netc-opt %s --net-bind-axes=axes=N=32,T=10 | FileCheck %s
// RUN: netc-opt %s --net-bind-axes 2>&1 | FileCheck %s --check-prefix=KNOWN
// RUN: not netc-opt %s --net-bind-axes=axes=N,T=2 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not netc-opt %s --net-bind-axes=axes=N=0 2>&1 | FileCheck %s --check-prefix=ZERO

// TEXT: error: `N` does not give an axis a size, as `N=8` does
// ZERO: error: `N=0` does not give an axis a size, as `N=8` does

// Sizes given replace those known, in types, in bodies of loops and in attributes.
// CHECK-LABEL: net.network @known
//  CHECK-SAME:   attributes {inputs = ["x"]}
//  CHECK-NEXT: ^bb0(%x: tensor<32x10x4xf32>):
//       CHECK:   net.scan <"10"> over %x [1]
//       CHECK:   ^bb0(%{{.*}}: tensor<32x4xf32>):
//       CHECK:   (tensor<32x10x4xf32>) -> tensor<32x10x4xf32>
//       CHECK:   net.slice {{.*}}start = #net.poly<"5">{{.*}} -> tensor<32x5x4xf32>
//       CHECK:   net.reshape {{.*}} -> tensor<640xf32>
//
//       KNOWN: remark: axis `T` is 139/5 and bound to 28
// KNOWN-LABEL: net.network @known
//       KNOWN: ^bb0(%x: tensor<8x28x4xf32>):
//       KNOWN:   net.scan <"28">
//       KNOWN:   net.reshape {{.*}} -> tensor<448xf32>
net.network @known attributes {inputs = ["x"], axes = {N = #net.moments<fixed "8">, T = #net.moments<"27.8">}} {
^bb0(%x: tensor<?x?x4xf32, #net.axes<"N", "T", "4">>):
  %y = net.scan <"T"> over %x [1] out [1] {
  ^bb0(%xt: tensor<?x4xf32, #net.axes<"N", "4">>):
    %yt = net.relu %xt : (tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
    net.yield %yt : tensor<?x4xf32, #net.axes<"N", "4">>
  } : (tensor<?x?x4xf32, #net.axes<"N", "T", "4">>) -> tensor<?x?x4xf32, #net.axes<"N", "T", "4">>
  %z = net.slice %y {axis = 1, start = #net.poly<"1/2*T">} : (tensor<?x?x4xf32, #net.axes<"N", "T", "4">>) -> tensor<?x?x4xf32, #net.axes<"N", "1/2*T", "4">>
  %r = net.reshape %z : (tensor<?x?x4xf32, #net.axes<"N", "1/2*T", "4">>) -> tensor<?xf32, #net.axes<"2*N*T">>
  net.return %r : tensor<?xf32, #net.axes<"2*N*T">> ["y"]
}

// The batch of a step is whole, as its axis is.
// CHECK-LABEL: net.step @batch
//  CHECK-SAME:   batch = "32"
// KNOWN-LABEL: net.step @batch
//  KNOWN-SAME:   batch = "3"
net.step @batch attributes {inputs = ["x"], network = "Net", axes = {N = #net.moments<"2.5">}, run = #net.run<batch = "2.5">} {
^bb0(%x: tensor<?x4xf32, #net.axes<"N", "4">>):
  %y = net.mean %x {over = array<i64: 0, 1>} : (tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<f32>
  net.return %y : tensor<f32> ["loss"]
}
