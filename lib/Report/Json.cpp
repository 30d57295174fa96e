// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Json.h"

#include "lib/Report/JsonParts.h"

#include "llvm/Support/JSON.h"

#include <cmath>
#include <fmt/format.h>
#include <map>

using namespace netc;
using llvm::StringRef;
using llvm::json::OStream;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static void number(OStream &json, const Polynomial &value) {
  std::optional<Rational> constant = value.constant();
  if (constant && constant->isInteger())
    json.rawValue(constant->str());
  else
    json.value(value.str());
}

static void number(OStream &json, StringRef key, const Polynomial &value) {
  json.attributeBegin(key);
  number(json, value);
  json.attributeEnd();
}

void netc::number(OStream &json, StringRef key,
                  const std::optional<Rational> &value) {
  if (value)
    ::number(json, key, Polynomial(*value));
  else
    json.attribute(key, nullptr);
}

void netc::estimate(OStream &json, StringRef key,
                    const std::optional<Rational> &value) {
  if (!value)
    return json.attribute(key, nullptr);
  char text[32];
  snprintf(text, sizeof text, "%.6g", value->toDouble());
  json.attributeBegin(key);
  json.rawValue(text);
  json.attributeEnd();
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static void costMembers(OStream &json, const Cost &cost) {
  number(json, "matmul", cost.matmul);
  number(json, "other", cost.other);
  number(json, "transcendental", cost.transcendental);
  number(json, "total", cost.total());
}

static void cost(OStream &json, StringRef key, const Cost &cost) {
  json.attributeObject(key, [&] { costMembers(json, cost); });
}

static void forwardAndBackward(OStream &json, const Figures &figures) {
  cost(json, "forward", figures[Phase::Forward]);
  json.attributeObject("backward", [&] {
    costMembers(json, figures.backward());
    cost(json, "input", figures[Phase::InputGradient]);
    cost(json, "weight", figures[Phase::WeightGradient]);
  });
}

/// Writes the cost of a step, or null if the run has no step. `figures` are
/// those of the step.
static void step(OStream &json, StringRef key, const Run &run,
                 const Figures &figures) {
  if (!run.hasStep())
    return json.attribute(key, nullptr);
  json.attributeObject(key, [&] {
    forwardAndBackward(json, figures);
    cost(json, "optimizer", figures[Phase::Update]);
    cost(json, "recompute", figures[Phase::Recompute]);
    json.attributeObject("by_format", [&] {
      for (NumberFormat format : figures.formats())
        json.attributeObject(traitsOf(format).name, [&] {
          Figures part = figures.in(format);
          forwardAndBackward(json, part);
          cost(json, "optimizer", part[Phase::Update]);
          cost(json, "recompute", part[Phase::Recompute]);
        });
    });
    number(json, "bytes_read", figures.read);
    number(json, "bytes_written", figures.written);
    number(json, "bytes_of_conversions", figures.converted);
  });
}

static void conventions(OStream &json, const Conventions &conventions) {
  json.attributeObject("conventions", [&] {
    json.attribute("fma", conventions.fma);
    json.attribute("causal", stringifyCountedMask(conventions.causal));
  });
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

/// Writes an array on one line.
static void line(OStream &json, llvm::function_ref<void(OStream &)> print) {
  json.rawValue([&](llvm::raw_ostream &os) {
    OStream line(os);
    line.array([&] { print(line); });
  });
}

/// Writes a shape on one line: `["N", 3, 224, 224]`.
static void shape(OStream &json, const Shape &shape) {
  line(json, [&](OStream &line) {
    for (const Polynomial &size : shape.sizes)
      number(line, size);
  });
}

namespace {
/// Layers that are equal except for their names, each with its position.
using Alike = std::vector<std::pair<const Part *, size_t>>;
} // namespace

static std::vector<Alike> alikeOf(const PartTree &tree) {
  std::vector<Alike> groups;
  std::map<std::string, std::vector<size_t>> byOp;
  for (auto [place, part] : llvm::enumerate(tree.layers())) {
    std::vector<size_t> &candidates = byOp[part->op.str()];
    auto same = llvm::find_if(candidates, [&, part = part](size_t i) {
      const Part &other = *groups[i].front().first;
      return part->hasShapesOf(other) && part->figures == other.figures;
    });
    if (same != candidates.end()) {
      groups[*same].emplace_back(part, place);
      continue;
    }
    candidates.push_back(groups.size());
    groups.push_back({{part, place}});
  }
  return groups;
}

static void layer(OStream &json, const Alike &alike) {
  const Part &part = *alike.front().first;
  json.object([&] {
    json.attributeBegin("names");
    line(json, [&](OStream &line) {
      for (auto [each, place] : alike)
        line.value(each->path);
    });
    json.attributeEnd();
    json.attributeBegin("places");
    line(json, [&](OStream &line) {
      for (auto [each, place] : alike)
        line.value(int64_t(place));
    });
    json.attributeEnd();
    json.attribute("op", part.op);
    json.attributeArray("inputs", [&] {
      for (mlir::RankedTensorType input : part.inputs)
        shape(json, shapeOf(input));
    });
    json.attributeBegin("output");
    if (part.output)
      shape(json, shapeOf(part.output));
    else
      json.value(nullptr);
    json.attributeEnd();
    number(json, "parameters", part.figures.parameters);
    forwardAndBackward(json, part.figures);
    number(json, "bytes_read", part.figures.read);
    number(json, "bytes_written", part.figures.written);
  });
}

static void network(OStream &json, const Network &network, bool symbolic) {
  const Figures &figures = network.parts.root().figures;
  json.object([&] {
    json.attribute("name", network.name());
    json.attributeObject("axes", [&] {
      for (auto &[name, size] : network.freeAxes())
        number(json, name, size);
    });
    json.attributeObject("parameters", [&] {
      number(json, "total", figures.parameters);
      number(json, "trainable", figures.trainable);
      number(json, "active", figures.parameters - figures.idle);
    });
    forwardAndBackward(json, figures);
    number(json, "activations", figures.activations);
    if (symbolic)
      json.attributeObject("symbolic",
                           [&] { forwardAndBackward(json, network.symbolic); });
    json.attributeArray("layers", [&] {
      for (const Alike &alike : alikeOf(network.parts))
        layer(json, alike);
    });
  });
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static void deviations(OStream &json, StringRef key,
                       llvm::ArrayRef<Deviation> deviations) {
  json.attributeArray(key, [&] {
    for (const Deviation &deviation : deviations)
      json.object([&] {
        json.attribute("reason", deviation.reason);
        number(json, "flop", Polynomial(deviation.flop));
      });
  });
}

static void operations(OStream &json, const Run &run) {
  std::optional<Cost> modelOfRun = run.total(&Figures::model);
  if (!modelOfRun)
    return json.attribute("operations", nullptr);
  json.attributeObject("operations", [&] {
    cost(json, "model", *modelOfRun);
    cost(json, "hardware", *run.total(&Figures::hardware));
    number(json, "rule_of_three", run.ruleOfThree);
    number(json, "parameter_rule", run.parameterRule);
    std::optional<Rational> flop = run.modelFlop();
    estimate(json, "petaflop_s_days",
             flop ? std::optional(petaflopDays(*flop)) : std::nullopt);
    deviations(json, "deviations", run.deviations);
    deviations(json, "parameter_deviations", run.parameterDeviations);
  });
}

/// Writes a saved value on one line.
static void keptValue(OStream &json, const KeptValue &value) {
  json.rawValue([&](llvm::raw_ostream &os) {
    OStream line(os);
    line.object([&] {
      line.attribute("op", value.name);
      line.attribute("type", value.type);
      number(line, "elements", value.elements);
      number(line, "bytes", value.bytes);
    });
  });
}

static void memory(OStream &json, const Run &run) {
  const Memory &memory = run.memory;
  std::optional<MemoryVerdict> verdict = memoryVerdict(run);
  json.attributeObject("memory_per_device", [&] {
    for (auto [name, part] : Memory::parts()) {
      number(json, name, (memory.*part).total());
      json.attributeObject((name + "_by_type").str(), [&] {
        for (const auto &[type, bytes] : (memory.*part).types())
          number(json, type, bytes);
      });
    }
    number(json, "total", memory.total());
    number(json, "capacity", run.deviceMemory);
    if (!verdict) {
      json.attribute("fits", nullptr);
      json.attribute("largest", nullptr);
    } else {
      json.attribute("fits", verdict->fits);
      json.attribute("largest", verdict->largest);
    }
  });
}

static void computeByTime(OStream &json,
                          const std::optional<ComputeByTime> &time) {
  if (!time)
    return json.attribute("compute_by_time", nullptr);
  json.attributeObject("compute_by_time", [&] {
    estimate(json, "flop", time->flop);
    estimate(json, "low", time->low);
    estimate(json, "high", time->high);
    estimate(json, "petaflop_s_days", petaflopDays(time->flop));
    estimate(json, "devices", time->devices);
    estimate(json, "device_hours", time->deviceHours);
    estimate(json, "peak", time->peak);
    if (time->format.empty())
      json.attribute("format", nullptr);
    else
      json.attribute("format", time->format);
    estimate(json, "utilization", time->utilization);
    json.attributeArray("defaults", [&] {
      for (const Assumption &assumption : time->defaults)
        json.object([&] {
          json.attribute("key", assumption.key);
          json.attribute("taken", assumption.taken);
          json.attribute("reason", assumption.reason);
          estimate(json, "low", assumption.low);
          estimate(json, "high", assumption.high);
        });
    });
  });
}

static void comparison(OStream &json,
                       const std::optional<Comparison> &comparison) {
  if (!comparison)
    return json.attribute("comparison", nullptr);
  json.attributeObject("comparison", [&] {
    estimate(json, "ratio", comparison->ratio);
    estimate(json, "geometric_mean", comparison->geometricMean);
    json.attributeArray("causes", [&] {
      for (const std::string &cause : comparison->causes)
        json.value(cause);
    });
  });
}

/// Writes figures at both ends of the specification's ranges.
static void ranges(OStream &json, const RunReport &report) {
  auto range = [&](StringRef key, const RunReport::Figure &figure) {
    auto ends = report.range(figure);
    json.attributeObject(key, [&] {
      number(json, "low", ends ? std::optional(ends->first) : std::nullopt);
      number(json, "high", ends ? std::optional(ends->second) : std::nullopt);
    });
  };
  json.attributeObject("ranges", [&] {
    range("steps", [](const Run &run) { return run.steps; });
    range("compute", &Run::modelFlop);
    range("implied_utilization", &Run::modelUtilization);
    range("implied_hardware_utilization", &Run::hardwareUtilization);
    range("memory_per_device", &Run::memoryPerDevice);
    range("traffic", &Run::trafficOfStep);
  });
}

/// Writes figures that depend on the hardware, and ranges.
static void estimates(OStream &json, const RunReport &report) {
  const Run &run = *report.run;
  computeByTime(json, report.computeByTime);
  comparison(json, compareMethods(run));
  estimate(json, "implied_utilization", run.modelUtilization());
  estimate(json, "implied_hardware_utilization", run.hardwareUtilization());
  if (!report.corners.empty())
    ranges(json, report);
}

static void sizes(OStream &json, const Run &run) {
  json.attributeObject("axes", [&] {
    for (auto &[name, size] : run.axes)
      number(json, name, Polynomial(size));
  });
  number(json, "tokens_per_example", run.tokensPerExample);
  number(json, "tokens_per_step", run.tokensPerStep());
  if (run.precision.empty())
    json.attribute("precision", nullptr);
  else
    json.attribute("precision", run.precision);
}

static void sweep(OStream &json, llvm::ArrayRef<RunReport> points) {
  json.attributeArray("sweep", [&] {
    for (const RunReport &point : points)
      json.object([&] {
        const Run &run = *point.run;
        json.attributeObject("values", [&] {
          for (auto &[name, value] : point.values)
            json.attribute(name, value);
        });
        number(json, "steps", run.steps);
        sizes(json, run);
        step(json, "step", run, run.step());
        operations(json, run);
        memory(json, run);
        estimates(json, point);
      });
  });
}

static void runMembers(OStream &json, const RunReport &report, bool symbolic) {
  const Run &run = *report.run;
  json.attribute("name", run.name());
  if (run.network().empty())
    json.attribute("network", nullptr);
  else
    json.attribute("network", run.network());
  conventions(json, run.conventions);
  number(json, "steps", run.steps);
  number(json, "batch", run.batch);
  number(json, "examples", run.examples);
  number(json, "tokens", run.tokens);
  number(json, "epochs", run.epochs);
  sizes(json, run);
  step(json, "step", run, run.step());
  if (symbolic)
    step(json, "symbolic", run, run.symbolic);
  operations(json, run);
  memory(json, run);
  json.attributeArray("kept", [&] {
    for (const KeptValue &value : run.kept())
      keptValue(json, value);
  });
  estimates(json, report);
  if (const PlannedMemory *plan = report.plan())
    json.attributeObject("plan", [&] {
      json.attribute("target", plan->target);
      json.attribute("batch", plan->batch);
      json.attribute("arena", plan->arena);
      json.attribute("buffers", plan->buffers);
    });
  if (run.jobs.empty())
    return;
  json.attributeArray("jobs", [&] {
    for (auto [i, job] : llvm::enumerate(run.jobs))
      json.object([&, i = i, &job = job] {
        json.attribute("kind", job.isInference ? "infer" : "train");
        number(json, "times", job.times);
        json.attribute("tuning", job.isTuning);
        runMembers(json, report.ofJob(i), symbolic);
      });
  });
}

static void run(OStream &json, const RunReport &report, bool symbolic) {
  json.object([&] {
    runMembers(json, report, symbolic);
    if (!report.sweep.empty())
      sweep(json, report.sweep);
  });
}

/// Writes an integer exactly, another number as a double.
static void number(OStream &json, const std::variant<Rational, double> &value) {
  auto *exact = std::get_if<Rational>(&value);
  if (exact && exact->isInteger())
    return json.rawValue(exact->str());
  double number = exact ? exact->toDouble() : std::get<double>(value);
  if (std::isfinite(number))
    json.value(number);
  else
    json.value(fmt::format("{}", number));
}

static void number(OStream &json, StringRef key,
                   const std::variant<Rational, double> &value) {
  json.attributeBegin(key);
  number(json, value);
  json.attributeEnd();
}

static void side(OStream &json, StringRef key, const ExpectSide &side) {
  if (side.numbers.empty())
    return json.attribute(key, side.text);
  if (side.numbers.size() == 1)
    return number(json, key, side.numbers.front());
  json.attributeObject(key, [&] {
    number(json, "low", side.numbers.front());
    number(json, "high", side.numbers.back());
  });
}

void netc::expect(OStream &json, const Verdict &verdict) {
  json.object([&] {
    json.attribute("text", verdict.text);
    // A file name may be invalid UTF-8.
    json.attribute("file", llvm::json::fixUTF8(verdict.file));
    json.attribute("line", verdict.line);
    if (!verdict.trace.empty())
      json.attribute("trace", llvm::json::fixUTF8(verdict.trace));
    side(json, "value", verdict.value);
    side(json, "expected", verdict.expected);
    json.attribute("unit", verdict.value.unit);
    json.attribute("holds", verdict.holds);
  });
}

void netc::warning(OStream &json, const Warning &warning) {
  json.object([&] {
    json.attribute("id", warning.id);
    if (warning.about.empty())
      json.attribute("about", nullptr);
    else
      json.attribute("about", warning.about);
    json.attribute("file", llvm::json::fixUTF8(warning.file));
    json.attribute("line", warning.line);
    json.attribute("text", llvm::json::fixUTF8(warning.text));
  });
}

void netc::printJson(llvm::raw_ostream &os, const Report &report,
                     bool symbolic) {
  OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("format", 2);
    json.attribute("netc", report.version);
    conventions(json, report.conventions);
    json.attributeArray("networks", [&] {
      for (const Network *item : report.networks)
        network(json, *item, symbolic);
    });
    json.attributeArray("runs", [&] {
      for (const RunReport &item : report.runs)
        run(json, item, symbolic);
    });
    json.attributeArray("expects", [&] {
      for (const Verdict &verdict : report.expects)
        expect(json, verdict);
    });
    json.attributeArray("warnings", [&] {
      for (const Warning &item : report.warnings)
        warning(json, item);
    });
  });
  os << '\n';
}
