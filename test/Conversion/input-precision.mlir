// RUN: netc-opt --convert-net-to-linalg -split-input-file %s | FileCheck %s

// With `precision = tf32`, the multiplications of products of f32 say that a device may round their factors. Others do not.
// CHECK-LABEL: func.func @netc_step
// CHECK: arith.mulf %{{.*}}, %{{.*}} {net.input_precision = tf32} : f32
// CHECK-NEXT: arith.addf
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
net.step @run attributes {inputs = ["x", "w"], network = "N", run = #net.run<precision = "tf32">} {
^bb0(%x: tensor<4x3xf32>, %w: tensor<2x3xf32>):
  %y = net.linear %x, %w {over = 1} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  %z = net.mul %y, %y : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  net.return %z : tensor<4x2xf32> ["z"]
}

// -----

// CHECK-LABEL: func.func @netc_step
// CHECK-NOT: net.input_precision
net.step @run attributes {inputs = ["x", "w"], network = "N", run = #net.run<precision = "f32">} {
^bb0(%x: tensor<4x3xf32>, %w: tensor<2x3xf32>):
  %y = net.linear %x, %w {over = 1} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  net.return %y : tensor<4x2xf32> ["y"]
}
