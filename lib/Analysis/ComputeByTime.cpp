// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Analysis/ComputeByTime.h"

#include "dialect/Net.h"
#include "lib/Diagnostics/Diagnostics.h"
#include "lib/Units/Units.h"

#include <cmath>
#include <fmt/format.h>

using namespace netc;

std::optional<ComputeByTime> netc::computeByTimeOf(const Run &run) {
  std::optional<Rational> atTwo = run.flopByTime();
  if (!atTwo)
    return std::nullopt;
  ComputeByTime time;
  time.flop = time.low = time.high = *atTwo * run.conventions.fma / 2;
  if (!run.tookFlop && !run.deviceSeconds) {
    time.high = Rational(0);
    time.low = *run.sumOfJobs([&](const Run &job) {
      ComputeByTime part = *computeByTimeOf(job);
      time.high += part.high;
      return std::optional(part.low);
    });
    if (std::optional<Rational> seconds = run.reportedDeviceTime())
      time.deviceHours = *seconds / 3600;
    return time;
  }
  time.devices = run.devices;
  if (run.deviceSeconds)
    time.deviceHours = *run.deviceSeconds / 3600;
  time.peak = run.peakOf(&Figures::model);
  if (time.peak != run.peak)
    time.format = run.namesOfFormats();
  else if (run.peakFormat)
    time.format = traitsOf(*run.peakFormat).name;
  time.utilization = run.knownUtilization();
  if (run.tookFlop)
    return time;
  time.defaults = run.assumptions;
  for (const Assumption &assumption : run.assumptions) {
    time.low *= assumption.low;
    time.high *= assumption.high;
  }
  return time;
}

std::optional<Comparison> netc::compareMethods(const Run &run) {
  std::optional<ComputeByTime> byTime = computeByTimeOf(run);
  std::optional<Rational> counted = run.modelFlop();
  if (!byTime || !counted || counted->isZero())
    return std::nullopt;
  Comparison comparison;
  comparison.ratio = byTime->flop / *counted;
  comparison.geometricMean = *Rational::parse(
      fmt::format("{:.6e}", std::sqrt(byTime->flop.toDouble()) *
                                std::sqrt(counted->toDouble())));
  if (comparison.ratio > 2)
    comparison.causes = {
        "less of the peak was reached, or the number format was a slower one",
        "the time holds more than this run: repeated steps, evaluation, other "
        "models",
        "the count misses parts of the network, or passes without an update"};
  else if (comparison.ratio < Rational::fraction(1, 2))
    comparison.causes = {
        "more of the peak was reached, or the number format was a faster one",
        "the time is of fewer devices than were used, or of a part of the run",
        "the count holds what was not computed: padding, parts that were not "
        "active, steps that were not made"};
  return comparison;
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

/// Warns of a time in which the hardware cannot have done the run.
static void warnOfTooFast(const Run &run) {
  if (!run.deviceSeconds)
    return;
  std::optional<Rational> share = run.hardwareUtilization();
  bool isAssumed = llvm::any_of(run.assumptions, [](const Assumption &taken) {
    return taken.key != "utilization";
  });
  if (!share || *share <= Rational(1))
    return;
  Rational peak = *run.peakOf(&Figures::hardware);
  warn(placeOf(run.op, "took"), run.name(), WarningId::ImpossibleTime)
      << "in this time the hardware does "
      << formatQuantity(*run.deviceSeconds * peak, Dimension::Flop)
      << " at its peak of "
      << formatQuantity(peak, Dimension(Dimension::Flop) / Dimension::Time)
      << " a device" << (isAssumed ? ", which is assumed" : "")
      << ", and the run has "
      << formatQuantity(*run.atTwo(&Figures::hardware), Dimension::Flop)
      << "; check the devices, their number format and the time";
}

/// Warns of a time that is shorter than that of the run's jobs.
static void warnOfShorterThanJobs(const Run &run) {
  auto sum = [&](std::optional<Rational> Run::*figure) {
    Rational sum;
    for (const Run &job : run.jobs)
      if (!job.isTuning)
        sum += (job.*figure).value_or(0);
    return sum;
  };
  auto warn = [&](const Rational &own, const Rational &ofJobs,
                  const Dimension &unit) {
    netc::warn(placeOf(run.op, "took"), run.name(), WarningId::JobsTookLonger)
        << "`" << run.name() << "` took " << formatQuantity(own, unit)
        << ", and the jobs in it " << formatQuantity(ofJobs, unit);
  };
  Rational time = sum(&Run::took), deviceTime = sum(&Run::deviceSeconds);
  if (run.took && *run.took < time)
    warn(*run.took, time, Dimension::Time);
  else if (run.deviceSeconds && *run.deviceSeconds < deviceTime)
    warn(*run.deviceSeconds, deviceTime,
         Dimension(Dimension::Device) * Dimension::Time);
}

/// Warns if the two methods differ by more than a factor of 2, unless the time
/// is impossible. Warns of jobs if the run itself has no comparison.
static void warnOfFarMethods(const Run &run) {
  std::optional<Comparison> both = compareMethods(run);
  if (!both) {
    llvm::for_each(run.jobs, warnOfFarMethods);
    return;
  }
  bool isTooFast = run.hardwareUtilization().value_or(0) > Rational(1);
  if (!both->causes.empty() && !isTooFast)
    warn(placeOf(run.op, "took"), run.name(), WarningId::MethodsApart)
        << "the time gives " << formatQuantity(both->ratio, {}, 3)
        << " × the compute that the operations give, more than a factor of 2 "
           "apart";
}

static void warnOfImpossible(const Run &run) {
  warnOfTooFast(run);
  warnOfShorterThanJobs(run);
  llvm::for_each(run.jobs, warnOfImpossible);
}

void netc::warnOfTimes(const Run &run) {
  warnOfImpossible(run);
  warnOfFarMethods(run);
}
