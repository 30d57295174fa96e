// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Flop.h"
#include "lib/Audit/TracedStep.h"
#include "lib/Trace/Read.h"
#include "test/Trace/Traces.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace netc;
using namespace netc::audit;
using namespace netc::trace;

namespace {

Trace readInput(const std::string &name) {
  return expectRead(read(INPUTS + name), name);
}

/// What `text` is refused with, and the id.
std::string errorOf(const std::string &text, const TraceLimits &limits = {}) {
  std::string path = testing::TempDir() + "netc-trace-test.json";
  std::ofstream(path, std::ios::binary) << text;
  llvm::Expected<Trace> trace = read(path, limits);
  std::remove(path.c_str());
  std::string message;
  if (!trace)
    llvm::handleAllErrors(trace.takeError(), [&](const TraceError &error) {
      message = error.message.text + " [" + error.message.id.str() + "]";
    });
  return message;
}

/// What a file with this text is read as.
Trace readFile(const std::string &text) {
  std::string path = testing::TempDir() + "netc-trace-test-text.json";
  std::ofstream(path, std::ios::binary) << text;
  llvm::Expected<Trace> trace = read(path);
  std::remove(path.c_str());
  return expectRead(std::move(trace), path);
}

Rational flopIn(const TracedStep &step, TracedProduct::Phase phase) {
  Rational sum;
  for (const TracedProduct &product : step.products)
    if (product.phase == phase)
      sum += product.cost->flop ? *product.cost->flop : Rational::invalid();
  return sum;
}

TEST(Trace, BertSmallCountsToTheLastFlop) {
  Trace trace = readInput("bert-small-h100.kineto.json.gz");
  TracedStep step = traceStep(trace);
  EXPECT_EQ(flopIn(step, TracedProduct::Forward).str(), "8192059392");
  EXPECT_EQ(step.levels.kernels, 60u);
  EXPECT_EQ(step.levels.sum, 307197);
  EXPECT_EQ(step.duration(), 4426114);
}

TEST(Trace, ResNet50Of2021HasNoStridesAndCountsToTheLastFlop) {
  Trace trace = readInput("resnet50-v100-2021.kineto.json.gz");
  TracedStep step = traceStep(trace);
  EXPECT_EQ(step.name, "ProfilerStep#6");
  EXPECT_EQ(flopIn(step, TracedProduct::Forward),
            Rational(32) * Rational(8178368512));
  // The first layer needs no gradient of the images.
  EXPECT_EQ((flopIn(step, TracedProduct::Forward) +
             flopIn(step, TracedProduct::Backward))
                .str(),
            "777570484224");
  // By launch; by their own times the step would have 918 kernels.
  EXPECT_EQ(step.levels.kernels, 1462u);
  EXPECT_EQ(step.levels.sum, 98570000);
  EXPECT_EQ(step.levels.unionOfAll, 98570000);
  EXPECT_EQ(step.levels.copies, 2036000);
  EXPECT_EQ(step.duration(), 173992000);
}

TEST(Trace, DlrmHasThreeStreamsAndWaitsForOthers) {
  Trace trace = readInput("dlrm-v100-worker0.kineto.json.gz");
  TracedStep step = traceStep(trace);
  EXPECT_EQ(flopIn(step, TracedProduct::Forward).str(), "20197888");
  EXPECT_EQ(flopIn(step, TracedProduct::Backward).str(), "40289280");
  EXPECT_EQ(step.levels.kernels, 245u);
  EXPECT_EQ(step.levels.sum, 6832000);
  EXPECT_EQ(step.levels.unionOfAll, 6571000);
  EXPECT_EQ(step.duration(), 14455000);
}

/// What a step costs, and what `with_flops` of torch.profiler and
/// FlopCounterMode of PyTorch 2.15 gave for it when they ran.
struct Counts {
  const char *name, *forward, *backward, *profiler, *counter;
};
constexpr Counts counts[] = {
    {"lenet300", "53240000", "59440000", "112680000", "112680000"},
    {"lenet300_autocast", "53240000", "59440000", "112680000", "112680000"},
    {"resnet18", "14508531712", "28072951808", "14508613632", "42581483520"},
    {"mobilenet_v2", "1198028288", "2352704512", "1198568576", "24544195584"},
    {"groups", "66691232", "131612992", "34931168", "261612000"},
    {"lstm", "2017280", "4034560", "154112", "153600"},
    {"encoder_sdpa", "9891840", "19783680", "28508160", "29872128"},
    {"encoder_plain", "9891840", "19783680", "29687808", "29675520"},
    {"encoder_compiled", "9891840", "19783680", "28495872", "29872128"},
    {"dlrm", "1929216", "3645440", "5576704", "5574656"},
};

TEST(Trace, CountsAreExactBesideThoseOfTheTools) {
  for (const Counts &expected : counts) {
    SCOPED_TRACE(expected.name);
    Trace trace = readInput(std::string(expected.name) + ".kineto.json.gz");
    TracedStep step = traceStep(trace);
    Rational profiler, counter;
    for (const CountedEvent &other : step.others)
      profiler += other.flop;
    for (const TracedProduct &product : step.products) {
      profiler += product.profiler->flop.value_or(0);
      counter += product.cost->counter.value_or(0);
    }
    EXPECT_EQ(flopIn(step, TracedProduct::Forward).str(), expected.forward);
    EXPECT_EQ(flopIn(step, TracedProduct::Backward).str(), expected.backward);
    EXPECT_EQ(profiler.str(), expected.profiler);
    EXPECT_EQ(counter.str(), expected.counter);
  }
}

constexpr char start[] =
    R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", )"
    R"("name": "aten::mm", "pid": 1, "tid": 1, "ts": 5.25, "dur": 2, "args": )"
    R"({"Input Dims": [[2, 3], [3, 4]]}})";

TEST(Trace, WhatIsCompleteInFrontOfACutIsRead) {
  Trace trace = readFile(std::string(start) + R"(, {"ph": "X", "na)");
  ASSERT_EQ(trace.host.size(), 1u);
  EXPECT_EQ(trace.host[0].start, 5250);
  EXPECT_TRUE(trace.cutAt.has_value());
  TracedStep step = traceStep(trace);
  ASSERT_EQ(step.products.size(), 1u);
  EXPECT_EQ(step.products[0].cost->flop->str(), "48");
}

/// A step may have a million products.
TEST(Trace, EqualProductsShareTheirCost) {
  auto product = [](int time, const char *sizes) {
    return R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, )"
           R"("tid": 1, "dur": 2, "ts": )" +
           std::to_string(time) + R"(, "args": {"Input Dims": [[2, 3], )" +
           sizes + "]}}";
  };
  Trace trace =
      readFile("[" + product(1, "[3, 4]") + ", " + product(4, "[3, 5]") + ", " +
               product(7, "[3, 4]") + "]");
  TracedStep step = traceStep(trace);
  ASSERT_EQ(step.products.size(), 3u);
  EXPECT_EQ(step.products[0].cost, step.products[2].cost);
  EXPECT_NE(step.products[0].cost, step.products[1].cost);
  EXPECT_EQ(step.products[0].profiler, step.products[2].profiler);
  step.products[2].ownCost().flop = 7;
  EXPECT_EQ(step.products[0].cost->flop->str(), "48");
}

/// Marks that two threads give at the same times. What is around a product is
/// not searched again for each.
TEST(Trace, RangesMayNestAsDeepAsThereAreEvents) {
  constexpr int many = 50'000;
  Trace trace;
  trace.threads.resize(2);
  for (int i = 0; i < many; ++i) {
    HostEvent &mark = trace.host.emplace_back();
    mark.kind = HostEvent::Annotation;
    mark.name = trace.names.intern("ProfilerStep#" + std::to_string(i));
    mark.thread = i % 2;
    mark.duration = many + 1;
  }
  uint32_t inputs =
      trace.addInputs({trace.addShapes({{2, 3}, {3, 4}}), {}, {}});
  for (int i = 0; i < many; ++i) {
    HostEvent &op = trace.host.emplace_back();
    op.name = trace.names.intern("aten::mm");
    op.inputs = inputs;
    op.start = i;
    op.duration = 1;
  }
  TracedStep step = traceStep(trace);
  EXPECT_EQ(step.products.size(), size_t(many));
  EXPECT_EQ(step.products.back().node, "");
}

/// Phases B and E instead of X: an end is of what began last on its thread.
TEST(Trace, NamesAreReadOnce) {
  static int calls;
  calls = 0;
  Names names;
  Name one = names.intern("gemm"), other = names.intern("softmax");
  OncePerName<size_t> sizes(names, [](llvm::StringRef name) {
    ++calls;
    return name.size();
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sizes[one], 4u);
    EXPECT_EQ(sizes[other], 7u);
  }
  EXPECT_EQ(calls, 2);
}

TEST(Trace, EventsMayBeTwo) {
  auto event = [](const char *phase, const char *name, int thread, int time) {
    return std::string(R"({"ph": ")") + phase +
           R"(", "cat": "cpu_op", "name": ")" + name +
           R"(", "pid": 1, "tid": )" + std::to_string(thread) + R"(, "ts": )" +
           std::to_string(time) +
           R"(, "args": {"Input Dims": [[2, 3], [3, 4]]}})";
  };
  Trace trace = readFile(
      "[" + event("B", "aten::matmul", 1, 5) + ", " +
      event("B", "aten::bmm", 2, 6) + ", " + event("B", "aten::mm", 1, 7) +
      ", " + event("E", "", 1, 9) + R"(, {"ph": "E", "tid": 1, "pid": 1, )" +
      R"("ts": 12}, )" + event("E", "aten::bmm", 2, 20) + "]");
  EXPECT_EQ(trace.broken, 0u);
  ASSERT_EQ(trace.host.size(), 3u);
  EXPECT_EQ(trace.names[trace.host[0].name], "aten::mm");
  EXPECT_EQ(trace.host[0].start, 7000);
  EXPECT_EQ(trace.host[0].duration, 2000);
  EXPECT_EQ(trace.names[trace.host[1].name], "aten::matmul");
  EXPECT_EQ(trace.host[1].duration, 7000);
  EXPECT_EQ(trace.host[2].duration, 14000);
  EXPECT_EQ(flopIn(traceStep(trace), TracedProduct::Forward).str(), "96");

  // An end before a begin or of another thread, one of another name, one of an
  // earlier time, and two that never end.
  trace = readFile(
      "[" + event("E", "", 1, 1) + ", " + event("B", "aten::mm", 1, 5) + ", " +
      event("E", "aten::mm", 2, 6) + ", " + event("E", "aten::bmm", 1, 7) +
      ", " + event("E", "aten::mm", 1, 8) + ", " +
      event("B", "aten::mm", 1, 9) + ", " + event("E", "aten::mm", 1, 8) +
      ", " + event("B", "aten::mm", 1, 9) + ", " +
      event("B", "aten::mm", 2, 9) + "]");
  EXPECT_EQ(trace.broken, 6u);
  ASSERT_EQ(trace.host.size(), 1u);
  EXPECT_EQ(trace.host[0].duration, 3000);
}

/// A packed trace with its bytes changed.
Trace readPacked(llvm::function_ref<void(std::string &)> change) {
  std::ifstream file(INPUTS "bert-small-h100.kineto.json.gz", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  change(bytes);
  return readFile(bytes);
}

TEST(Trace, PackedDataMayBeCutOrDamaged) {
  Trace cut = readPacked([](std::string &bytes) { bytes.resize(40000); });
  EXPECT_EQ(cut.tool, "PyTorch Profiler");
  EXPECT_EQ(cut.cutBy, "the packed data end here");
  Trace damaged = readPacked([](std::string &bytes) {
    for (size_t i = 40000; i < 40400; ++i)
      bytes[i] = char(0xff);
  });
  EXPECT_EQ(damaged.cutBy, "these packed data are damaged");
}

TEST(Trace, ARowOfCsvMayBeCut) {
  Trace trace =
      readFile("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric "
               "Unit\",\"Metric Value\"\n"
               "\"0\",\"gemm\",\"sm__cycles_active.sum\",\"cycle\",\"7\"\n"
               "\"1\",\"ge");
  EXPECT_EQ(trace.counted.size(), 1u);
  EXPECT_EQ(trace.cutBy, "a row ends within quotes");
}

TEST(Trace, SizesOfHostileEventsAreNoCount) {
  Trace trace = readFile(
      R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", )"
      R"("ts": 1, "dur": 2, "args": {"Input Dims": )"
      R"([[9223372036854775807, 9223372036854775807], )"
      R"([9223372036854775807, 9223372036854775807]]}}, )"
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": -2}]})");
  EXPECT_EQ(trace.broken, 1u);
  TracedStep step = traceStep(trace);
  ASSERT_EQ(step.products.size(), 1u);
  EXPECT_FALSE(step.products[0].cost->flop);
}

TEST(Trace, SaysWhatIsWrong) {
  EXPECT_EQ(errorOf("net A"),
            "this is no trace that netc reads, such as torch.profiler's "
            "`export_chrome_trace`; what only its own tool reads is exported "
            "first, a .nsys-rep by `nsys export --type sqlite`, a .ncu-rep by "
            "`ncu --import FILE --csv --page raw` [trace-unknown]");
  EXPECT_EQ(errorOf("NVR\1"),
            "this is a report of Nsight Compute, which only its own tool "
            "reads; `ncu --import FILE --csv --page raw` exports it "
            "[trace-closed]");
  EXPECT_EQ(errorOf("{}"), "there is no op, kernel or counter in it "
                           "[trace-empty]");
  EXPECT_EQ(errorOf("{\"traceEvents\": [{]"),
            "byte 19: syntax error while parsing object key - unexpected ']'; "
            "expected string literal [trace-broken]");
  TraceLimits limits;
  limits.maxBytes = 20;
  EXPECT_EQ(errorOf(start, limits),
            "the trace has more than 20 bytes when it is unpacked; "
            "`--max-input` allows more [trace-too-long]");
  limits = TraceLimits();
  limits.maxEvents = 0;
  EXPECT_EQ(errorOf(start, limits),
            "the trace has more than 0 events; `--max-events` allows more "
            "[trace-too-many-events]");
  errorOf(std::string(1000000, '['));
}

} // namespace
