// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Analysis/Modules.h"

using namespace netc;

using RunTest = AnalysisTest;

TEST_F(RunTest, ARunIsItsStepsTimesAStep) {
  Analysis analysis = analyze(perceptron);
  const netc::Run &run = analysis.runs.at(0);
  EXPECT_EQ(run.name(), "run");
  EXPECT_EQ(run.network(), "Mlp");
  Rational step = Rational(64) * (2 * 203264 + 2 * 1280);
  EXPECT_EQ(run.modelFlop(), step * 9380);
  EXPECT_EQ(run.modelUtilization(),
            step * 9380 / (Rational(60) * 2 * Rational(10).pow(12)));
  netc::Run withoutPeak = run;
  withoutPeak.peak = std::nullopt;
  EXPECT_EQ(withoutPeak.modelUtilization(), std::nullopt);
}

TEST_F(RunTest, ExplainsWhereTheRuleOfThreeIsOff) {
  Analysis analysis = analyze(perceptron);
  const netc::Run &run = analysis.runs.at(0);
  EXPECT_EQ(run.ruleOfThree, Rational(3) * 203264 * 600300);
  ASSERT_EQ(run.deviations.size(), 2u);
  EXPECT_EQ(run.deviations[0].reason, "no input gradient for `fc1`");
  EXPECT_EQ(run.deviations[0].flop, -Rational(9380) * 64 * 2 * 784 * 128);
  EXPECT_EQ(run.deviations[1].reason,
            "the last step is filled up, from 44 to 64 examples");
  Rational sum = *run.ruleOfThree;
  for (const Deviation &deviation : run.deviations)
    sum += deviation.flop;
  EXPECT_EQ(sum, run.modelFlop());
}

/// A trunk of frozen layers under one that learns.
static const char *const frozen = R"(
  !x = tensor<4x8xf32>
  !w = tensor<8x8xf32>
  net.step @run attributes {inputs = ["x"], network = "Net", run = #net.run<steps = "10">} {
  ^bb0(%x: !x):
    %w1 = net.parameter "w" "x" {trainable = false} : !w loc("trunk.a.weight")
    %a = net.linear %x, %w1 {over = 1} : (!x, !w) -> !x loc("trunk.a.linear")
    %w2 = net.parameter "w" "x" {trainable = false} : !w loc("trunk.b.weight")
    %b = net.linear %a, %w2 {over = 1} : (!x, !w) -> !x loc("trunk.b.linear")
    %w3 = net.parameter "w" "x" {trainable = false} : !w loc("trunk.c.weight")
    %c = net.linear %b, %w3 {over = 1} : (!x, !w) -> !x loc("trunk.c.linear")
    %w4 = net.parameter "w" "x" : !w loc("head.weight")
    %y = net.linear %c, %w4 {over = 1} : (!x, !w) -> !x loc("head.linear")
    %dw = net.einsum "n a, n b -> a b" (%y, %c) {net.phase = #net<phase weight>} : (!x, !x) -> !w loc("head.linear")
    net.return %dw : !w ["loss"]
  })";

TEST_F(RunTest, FrozenPartsExplainThemselves) {
  Analysis analysis = analyze(frozen);
  const netc::Run &run = analysis.runs.at(0);
  Rational layer = 10 * 2 * 4 * 8 * 8;
  EXPECT_EQ(run.ruleOfThree, layer * 12);
  ASSERT_EQ(run.deviations.size(), 2u);
  EXPECT_EQ(run.deviations[0].reason,
            "no input gradient for `trunk.a` and 3 other layers");
  EXPECT_EQ(run.deviations[0].flop, -layer * 4);
  EXPECT_EQ(run.deviations[1].reason,
            "no weight gradient for `trunk` (3 layers), which is frozen");
  EXPECT_EQ(run.deviations[1].flop, -layer * 3);
  EXPECT_EQ(run.step().parameters - run.step().trainable, Polynomial(3 * 64));
}

TEST_F(RunTest, ExplainsWhatTheRuleOfThreeDoesNotKnow) {
  // Three gradients of one layer, and an optimizer that multiplies matrices.
  Analysis analysis = analyze(R"(
    !x = tensor<4x8xf32>
    !w = tensor<8x8xf32>
    net.step @run attributes {inputs = ["x"], network = "Net", run = #net.run<steps = "10">} {
    ^bb0(%x: !x):
      %w = net.parameter "w" "x" : !w loc("linear.weight")
      %y = net.linear %x, %w {over = 1} : (!x, !w) -> !x loc("linear.linear")
      %a = net.einsum "n a, n b -> a b" (%y, %x) {net.phase = #net<phase weight>} : (!x, !x) -> !w loc("linear.linear")
      %b = net.einsum "n a, n b -> a b" (%x, %y) {net.phase = #net<phase weight>} : (!x, !x) -> !w loc("linear.linear")
      %c = net.einsum "n a, a b -> n b" (%y, %w) {net.phase = #net<phase input>} : (!x, !w) -> !x loc("linear.linear")
      %u = net.einsum "a b, b c -> a c" (%a, %b) {net.phase = #net<phase update>} : (!w, !w) -> !w loc("optimizer")
      net.return %u : !w ["loss"]
    })");
  const netc::Run &run = analysis.runs.at(0);
  ASSERT_EQ(run.deviations.size(), 2u);
  EXPECT_EQ(run.deviations[0].reason, "products in the optimizer");
  EXPECT_EQ(run.deviations[0].flop, 10 * 2 * 8 * 8 * 8);
  EXPECT_EQ(run.deviations[1].reason, "more than two gradients for `linear`");
  EXPECT_EQ(run.deviations[1].flop, 10 * 2 * 4 * 8 * 8);
}

TEST_F(RunTest, AFreeAxisLeavesTheRuleOfThreeOpen) {
  Analysis analysis = analyze(R"(
    !x = tensor<?x8xf32, #net.axes<"N", "8">>
    net.step @run attributes {inputs = ["x"], network = "Net", run = #net.run<steps = "10">} {
    ^bb0(%x: !x):
      %w = net.parameter "w" "x" : tensor<8x8xf32> loc("weight")
      %y = net.linear %x, %w {over = 1} : (!x, tensor<8x8xf32>) -> !x loc("linear")
      net.return %y : !x ["loss"]
    })");
  const netc::Run &run = analysis.runs.at(0);
  EXPECT_EQ(run.ruleOfThree, std::nullopt);
  EXPECT_EQ(run.modelFlop(), std::nullopt);
  EXPECT_EQ(run.step()[Phase::Forward].matmul, Polynomial::symbol("N") * 128);
}

TEST_F(RunTest, AGuessedMomentIsAWarning) {
  analyze(R"(
    !x = tensor<?x?xf32, #net.axes<"T", "T">>
    net.step @run attributes {inputs = ["x"], network = "Net", axes = {T = #net.moments<"20">}} {
    ^bb0(%x: !x):
      %y = net.relu %x : (!x) -> !x loc("relu")
      net.return %y : !x ["loss"]
    })");
  EXPECT_EQ(messages, "only the mean of `T` is known: E[T^2] is taken as "
                      "E[T]^2, which is low [guessed-moments]\n");
}

TEST_F(RunTest, TheCountOfARunMayBeOutOfRange) {
  analyze(R"(
    !x = tensor<1099511627776x1099511627776xf32>
    net.step @run attributes {inputs = ["x"], network = "Net", run = #net.run<steps = "1000000000000000000000000">} {
    ^bb0(%x: !x):
      %y = net.relu %x : (!x) -> !x loc("relu")
      net.return %y : !x ["loss"]
    })");
  EXPECT_EQ(messages, "what `run` costs is out of range; numbers have 128 bits "
                      "[run-cost-out-of-range]\n");
}

TEST_F(RunTest, TheRunStatesItsConventions) {
  std::string text = perceptron;
  text.insert(text.find("steps = "), "fma = \"1\", ");
  Analysis analysis = analyze(text);
  EXPECT_EQ(analysis.runs.at(0).conventions.fma, 1u);
  EXPECT_EQ(analysis.networks.at(0).conventions.fma, 2u);
  ConventionFlags flags;
  flags.fma = 2;
  EXPECT_EQ(analyze(text, flags).runs.at(0).conventions.fma, 2u);
}
