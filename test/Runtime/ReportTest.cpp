// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Report.h"
#include "lib/Runtime/OutputFile.h"
#include "lib/Runtime/SimulatedReport.h"
#include "test/Runtime/RuntimeTest.h"

#include <nlohmann/json.hpp>

using namespace netc::program;
using namespace netc::runtime;
using nlohmann::json;

static Program makeProgram() {
  Program program;
  program.run = "r";
  program.network = "N";
  program.target.isa = "avx2";
  program.batch = 8;
  program.arena = program.buffers = 64;
  program.ops = {{"linear", "linear", "forward", 4000, 0, 0, 12, "f32"},
                 {"relu", "relu", "forward", 0, 2000, 0, 12, ""},
                 {"weight", "sgd", "update", 0, 1000, 0, 12, ""}};
  return program;
}

namespace {
/// Steps of a program of a product, what is fused into it, and an update.
class Report : public testing::Test {
protected:
  Program program = makeProgram();
  Options options;
  Data data{program, options};
  Training training{Recorder(3), {}, 0, true, 1, {}};
  Machine machine{"C", 2, 2, {Isa::Baseline, Isa::AVX2}};

  /// Whose update takes longer than the product.
  void runSteps(int steps) {
    for (int step = 0; step < steps; ++step) {
      int64_t begin = now();
      training.recorder.beginStep();
      training.recorder.record(0);
      for (int64_t middle = now(); now() - middle <= middle - begin;)
        ;
      training.recorder.record(2);
      training.recorder.endStep();
    }
  }
  Measurement measurement() {
    Clock clock = {2.5e9, "measured", 2.5e9};
    return {program, options, data, training, machine,
            2,       {},      0,    clock,    std::nullopt};
  }
};
} // namespace

TEST_F(Report, SaysWhatItIsOf) {
  runSteps(6);
  std::string table = toTable(measurement());
  EXPECT_EQ(table.find("r trains N · batch 8 · fast lowering · 2 threads\n"
                       "  machine   C, 2 cores at 2.5 GHz (measured), code "
                       "for avx2\n"
                       "  counted   1 multiply-add = 2 FLOP\n"
                       "  steps     6, of which 0 to warm up\n"),
            0u)
      << table;
}

TEST_F(Report, HasThePeakOfProductsInBf16) {
  runSteps(6);
  Peaks peaks;
  peaks.measured = {{"avx512", "f32", 1e11}, {"vdpbf16ps", "bf16", 2e11}};
  auto table = [&] {
    Measurement with = measurement();
    with.peaks = peaks;
    EXPECT_EQ(json::parse(toJson(with))["machine"]["peak"]["formats"]["bf16"],
              2e11);
    return toTable(with);
  };
  EXPECT_NE(table().find("  peak      100 GFLOP/s measured\n"),
            std::string::npos);
  program.ops[0].format = "bf16";
  EXPECT_NE(table().find("  peak      100 GFLOP/s measured\n"
                         "            200 GFLOP/s measured, of products in "
                         "bf16\n"),
            std::string::npos)
      << table();
}

TEST_F(Report, HasTheThreePeaksOfAGpuAndWhatItDid) {
  runSteps(6);
  program.ops[0].format = "bf16";
  Peaks peaks;
  peaks.hertz = 2e9;
  peaks.perCycle = {{"f32", 1000}, {"bf16", 8000}};
  peaks.assumed = "4 SMs";
  peaks.measured = {{"fma_f32", "f32", 1.5e12, 1.6e9},
                    {"mma_bf16", "bf16", 7e12, 1.4e9},
                    {"wgmma_bf16", "bf16", 11e12, 1.4e9}};
  peaks.bandwidth = 3e12;
  peaks.copy = 2.9e12;
  peaks.datasheetBandwidth = 3.3e12;
  Gpu gpu;
  gpu.name = "G";
  gpu.driver = 12040;
  gpu.major = 9;
  gpu.hertz = 1.75e9;
  gpu.telemetry.joules = 12;
  gpu.telemetry.slowdowns = PowerBrake | HardwareThermal;
  Measurement with = measurement();
  with.peaks = peaks;
  with.gpu = gpu;
  std::string table = toTable(with);
  for (const char *line :
       {"  GPU       G, 0 SMs, compute capability 9.0, CUDA 12.4\n",
        "  clock     1.75 GHz by its cycles\n",
        "  power     2 J a step, slowed by thermal, power brake\n",
        "  peak      1500 GFLOP/s measured, 2000 by the datasheet, 1750 at the "
        "clock of the steps: 4 SMs\n"
        "            1.1e+04 GFLOP/s measured, 1.6e+04 by the datasheet, "
        "1.4e+04 at the clock of the steps, of products in bf16\n"
        "  memory    3000 GB/s measured, 3300 by the datasheet\n"
        "            2900 GB/s of a copy\n"})
    EXPECT_NE(table.find(line), std::string::npos) << line << table;
  json text = json::parse(toJson(with));
  EXPECT_EQ(text["device"]["peak_at_clock"]["bf16"], 1.4e13);
  EXPECT_EQ(text["device"]["telemetry"]["joules_per_step"], 2);
  EXPECT_EQ(text["device"]["telemetry"]["watts"], nullptr);
  EXPECT_EQ(text["machine"]["peak"]["clocks"]["mma_bf16"], 1.4e9);
  EXPECT_EQ(text["machine"]["peak"]["datasheet_formats"]["bf16"], 1.6e13);
  EXPECT_EQ(text["machine"]["peak"]["formats"]["bf16"], 1.1e13);
  // Another program reads them back.
  std::string file = scratch() + "/peaks.json";
  writeFile(file, {toJson(with)});
  Peaks known = readPeaks(file, "G", 2, {});
  ASSERT_EQ(known.measured.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(known.measured[i].name, peaks.measured[i].name);
    EXPECT_EQ(known.measured[i].format, peaks.measured[i].format);
    EXPECT_EQ(known.measured[i].flops, peaks.measured[i].flops);
    EXPECT_EQ(known.measured[i].hertz, peaks.measured[i].hertz);
  }
  EXPECT_EQ(known.bandwidth, 3e12);
  EXPECT_EQ(known.copy, 2.9e12);
  EXPECT_EQ(failure([&] { readPeaks(file, "H", 2, {}); }),
            "1: `" + file +
                "` has the peaks of G with 2 threads, and this is H with 2");
}

TEST_F(Report, HasAnIntervalOfSixStepsOn) {
  runSteps(5);
  json text = json::parse(toJson(measurement()));
  EXPECT_TRUE(text["step"]["low"].is_null() && text["step"]["high"].is_null());
  std::string table = toTable(measurement());
  EXPECT_NE(table.find(" ms (the median of 5), "), std::string::npos) << table;
  runSteps(1);
  text = json::parse(toJson(measurement()));
  EXPECT_LE(text["step"]["low"], text["step"]["median"]);
  EXPECT_LE(text["step"]["median"], text["step"]["high"]);
  table = toTable(measurement());
  EXPECT_EQ(table.find("the median of"), std::string::npos) << table;
}

TEST_F(Report, ListsOpsThatRanByThemselves) {
  runSteps(1);
  std::string table = toTable(measurement());
  std::string ops = table.substr(table.find("slowest op"));
  EXPECT_NE(ops.find("linear"), std::string::npos) << ops;
  EXPECT_NE(ops.find("weight"), std::string::npos) << ops;
  EXPECT_EQ(ops.find("relu"), std::string::npos) << ops;
}

TEST_F(Report, KnowsTheFastestRateThatItStates) {
  runSteps(1);
  json text = json::parse(toJson(measurement()));
  double step = 7000 / text["step"]["median"].get<double>();
  double pass = 4000 / text["ops"][0]["seconds"].get<double>();
  EXPECT_GT(pass, step);
  EXPECT_DOUBLE_EQ(fastestRate(program, training), pass);
  // A step of which no pass has matmul FLOP has others.
  program.ops[0].matmul = 0;
  EXPECT_DOUBLE_EQ(fastestRate(program, training), step * 3 / 7);
}

TEST(SimulatedReport, StatesFindingsLineByLine) {
  EXPECT_EQ(findingLines(R"({"findings": []})"), "");
  EXPECT_EQ(findingLines(R"({"findings": ["a", "b"]})"), "\n    a\n    b");
}
