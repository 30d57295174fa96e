// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Measurement.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <set>

using namespace netc;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace netc {
static bool fromJSON(const json::Value &value, Measurement::Op &op,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("name", op.name) && map.map("op", op.op) &&
         map.map("phase", op.phase) && map.map("calls", op.calls) &&
         map.map("matmul", op.matmul) && map.map("other", op.other) &&
         map.map("transcendental", op.transcendental) &&
         map.map("bytes", op.bytes) && map.map("seconds", op.seconds) &&
         map.mapOptional("format", op.format);
}

static bool fromJSON(const json::Value &value, Measurement::Step &step,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("median", step.median) && map.map("low", step.low) &&
         map.map("high", step.high);
}

static bool fromJSON(const json::Value &value, Peaks &peaks, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("measured", peaks.measured) &&
         map.map("datasheet", peaks.datasheet) &&
         map.map("assumed", peaks.assumed) &&
         map.mapOptional("formats", peaks.formats) &&
         map.mapOptional("datasheet_formats", peaks.datasheetFormats);
}

static bool fromJSON(const json::Value &value,
                     Measurement::Device::Telemetry &telemetry,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("hertz", telemetry.hertz) &&
         map.map("lowest_hertz", telemetry.lowestHertz) &&
         map.map("watts", telemetry.watts) &&
         map.map("joules_per_step", telemetry.joulesPerStep) &&
         map.map("highest_celsius", telemetry.celsius) &&
         map.map("slowdowns", telemetry.slowdowns);
}

static bool fromJSON(const json::Value &value, Measurement::Device &device,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("arch", device.arch) &&
         map.map("compile_seconds", device.compiling) &&
         map.map("launches", device.launches) &&
         map.map("hertz", device.hertz) &&
         map.map("peak_at_clock", device.peaks) &&
         map.map("telemetry", device.telemetry);
}

/// Reads a member as it is, an object. Reports one that is missing.
static bool readObject(const json::Value &value, llvm::StringRef member,
                       json::Value &into, json::Path path) {
  const json::Object *object = value.getAsObject();
  const json::Value *found = object ? object->get(member) : nullptr;
  if (found && found->getAsObject()) {
    into = *found;
    return true;
  }
  if (found)
    path.field(member).report("expected object");
  else
    path.field(member).report("missing value");
  return false;
}

/// Whether the caches of a machine, if it has any, are objects.
static bool checkCaches(const json::Object &machine, json::Path path) {
  const json::Object *caches = machine.getObject("caches");
  if (!caches)
    return true;
  for (const auto &[name, cache] : *caches)
    if (!cache.getAsObject()) {
      path.field("caches").field(name).report("expected object");
      return false;
    }
  return true;
}

static bool fromJSON(const json::Value &value, Measurement &measurement,
                     json::Path path) {
  auto inner = [&](llvm::StringRef member, auto read) {
    // The mapper keeps a pointer to the value, so it must not be a temporary.
    const json::Value none = nullptr;
    const json::Object *object = value.getAsObject();
    const json::Value *found = object ? object->get(member) : nullptr;
    json::ObjectMapper map(found ? *found : none, path.field(member));
    return map && read(map);
  };
  json::ObjectMapper map(value, path);
  if (!map || !map.map("run", measurement.run) ||
      !map.map("network", measurement.network) ||
      !map.map("lowering", measurement.lowering) ||
      !map.map("batch", measurement.batch) ||
      !map.map("threads", measurement.threads) ||
      !map.map("steps", measurement.steps) ||
      !map.map("warmup", measurement.warmup) ||
      !map.map("stable", measurement.stable) ||
      !map.map("step", measurement.step) ||
      !map.map("wall", measurement.wall) ||
      !map.map("losses", measurement.losses) ||
      !map.map("ops", measurement.ops) ||
      !map.mapOptional("device", measurement.device) ||
      !readObject(value, "machine", measurement.machineText, path) ||
      !readObject(value, "data", measurement.dataText, path) ||
      !checkCaches(*measurement.machineText.getAsObject(),
                   path.field("machine")))
    return false;
  if (measurement.device)
    measurement.deviceText = *value.getAsObject()->get("device");
  for (const auto &[name, input] : *measurement.dataText.getAsObject()) {
    std::optional<llvm::StringRef> file;
    if (const json::Object *source = input.getAsObject())
      file = source->getString("file");
    measurement.dataFiles[name.str()] =
        file ? std::optional(file->str()) : std::nullopt;
  }
  return inner("target",
               [&](json::ObjectMapper &map) {
                 return map.map("name", measurement.target) &&
                        map.map("isa", measurement.isa) &&
                        map.map("cpu", measurement.cpu);
               }) &&
         inner("memory",
               [&](json::ObjectMapper &map) {
                 return map.map("arena", measurement.arena) &&
                        map.map("buffers", measurement.buffers) &&
                        map.map("peak_rss", measurement.peakRss);
               }) &&
         inner("machine", [&](json::ObjectMapper &map) {
           return map.map("cpu", measurement.machine) &&
                  map.map("cores", measurement.cores) &&
                  map.mapOptional("gpu", measurement.gpu) &&
                  map.mapOptional("l2", measurement.l2);
         });
}
} // namespace netc

llvm::Expected<Measurement> netc::parseMeasurement(llvm::StringRef text) {
  return json::parse<Measurement>(text, "measurement");
}

std::optional<std::pair<int64_t, int64_t>>
netc::parseLack(llvm::StringRef text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  const json::Object *lack = object ? object->getObject("lack") : nullptr;
  std::optional<int64_t> needed, available;
  if (lack) {
    needed = lack->getInteger("needed");
    available = lack->getInteger("available");
  }
  return needed && available ? std::optional(std::pair(*needed, *available))
                             : std::nullopt;
}

std::optional<Peaks> netc::peaksOf(const Measurement &measurement) {
  const json::Object &machine = *measurement.machineText.getAsObject();
  Peaks peaks;
  json::Path::Root root;
  const json::Value *peak = machine.get("peak");
  if (!peak || !fromJSON(*peak, peaks, root))
    return std::nullopt;
  if (const json::Object *caches = machine.getObject("caches"))
    for (const auto &[name, cache] : *caches) {
      const json::Object *level = cache.getAsObject();
      if (std::optional<double> bandwidth = level->getNumber("bandwidth"))
        peaks.levels.push_back(
            {name.str(), level->getInteger("bytes"), *bandwidth});
    }
  llvm::sort(peaks.levels, [](const MemoryLevel &a, const MemoryLevel &b) {
    return a.name < b.name;
  });
  if (std::optional<double> bandwidth = machine.getNumber("bandwidth"))
    peaks.levels.push_back({"memory", std::nullopt, *bandwidth});
  else if (auto stated = machine.getNumber("datasheet_bandwidth"))
    peaks.levels.push_back(
        {"memory", std::nullopt, *stated, /*isMeasured=*/false});
  peaks.copy = machine.getNumber("copy_bandwidth");
  if (const json::Object *clock = machine.getObject("clock")) {
    if (std::optional<double> hertz = clock->getNumber("hertz"))
      peaks.clock = *hertz;
    peaks.clockSource = clock->getString("source").value_or("").str();
  }
  return peaks;
}

std::vector<std::string> netc::otherFormats(const Measurement &measurement,
                                            const Peaks &peaks) {
  std::set<std::string> found;
  for (const Measurement::Op &op : measurement.ops)
    if (peaks.formats.count(op.format) ||
        peaks.datasheetFormats.count(op.format))
      found.insert(op.format);
  return {found.begin(), found.end()};
}

//===----------------------------------------------------------------------===//
// Ops and parts
//===----------------------------------------------------------------------===//

const MemoryLevel *Peaks::levelOf(int64_t bytes) const {
  auto level = llvm::find_if(levels, [&](const MemoryLevel &level) {
    return !level.bytes || bytes <= *level.bytes;
  });
  return level == levels.end() ? nullptr : &*level;
}

/// Why an op took fewer `seconds` than its roof allows. `level` is that roof,
/// or null if the roof is compute.
static std::string whyAbove(const Measurement::Op &op, const Peaks &peaks,
                            const MemoryLevel *level) {
  if (level && peaks.levels.size() == 1)
    return "in caches";
  // The farthest level from which all bytes could have come in this time.
  for (; level && level != peaks.levels.data(); --level)
    if (op.bytes <= level[-1].bandwidth * *op.seconds)
      return "partly in " + level[-1].name;
  return "less done than counted";
}

void Work::add(const Measurement::Op &op, const Peaks &peaks) {
  matmul += op.matmul;
  other += op.other;
  (op.isForward()    ? forward
   : op.isBackward() ? backward
                     : update) += op.seconds.value_or(0);
  isTimed &= op.seconds.has_value();
  double compute = peaks.flops() > 0 ? op.matmul / peaks.flopsOf(op.format) +
                                           op.other / peaks.flops()
                                     : 0;
  // An op that never ran by itself was fused into another one.
  if (op.calls == 0) {
    roofs["compute"] += compute;
    excess["with fused ops"] += compute;
    return;
  }
  bytes += op.bytes;
  // In a loop, each iteration is a call.
  const MemoryLevel *level = peaks.levelOf(op.bytes / op.calls.value_or(1));
  double roof = level ? op.bytes / level->bandwidth : 0;
  if (roof <= compute) {
    level = nullptr;
    roof = compute;
  }
  roofs[level ? level->name : "compute"] += roof;
  if (op.seconds && *op.seconds < roof)
    excess[whyAbove(op, peaks, level)] += roof - *op.seconds;
}

/// The name with the most seconds; empty if there are none.
static llvm::StringRef most(const std::map<std::string, double> &seconds) {
  auto found = std::max_element(
      seconds.begin(), seconds.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  return found == seconds.end() ? "" : llvm::StringRef(found->first);
}

void Work::add(const Work &work) {
  matmul += work.matmul;
  other += work.other;
  bytes += work.bytes;
  forward += work.forward;
  backward += work.backward;
  update += work.update;
  for (const auto &[name, seconds] : work.roofs)
    roofs[name] += seconds;
  for (const auto &[why, seconds] : work.excess)
    excess[why] += seconds;
  isTimed &= work.isTimed;
}

double Work::roof() const {
  double sum = 0;
  for (const auto &[name, seconds] : roofs)
    sum += seconds;
  return sum;
}

llvm::StringRef Work::bound() const {
  if (roof() == 0 || bytes == 0 || (isTimed && seconds() == 0))
    return "";
  return most(roofs);
}

llvm::StringRef Work::whyAboveRoof() const {
  return seconds() > 0 && roof() > seconds() ? most(excess) : "";
}

bool netc::isLayer(const std::vector<MeasuredPart> &parts,
                   const MeasuredPart &part) {
  return llvm::all_of(part.children, [&](unsigned child) {
    return parts[child].children.empty();
  });
}

std::vector<MeasuredPart> netc::measuredParts(const Measurement &measurement,
                                              const Peaks &peaks) {
  std::vector<MeasuredPart> parts(1);
  llvm::StringMap<unsigned> known;
  for (const Measurement::Op &op : measurement.ops) {
    parts[0].work.add(op, peaks);
    unsigned at = 0;
    for (size_t end = 0; end != llvm::StringRef::npos;) {
      end = llvm::StringRef(op.name).find('.', end ? end + 1 : 0);
      std::string path = op.name.substr(0, end);
      auto [child, isNew] = known.try_emplace(path, parts.size());
      if (isNew) {
        parts[at].children.push_back(parts.size());
        parts.push_back({path, "", {}, {}});
      }
      at = child->second;
      parts[at].work.add(op, peaks);
      std::pair<int64_t, int64_t> weight(op.flop(), op.bytes);
      if (op.isForward() && weight > parts[at].opWeight) {
        parts[at].op = op.op;
        parts[at].opWeight = weight;
      }
    }
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

llvm::StringRef netc::nameOf(Method method) {
  constexpr llvm::StringRef names[] = {"theory", "one", "batch", "epoch"};
  return names[unsigned(method)];
}

/// The seconds of the ops for which `isIn` holds; none if those of an op are
/// unknown.
static std::optional<double>
secondsOf(const Measurement &measurement,
          llvm::function_ref<bool(const program::Op &)> isIn) {
  double sum = 0;
  for (const Measurement::Op &op : measurement.ops)
    if (isIn(op)) {
      if (!op.seconds)
        return std::nullopt;
      sum += *op.seconds;
    }
  return sum;
}

static bool isForward(const program::Op &op) { return op.isForward(); }
static bool isBackward(const program::Op &op) { return op.isBackward(); }
static bool isPass(const program::Op &op) { return op.isPass(); }
static bool isModelPass(const program::Op &op) {
  return op.isPass() && !op.isRecomputed();
}
static bool isAny(const program::Op &) { return true; }

int64_t Rate::flop() const {
  int64_t sum = 0;
  for (const auto &[format, flop] : byFormat)
    sum += flop;
  return sum;
}

std::optional<double>
Rate::shareOf(const std::map<std::string, double> &peaks) const {
  double atPeak = 0;
  for (const auto &[format, flop] : byFormat) {
    auto peak = peaks.find(format);
    if (peak == peaks.end())
      return std::nullopt;
    atPeak += flop / peak->second;
  }
  return seconds > 0 ? std::optional(atPeak / seconds) : std::nullopt;
}

std::optional<double> Rate::ofMeasured(const Peaks &peaks) const {
  if (!peaks.measured)
    return std::nullopt;
  std::map<std::string, double> known;
  for (const auto &[format, flop] : byFormat)
    known[format] = peaks.flopsOf(format);
  return shareOf(known);
}

std::optional<double> Rate::ofDatasheet(const Peaks &peaks) const {
  if (!peaks.datasheet)
    return std::nullopt;
  std::map<std::string, double> known = peaks.datasheetFormats;
  known["f32"] = *peaks.datasheet;
  return shareOf(known);
}

std::optional<double> Rate::ofClock(const Measurement &measurement) const {
  const std::optional<Measurement::Device> &device = measurement.device;
  return device && !device->peaks.empty() ? shareOf(device->peaks)
                                          : std::nullopt;
}

/// The products of the ops for which `isIn` holds, multiplied by `times`.
static Rate rateOf(const Measurement &measurement,
                   llvm::function_ref<bool(const program::Op &)> isIn,
                   double seconds, int64_t times = 1) {
  Rate rate;
  rate.seconds = seconds;
  for (const Measurement::Op &op : measurement.ops)
    if (op.matmul && isIn(op))
      rate.byFormat[op.format] += times * op.matmul;
  return rate;
}

Rate netc::modelRate(const Measurement &measurement) {
  return rateOf(
      measurement, [](const program::Op &op) { return !op.isRecomputed(); },
      measurement.step.median);
}

Rate netc::hardwareRate(const Measurement &measurement) {
  return rateOf(measurement, isAny, measurement.step.median);
}

Rate netc::rateOfAll(const Measurement &measurement) {
  Rate rate = hardwareRate(measurement);
  rate.byFormat["f32"] += hardwareFlop(measurement.ops).other;
  return rate;
}

std::map<std::string, Rate>
netc::ratesByFormat(const Measurement &measurement) {
  std::map<std::string, Rate> rates;
  for (const Measurement::Op &op : measurement.ops)
    if (op.matmul && op.seconds) {
      Rate &rate = rates[op.format];
      rate.byFormat[op.format] += op.matmul;
      rate.seconds += *op.seconds;
    }
  return rates;
}

std::string
netc::textOf(const std::vector<std::pair<std::string, std::string>> &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += (text.empty() ? "" : ", ") + name + " = " + value;
  return text;
}

std::optional<Rate> netc::rateBy(Method method, const MeasuredRun &run,
                                 const Measurement &measurement) {
  switch (method) {
  case Method::Theory:
    // Training counts as three forward passes.
    return rateOf(measurement, isForward, measurement.step.median,
                  measurement.trains() ? 3 : 1);
  case Method::One: {
    auto one = llvm::find_if(run.batches, [](const Measurement &measurement) {
      return measurement.batch == 1;
    });
    if (one == run.batches.end())
      return std::nullopt;
    return rateBy(Method::Batch, run, *one);
  }
  case Method::Batch: {
    std::optional<double> seconds = secondsOf(measurement, isPass);
    if (!seconds)
      return std::nullopt;
    return rateOf(measurement, isModelPass, *seconds);
  }
  case Method::Epoch:
    return rateOf(measurement, isModelPass, measurement.wall,
                  measurement.steps);
  }
  llvm_unreachable("all methods are above");
}

BackwardRatio netc::backwardRatio(const Measurement &measurement) {
  BackwardRatio ratio;
  if (int64_t forward = flopOf(measurement.ops, isForward).matmul)
    ratio.flop = flopOf(measurement.ops, isBackward).matmul / double(forward);
  double forward = secondsOf(measurement, isForward).value_or(0);
  std::optional<double> backward = secondsOf(measurement, isBackward);
  if (forward > 0 && backward)
    ratio.time = *backward / forward;
  return ratio;
}

std::optional<double> netc::outsideOfOps(const Measurement &measurement) {
  std::optional<double> seconds = secondsOf(measurement, isAny);
  if (!seconds || measurement.step.median <= 0)
    return std::nullopt;
  return 1 - *seconds / measurement.step.median;
}

MatmulShare netc::matmulShare(const Measurement &measurement) {
  double all = secondsOf(measurement, isAny).value_or(0);
  std::optional<double> products = secondsOf(
      measurement, [](const program::Op &op) { return op.matmul != 0; });
  program::Flop flop = hardwareFlop(measurement.ops);
  return {all > 0 && products ? std::optional(*products / all) : std::nullopt,
          flop.matmul ? flop.matmul / double(flop.sum()) : 0};
}
