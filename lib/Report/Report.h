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

/// Whether what a run keeps fits the memory of its devices, if every device
/// holds the whole network.
struct MemoryVerdict {
  Rational capacity; ///< bytes of a device
  Rational needed;
  bool fits;
  std::string largest; ///< `weights`, `gradients`, `optimizer` or `activations`
  Rational bytesOfLargest;
  /// Bytes a device, where weights, gradients and the optimizer are split
  /// evenly over all devices; none of one device.
  std::optional<Rational> neededIfSplit;
};

/// None where one of the two is not known.
std::optional<MemoryVerdict> memoryVerdict(const Run &run);

/// The run and all jobs in it, from outside in.
void forEachRun(const Run &run, llvm::function_ref<void(const Run &)> function);

/// What a FLOP figure is in PFLOP/s-days.
Rational petaflopDays(const Rational &flop);

/// What a compiled step keeps in memory.
struct PlannedMemory {
  std::string target;
  int64_t batch;   ///< examples of the step
  int64_t arena;   ///< bytes that the program allocates
  int64_t buffers; ///< bytes, if no two tensors shared any
};

struct RunReport {
  /// What a figure of a run is; none where it is not known.
  using Figure = std::function<std::optional<Rational>(const Run &)>;
  using TextOf = std::function<std::string(const Rational &)>;

  RunReport(const Run &run, std::vector<const Run *> corners);

  const Run *run;
  /// What a point of a sweep sets, name and value as written; else empty.
  std::vector<std::pair<std::string, std::string>> values;
  /// Its range holds those of the corners, too.
  std::optional<ComputeByTime> computeByTime;
  std::vector<RunReport> sweep; ///< its points
  /// Of the run, or of the jobs that it is made of, by their names.
  std::map<std::string, PlannedMemory> plans;
  /// The run at the ends of the ranges that it depends on, in all
  /// combinations; empty if it depends on none.
  std::vector<const Run *> corners;

  const PlannedMemory *plan() const; ///< null if none was asked for
  /// What there is to say of a job of the run, by its place in `run->jobs`.
  RunReport ofJob(size_t job) const;
  /// The least and the largest of what `figure` has in the middle and at the
  /// corners; none if there are no corners, or one has no figure.
  std::optional<std::pair<Rational, Rational>>
  range(const Figure &figure) const;
  /// A figure as `textOf` writes it, with the ends of its range, if it has one:
  /// `1.2 GFLOP (1.0 GFLOP to 1.4 GFLOP)`. Empty if it is not known.
  std::string text(const Figure &figure, const TextOf &textOf) const;
  /// The part in parentheses, with the space before it.
  std::string rangeText(const Figure &figure, const TextOf &textOf) const;
};

/// What a report shows, in the order of the text. Owns nothing of the analysis.
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
