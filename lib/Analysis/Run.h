// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_RUN_H
#define NETC_LIB_ANALYSIS_RUN_H

#include "lib/Analysis/Cost.h"
#include "lib/Analysis/Memory.h"
#include "lib/Hardware/Defaults.h"

namespace netc {

/// Why the exact count of a run differs from the rule of three.
struct Deviation {
  std::string reason; ///< "`conv1` needs no input gradient"
  Rational flop;      ///< negative if the exact count is smaller
};

/// What is counted of one run, and what the specification says of it.
struct Run {
  StepOp op;
  Conventions conventions;
  /// Of one step.
  PartTree parts;
  /// Of one step, in all free axes.
  Figures symbolic;
  /// Of a device, its share of the batch rounded up. Every device holds the
  /// whole network.
  Memory memory;

  /// As specified, in base units; none where nothing is said.
  std::optional<Rational> steps, examples, tokens, epochs;
  std::optional<Rational> batch; ///< examples of a step
  std::optional<Rational> took;  ///< seconds
  std::optional<Rational> devices;
  std::optional<Rational> deviceSeconds; ///< reported, or took x devices
  std::optional<Rational> reportedFlop;  ///< where compute itself is reported
  std::optional<Rational> peak;          ///< FLOP/s of a device
  std::optional<Rational> utilization;
  std::string device, precision;
  std::string peakFormat; ///< the number format of `peak`; empty if not known
  /// What was taken for `peak` and the utilization where nothing is said, and
  /// the utilization taken, if none is said.
  std::vector<Assumption> assumptions;
  std::optional<Rational> assumedUtilization;

  /// The articles' estimate: the matmul FLOP of the forward pass of all
  /// examples, times three. None if the number of steps or a free axis is not
  /// known.
  std::optional<Rational> ruleOfThree;
  /// They add up to the exact count less the rule of three; the largest first.
  std::vector<Deviation> deviations;

  llvm::StringRef name() const { return StepOp(op).getSymName(); }
  llvm::StringRef network() const { return StepOp(op).getNetwork(); }
  const Figures &step() const { return parts.root().figures; }
  /// What all steps cost, if one costs this much.
  std::optional<Cost> compute(const Cost &ofStep) const;
  /// The matmul FLOP of the run without recomputation, if they are known.
  std::optional<Rational> modelFlop() const;
  /// The same with recomputation.
  std::optional<Rational> hardwareFlop() const;
  /// The FLOP by the time that the hardware took: as reported, or device-time x
  /// peak x utilization, which may be assumed. None where one of these is not
  /// known.
  std::optional<Rational> flopByTime() const;
  /// The share that the model FLOP are of what the devices can do at `peak` in
  /// the time that the run took.
  std::optional<Rational> utilizationAt(std::optional<Rational> peak) const;
  /// The same with what is computed again: HFU, where the other is MFU.
  std::optional<Rational>
  hardwareUtilizationAt(std::optional<Rational> peak) const;
};

/// Counts a step that has its gradients and updates.
mlir::FailureOr<Run> analyzeRun(StepOp op, const Conventions &conventions);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_RUN_H
