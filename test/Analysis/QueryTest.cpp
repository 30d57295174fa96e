// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Analysis/Modules.h"

#include "lib/Analysis/Query.h"

#include "llvm/ADT/StringExtras.h"

using namespace netc;

namespace {
class QueryTest : public AnalysisTest {
protected:
  QueryTest() : analysis(analyze(perceptron)) {}

  /// The answer as text: `203264 FLOP`, or what is wrong.
  template <typename Subject>
  std::string ask(const Subject &subject, llvm::StringRef members,
                  llvm::StringRef part = "",
                  std::vector<std::string> parts = {},
                  std::vector<std::pair<std::string, Rational>> numbers = {}) {
    llvm::SmallVector<llvm::StringRef> split;
    members.split(split, '.');
    std::vector<std::string> names(split.begin(), split.end());
    auto result = answer(subject, {part, names, parts, numbers});
    if (auto *quantity = std::get_if<Quantity>(&result))
      return (quantity->value.str() + " " + quantity->unit).str();
    const Message &wrong = std::get<Message>(result);
    return wrong.text + " [" + wrong.id.str() + "]";
  }
  const Network &network() { return analysis.networks.at(0); }
  const netc::Run &run() { return analysis.runs.at(0); }

  Analysis analysis;
};
} // namespace

TEST_F(QueryTest, FiguresOfANetwork) {
  EXPECT_EQ(ask(network(), "params"), "101760 ");
  EXPECT_EQ(ask(network(), "params.frozen"), "0 ");
  EXPECT_EQ(ask(network(), "forward"), "203264 FLOP");
  EXPECT_EQ(ask(network(), "forward.other"), "256 FLOP");
  EXPECT_EQ(ask(network(), "forward.total"), "203520 FLOP");
  EXPECT_EQ(ask(network(), "backward.input.transcendental"), "0 FLOP");
  EXPECT_EQ(ask(network(), "activations"), "0 bytes");
}

TEST_F(QueryTest, FiguresOfAPart) {
  EXPECT_EQ(ask(network(), "params", "fc2"), "1280 ");
  EXPECT_EQ(ask(network(), "params", "", {"fc2", "fc1.bias"}), "1408 ");
  EXPECT_EQ(ask(network(), "forward", "fc2"), "2560 FLOP");
  EXPECT_EQ(ask(network(), "params", "fc1", {"weight"}), "100352 ");
  EXPECT_EQ(ask(network(), "params", "fc3"),
            "`Mlp` has no part `fc3`; its parts are `fc1`, `relu`, `fc2` "
            "[unknown-part]");
  EXPECT_EQ(
      ask(network(), "params", "fc1", {"weihgt"}),
      "`fc1` has no part `weihgt`; did you mean `weight`? [unknown-part]");
  EXPECT_EQ(ask(network(), "params", "fc1.weight.x"),
            "`fc1.weight` has no part `x`; it is not made of parts "
            "[unknown-part]");
  EXPECT_EQ(ask(network(), "params", "fc1..4"),
            "`fc1` has no part `.4`; a part is one copy, as in `layer[0]`, not "
            "a range [unknown-part]");
}

TEST_F(QueryTest, FiguresOfARun) {
  EXPECT_EQ(ask(run(), "steps"), "9380 steps");
  EXPECT_EQ(ask(run(), "batch"), "64 examples");
  EXPECT_EQ(ask(run(), "epochs"), "10 epochs");
  EXPECT_EQ(ask(run(), "step.forward"), "13008896 FLOP");
  EXPECT_EQ(ask(run(), "step"), "26181632 FLOP");
  EXPECT_EQ(ask(run(), "compute"), "245583708160 FLOP");
  EXPECT_EQ(ask(run(), "compute.update.other"), "3818035200 FLOP");
  EXPECT_EQ(ask(run(), "step.recompute"), "0 FLOP");
  EXPECT_EQ(ask(run(), "step.hardware"), ask(run(), "step"));
  EXPECT_EQ(ask(run(), "memory_per_device.optimizer"), "407040 bytes");
  EXPECT_EQ(ask(run(), "time"), "60 s");
  EXPECT_EQ(ask(run(), "device_time"), "120 device*s");
}

TEST_F(QueryTest, ComputeByTime) {
  std::vector<std::pair<std::string, Rational>> half{
      {"utilization", Rational::fraction(1, 2)}};
  EXPECT_EQ(ask(run(), "compute.by_time", "", {}, half), "60000000000000 FLOP");
  half.emplace_back("peak", 1000);
  EXPECT_EQ(ask(run(), "compute.by_time", "", {}, half), "60000 FLOP");
  EXPECT_EQ(ask(run(), "compute.by_time"),
            "`compute.by_time` needs `utilization`, which `run` does not give "
            "[figure-lacks-key]");
  half.back().second = Rational(10).pow(38);
  EXPECT_EQ(ask(run(), "compute.by_time", "", {}, half),
            "the result is out of range; numbers have 128 bits [out-of-range]");
}

TEST_F(QueryTest, RuleOfThree) {
  // 600,300 examples, three times 203,264 FLOP each.
  EXPECT_EQ(ask(run(), "compute.rule_of_three"), "366058137600 FLOP");
}

TEST_F(QueryTest, UnknownNamesAreExplained) {
  EXPECT_EQ(ask(network(), "fwd"),
            "`Mlp` has no figure `fwd`; there are `params`, `forward`, "
            "`backward` and `activations` [unknown-figure]");
  EXPECT_EQ(ask(network(), "froward"), "`Mlp` has no figure `froward`; did you "
                                       "mean `forward`? [unknown-figure]");
  EXPECT_EQ(
      ask(network(), "forward.totl"),
      "`forward` has no figure `totl`; did you mean `total`? [unknown-figure]");
  EXPECT_EQ(ask(run(), "compute.backwards"),
            "`compute` has no figure `backwards`; did you mean `backward`? "
            "[unknown-figure]");
  EXPECT_EQ(ask(run(), "steps.forward"),
            "`steps` has no figure `forward` [unknown-figure]");
  EXPECT_EQ(
      ask(run(), "tokens"),
      "`tokens` needs `tokens`, which `run` does not give [figure-lacks-key]");
}

TEST_F(QueryTest, AFreeAxisIsNamed) {
  Analysis free = analyze(R"(
    !x = tensor<?x?xf32, #net.axes<"N", "T">>
    net.network @Net attributes {inputs = ["x"]} {
    ^bb0(%x: !x):
      %y = net.relu %x : (!x) -> !x loc("relu")
      net.return %y : !x ["y"]
    })");
  EXPECT_EQ(ask(free.networks.at(0), "forward.other"),
            "it depends on `T`, which is free: T; give it a size "
            "[figure-of-free-size]");
}
