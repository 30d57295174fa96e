// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Report/Format.h"
#include "lib/Report/Report.h"

using namespace netc;

RunReport::RunReport(const Run &run, std::vector<const Run *> corners)
    : run(&run), computeByTime(computeByTimeOf(run)),
      corners(std::move(corners)) {
  for (const Run *corner : this->corners)
    if (std::optional<ComputeByTime> there = computeByTimeOf(*corner);
        there && computeByTime) {
      computeByTime->low = std::min(computeByTime->low, there->low);
      computeByTime->high = std::max(computeByTime->high, there->high);
    }
}

std::optional<std::pair<Rational, Rational>>
RunReport::range(const Figure &figure) const {
  std::optional<Rational> middle = figure(*run);
  if (corners.empty() || !middle)
    return std::nullopt;
  std::pair<Rational, Rational> range = {*middle, *middle};
  for (const Run *corner : corners) {
    std::optional<Rational> value = figure(*corner);
    if (!value)
      return std::nullopt;
    range.first = std::min(range.first, *value);
    range.second = std::max(range.second, *value);
  }
  return range;
}

std::string RunReport::text(const Figure &figure, const TextOf &textOf) const {
  std::optional<Rational> middle = figure(*run);
  return middle ? textOf(*middle) + rangeText(figure, textOf) : "";
}

std::string RunReport::rangeText(const Figure &figure,
                                 const TextOf &textOf) const {
  auto ends = range(figure);
  return ends ? inParentheses(textOf(ends->first), textOf(ends->second)) : "";
}

const PlannedMemory *RunReport::plan() const {
  auto found = plans.find(run->name().str());
  return found == plans.end() ? nullptr : &found->second;
}

RunReport RunReport::ofJob(size_t job) const {
  std::vector<const Run *> there;
  for (const Run *corner : corners)
    there.push_back(&corner->jobs[job]);
  RunReport report(run->jobs[job], std::move(there));
  report.plans = plans;
  return report;
}

std::optional<MemoryVerdict> netc::memoryVerdict(const Run &run) {
  std::optional<Rational> needed = run.memoryPerDevice();
  if (!needed || !run.deviceMemory)
    return std::nullopt;
  MemoryVerdict verdict{
      *run.deviceMemory, *needed, run.fitsOnDevice(), "", {}, {}};
  Rational activations = *run.memory.activations.total().constant();
  for (auto [name, part] : Memory::parts()) {
    Rational bytes = *(run.memory.*part).total().constant();
    if (verdict.bytesOfLargest < bytes) {
      verdict.largest = name.str();
      verdict.bytesOfLargest = bytes;
    }
  }
  if (run.devices && *run.devices > 1)
    verdict.neededIfSplit =
        activations + (*needed - activations) / *run.devices;
  return verdict;
}

void netc::forEachRun(const Run &run,
                      llvm::function_ref<void(const Run &)> function) {
  function(run);
  for (const Run &job : run.jobs)
    forEachRun(job, function);
}

Rational netc::petaflopDays(const Rational &flop) {
  return flop / (Rational(10).pow(15) * 86'400);
}
