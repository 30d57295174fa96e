// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/Analysis/Modules.h"

using namespace netc;

using CostTest = AnalysisTest;

static std::vector<std::string> layersOf(const PartTree &tree) {
  std::vector<std::string> names;
  for (const Part *layer : tree.layers())
    names.push_back(layer->path.str());
  return names;
}

TEST_F(CostTest, PartsFollowTheNames) {
  Analysis analysis = analyze(perceptron);
  const PartTree &tree = analysis.networks.at(0).parts;
  EXPECT_EQ(layersOf(tree), (std::vector<std::string>{"fc1", "relu", "fc2"}));

  const Part *fc1 = tree.find("fc1");
  EXPECT_EQ(fc1->op, "linear");
  ASSERT_EQ(fc1->inputs.size(), 1u);
  EXPECT_EQ(shapeOf(fc1->inputs[0]), Shape({Polynomial::symbol("N"), 784}));
  EXPECT_EQ(shapeOf(fc1->output), Shape({Polynomial::symbol("N"), 128}));
  EXPECT_EQ(fc1->figures.parameters, Polynomial(128 * 784 + 128));
  EXPECT_EQ(tree.find("fc1.weight")->name(), "weight");
  EXPECT_EQ(tree.find("fc3"), nullptr);
}

TEST_F(CostTest, AnOpThatCostsNothingIsALayer) {
  Analysis analysis = analyze(R"(
    net.network @Net attributes {inputs = ["x"]} {
    ^bb0(%x: tensor<4x8xf32>):
      %y = net.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32> loc("flat")
      %z = net.relu %y : (tensor<32xf32>) -> tensor<32xf32> loc("relu")
      net.return %z : tensor<32xf32> ["z"]
    })");
  const PartTree &tree = analysis.networks.at(0).parts;
  EXPECT_EQ(layersOf(tree), (std::vector<std::string>{"flat", "relu"}));
}

TEST_F(CostTest, ANetworkIsCountedForOneExample) {
  Analysis analysis = analyze(perceptron);
  const Network &network = analysis.networks.at(0);
  Cost forward = network.parts.root().figures[Phase::Forward];
  EXPECT_EQ(forward.matmul, Polynomial(2 * (784 * 128 + 128 * 10)));
  EXPECT_EQ(forward.other, Polynomial(128 + 128)); // bias, relu
  EXPECT_EQ(network.symbolic[Phase::Forward].matmul,
            Polynomial::symbol("N") * 203264);
}

TEST_F(CostTest, AStepIsCountedByPhase) {
  Analysis analysis = analyze(perceptron);
  const Figures &step = analysis.runs.at(0).step();
  EXPECT_EQ(step[Phase::Forward].matmul, Polynomial(64 * 203264));
  EXPECT_EQ(step[Phase::InputGradient].matmul, Polynomial(64 * 2 * 1280));
  EXPECT_EQ(step[Phase::WeightGradient].matmul, Polynomial(64 * 203264));
  // SGD with momentum: 4 for each parameter.
  EXPECT_EQ(step[Phase::Update].other, Polynomial(4 * 101760));
  EXPECT_EQ(step[Phase::Update].matmul, Polynomial());
  // The update of a weight belongs to its layer.
  EXPECT_EQ(analysis.runs[0].parts.find("fc2")->figures[Phase::Update].other,
            Polynomial(4 * 1280));
}

TEST_F(CostTest, AMultiplyAddMayBeOneOperation) {
  Analysis two = analyze(perceptron);
  const Figures all = two.runs.at(0).step();
  ConventionFlags flags;
  flags.fma = 1;
  Analysis one = analyze(perceptron, flags);
  const Figures &halved = one.runs.at(0).step();
  EXPECT_EQ(halved.model().matmul * 2, all.model().matmul);
  EXPECT_EQ(halved.model().other, all.model().other);
}

TEST_F(CostTest, BytesAreThoseOfEachOpByItself) {
  Analysis analysis = analyze(R"(
    net.network @Net attributes {inputs = ["x"]} {
    ^bb0(%x: tensor<4x8xf32>):
      %y = net.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("relu")
      %z = net.reshape %y : (tensor<4x8xf32>) -> tensor<32xf32> loc("reshape")
      %h = net.convert %z : tensor<32xf32> -> tensor<32xf16> loc("convert")
      net.return %h : tensor<32xf16> ["h"]
    })");
  const PartTree &tree = analysis.networks.at(0).parts;
  EXPECT_EQ(tree.find("relu")->figures.read, Polynomial(128));
  EXPECT_EQ(tree.find("relu")->figures.written, Polynomial(128));
  EXPECT_EQ(tree.find("reshape")->figures.read, Polynomial());
  EXPECT_EQ(tree.find("convert")->figures.read, Polynomial(128));
  EXPECT_EQ(tree.find("convert")->figures.written, Polynomial(64));
  // An update reads and writes the weight and what it keeps beside it, on each
  // of two devices.
  Analysis trained = analyze(perceptron);
  const Figures &update = trained.runs.at(0).parts.find("fc2.weight")->figures;
  EXPECT_EQ(update.read, Polynomial(2 * 4 * (3 * 1280 + 1)));
  EXPECT_EQ(update.written, Polynomial(2 * 4 * 2 * 1280));
}

TEST_F(CostTest, ALookUpReadsTheRowsThatItTakes) {
  Analysis analysis = analyze(R"(
    net.network @Net attributes {inputs = ["x"]} {
    ^bb0(%x: tensor<4xi32>):
      %w = net.parameter "w" "x" : tensor<1000x8xf32> loc("weight")
      %y = net.embedding %x, %w : (tensor<4xi32>, tensor<1000x8xf32>) -> tensor<4x8xf32> loc("embedding")
      net.return %y : tensor<4x8xf32> ["y"]
    })");
  const Figures &figures =
      analysis.networks.at(0).parts.find("embedding")->figures;
  EXPECT_EQ(figures.read, Polynomial(4 * 4 + 4 * 8 * 4));
  EXPECT_EQ(figures.written, Polynomial(4 * 8 * 4));
}

/// A linear layer of each of T vectors in turn.
static const char *const loop = R"(
  !s = tensor<?x?x8xf32, #net.axes<"N", "T", "8">>
  !o = tensor<?x?x4xf32, #net.axes<"N", "T", "4">>
  !x = tensor<?x8xf32, #net.axes<"N", "8">>
  !y = tensor<?x4xf32, #net.axes<"N", "4">>
  net.network @Net attributes {inputs = ["x"], axes = {AXES}} {
  ^bb0(%x: !s):
    %w = net.parameter "w" "x" : tensor<4x8xf32> loc("cell.weight")
    %o = net.scan <"T"> over %x [1] out [1] {
    ^bb0(%xt: !x):
      %y = net.linear %xt, %w {over = 1} : (!x, tensor<4x8xf32>) -> !y loc("cell.linear")
      net.yield %y : !y
    } : (!s) -> !o loc("cell.scan")
    net.return %o : !o ["o"]
  })";

static std::string loopWith(llvm::StringRef axes) {
  std::string text = loop;
  return text.replace(text.find("AXES"), 4, axes);
}

TEST_F(CostTest, TheBodyOfALoopCountsAsOftenAsItRuns) {
  Analysis analysis = analyze(loopWith(""));
  const Network &network = analysis.networks.at(0);
  Polynomial T = Polynomial::symbol("T");
  EXPECT_EQ(network.parts.root().figures[Phase::Forward].matmul, 2 * 4 * 8 * T);
  EXPECT_EQ(network.parts.root().figures.parameters, Polynomial(32));
  const Part *cell = network.parts.find("cell");
  EXPECT_EQ(shapeOf(cell->inputs[0]), Shape({Polynomial::symbol("N"), T, 8}));
  EXPECT_EQ(shapeOf(cell->output), Shape({Polynomial::symbol("N"), T, 4}));
  EXPECT_EQ(layersOf(network.parts), std::vector<std::string>{"cell"});
}

TEST_F(CostTest, AFreeAxisHasTheSizeOfTheDataset) {
  Analysis analysis = analyze(loopWith("T = #net.moments<\"139/5\">"));
  EXPECT_EQ(analysis.networks.at(0).parts.root().figures[Phase::Forward].matmul,
            Polynomial(Rational::fraction(64 * 139, 5)));
}

TEST(Axes, UseTheMomentsThatAreKnown) {
  mlir::MLIRContext context;
  context.loadDialect<NetDialect>();
  Polynomial T = Polynomial::symbol("T"), N = Polynomial::symbol("N");
  auto axesOf = [&](llvm::ArrayRef<Rational> moments) {
    mlir::Builder builder(&context);
    return Axes(builder.getDictionaryAttr(builder.getNamedAttr(
        "T", MomentsAttr::get(&context, Moments(moments)))));
  };
  // Mean 20, standard deviation 6.
  Axes known = axesOf({20, 436});
  EXPECT_EQ(known.evaluate(T * T * N + T), 436 * N + 20);
  EXPECT_TRUE(known.getGuessed().empty());

  Axes mean = axesOf({20});
  EXPECT_EQ(mean.evaluate(T), Polynomial(20));
  EXPECT_TRUE(mean.getGuessed().empty());
  EXPECT_EQ(mean.evaluate(T * T), Polynomial(400));
  EXPECT_EQ(mean.getGuessed().at("T"), 2u);

  mean.fix("N", 3);
  EXPECT_EQ(mean.evaluate(N * T), Polynomial(60));
}

TEST_F(CostTest, ACountOutOfRangeIsAnError) {
  Analysis analysis = analyze(R"(
    !x = tensor<1099511627776x1099511627776x1099511627776x1024xf32>
    net.network @Net attributes {inputs = ["x"]} {
    ^bb0(%x: !x):
      %y = net.relu %x : (!x) -> !x loc("big.relu")
      net.return %y : !x ["y"]
    })");
  EXPECT_TRUE(analysis.networks.empty());
  EXPECT_EQ(messages, "what `big.relu` costs is out of range; numbers have 128 "
                      "bits, and sums 500 terms at most [cost-out-of-range]\n");
}
