// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_RUN_H
#define NETC_LIB_ANALYSIS_RUN_H

#include "lib/Analysis/Cost.h"
#include "lib/Analysis/Memory.h"
#include "lib/Hardware/Defaults.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>

namespace netc {

/// A reason why the exact count of a run differs from an estimate.
struct Deviation {
  std::string reason; ///< "`conv1` needs no input gradient"
  Rational flop;      ///< negative if the exact count is smaller
};

/// The memory of a step, in all free axes.
struct CountedMemory {
  std::map<std::string, Memory> byName; ///< see countMemoryByName
  std::vector<BytesByType> recomputed;  ///< see countRecomputed
  std::vector<KeptValue> kept;          ///< see keptValues
  /// Prefixes of weights that other networks may share; see RunFacts.
  std::vector<std::string> shared;
};

/// The facts that the specification states about a run, and its counts. A run
/// with jobs is their sum. `times` is none for a phase, which runs once.
struct Run : RunFacts {
  mlir::Operation *op; ///< a net.step, or a net.job with `jobs`
  Conventions conventions;
  /// Figures of one step. A job has only the root. It has no part at all if its
  /// step is not the sum of its jobs' steps; see hasStep().
  PartTree parts;
  /// Figures of one step, in all free axes.
  Figures symbolic;
  /// Bytes per device. A device has its share of the batch, rounded up, and the
  /// whole network. Jobs run one after the other, and share the memory of
  /// networks that several of them use.
  Memory memory;
  std::shared_ptr<const CountedMemory> counted; ///< of a net.step
  /// The jobs, in the order of the text.
  std::vector<Run> jobs;
  /// Whether the size of an axis is a distribution, and figures are
  /// expectations.
  bool isAverage = false;
  /// Whether powers of a mean replace unknown moments.
  bool isGuessed = false;

  /// The sizes of free axes except for the batch, sorted. Means of
  /// distributions.
  std::vector<std::pair<std::string, Rational>> axes;
  std::optional<Rational> deviceSeconds; ///< as reported, or time x devices

  /// The estimate of articles: the matmul FLOP of the forward pass of all
  /// examples, times three. None if the number of steps or a free axis is not
  /// known.
  std::optional<Rational> ruleOfThree;
  /// The reasons why the exact count differs from `ruleOfThree`, largest first.
  /// They add up to the difference.
  std::vector<Deviation> deviations;
  /// The other estimate of articles, 6ND: per parameter that a token uses and
  /// per token, the FLOP of a multiply-add times 3, or times 1 for inference.
  /// None without tokens.
  std::optional<Rational> parameterRule;
  /// The reasons why the exact count differs from `parameterRule`.
  std::vector<Deviation> parameterDeviations;

  /// `run`, or `run.critic` for its job.
  llvm::StringRef name() const;
  /// The last component of the name.
  llvm::StringRef shortName() const {
    return name().substr(name().rfind('.') + 1);
  }
  llvm::StringRef network() const;
  /// Whether there is a cost of one step. A run of phases has none.
  bool hasStep() const;
  /// Examples on the device with the largest share of the batch: of a part of
  /// an accumulated batch, which are whole ones, and of a step.
  Rational examplesPerPart() const;
  Rational examplesPerDevice() const;
  /// A note if the last step has more examples than remain; else empty.
  std::string lastStep() const;
  const Figures &step() const { return parts.root().figures; }
  /// The formats in which its steps, or its jobs, compute.
  std::vector<NumberFormat> formats() const;
  /// The formats of matrix products as text: `bf16 and f8e4m3`.
  std::string namesOfFormats() const;
  /// FLOP/s of a device for products in `format`. There must be a `peak`, which
  /// is for the format that the run states.
  Rational peakIn(NumberFormat format) const;
  /// FLOP/s of a device, if each product of a step runs at the peak of its
  /// format: their FLOP / the sum of FLOP / peak. `ofStep` reads the products
  /// from a cost.
  std::optional<Rational>
  peakOf(const std::function<Cost(const Figures &)> &ofStep) const;
  /// If the number of steps is not known, but the tokens or examples are: the
  /// total of a cost per step, `ofStep`, that is linear in them.
  std::optional<Cost> totalByAmount(const Cost &ofStep) const;
  /// The cost of all steps. `ofStep` reads it from the figures of one.
  std::optional<Cost>
  total(const std::function<Cost(const Figures &)> &ofStep) const;
  /// The matmul FLOP of the run without recomputation; none if they are not
  /// known.
  std::optional<Rational> modelFlop() const;
  /// The same with recomputation.
  std::optional<Rational> hardwareFlop() const;
  /// The sum of `figure` over the jobs that count. None if one has none, or
  /// without jobs.
  std::optional<Rational> sumOfJobs(
      const std::function<std::optional<Rational>(const Run &)> &figure) const;
  /// The same for times, which are estimates: to 53 binary digits where the
  /// exact sum is out of range, as at peaks without a common divisor.
  std::optional<Rational> sumOfTimes(
      const std::function<std::optional<Rational>(const Run &)> &time) const;
  /// The matmul FLOP of all steps, with 2 FLOP for a multiply-add as in peaks,
  /// whatever the conventions.
  std::optional<Rational>
  atTwo(const std::function<Cost(const Figures &)> &ofStep) const;
  /// Tokens per step; none if the run has none or their number is not known.
  std::optional<Rational> tokensPerStep() const;
  /// The length of a sequence: of tokens, or of an axis `T` with a size.
  std::optional<Rational> positions() const;
  /// The parameters that the rule of parameters counts; see parameterRule.
  Polynomial activeParameters() const {
    return step().parameters - step().idle;
  }
  /// The utilization, reported or assumed.
  std::optional<Rational> knownUtilization() const {
    return utilization ? utilization : assumedUtilization;
  }
  /// The reported device-seconds of the run, or the sum over its jobs. None if
  /// one is missing.
  std::optional<Rational> reportedDeviceTime() const;
  /// reportedDeviceTime(), or else the device-seconds that the model FLOP take
  /// at `peak` and the utilization of each job.
  std::optional<Rational> deviceTime() const;
  /// Seconds, as reported or else the device-time / the devices. Jobs run one
  /// after the other.
  std::optional<Rational> time() const;
  /// FLOP from the time of the hardware: as reported, or device-time x peak x
  /// utilization, which may be assumed. 2 FLOP for a multiply-add. None if one
  /// of these is not known.
  std::optional<Rational> flopByTime() const;
  /// MFU: model FLOP / FLOP that the devices could do at peak in the time of
  /// the run, or of each job. From 0 to 1.
  std::optional<Rational> modelUtilization() const;
  /// HFU: the same with recomputation.
  std::optional<Rational> hardwareUtilization() const;
  /// Bytes. None if they depend on a free axis or on a part of unknown size.
  std::optional<Rational> memoryPerDevice() const;
  /// Whether that fits in the memory of a device, as far as both are known.
  bool fitsOnDevice() const;
  /// The activations that the forward pass saves. Empty for a run of jobs and
  /// for a decoder.
  std::vector<KeptValue> kept() const;
  /// Bytes that the ops of a step read and write, without fusion.
  std::optional<Rational> trafficOfStep() const;
  /// The device-seconds in which all steps read and write as much at the
  /// bandwidth of the devices' memory.
  std::optional<Rational> trafficTime() const;
};

/// The step of `module` that is called `run`, or the only one if that is empty.
/// Fails, with an error, if there is no such step.
mlir::FailureOr<StepOp> findStep(mlir::ModuleOp module, llvm::StringRef run);

/// Counts a step with its gradients and updates.
mlir::FailureOr<Run> analyzeRun(StepOp op, const Conventions &conventions);
/// The parts of a net.step, in all free axes.
PartTree countPartsOfRun(const Run &run);
/// The run with the facts of `op`, a net.step for the same computation that may
/// be empty, and these parts of countPartsOfRun.
mlir::FailureOr<Run> reevaluateRun(const Run &run, StepOp op, PartTree parts);
/// Adds up the jobs of a run.
mlir::FailureOr<Run> analyzeJob(JobOp op, const Conventions &conventions,
                                std::vector<Run> jobs);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_RUN_H
