// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Runtime/Report.h"
#include "lib/Program/Json.h"
#include "lib/Program/PeakKernels.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <utility>

using namespace netc::program;
using namespace netc::runtime;
using json = nlohmann::ordered_json;

namespace {
/// Figures that follow from the times and the program's FLOP.
struct Figures {
  Figures(const Program &program, const Training &training);

  Median step;
  bool hasOps = false; ///< whether ops were timed: not in the reference
  std::vector<Median> ops;
  double opsTime = 0;    ///< sum of the ops' medians
  double matmulTime = 0; ///< sum of the medians of ops with matmul FLOP
  /// Sum of the medians of the forward and backward pass.
  double passTime = 0;
  Flop model, hardware; ///< per step
  Flop pass;            ///< of forward and backward pass
  double perSecond(double count) const { return count / step.median; }
};
} // namespace

Figures::Figures(const Program &program, const Training &training) {
  const std::vector<double> &times = training.recorder.steps();
  step = summarize({times.begin() + ptrdiff_t(training.warmup), times.end()});
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op &op = program.ops[i];
    ops.push_back(training.timesOfOps().op(i, training.firstOfOps()));
    hasOps |= training.timesOfOps().calls(i) > 0;
    opsTime += ops[i].median;
    if (op.matmul)
      matmulTime += ops[i].median;
    if (op.isPass())
      passTime += ops[i].median;
  }
  hardware = hardwareFlop(program.ops);
  model = modelFlop(program.ops);
  pass = flopOf(program.ops, [](const Op &op) { return op.isPass(); });
}

double netc::runtime::fastestRate(const Program &program,
                                  const Training &training) {
  Figures figures(program, training);
  double step = figures.perSecond(double(figures.hardware.sum()));
  return figures.passTime > 0
             ? std::max(step, double(figures.pass.matmul) / figures.passTime)
             : step;
}

std::set<std::string> netc::runtime::productFormats(const Program &program) {
  std::set<std::string> formats;
  for (const Op &op : program.ops)
    if (!op.format.empty())
      formats.insert(op.format);
  return formats;
}

static const char *plural(int count) { return count == 1 ? "" : "s"; }

/// The name of a cache, from `L1` for the nearest.
static std::string levelName(size_t i) { return "L" + std::to_string(i + 1); }

static json known(double value) { return value > 0 ? json(value) : json(); }

static json opToJson(const Measurement &measurement, const Figures &figures,
                     size_t i) {
  const Op &op = measurement.program.ops[i];
  const std::vector<int64_t> &counts = measurement.training.counts;
  auto timed = [&](auto value) {
    return figures.hasOps ? json(value) : json();
  };
  json text = {{"name", op.name},
               {"op", op.op},
               {"phase", op.phase},
               {"calls", timed(measurement.training.timesOfOps().calls(i))},
               {"seconds", timed(figures.ops[i].median)},
               {"mean", timed(figures.ops[i].mean)},
               {"min", timed(figures.ops[i].min)},
               {"matmul", op.matmul},
               {"other", op.other},
               {"transcendental", op.transcendental},
               {"bytes", op.bytes}};
  if (!op.format.empty())
    text["format"] = op.format;
  if (!counts.empty())
    text["counts"] = {{"matmul", counts[3 * i]},
                      {"other", counts[3 * i + 1]},
                      {"transcendental", counts[3 * i + 2]}};
  return text;
}

static json known(const std::optional<double> &value) {
  return value ? json(*value) : json();
}

/// The rates of all formats but f32 for which `rateOf` returns one.
template <typename RateOf>
static json otherFormats(const std::vector<std::string> &formats,
                         RateOf rateOf) {
  json rates = json::object();
  for (const std::string &format : formats)
    if (double rate = rateOf(format); rate > 0 && format != "f32")
      rates[format] = rate;
  return rates;
}

/// The formats that a peak is known of, `f32` among them.
static std::vector<std::string> formatsOf(const Peaks &peaks) {
  std::set<std::string> formats;
  for (const auto &[format, flop] : peaks.perCycle)
    formats.insert(format);
  for (const PeakRate &rate : peaks.measured)
    formats.insert(rate.format);
  return {formats.begin(), formats.end()};
}

static json peakToJson(const Peaks &peaks) {
  json byIsa = json::object(), clocks = json::object();
  for (const PeakRate &rate : peaks.measured) {
    byIsa[rate.name] = rate.flops;
    if (rate.hertz > 0)
      clocks[rate.name] = rate.hertz;
  }
  json text = {{"element", "f32"},
               {"datasheet", known(peaks.datasheet("f32"))},
               {"assumed", peaks.assumed},
               {"measured", known(peaks.best("f32"))},
               {"by_isa", byIsa}};
  std::vector<std::string> formats = formatsOf(peaks);
  for (auto [name, rates] :
       {std::pair("formats", otherFormats(formats,
                                          [&](auto &format) {
                                            return peaks.best(format);
                                          })),
        std::pair("datasheet_formats", otherFormats(formats,
                                                    [&](auto &format) {
                                                      return peaks.datasheet(
                                                          format);
                                                    })),
        std::pair("clocks", clocks)})
    if (!rates.empty())
      text[name] = rates;
  return text;
}

static json machineToJson(const Measurement &measurement) {
  const Machine &machine = measurement.machine;
  json text = {{"cpu", machine.cpu},
               {"cores", machine.cores},
               {"threads", measurement.threads},
               {"isa", nameOf(machine.isas.back())},
               {"clock",
                {{"hertz", known(measurement.clock.hertz)},
                 {"source", measurement.clock.source},
                 {"measured", known(measurement.clock.measured)}}}};
  if (const std::optional<Gpu> &gpu = measurement.gpu) {
    text["gpu"] = gpu->name;
    text["driver"] = gpu->driverText();
    text["capability"] = gpu->capabilityText();
    text["multiprocessors"] = gpu->multiprocessors;
    text["l2"] = gpu->l2;
  }
  if (!measurement.peaks)
    return text;
  const Peaks &peaks = *measurement.peaks;
  text["peak"] = peakToJson(peaks);
  text["bandwidth"] = known(peaks.bandwidth);
  if (peaks.copy > 0)
    text["copy_bandwidth"] = peaks.copy;
  if (peaks.datasheetBandwidth > 0)
    text["datasheet_bandwidth"] = peaks.datasheetBandwidth;
  const std::vector<Cache> &caches = measurement.options.caches;
  text["caches"] = json::object();
  for (size_t i = 0; i < peaks.caches.size(); ++i)
    text["caches"][levelName(i)] = {
        {"bytes", caches[i].of(measurement.threads)},
        {"bandwidth", known(peaks.caches[i])}};
  return text;
}

/// The format of the products of a kernel that measures peaks.
static std::string formatOf(const std::string &kernel) {
  for (const PeakKernel &known : peakKernels)
    if (kernel == known.name)
      return known.format;
  return kernel == pairKernel ? "bf16" : "f32";
}

Peaks netc::runtime::readPeaks(const std::string &path,
                               const std::string &device, int threads,
                               const std::vector<Cache> &caches) {
  std::ifstream file(path);
  const json text = json::parse(file, nullptr, /*allow_exceptions=*/false);
  Peaks peaks;
  try {
    const json &machine = text.at("machine"), &peak = machine.at("peak");
    std::string from = machine.value("gpu", machine.at("cpu"));
    int fromThreads = machine.at("threads");
    if (from != device || fromThreads != threads)
      throw Failure(1, "`" + path + "` has the peaks of " + from + " with " +
                           std::to_string(fromThreads) + " thread" +
                           plural(fromThreads) + ", and this is " + device +
                           " with " + std::to_string(threads));
    auto rate = [](const json &value) {
      return value.is_null() ? 0 : value.get<double>();
    };
    peaks.hertz = rate(machine.at("clock").at("hertz"));
    const json clocks = peak.value("clocks", json::object());
    for (const auto &[name, flops] : peak.at("by_isa").items())
      peaks.measured.push_back(
          {name, formatOf(name), flops, clocks.value(name, 0.0)});
    peaks.bandwidth = rate(machine.at("bandwidth"));
    peaks.copy = machine.value("copy_bandwidth", 0.0);
    for (size_t i = 0; i < caches.size(); ++i) {
      const json level = machine.at("caches").value(levelName(i), json());
      if (level.is_null() || level.at("bytes") != caches[i].of(threads))
        break;
      peaks.caches.push_back(rate(level.at("bandwidth")));
    }
  } catch (const json::exception &) {
    peaks.measured.clear();
  }
  if (peaks.measured.empty())
    throw Failure(1, "`" + path +
                         "` has no peaks, as a program with `--peaks "
                         "--json=FILE` writes them");
  return peaks;
}

/// What belongs to the steps, and not to the machine.
static json deviceToJson(const Gpu &gpu, const Peaks &peaks, size_t steps) {
  json atClock = json::object();
  for (const auto &[format, flop] : peaks.perCycle)
    if (gpu.hertz > 0)
      atClock[format] = flop * gpu.hertz;
  json text = {{"arch", gpu.arch},
               {"compile_seconds", gpu.compiling},
               {"launches", gpu.launches},
               {"hertz", known(gpu.hertz)},
               {"peak_at_clock", atClock}};
  const Telemetry &telemetry = gpu.telemetry;
  if (!telemetry.lack.empty()) {
    text["telemetry"] = nullptr;
    return text;
  }
  std::optional<double> joules = telemetry.joules;
  if (joules)
    joules = *joules / double(steps);
  text["telemetry"] = {{"samples", telemetry.samples},
                       {"hertz", known(telemetry.hertz)},
                       {"lowest_hertz", known(telemetry.lowestHertz)},
                       {"memory_hertz", known(telemetry.memoryHertz)},
                       {"watts", known(telemetry.watts)},
                       {"highest_watts", known(telemetry.highestWatts)},
                       {"highest_celsius", known(telemetry.highestCelsius)},
                       {"joules_per_step", known(joules)},
                       {"slowdowns", telemetry.slowdownNames()},
                       {"other_processes", telemetry.otherProcesses}};
  return text;
}

std::string netc::runtime::toJson(const Measurement &measurement) {
  const Program &program = measurement.program;
  const Training &training = measurement.training;
  Figures figures(program, training);

  json text = {{"format", 1}};
  text.update(identityOf(program));
  text["threads"] = measurement.threads;
  text["seed"] = measurement.options.seed;
  text["data"] = json::object();
  for (const Data::Source &source : measurement.data.inputs())
    text["data"][source.slot->name] = {
        {"file", source.file ? json(source.file->path) : json()},
        {"batches", source.count}};
  text["weights"] = measurement.weights;
  text["steps"] = training.recorder.steps().size();
  text["warmup"] = training.warmup;
  text["stable"] = training.stable;
  const std::optional<Interval> &interval = figures.step.interval;
  text["step"] = {{"median", figures.step.median},
                  {"low", interval ? json(interval->low) : json()},
                  {"high", interval ? json(interval->high) : json()},
                  {"min", figures.step.min},
                  {"mean", figures.step.mean}};
  text["wall"] = training.wall;
  text["losses"] = training.losses;
  text["examples_per_second"] = figures.perSecond(double(program.batch));
  text["flop"] = {{"model", figures.model.sum()},
                  {"hardware", figures.hardware.sum()}};
  text["flops"] = {
      {"model", figures.perSecond(double(figures.model.sum()))},
      {"hardware", figures.perSecond(double(figures.hardware.sum()))}};
  text["matmul"] = {
      {"flop", figures.hardware.sum() ? double(figures.hardware.matmul) /
                                            double(figures.hardware.sum())
                                      : 0},
      {"time", figures.opsTime > 0 ? json(figures.matmulTime / figures.opsTime)
                                   : json()}};
  text["ops"] = json::array();
  for (size_t i = 0; i < program.ops.size(); ++i)
    text["ops"].push_back(opToJson(measurement, figures, i));
  text["memory"] = {{"arena", program.arena},
                    {"buffers", program.buffers},
                    {"stack", program.stack},
                    {"peak_rss", measurement.peakRss}};
  text["machine"] = machineToJson(measurement);
  if (measurement.gpu)
    text["device"] = deviceToJson(*measurement.gpu, *measurement.peaks,
                                  training.recorder.steps().size());
  // A path may be invalid UTF-8.
  return text.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string netc::runtime::toJson(const LackOfMemory &lack) {
  const json text = {
      {"format", 1},
      {"lack", {{"needed", lack.needed}, {"available", lack.available}}}};
  return text.dump(2) + "\n";
}

[[gnu::format(printf, 2, 3)]] static void print(std::string &text,
                                                const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

/// `x from x.npy, y at random`.
static std::string dataText(const Data &data) {
  std::string text;
  for (const Data::Source &source : data.inputs()) {
    text += (text.empty() ? "" : ", ") + source.slot->name +
            (source.file ? " from " + source.file->path : " at random");
    if (source.file && source.file->holdsBfloats(*source.slot))
      text += " as bf16";
  }
  return text;
}

static void printGpu(std::string &text, const Gpu &gpu, const Program &program,
                     size_t steps) {
  print(text, "  GPU       %s, %d SMs, compute capability %s, CUDA %s\n",
        gpu.name.c_str(), gpu.multiprocessors, gpu.capabilityText().c_str(),
        gpu.driverText().c_str());
  print(text,
        "  code      for %s, compiled by the driver in %.3g s; %d launches a "
        "step\n",
        gpu.arch.c_str(), gpu.compiling, gpu.launches);
  if (gpu.l2 >= program.arena)
    print(text, "  L2        all tensors fit into its %d MiB\n", gpu.l2 >> 20);
  const Telemetry &telemetry = gpu.telemetry;
  std::vector<std::string> clock, power;
  auto add = [](std::vector<std::string> &to, const char *format,
                std::optional<double> value, double unit) {
    char word[80];
    std::snprintf(word, sizeof word, format, value.value_or(0) * unit);
    if (value)
      to.push_back(word);
  };
  if (gpu.hertz > 0)
    add(clock, "%.4g GHz by its cycles", gpu.hertz, 1e-9);
  add(clock, "%.4g GHz by NVML", telemetry.hertz, 1e-9);
  add(clock, "at lowest %.4g", telemetry.lowestHertz, 1e-9);
  add(clock, "memory %.4g", telemetry.memoryHertz, 1e-9);
  add(power, "%.4g W", telemetry.watts, 1);
  add(power, "at most %.4g", telemetry.highestWatts, 1);
  add(power, "%.4g J a step", telemetry.joules, 1 / double(steps));
  add(power, "at most %.3g °C", telemetry.highestCelsius, 1);
  if (std::string names = telemetry.slowdownNames(); !names.empty())
    power.push_back("slowed by " + names);
  if (!telemetry.lack.empty())
    power.push_back("unknown: " + telemetry.lack);
  for (const auto &[name, words] :
       {std::pair("clock", &clock), std::pair("power", &power)}) {
    if (words->empty())
      continue;
    print(text, "  %-8s", name);
    const char *separator = "  ";
    for (const std::string &word : *words)
      text += std::exchange(separator, ", ") + word;
    text += '\n';
  }
}

static void printMachine(std::string &text, const Measurement &measurement) {
  const Machine &machine = measurement.machine;
  const std::string &isa = measurement.program.target.isa;
  if (measurement.gpu)
    printGpu(text, *measurement.gpu, measurement.program,
             measurement.training.recorder.steps().size());
  print(text, "  machine   %s, %d core%s", machine.cpu.c_str(), machine.cores,
        plural(machine.cores));
  if (measurement.clock.hertz > 0)
    print(text, " at %.3g GHz (%s)", measurement.clock.hertz * 1e-9,
          measurement.clock.source);
  if (!isa.empty())
    print(text, ", code for %s", isa.c_str());
  text += '\n';
}

static void printSteps(std::string &text, const Measurement &measurement,
                       const Figures &figures) {
  const Training &training = measurement.training;
  size_t steps = training.recorder.steps().size();
  print(text, "  steps     %zu, of which %zu to warm up%s\n", steps,
        training.warmup,
        training.stable ? "" : "; the times were never stable");
  if (!training.losses.empty())
    print(text, "  loss      %.6g, at last %.6g\n", training.losses.front(),
          training.losses.back());
  print(text, "  step      %.4g ms", figures.step.median * 1e3);
  if (const std::optional<Interval> &interval = figures.step.interval)
    print(text, " (%.4g to %.4g)", interval->low * 1e3, interval->high * 1e3);
  else
    print(text, " (the median of %zu)", steps - training.warmup);
  print(text, ", %.4g examples/s\n",
        figures.perSecond(double(measurement.program.batch)));
  print(text, "  compute   %.4g GFLOP/s, %.4g with what is recomputed\n",
        figures.perSecond(double(figures.model.sum())) * 1e-9,
        figures.perSecond(double(figures.hardware.sum())) * 1e-9);
}

/// The peaks of a format, on a line. `hertz` is a clock of the steps, or 0.
static void printPeak(std::string &text, const Peaks &peaks,
                      const std::string &format, double hertz) {
  double measured = peaks.best(format), stated = peaks.datasheet(format);
  if (measured == 0 && stated == 0)
    return;
  bool isF32 = format == "f32";
  text += isF32 ? "  peak      " : "            ";
  if (measured > 0)
    print(text, "%.4g GFLOP/s measured", measured * 1e-9);
  if (measured > 0 && stated > 0)
    print(text, ", %.4g by the datasheet", stated * 1e-9);
  else if (stated > 0)
    print(text, "%.4g GFLOP/s by the datasheet", stated * 1e-9);
  if (stated > 0 && hertz > 0)
    print(text, ", %.4g at the clock of the steps",
          peaks.perCycle.at(format) * hertz * 1e-9);
  if (!isF32)
    text += ", of products in " + format;
  else if (stated > 0)
    text += ": " + peaks.assumed;
  text += '\n';
}

static void printPeaks(std::string &text, const Measurement &measurement) {
  const Peaks &peaks = *measurement.peaks;
  double hertz = measurement.gpu ? measurement.gpu->hertz : 0;
  printPeak(text, peaks, "f32", hertz);
  for (const std::string &format : productFormats(measurement.program))
    if (format != "f32")
      printPeak(text, peaks, format, hertz);
  for (size_t i = 0; i < peaks.caches.size(); ++i)
    if (peaks.caches[i] > 0)
      print(text, "  %-8s  %.4g GB/s measured\n", levelName(i).c_str(),
            peaks.caches[i] * 1e-9);
  if (peaks.bandwidth > 0) {
    print(text, "  memory    %.4g GB/s measured", peaks.bandwidth * 1e-9);
    if (peaks.datasheetBandwidth > 0)
      print(text, ", %.4g by the datasheet", peaks.datasheetBandwidth * 1e-9);
    text += '\n';
  }
  if (peaks.copy > 0)
    print(text, "            %.4g GB/s of a copy\n", peaks.copy * 1e-9);
}

/// The ten slowest ops, slowest first. An op that was fused into another one
/// has no calls and no time.
static std::vector<size_t> slowestOps(const Measurement &measurement,
                                      const Figures &figures) {
  std::vector<size_t> order;
  for (size_t i = 0; i < measurement.program.ops.size(); ++i)
    if (measurement.training.timesOfOps().calls(i) > 0)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return figures.ops[a].median > figures.ops[b].median;
  });
  order.resize(std::min<size_t>(order.size(), 10));
  return order;
}

static void printOps(std::string &text, const Measurement &measurement,
                     const Figures &figures) {
  const Program &program = measurement.program;
  std::vector<size_t> order = slowestOps(measurement, figures);
  size_t width = 10;
  for (size_t i : order)
    width = std::max(width, program.ops[i].name.size());
  width = std::min<size_t>(width, 60);
  // If the ops were timed in other steps, their shares are of the sum of their
  // times.
  double whole =
      measurement.training.apart ? figures.opsTime : figures.step.median;
  // One more byte, since `µ` takes two.
  print(text, "\n  %-*s  %-9s  %11s  %6s  %8s\n", int(width), "slowest op",
        "phase", "µs", "share", "GFLOP/s");
  for (size_t i : order) {
    const Op &op = program.ops[i];
    double seconds = figures.ops[i].median;
    print(text, "  %-*.*s  %-9s  %10.2f  %4.1f %%  %8.4g\n", int(width),
          int(width), op.name.c_str(), op.phase.c_str(), seconds * 1e6,
          whole > 0 ? 100 * seconds / whole : 0,
          seconds > 0 ? double(op.flop()) / seconds * 1e-9 : 0);
  }
}

std::string netc::runtime::toTable(const Measurement &measurement) {
  const Program &program = measurement.program;
  Figures figures(program, measurement.training);
  std::string text = program.title();
  print(text, " · %d thread%s\n", measurement.threads,
        plural(measurement.threads));
  printMachine(text, measurement);
  text += "  counted   1 multiply-add = 2 FLOP\n";
  printSteps(text, measurement, figures);
  if (measurement.peaks)
    printPeaks(text, measurement);
  text += "  data      " + dataText(measurement.data) + "\n";
  if (figures.hasOps)
    printOps(text, measurement, figures);
  else
    text += "  ops       not timed\n";
  return text;
}
