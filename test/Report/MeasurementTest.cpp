// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/MeasurementReport.h"
#include "lib/Report/Page.h"

#include <gtest/gtest.h>

using namespace netc;

/// What a program says that took 10 ms forward, 8 ms backward and 1 ms for the
/// update, on a machine of 1 GFLOP/s and 100 MB/s.
static std::string programOutput(int batch) {
  return R"({
    "run": "r", "network": "N", "lowering": "fast", "batch": )" +
         std::to_string(batch) + R"(,
    "threads": 1, "steps": 10, "warmup": 2, "stable": false, "wall": 0.5,
    "target": {"name": "cpu", "isa": "avx2", "cpu": "znver3"},
    "step": {"median": 0.02, "low": 0.01, "high": 0.04, "min": 0, "mean": 0},
    "losses": [2.5, 0.5], "data": {},
    "memory": {"arena": 1000, "buffers": 3000, "peak_rss": 5000},
    "machine": {"cpu": "C<P>U", "cores": 1, "threads": 1, "isa": "avx2",
      "clock": {"hertz": 2e9, "source": "cpufreq", "measured": null},
      "peak": {"element": "f32", "datasheet": null, "assumed": "two units",
               "measured": 1e9, "by_isa": {}},
      "bandwidth": 1e8},
    "ops": [
      {"name": "a.linear", "op": "linear", "phase": "forward", "calls": 1,
       "format": "f32", "matmul": 4000000, "other": 0, "transcendental": 0, "bytes": 100000, "seconds": 0.008},
      {"name": "a.add", "op": "add", "phase": "forward", "calls": 0,
       "matmul": 0, "other": 1000000, "transcendental": 0, "bytes": 90000000, "seconds": 0},
      {"name": "relu", "op": "relu", "phase": "forward", "calls": 1,
       "matmul": 0, "other": 1000, "transcendental": 0, "bytes": 100000, "seconds": 0.002},
      {"name": "a.linear", "op": "einsum", "phase": "weight", "calls": 1,
       "format": "f32", "matmul": 4000000, "other": 0, "transcendental": 0, "bytes": 100000, "seconds": 0.008},
      {"name": "a.weight", "op": "sgd", "phase": "update", "calls": 2,
       "matmul": 0, "other": 2000, "transcendental": 0, "bytes": 0, "seconds": 0.001},
      {"name": "b", "op": "tanh", "phase": "forward", "calls": 0,
       "matmul": 0, "other": 1, "transcendental": 0, "bytes": 1, "seconds": 0},
      {"name": "c", "op": "tanh", "phase": "forward", "calls": 0,
       "matmul": 0, "other": 1, "transcendental": 0, "bytes": 1, "seconds": 0},
      {"name": "d", "op": "tanh", "phase": "forward", "calls": 0,
       "matmul": 0, "other": 1, "transcendental": 0, "bytes": 1, "seconds": 0},
      {"name": "e", "op": "tanh", "phase": "forward", "calls": 0,
       "matmul": 0, "other": 1, "transcendental": 0, "bytes": 1, "seconds": 0}]})";
}

static MeasurementReport report(std::initializer_list<int> batches) {
  MeasurementReport report{"1.2.3", {}, {{}}};
  for (int batch : batches)
    report.runs[0].batches.push_back(
        llvm::cantFail(parseMeasurement(programOutput(batch))));
  report.peaks = *peaksOf(report.runs[0].batches.front());
  return report;
}

static void printTable(llvm::raw_ostream &os, const MeasurementReport &report) {
  writeMeasurement(*textPage(os, TableOptions()), report, TableOptions());
}

template <typename Print>
static std::string printed(const MeasurementReport &report, Print print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os, report);
  return text;
}

TEST(Measurement, SumsUpParts) {
  MeasurementReport all = report({4});
  auto parts = measuredParts(all.runs[0].batches[0], all.peaks);
  ASSERT_EQ(parts.size(), 10u);
  EXPECT_EQ(parts[0].path, "");
  EXPECT_EQ(parts[1].path, "a");
  EXPECT_EQ(parts[1].op, "linear");
  EXPECT_EQ(parts[1].children.size(), 3u);
  EXPECT_TRUE(isLayer(parts, parts[1]));
  EXPECT_FALSE(isLayer(parts, parts[0]));
  const Work &a = parts[1].work;
  EXPECT_EQ(a.matmul, 8'000'000);
  EXPECT_EQ(a.other, 1'002'000);
  EXPECT_EQ(a.bytes, 200'000); // not those of `a.add`, which never ran
  EXPECT_DOUBLE_EQ(a.forward, 0.008);
  EXPECT_DOUBLE_EQ(a.backward, 0.008);
  EXPECT_DOUBLE_EQ(a.update, 0.001);
  // 4 ms of compute against 1 ms of traffic, twice; the addition, the update.
  EXPECT_EQ(a.roofs.size(), 1u);
  EXPECT_DOUBLE_EQ(a.roofs.at("compute"), 0.009002);
  // 1 ms of traffic against 1 us of compute.
  const Work &relu = parts[4].work;
  EXPECT_EQ(relu.bound(), "memory");
  EXPECT_DOUBLE_EQ(relu.roof() / relu.seconds(), 0.5);
}

TEST(Measurement, RatesByMethod) {
  MeasurementReport all = report({4, 1});
  const MeasuredRun &run = all.runs[0];
  auto rate = [&](Method method) {
    return *rateBy(method, run, run.batches[0]);
  };
  EXPECT_EQ(rate(Method::Theory).flop(), 12'000'000);
  EXPECT_DOUBLE_EQ(rate(Method::Theory).perSecond(), 12e6 / 0.02);
  EXPECT_EQ(rate(Method::Batch).flop(), 8'000'000);
  EXPECT_DOUBLE_EQ(rate(Method::Batch).seconds, 0.018);
  EXPECT_EQ(rate(Method::Epoch).flop(), 80'000'000);
  EXPECT_DOUBLE_EQ(rate(Method::Epoch).seconds, 0.5);
  EXPECT_DOUBLE_EQ(rate(Method::One).seconds, 0.018);
  MeasurementReport four = report({4});
  EXPECT_FALSE(
      rateBy(Method::One, four.runs[0], four.runs[0].batches[0]).has_value());

  // The rule of three is of training.
  Measurement infers = four.runs[0].batches[0];
  llvm::erase_if(infers.ops,
                 [](const Measurement::Op &op) { return op.isBackward(); });
  EXPECT_EQ(rateBy(Method::Theory, four.runs[0], infers)->flop(), 4'000'000);

  EXPECT_DOUBLE_EQ(*backwardRatio(run.batches[0]).flop, 1);
  EXPECT_DOUBLE_EQ(*backwardRatio(run.batches[0]).time, 0.8);
  EXPECT_DOUBLE_EQ(*matmulShare(run.batches[0]).time, 16.0 / 19);
  EXPECT_NEAR(*outsideOfOps(run.batches[0]), 0.05, 1e-9);
}

TEST(Measurement, CountsRecomputationAsTimeOfTheBackwardPass) {
  MeasurementReport all = report({4});
  Measurement &measurement = all.runs[0].batches[0];
  Measurement::Op again = measurement.ops[0];
  again.phase = "recompute";
  measurement.ops.push_back(again);
  Work work = measuredParts(measurement, all.peaks)[0].work;
  EXPECT_DOUBLE_EQ(work.backward, 0.016);
  EXPECT_DOUBLE_EQ(work.update, 0.001);
  // Of the model's FLOP, in a time that has what is run again.
  Rate rate = *rateBy(Method::Batch, all.runs[0], measurement);
  EXPECT_EQ(rate.flop(), 8'000'000);
  EXPECT_DOUBLE_EQ(rate.seconds, 0.026);
  EXPECT_DOUBLE_EQ(*backwardRatio(measurement).flop, 2);
  EXPECT_EQ(modelFlop(measurement.ops).matmul, 8'000'000);
  EXPECT_EQ(hardwareFlop(measurement.ops).matmul, 12'000'000);
}

TEST(Measurement, DividesByThePeakOfEachFormat) {
  MeasurementReport all = report({4});
  all.peaks.datasheet = 2e9;
  all.peaks.formats = {{"bf16", 4e9}};
  Measurement &measurement = all.runs[0].batches[0];
  EXPECT_EQ(otherFormats(measurement, all.peaks).size(), 0u);
  EXPECT_DOUBLE_EQ(*modelRate(measurement).ofMeasured(all.peaks), 0.4);
  EXPECT_DOUBLE_EQ(*modelRate(measurement).ofDatasheet(all.peaks), 0.2);

  // 1 ms at the peak of bf16 and 4 ms at that of f32, in 20 ms.
  measurement.ops[0].format = "bf16";
  EXPECT_EQ(otherFormats(measurement, all.peaks),
            std::vector<std::string>{"bf16"});
  EXPECT_DOUBLE_EQ(*modelRate(measurement).ofMeasured(all.peaks), 0.25);
  EXPECT_EQ(modelRate(measurement).ofDatasheet(all.peaks), std::nullopt);
  const Work work = measuredParts(measurement, all.peaks)[1].work;
  EXPECT_DOUBLE_EQ(work.roofs.at("compute"), 0.006002);
  std::string table = printed(all, printTable);
  for (const char *text :
       {"peak, bf16  4 GFLOP/s measured\n", "25.0 % of the measured peaks\n",
        "  in bf16         4 MFLOP, 500 MFLOP/s over their ops: 12.5 % of the "
        "measured peak\n"
        "  in f32          4 MFLOP, 500 MFLOP/s over their ops: 50.0 % of the "
        "measured peak, 25.0 % of the datasheet's\n"})
    EXPECT_NE(table.find(text), std::string::npos) << table;

  // The datasheet may know the format, too.
  all.peaks.datasheetFormats = {{"bf16", 8e9}};
  EXPECT_DOUBLE_EQ(*modelRate(measurement).ofDatasheet(all.peaks), 0.125);

  // Without instructions for it, products of a format are computed in f32.
  all.peaks.formats.clear();
  EXPECT_DOUBLE_EQ(*modelRate(measurement).ofMeasured(all.peaks), 0.4);
}

TEST(Measurement, HasTheClockAndThePowerOfAGpu) {
  std::string text = programOutput(4);
  text.insert(text.rfind('}'), R"(, "device": {"arch": "sm_90a",
    "compile_seconds": 0.5, "launches": 7, "hertz": 1.5e9,
    "peak_at_clock": {"f32": 8e8, "bf16": 4e9},
    "telemetry": {"hertz": 1.4e9, "lowest_hertz": 1.2e9, "watts": 300,
      "joules_per_step": null, "highest_celsius": 60, "slowdowns": "thermal"}})");
  MeasurementReport all = report({4});
  all.runs[0].batches[0] = llvm::cantFail(parseMeasurement(text));
  Measurement &measurement = all.runs[0].batches[0];
  EXPECT_DOUBLE_EQ(*modelRate(measurement).ofClock(measurement), 0.5);
  std::string table = printed(all, printTable);
  for (const char *text :
       {"for sm_90a, compiled by the driver in 0.500 s; 7 launches a step\n",
        "1.500 GHz by cycles, 1.400 GHz by NVML, at lowest 1.200\n",
        "300.0 W, at most 60.00 °C, slowed by thermal\n",
        "50.0 % at the clock of the steps\n", "4  peak at its clock"})
    EXPECT_NE(table.find(text), std::string::npos) << text << table;
  measurement.device->telemetry.reset();
  EXPECT_NE(printed(all, printTable).find("unknown: there is no NVML\n"),
            std::string::npos);
  measurement.ops[0].format = "f16";
  EXPECT_EQ(modelRate(measurement).ofClock(measurement), std::nullopt);
}

TEST(Measurement, KnowsWhatIsMissing) {
  llvm::Expected<Measurement> none = parseMeasurement(R"({"run": "r"})");
  ASSERT_FALSE(static_cast<bool>(none));
  EXPECT_EQ(toString(none.takeError()), "missing value at measurement.network");
  llvm::Expected<Measurement> list = parseMeasurement("[]");
  ASSERT_FALSE(static_cast<bool>(list));
  EXPECT_EQ(toString(list.takeError()),
            "expected object when parsing measurement");
  auto complaint = [](llvm::StringRef from, const char *to) {
    std::string text = programOutput(4);
    text.replace(text.find(from), from.size(), to);
    return toString(parseMeasurement(text).takeError());
  };
  EXPECT_EQ(complaint("\"machine\"", "\"other\""),
            "missing value at measurement.machine");
  EXPECT_EQ(complaint("\"data\"", "\"other\""),
            "missing value at measurement.data");
  EXPECT_EQ(complaint("\"data\": {}", "\"data\": 1"),
            "expected object at measurement.data");
  EXPECT_EQ(complaint("\"bandwidth\": 1e8", "\"caches\": {\"L1\": 1}"),
            "expected object at measurement.machine.caches.L1");

  std::string text = programOutput(4);
  text.replace(text.find("\"peak\""), 6, "\"other\"");
  EXPECT_FALSE(peaksOf(llvm::cantFail(parseMeasurement(text))).has_value());
}

TEST(Measurement, IsPrinted) {
  MeasurementReport all = report({1});
  std::string table = printed(all, printTable);
  auto has = [&](const char *line) {
    EXPECT_NE(table.find(line), std::string::npos) << line << "\n" << table;
  };
  has("machine    C<P>U, 1 core at 2.00 GHz (as it says)\n");
  has("peak, f32  1 GFLOP/s measured\n");
  has("  5 other ops");
  has("20.00 ms, with 95 % confidence 10.00 to 40.00; 50.00 examples/s\n");
  has("the median of 8 steps after 2 to warm up, which were never stable\n");
  has("outside of ops  5.0 % of the step; the shares above are of what ops "
      "take\n");
  has("model FLOP      400 MFLOP/s over the step: 40.0 % of the measured "
      "peak\n");
  has("all FLOP        450.2 MFLOP/s over the step, with ");
  has("by the time of    step  passes at 1  passes  all steps\n");
  has("      1  measured peak   60.0 %       44.4 %  44.4 %     16.0 %\n");

  // Of short steps, in a unit that shows digits.
  MeasurementReport quick = report({1});
  Measurement &one = quick.runs[0].batches[0];
  one.step = {2e-5, 1e-5, 4e-5};
  for (Measurement::Op &op : one.ops)
    *op.seconds *= 1e-3;
  table = printed(quick, printTable);
  has("forward µs");
  has("  10.00  ");
  has("20.00 µs, with 95 % confidence 10.00 to 40.00; 50000 examples/s\n");
  has("step µs");

  // Of few steps, without an interval.
  one.step = {2e-5, std::nullopt, std::nullopt};
  table = printed(quick, printTable);
  has("20.00 µs; 50000 examples/s\n");
  EXPECT_NE(printed(quick, printJson).find("\"low\": null"), std::string::npos);

  // Little is not worth a line, nor medians that add up to more.
  for (double step : {0.0195, 0.015}) {
    MeasurementReport full = report({1});
    full.runs[0].batches[0].step.median = step;
    table = printed(full, printTable);
    EXPECT_EQ(table.find("outside of ops"), std::string::npos) << table;
  }

  std::string json = printed(all, printJson);
  EXPECT_NE(json.find("\"of_datasheet\": null"), std::string::npos);
  std::string csv = printed(all, printCsv);
  EXPECT_NE(
      csv.find("\r\nr,N,,1,1,avx2,2e+09,1e+09,0.02,10,0.5,a.linear,linear,f32,"
               "forward,1,4000000,0,100000,"
               "0.008,5e+08,40,compute,0.004,0.5,,,\r\n"),
      std::string::npos)
      << csv;
}

/// On a machine that has caches, too, of which one holds no more than the one
/// before.
static MeasurementReport reportWithCaches() {
  std::string text = programOutput(4);
  text.insert(text.find("\"bandwidth\""), R"("caches": {
    "L1": {"bytes": 10000, "bandwidth": 4e9},
    "L2": {"bytes": 10000, "bandwidth": null},
    "L3": {"bytes": 150000, "bandwidth": 4e8}}, )");
  MeasurementReport report{"1.2.3", {}, {{}}};
  report.runs[0].batches.push_back(llvm::cantFail(parseMeasurement(text)));
  report.peaks = *peaksOf(report.runs[0].batches.front());
  return report;
}

TEST(Measurement, TakesTheSmallestLevelThatHoldsAll) {
  Peaks peaks = reportWithCaches().peaks;
  for (auto [bytes, name] : std::vector<std::pair<int64_t, std::string>>{
           {0, "L1"},
           {10'000, "L1"},
           {10'001, "L3"},
           {150'000, "L3"},
           {150'001, "memory"},
           {int64_t(1) << 60, "memory"}})
    EXPECT_EQ(peaks.levelOf(bytes)->name, name) << bytes;
  // Without the bandwidth of memory, nothing is known of what caches do not
  // hold.
  peaks.levels.pop_back();
  EXPECT_EQ(peaks.levelOf(150'001), nullptr);
  EXPECT_EQ(Peaks().levelOf(1), nullptr);
}

/// An op without products that moves so much in so many seconds.
static Work workOf(int64_t bytes, double seconds, const Peaks &peaks,
                   int64_t flop = 1) {
  Work work;
  work.add({{"x", "relu", "forward", 0, flop, 0, bytes, ""}, 1, seconds},
           peaks);
  return work;
}

TEST(Measurement, SaysWhatIsAboveItsRoof) {
  Peaks peaks = reportWithCaches().peaks;
  Work slow = workOf(100'000, 0.0005, peaks);
  EXPECT_EQ(slow.bound(), "L3");
  EXPECT_DOUBLE_EQ(slow.roof(), 0.00025);
  EXPECT_EQ(slow.whyAboveRoof(), "");
  // In a loop, it is what an iteration takes that has to fit.
  Work loop;
  loop.add({{"x", "relu", "forward", 0, 1, 0, 100'000, ""}, 10, 0.0005}, peaks);
  EXPECT_EQ(loop.bound(), "L1");
  EXPECT_DOUBLE_EQ(loop.roof(), 0.000025);
  // Faster than L3, not than L1.
  EXPECT_EQ(workOf(100'000, 0.0002, peaks).whyAboveRoof(), "partly in L1");
  // Faster than memory, not than L3, which is the farthest that explains it.
  EXPECT_EQ(workOf(200'000, 0.001, peaks).bound(), "memory");
  EXPECT_EQ(workOf(200'000, 0.001, peaks).whyAboveRoof(), "partly in L3");
  EXPECT_EQ(workOf(200'000, 0.0001, peaks).whyAboveRoof(), "partly in L1");
  // Faster than any of them, or than arithmetic.
  for (int64_t bytes : {4'000, 200'000})
    EXPECT_EQ(workOf(bytes, 5e-7, peaks).whyAboveRoof(),
              "less done than counted");
  Work computes = workOf(4'000, 0.001, peaks, 2'000'000);
  EXPECT_EQ(computes.bound(), "compute");
  EXPECT_EQ(computes.whyAboveRoof(), "less done than counted");
  // What is known of memory alone says no more.
  Peaks plain = report({4}).peaks;
  EXPECT_EQ(workOf(4'000, 1e-6, plain).bound(), "memory");
  EXPECT_EQ(workOf(4'000, 1e-6, plain).whyAboveRoof(), "in caches");

  // A sum has the reason of what exceeds its roof most, if it does so itself.
  Work sum = workOf(200'000, 0.001, peaks);
  sum.add(workOf(100'000, 0.0002, peaks));
  EXPECT_EQ(sum.bound(), "memory");
  EXPECT_EQ(sum.whyAboveRoof(), "partly in L3");
  sum.add({{"y", "add", "forward", 0, 3'000'000, 0, 0, ""}, 0, 0.0}, peaks);
  EXPECT_EQ(sum.bound(), "compute");
  EXPECT_EQ(sum.whyAboveRoof(), "with fused ops");
  sum.add(workOf(4'000, 1, peaks));
  EXPECT_EQ(sum.whyAboveRoof(), "");
}

TEST(Measurement, PrintsLevels) {
  MeasurementReport all = reportWithCaches();
  Measurement &measurement = all.runs[0].batches[0];
  for (Measurement::Op &op : measurement.ops)
    if (op.name == "relu")
      op.seconds = 0.0002;
  std::string table = printed(all, printTable);
  for (const char *line : {"\n  L1         4 GB/s measured, holds 10 kB\n"
                           "  L3         400 MB/s measured, holds 150 kB\n"
                           "  memory     100 MB/s measured\n",
                           "  bound by  roof ms  of roof",
                           "L3          0.250    125 %  partly in L1\n"})
    EXPECT_NE(table.find(line), std::string::npos) << line << table;
  EXPECT_NE(printed(all, printCsv).find(",L3,0.00025,1.25,partly in L1,,\r\n"),
            std::string::npos);
  std::string json = printed(all, printJson);
  EXPECT_NE(json.find("\"why_above\": \"partly in L1\""), std::string::npos);
  EXPECT_NE(json.find("\"why_above\": null"), std::string::npos);
}

TEST(Measurement, BoundsOnlyWhatRan) {
  MeasurementReport all = report({4});
  Measurement &measurement = all.runs[0].batches[0];
  measurement.ops.pop_back(); // so few are not summed up
  std::string table = printed(all, printTable);
  auto lineOf = [&](const char *name) {
    llvm::StringRef rest = llvm::StringRef(table).split(name).second;
    return rest.take_until([](char c) { return c == '\n'; });
  };
  EXPECT_TRUE(lineOf("\n  a ").contains("compute")) << table;
  EXPECT_TRUE(lineOf("\n  relu ").contains("memory"));
  EXPECT_TRUE(lineOf("\n  b ").ends_with("·"));
  EXPECT_FALSE(lineOf("\n  b ").contains("compute"));
  EXPECT_NE(
      printed(all, printCsv).find(",b,tanh,,forward,0,0,1,0,0,,,,,,,,\r\n"),
      std::string::npos);
  std::string json = printed(all, printJson);
  json = json.substr(json.find("\"name\": \"b\""));
  EXPECT_EQ(json.find("\"bound\": null"), json.find("\"bound\""));

  // Of the reference it is known by FLOP and bytes.
  for (Measurement::Op &op : measurement.ops)
    op.calls.reset(), op.seconds.reset();
  auto parts = measuredParts(measurement, all.peaks);
  EXPECT_EQ(parts[0].work.bound(), "memory");
}

/// So many runs, of the names and networks, with all batch sizes.
static MeasurementReport
reportOf(std::vector<std::pair<std::string, std::string>> names,
         std::initializer_list<int> batches) {
  MeasurementReport all = report(batches);
  MeasuredRun one = std::move(all.runs[0]);
  all.runs.clear();
  for (const auto &[run, network] : names) {
    for (Measurement &measurement : one.batches) {
      measurement.run = run;
      measurement.network = network;
    }
    all.runs.push_back(one);
  }
  return all;
}

namespace {
/// What a chart shows of itself.
struct Drawing {
  explicit Drawing(const MeasurementReport &report)
      : svg(printed(report,
                    [](llvm::raw_ostream &os, const MeasurementReport &report) {
                      printChart(os, report);
                    })) {}

  bool has(const std::string &text) const {
    return svg.find(text) != std::string::npos;
  }
  double width() const { return number(svg, "width=\""); }
  /// Where the text is, as x and y; it has to be there.
  std::pair<double, double> placeOf(const std::string &text) const {
    size_t end = svg.find(">" + text + "</text>");
    EXPECT_NE(end, std::string::npos) << text << "\n" << svg;
    std::string element = svg.substr(0, end);
    element = element.substr(element.rfind("<text"));
    return {number(element, "x=\""), number(element, "y=\"")};
  }

  const std::string svg;

private:
  static double number(const std::string &text, const std::string &key) {
    return std::stod(text.substr(text.find(key) + key.size()));
  }
};
} // namespace

TEST(Chart, SaysWhatItWasMeasuredOn) {
  Drawing chart(report({1}));
  EXPECT_TRUE(chart.has(">C&lt;P&gt;U, 1 core at 2.00 GHz (as it says), "
                        "1 thread, avx2</text>"));
  EXPECT_TRUE(chart.has(">peak 1 GFLOP/s f32 measured; 1 multiply-add = 2 "
                        "FLOP; netc 1.2.3</text>"));
  EXPECT_TRUE(chart.has("<title>r, batch 1, theory: 60.0 %</title>"));
}

TEST(Chart, HasRoomForLongNames) {
  std::string shared = "a_name_that_is_much_too_long_for_its_bars_";
  Drawing chart(reportOf({{shared + "1", "N"}, {shared + "2", "N"}}, {4}));
  auto [x1, y1] = chart.placeOf("a_name_that_…_its_bars_1");
  auto [x2, y2] = chart.placeOf("a_name_that_…_its_bars_2");
  // Bold letters of this size are 7 to 8 pixels wide.
  EXPECT_GT(x1, 12 * 8);
  EXPECT_GT(x2 - x1, 24 * 8);
  EXPECT_LT(x2 + 12 * 8, chart.width());
  EXPECT_EQ(y1, y2);
  EXPECT_TRUE(chart.has("<title>" + shared + "2, batch 4, theory: 60.0 %<"));
}

TEST(Chart, GoesOnInAnotherRow) {
  Drawing chart(
      reportOf({{"a", "N"}, {"b", "N"}, {"c", "N"}}, {1, 2, 3, 4, 5, 6}));
  EXPECT_LT(chart.width(), 1200);
  EXPECT_EQ(chart.placeOf("a").second, chart.placeOf("b").second);
  EXPECT_GT(chart.placeOf("c").second, chart.placeOf("b").second + 200);
  EXPECT_EQ(chart.placeOf("a").first, chart.placeOf("c").first);
  // So does a run with more than a row of batch sizes.
  Drawing one(reportOf({{"a", "N"}},
                       {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_LT(one.width(), 1200);
  EXPECT_GT(one.placeOf("15").second, one.placeOf("2").second + 200);
}

TEST(Chart, LeavesOutAMethodThatNothingWasMeasuredBy) {
  EXPECT_TRUE(Drawing(report({1, 4})).has(">one</text>"));
  Drawing chart(report({4}));
  EXPECT_FALSE(chart.has(">one</text>"));
  // The next one's bars take its place.
  size_t batch = chart.svg.find("<title>r, batch 4, batch");
  size_t theory = chart.svg.find("<title>r, batch 4, theory");
  ASSERT_NE(batch, std::string::npos);
  auto x = [&](size_t title) {
    size_t rect = chart.svg.rfind("<rect x=\"", title);
    return std::stod(chart.svg.substr(rect + 9));
  };
  EXPECT_DOUBLE_EQ(x(batch) - x(theory), 15);
}

TEST(Chart, NamesRunsByWhatTellsThemApart) {
  Drawing networks(reportOf({{"run", "A"}, {"run", "B"}}, {4}));
  EXPECT_LT(networks.placeOf("A").first, networks.placeOf("B").first);
  EXPECT_FALSE(networks.has(">run</text>"));
  Drawing both(reportOf({{"run", "A"}, {"run", "B"}, {"slow", "A"}}, {4}));
  both.placeOf("A run");
  both.placeOf("A slow");
}
