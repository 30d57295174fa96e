// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Analysis/Modules.h"

using namespace netc;

using MemoryTest = AnalysisTest;

TEST_F(MemoryTest, KeepsWhatTheBackwardPassReads) {
  Analysis analysis = analyze(perceptron);
  Polynomial N = Polynomial::symbol("N");
  // Before the relu, after it, the probabilities; not the input, nor weights.
  EXPECT_EQ(analysis.runs.at(0).symbolic.activations, 4 * (128 + 128 + 10) * N);
  EXPECT_EQ(analysis.runs[0].parts.find("relu")->figures.activations,
            Polynomial(64 * 4 * 128));
}

TEST_F(MemoryTest, ADeviceHoldsTheNetworkAndItsShareOfTheBatch) {
  Analysis analysis = analyze(perceptron);
  const Memory &memory = analysis.runs.at(0).memory;
  EXPECT_EQ(memory.weights.total(), Polynomial(4 * 101760));
  EXPECT_EQ(memory.gradients.total(), Polynomial(4 * 101760));
  EXPECT_EQ(memory.optimizer.total(), Polynomial(4 * 101760)); // momentum
  // 64 examples on two devices.
  EXPECT_EQ(memory.activations.total(), Polynomial(32 * 4 * (128 + 128 + 10)));
}

TEST_F(MemoryTest, ViewsShareTheMemoryOfWhatTheyShow) {
  Analysis analysis = analyze(R"(
    !x = tensor<4x8xf32>
    net.network @Net attributes {inputs = ["x"]} {
    ^bb0(%x: !x):
      %a = net.relu %x : (!x) -> !x loc("a")
      %b = net.reshape %a : (!x) -> tensor<32xf32> loc("b")
      %c = net.transpose %a {order = array<i64: 1, 0>} : (!x) -> tensor<8x4xf32> loc("c")
      %k = net.constant 1.0 : tensor<32xf32> loc("k")
      %d = net.relu_grad %k, %b {net.phase = #net<phase input>} : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32> loc("b")
      %e = net.relu %c {net.phase = #net<phase weight>} : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("c")
      %f = net.relu %e {net.phase = #net<phase weight>} : (tensor<8x4xf32>) -> tensor<8x4xf32> loc("c")
      net.return %d, %f : tensor<32xf32>, tensor<8x4xf32> ["d", "f"]
    })");
  const PartTree &tree = analysis.networks.at(0).parts;
  EXPECT_EQ(tree.root().figures.activations, Polynomial(4 * 32));
  EXPECT_EQ(tree.find("a")->figures.activations, Polynomial(4 * 32));
}

TEST_F(MemoryTest, ALoopKeepsTheSequencesThatItHandsOut) {
  Analysis analysis = analyze(R"(
    !s = tensor<5x8xf32>
    !x = tensor<8xf32>
    net.network @Net attributes {inputs = ["x"]} {
    ^bb0(%x: !s):
      %o, %again = net.scan <"5"> over %x [0] out [0, 0] {
      ^bb0(%xt: !x):
        %y = net.tanh %xt : (!x) -> !x loc("tanh")
        net.yield %y, %y : !x, !x
      } : (!s) -> (!s, !s) loc("scan")
      %d = net.tanh_grad %o, %again {net.phase = #net<phase input>} : (!s, !s) -> !s loc("tanh")
      net.return %d : !s ["d"]
    })");
  EXPECT_EQ(analysis.networks.at(0).parts.root().figures.activations,
            Polynomial(5 * 8 * 4));
}

TEST_F(MemoryTest, ASparseUpdateTakesOnlyTheRowsThatWereRead) {
  Analysis analysis = analyze(R"(
    net.step @run attributes {inputs = ["x"], network = "Net"} {
    ^bb0(%x: tensor<4xi32>):
      %w = net.parameter "w" "x" : tensor<1000x8xf32> loc("weight")
      %y = net.embedding %x, %w : (tensor<4xi32>, tensor<1000x8xf32>) -> tensor<4x8xf32> loc("embedding")
      %lr = net.constant 0.1 : tensor<f32> loc("lr")
      net.sparse_sgd %w, %y, %x, %lr {net.phase = #net<phase update>} : (tensor<1000x8xf32>, tensor<4x8xf32>, tensor<4xi32>, tensor<f32>) -> () loc("weight")
      net.return %y : tensor<4x8xf32> ["loss"]
    })");
  const netc::Run &run = analysis.runs.at(0);
  EXPECT_EQ(run.memory.weights.total(), Polynomial(4 * 8000));
  EXPECT_EQ(run.memory.gradients.total(), Polynomial(4 * 32));
  const Figures &update = run.parts.find("weight")->figures;
  EXPECT_EQ(update.read, Polynomial(4 * (32 + 32 + 4 + 1)));
  EXPECT_EQ(update.written, Polynomial(4 * 32));
}
