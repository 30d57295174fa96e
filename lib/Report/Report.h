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

/// Whether a run fits the memory of its devices, if every device holds the
/// whole network.
struct MemoryVerdict {
  Rational capacity; ///< bytes of a device
  Rational needed;
  bool fits;
  std::string largest; ///< `weights`, `gradients`, `optimizer` or `activations`
  Rational bytesOfLargest;
  /// Bytes per device if weights, gradients and optimizer states are split
  /// evenly over all devices; none with one device.
  std::optional<Rational> neededIfSplit;
};

/// None if the capacity or the need is unknown.
std::optional<MemoryVerdict> memoryVerdict(const Run &run);

/// Calls `function` for the run and for all jobs in it, outer ones first.
void forEachRun(const Run &run, llvm::function_ref<void(const Run &)> function);

/// Converts FLOP to PFLOP/s-days.
Rational petaflopDays(const Rational &flop);

/// The memory of a compiled step.
struct PlannedMemory {
  std::string target;
  int64_t batch;   ///< examples of the step
  int64_t arena;   ///< bytes that the program allocates
  int64_t buffers; ///< bytes, if no two tensors shared any
};

struct RunReport {
  /// Reads a figure off a run; none if it is unknown.
  using Figure = std::function<std::optional<Rational>(const Run &)>;
  using TextOf = std::function<std::string(const Rational &)>;

  RunReport(const Run &run, std::vector<const Run *> corners);

  const Run *run;
  /// The settings of a point of a sweep, name and value as written; else empty.
  std::vector<std::pair<std::string, std::string>> values;
  /// Its range holds those of the corners, too.
  std::optional<ComputeByTime> computeByTime;
  std::vector<RunReport> sweep; ///< its points
  /// The plans of the run, or of its jobs, by name.
  std::map<std::string, PlannedMemory> plans;
  /// The run at the ends of the ranges that it depends on, in all
  /// combinations; empty if it depends on none.
  std::vector<const Run *> corners;

  const PlannedMemory *plan() const; ///< null if none was asked for
  /// The report of job number `job` of `run->jobs`.
  RunReport ofJob(size_t job) const;
  /// The minimum and maximum of a figure over the run and its corners; none
  /// without corners, or if the figure is unknown at one.
  std::optional<std::pair<Rational, Rational>>
  range(const Figure &figure) const;
  /// A figure as `textOf` writes it, with the ends of its range, if it has one:
  /// `1.2 GFLOP (1.0 GFLOP to 1.4 GFLOP)`. Empty if it is not known.
  std::string text(const Figure &figure, const TextOf &textOf) const;
  /// The part in parentheses, with the space before it.
  std::string rangeText(const Figure &figure, const TextOf &textOf) const;
};

/// The contents of a report, in the order of the text. It refers to the
/// analysis, which must outlive it.
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
