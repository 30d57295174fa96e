// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Analysis/Modules.h"

const char *const perceptron = R"(
!x = tensor<?x784xf32, #net.axes<"N", "784">>
!h = tensor<?x128xf32, #net.axes<"N", "128">>
!y = tensor<?x10xf32, #net.axes<"N", "10">>
!l = tensor<?xi64, #net.axes<"N">>
net.network @Mlp attributes {inputs = ["x"]} {
^bb0(%x: !x):
  %w1 = net.parameter "w" "x" : tensor<128x784xf32> loc("fc1.weight")
  %b1 = net.parameter "b" "x" : tensor<128xf32> loc("fc1.bias")
  %h0 = net.linear %x, %w1 {over = 1} : (!x, tensor<128x784xf32>) -> !h loc("fc1.linear")
  %bb = net.broadcast %b1 {axes = array<i64: 1>} : (tensor<128xf32>) -> !h loc("fc1.add")
  %h1 = net.add %h0, %bb : (!h, !h) -> !h loc("fc1.add")
  %h2 = net.relu %h1 : (!h) -> !h loc("relu")
  %w2 = net.parameter "w" "x" : tensor<10x128xf32> loc("fc2.weight")
  %y = net.linear %h2, %w2 {over = 1} : (!h, tensor<10x128xf32>) -> !y loc("fc2.linear")
  net.return %y : !y ["logits"]
}
net.step @run attributes {inputs = ["x", "label"], network = "Mlp", axes = {N = #net.moments<fixed "64">},
   run = #net.run<steps = "9380", batch = "64", examples = "600300", epochs = "10", took = "60", devices = "2",
          peak = "1000000000000">} {
^bb0(%x: !x, %t: !l):
  %w1 = net.parameter "w" "x" : tensor<128x784xf32> loc("fc1.weight")
  %b1 = net.parameter "b" "x" : tensor<128xf32> loc("fc1.bias")
  %h0 = net.linear %x, %w1 {over = 1} : (!x, tensor<128x784xf32>) -> !h loc("fc1.linear")
  %bb = net.broadcast %b1 {axes = array<i64: 1>} : (tensor<128xf32>) -> !h loc("fc1.add")
  %h1 = net.add %h0, %bb : (!h, !h) -> !h loc("fc1.add")
  %h2 = net.relu %h1 : (!h) -> !h loc("relu")
  %w2 = net.parameter "w" "x" : tensor<10x128xf32> loc("fc2.weight")
  %y = net.linear %h2, %w2 {over = 1} : (!h, tensor<10x128xf32>) -> !y loc("fc2.linear")
  %loss, %p = net.cross_entropy %y, %t {smoothing = 0.0 : f64, over = 1} : (!y, !l) -> (tensor<f32>, !y) loc("cross_entropy")
  %one = net.constant 1.0 : tensor<f32> loc("cross_entropy")
  %dy = net.cross_entropy_grad %one, %p, %t {smoothing = 0.0 : f64, over = 1, net.phase = #net<phase input>} : (tensor<f32>, !y, !l) -> !y loc("cross_entropy")
  %dw2 = net.einsum "n a, n b -> a b" (%dy, %h2) {net.phase = #net<phase weight>} : (!y, !h) -> tensor<10x128xf32> loc("fc2.linear")
  %dh2 = net.einsum "n a, a b -> n b" (%dy, %w2) {net.phase = #net<phase input>} : (!y, tensor<10x128xf32>) -> !h loc("fc2.linear")
  %dh1 = net.relu_grad %dh2, %h1 {net.phase = #net<phase input>} : (!h, !h) -> !h loc("relu")
  %db1 = net.sum %dh1 {over = array<i64: 0>, net.phase = #net<phase weight>} : (!h) -> tensor<128xf32> loc("fc1.add")
  %dw1 = net.einsum "n a, n b -> a b" (%dh1, %x) {net.phase = #net<phase weight>} : (!h, !x) -> tensor<128x784xf32> loc("fc1.linear")
  %lr = net.constant 0.1 : tensor<f32> loc("lr")
  net.sgd %w1, %dw1, %lr {momentum = 0.9, weight_decay = 0.0, nesterov = false, sparse = false, net.phase = #net<phase update>} : (tensor<128x784xf32>, tensor<128x784xf32>, tensor<f32>) -> () loc("fc1.weight")
  net.sgd %b1, %db1, %lr {momentum = 0.9, weight_decay = 0.0, nesterov = false, sparse = false, net.phase = #net<phase update>} : (tensor<128xf32>, tensor<128xf32>, tensor<f32>) -> () loc("fc1.bias")
  net.sgd %w2, %dw2, %lr {momentum = 0.9, weight_decay = 0.0, nesterov = false, sparse = false, net.phase = #net<phase update>} : (tensor<10x128xf32>, tensor<10x128xf32>, tensor<f32>) -> () loc("fc2.weight")
  net.return %loss : tensor<f32> ["loss"]
}
)";
