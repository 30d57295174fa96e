// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_REPORT_REPORT_H
#define NETC_LIB_REPORT_REPORT_H

#include "lib/Analysis/Analysis.h"
#include "lib/Analysis/ComputeByTime.h"
#include "lib/Diagnostics/Warnings.h"
#include "lib/Frontend/Verdict.h"

#include <map>

namespace netc {

/// Whether a run fits the memory of its device. Each device holds the whole
/// network.
struct MemoryVerdict {
  Rational capacity; ///< bytes of a device
  Rational needed;
  bool fits;
  std::string largest; ///< `weights`, `gradients`, `optimizer` or `activations`
  Rational bytesOfLargest;
  /// Bytes per device if weights, gradients and optimizer states are sharded
  /// evenly over all devices. None with one device.
  std::optional<Rational> neededIfSplit;
};

/// None if the capacity or the need is not known.
std::optional<MemoryVerdict> memoryVerdict(const Run &run);

/// Calls `function` for the run, then for all jobs in it, outer ones first.
void forEachRun(const Run &run, llvm::function_ref<void(const Run &)> function);

/// Converts FLOP to PFLOP/s-days.
Rational petaflopDays(const Rational &flop);

/// The memory of a compiled step.
struct PlannedMemory {
  std::string target;
  int64_t batch;   ///< examples of the step
  int64_t arena;   ///< bytes that the program allocates
  int64_t buffers; ///< bytes if no two tensors shared memory
};

/// A run, and what a report derives from it.
struct RunReport {
  /// Reads a figure of a run; none if it is not known.
  using Figure = std::function<std::optional<Rational>(const Run &)>;
  /// The text of a figure.
  using TextOf = std::function<std::string(const Rational &)>;

  RunReport(const Run &run, std::vector<const Run *> corners);

  const Run *run;
  /// The settings of a point of a sweep, by name and as written; else empty.
  std::vector<std::pair<std::string, std::string>> values;
  /// The compute by time. Its range includes those of the corners.
  std::optional<ComputeByTime> computeByTime;
  std::vector<RunReport> sweep; ///< one for each point
  /// The planned memory of each run or job, by name.
  std::map<std::string, PlannedMemory> plans;
  /// The run at all combinations of the ends of its ranges. Empty without
  /// ranges.
  std::vector<const Run *> corners;

  const PlannedMemory *plan() const; ///< null if none was asked for
  /// The report of job number `job` of `run->jobs`.
  RunReport ofJob(size_t job) const;
  /// The least and the greatest value of a figure over the run and its corners.
  /// None without corners, or if one value is not known.
  std::optional<std::pair<Rational, Rational>>
  range(const Figure &figure) const;
  /// A figure as text, with its range if it has one: `1.2 GFLOP (1.0 GFLOP to
  /// 1.4 GFLOP)`. Empty if it is unknown.
  std::string text(const Figure &figure, const TextOf &textOf) const;
  /// The range of a figure in parentheses, with a leading space; empty without
  /// one.
  std::string rangeText(const Figure &figure, const TextOf &textOf) const;
};

/// The contents of a report, in the order of the text. It refers to the
/// analysis.
struct Report {
  std::string version; ///< of netc
  Conventions conventions;
  std::vector<const Network *> networks;
  std::vector<RunReport> runs;
  std::vector<Verdict> expects;
  std::vector<Warning> warnings;
};

} // namespace netc

#endif // NETC_LIB_REPORT_REPORT_H
