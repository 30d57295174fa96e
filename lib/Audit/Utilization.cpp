// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Audit/Utilization.h"

#include "lib/Analysis/Run.h"
#include "llvm/ADT/STLExtras.h"

using namespace netc;
using namespace netc::audit;

std::optional<Rational> netc::audit::ratioOf(const Audit &audit,
                                             const Claim &claim) {
  if (!audit.isComparable() || audit.model.isZero() || claim.isPartial)
    return std::nullopt;
  return (claim.total - claim.ofUnknown) / audit.model;
}

std::optional<Rational> netc::audit::modelUtilization(const Audit &audit,
                                                      const Rational &flop) {
  // Counting tools run kernels several times, so the host takes longer.
  const trace::Trace &trace = *audit.trace;
  bool isReplayed = !trace.counted.empty() && trace.kernels.empty();
  if (!audit.run || !audit.isComparable() || audit.step.duration() <= 0 ||
      isReplayed || !(audit.hasBackward || audit.run->isInference))
    return std::nullopt;
  std::optional<Rational> peak = audit.run->peakOf(&Figures::model);
  if (!peak)
    return std::nullopt;
  return flop / (*peak * Rational(audit.step.deviceTime())) * 1000000000;
}

std::optional<Rational> netc::audit::utilizationInKernels(const Audit &audit) {
  if (audit.hasCountersAlone()) {
    std::optional<Rational> peak =
        audit.run ? audit.run->peakOf(&Figures::model) : std::nullopt;
    if (!peak || audit.wholeTime() <= 0)
      return std::nullopt;
    return audit.model / (*peak * Rational(audit.wholeTime())) * 1000000000;
  }
  std::optional<Rational> use = modelUtilization(audit, audit.ranModel);
  if (!use || audit.step.levels.unionOfAll <= 0)
    return std::nullopt;
  return *use * Rational(audit.step.deviceTime()) /
         Rational(audit.step.levels.unionOfAll);
}

std::optional<double> netc::audit::utilizationAtClock(const Audit &audit) {
  if (!audit.run || !audit.hasCountersAlone() || audit.wholeTime() <= 0)
    return std::nullopt;
  for (NumberFormat format : audit.run->formats())
    if (format != NumberFormat::F16 && format != NumberFormat::BF16)
      return std::nullopt;
  std::optional<double> clock = clockOf(*audit.trace),
                        perCycle = audit.gpu.tensorFlopPerCycle();
  if (!clock || !perCycle)
    return std::nullopt;
  return audit.model.toDouble() /
         (*perCycle * *clock * double(audit.wholeTime()) * 1e-9);
}

void LevelSum::add(const Row &row) {
  time += row.nanoseconds;
  if (!row.levels)
    return;
  for (auto [i, level] : llvm::enumerate(unitLevels()))
    if (std::optional<double> value = *row.levels.*level.value) {
      values[i] += *value * double(row.nanoseconds);
      times[i] += double(row.nanoseconds);
    }
}

UnitLevels LevelSum::levels() const {
  UnitLevels levels;
  for (auto [i, level] : llvm::enumerate(unitLevels()))
    if (times[i] > 0)
      levels.*level.value = values[i] / times[i];
  return levels;
}
