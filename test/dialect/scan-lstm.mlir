// RUN: netc-opt %s --net-differentiate --net-cost-remarks -o %t 2>&1 | grep -o "remark: .*" | sort | uniq -c | FileCheck %s

// An LSTM of 4 units on 3 features. The gradients of its weight, 16 (3 + 4), add up.
// CHECK:      1 remark: matmul 0, other 112*T, transcendental 0
// Backward, 3 for each of 3 sigmoids and 2 tanh.
// CHECK-NEXT: 5 remark: matmul 0, other 12*N*T, transcendental 0
// Forward, 4 for each of 3 sigmoids.
// CHECK-NEXT: 3 remark: matmul 0, other 16*N*T, transcendental 4*N*T
// Forward, 3 products and a sum; backward, 2 for each product, and the gradients of
// h and c from the next step.
// CHECK-NEXT: 12 remark: matmul 0, other 4*N*T, transcendental 0
// Forward, 2 tanh.
// CHECK-NEXT: 2 remark: matmul 0, other 4*N*T, transcendental 4*N*T
// 2 (3 + 4) 16 = 224 a step; backward twice that, the part for x included, since it is
// one product with that for h.
// CHECK-NEXT: 3 remark: matmul 224*N*T, other 0, transcendental 0
// CHECK-NOT:  remark
net.network @lstm attributes {inputs = ["x"]} {
^bb0(%x: tensor<?x?x3xf32, #net.axes<"N", "T", "3">>):
  %w = net.parameter "w" "uniform" : tensor<16x7xf32>
  %zero = net.constant 0.0 : tensor<?x4xf32, #net.axes<"N", "4">>
  %hs, %hT, %cT = net.scan <"T"> over %x [1] init %zero, %zero out [1] {
  ^bb0(%xt: tensor<?x3xf32, #net.axes<"N", "3">>, %h: tensor<?x4xf32, #net.axes<"N", "4">>, %c: tensor<?x4xf32, #net.axes<"N", "4">>):
    %xh = net.concat %xt, %h {over = 1} : (tensor<?x3xf32, #net.axes<"N", "3">>, tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x7xf32, #net.axes<"N", "7">>
    %z = net.linear %xh, %w {over = 1} : (tensor<?x7xf32, #net.axes<"N", "7">>, tensor<16x7xf32>) -> tensor<?x16xf32, #net.axes<"N", "16">>
    %zi, %zf, %zg, %zo = net.split %z {parts = array<i64: 4>, over = 1} : (tensor<?x16xf32, #net.axes<"N", "16">>) -> (tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>)
    %i = net.sigmoid %zi : (tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
    %f = net.sigmoid %zf : (tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
    %g = net.tanh %zg : (tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
    %o = net.sigmoid %zo : (tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
    %fc = net.mul %f, %c : (tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
    %ig = net.mul %i, %g : (tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
    %c1 = net.add %fc, %ig : (tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
    %tc = net.tanh %c1 : (tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
    %h1 = net.mul %o, %tc : (tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>) -> tensor<?x4xf32, #net.axes<"N", "4">>
    net.yield %h1, %h1, %c1 : tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>
  } : (tensor<?x?x3xf32, #net.axes<"N", "T", "3">>, tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>) -> (tensor<?x?x4xf32, #net.axes<"N", "T", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>, tensor<?x4xf32, #net.axes<"N", "4">>)
  net.return %hs : tensor<?x?x4xf32, #net.axes<"N", "T", "4">> ["hs"]
}
