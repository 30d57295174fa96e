// RUN: netc-opt %s --split-input-file --cse --canonicalize | FileCheck %s

// Two equal activations stay two operations; ops that compute nothing merge with
// their equals; what nobody uses is gone.
// CHECK-LABEL: net.network @equal
//  CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8xf32>):
//  CHECK-NEXT:   %[[A:.*]] = net.relu %[[X]]
//  CHECK-NEXT:   %[[B:.*]] = net.relu %[[X]]
//  CHECK-NEXT:   %[[C:.*]] = net.convert %[[X]]
//  CHECK-NEXT:   net.return %[[A]], %[[B]], %[[C]], %[[C]]
net.network @equal attributes {inputs = ["x"]} {
^bb0(%x: tensor<4x8xf32>):
  %a = net.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = net.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = net.convert %x : tensor<4x8xf32> -> tensor<4x8xf16>
  %d = net.convert %x : tensor<4x8xf32> -> tensor<4x8xf16>
  %unused = net.tanh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  net.return %a, %b, %c, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf16>, tensor<4x8xf16> ["a", "b", "c", "d"]
}

// -----

// A mask that hides nothing is its operand.
// CHECK-LABEL: net.network @unmasked
//  CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x4xf32>):
//  CHECK-NEXT:   %[[MASKED:.*]] = net.mask %[[X]]
//  CHECK-NEXT:   net.return %[[X]], %[[MASKED]]
net.network @unmasked attributes {inputs = ["x"]} {
^bb0(%x: tensor<4x4xf32>):
  %a = net.mask %x {causal = false, value = 0.0} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = net.mask %x {causal = true, value = 0.0} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  net.return %a, %b : tensor<4x4xf32>, tensor<4x4xf32> ["a", "b"]
}
