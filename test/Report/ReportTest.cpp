// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Json.h"
#include "lib/Report/Page.h"
#include "test/Analysis/Modules.h"

#include "gmock/gmock.h"

using namespace netc;
using testing::HasSubstr;

using ReportTest = AnalysisTest;

/// A product of 512 FLOP, computed again for its gradient: 3 * 512 model FLOP,
/// 4 * 512 hardware FLOP, ten times, in a second on two devices.
static const char *const recomputed = R"(
  !x = tensor<4x8xf32>
  !w = tensor<8x8xf32>
  net.step @run attributes {inputs = ["x"], network = "Net", run = #net.run<steps = "10", took = "1", devices = "2",
    peak = "20480">} {
  ^bb0(%x: !x):
    %w = net.parameter "w" "x" : !w loc("fc.weight")
    %y = net.linear %x, %w {over = 1} : (!x, !w) -> !x loc("fc.linear")
    %again = net.linear %x, %w {over = 1, net.phase = #net<phase recompute>} : (!x, !w) -> !x loc("fc.linear")
    %dx = net.einsum "n a, a b -> n b" (%again, %w) {net.phase = #net<phase input>} : (!x, !w) -> !x loc("fc.linear")
    %dw = net.einsum "n a, n b -> a b" (%dx, %x) {net.phase = #net<phase weight>} : (!x, !x) -> !w loc("fc.linear")
    net.return %dw : !w ["loss"]
  })";

TEST_F(ReportTest, ModelAndHardwareUtilizationAreToldApart) {
  Analysis analysis = analyze(recomputed);
  const netc::Run &run = analysis.runs.at(0);
  EXPECT_EQ(run.modelUtilization(), Rational::fraction(3, 8));
  EXPECT_EQ(run.hardwareUtilization(), Rational::fraction(1, 2));

  Report report;
  report.runs.emplace_back(run, std::vector<const netc::Run *>());
  std::string text;
  llvm::raw_string_ostream os(text);
  writeReport(*textPage(os, {}), report, {});
  EXPECT_THAT(text, HasSubstr("37.5 % (MFU), with recomputation 50.0 % (HFU) "
                              "of 20.48 kFLOP/s over 2 device-s\n"));
  printJson(os, report, false);
  EXPECT_THAT(text, HasSubstr("\"implied_utilization\": 0.375,"));
  EXPECT_THAT(text, HasSubstr("\"implied_hardware_utilization\": 0.5"));
}

/// A grid as it is printed in lines of `width`.
static std::string printed(const Grid &grid, unsigned width) {
  std::string text = "\n";
  llvm::raw_string_ostream os(text);
  grid.print(os, 2, /*colour=*/false, width);
  return text;
}

TEST(GridTest, ContinuesBelowWhereLinesAreTooLong) {
  Grid grid({Grid::Left, Grid::Detail, Grid::Right, Grid::Left, Grid::Right,
             Grid::Left});
  grid.allowParts(/*keys=*/2, /*group=*/2);
  grid.add({{"layer"}, {"op"}, {"time"}, {"match"}, {"tool"}, {"rule"}});
  grid.addRule();
  grid.add({{"stem.conv"}, {"conv"}, {"3us"}, {"exact"}, {"7.5"}, {"fma"}});
  const std::string whole = R"(
  layer      op    time  match  tool  rule
  ────────────────────────────────────────
  stem.conv  conv   3us  exact   7.5  fma
)";
  EXPECT_EQ(printed(grid, 0), whole);
  EXPECT_EQ(printed(grid, 42), whole);
  EXPECT_EQ(printed(grid, 41), R"(
  layer      op    time  match
  ────────────────────────────
  stem.conv  conv   3us  exact

  layer      op    tool  rule
  ───────────────────────────
  stem.conv  conv   7.5  fma
)");
  // Details are left out; then names break.
  EXPECT_EQ(printed(grid, 18), R"(
  layer  time  match
  ──────────────────
  stem.   3us  exact
  conv

  layer  tool  rule
  ─────────────────
  stem.   7.5  fma
  conv
)");
}
