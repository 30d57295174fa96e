// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_RUN_H
#define NETC_LIB_ANALYSIS_RUN_H

#include "lib/Analysis/Cost.h"
#include "lib/Analysis/Memory.h"
#include "lib/Hardware/Defaults.h"

#include <functional>
#include <memory>
#include <set>

namespace netc {

/// Why the exact count of a run differs from the rule of three.
struct Deviation {
  std::string reason; ///< "`conv1` needs no input gradient"
  Rational flop;      ///< negative if the exact count is smaller
};

/// A step as it is counted, in all free axes.
struct CountedStep {
  PartTree parts;
  std::map<std::string, Memory> memory;         ///< see countMemoryByName
  std::vector<Polynomial> recomputed;           ///< see countRecomputed
  std::vector<KeptValue> kept;                  ///< see keptValues
  std::map<std::string, Polynomial> keptByType; ///< bytes of these
  /// Products of a weight that is frozen, gradients that are no matmuls, and
  /// those that the last turn of a loop leaves out, by name.
  std::set<std::string> readersOfFrozen, gradientsWithoutSum,
      gradientsWithoutLastTurn;
  /// Products that read no weight: those of attention.
  std::set<std::string> productsOfActivations;
  /// What other networks may have the weights of, too; see RunFacts.
  std::vector<std::string> shared;
};

/// What the specification says of a run, and what is counted of it. A run may
/// be made of runs: then it is their sum. `times` has none that is a phase,
/// which runs once.
struct Run : RunFacts {
  mlir::Operation *op; ///< a net.step, or a net.job with `jobs`
  Conventions conventions;
  /// Of one step. Of a job the root alone, and nothing if a step of it is not
  /// the sum of steps; see hasStep.
  PartTree parts;
  /// Of one step, in all free axes.
  Figures symbolic;
  /// Of a device, its share of the batch rounded up. Every device holds the
  /// whole network. Jobs run one after the other, and share what they hold of a
  /// network that several of them use.
  Memory memory;
  /// The bytes of `memory.activations`, by the type of their elements; empty
  /// where they are the most at once of what is run again.
  std::map<std::string, Polynomial> activationsByType;
  std::shared_ptr<const CountedStep> counted; ///< of a net.step
  /// What a job is made of, in the order of the text.
  std::vector<Run> jobs;
  /// The size of an axis is a distribution: figures are expectations.
  bool isAverage = false;
  /// Powers of a mean stand for the mean of powers that nothing is known of.
  bool isGuessed = false;

  /// The sizes of free axes but that of the batch, sorted; of a distribution
  /// the mean.
  std::vector<std::pair<std::string, Rational>> axes;
  std::optional<Rational> deviceSeconds; ///< reported, or took x devices

  /// The articles' estimate: the matmul FLOP of the forward pass of all
  /// examples, times three. None if the number of steps or a free axis is not
  /// known.
  std::optional<Rational> ruleOfThree;
  /// They add up to the exact count less the rule of three; the largest first.
  std::vector<Deviation> deviations;
  /// The other estimate of articles: what a multiply-add costs, times 3, or 1
  /// where nothing is learned, for each parameter that a token meets and each
  /// token. None of what reads no tokens.
  std::optional<Rational> parameterRule;
  /// Likewise from it to the exact count.
  std::vector<Deviation> parameterDeviations;

  /// `run`, and `run.critic` of a job of it.
  llvm::StringRef name() const;
  /// The last part of the name.
  llvm::StringRef shortName() const {
    return name().substr(name().rfind('.') + 1);
  }
  llvm::StringRef network() const;
  /// Whether one step has a cost: not if the run is made of phases.
  bool hasStep() const;
  /// That the last step sees more than is left of the examples; else empty.
  std::string lastStep() const;
  const Figures &step() const { return parts.root().figures; }
  /// The formats in which its steps compute, or those of its jobs.
  std::vector<NumberFormat> formats() const;
  /// Those that matrix products are in: `bf16 and f8e4m3`.
  std::string namesOfFormats() const;
  /// FLOP/s of a device at which a step's products, those that `ofStep` reads
  /// off, would run if each ran at the peak of its format: their FLOP over the
  /// sum of FLOP / peak. `peak`, where all are in its format.
  std::optional<Rational>
  peakOf(const std::function<Cost(const Figures &)> &ofStep) const;
  /// Where the steps are not known, but how much they see: a cost that is
  /// linear in the tokens, or in the examples, of a step, `ofStep`.
  std::optional<Cost> totalByAmount(const Cost &ofStep) const;
  /// A cost of all steps, as `ofStep` reads it off one.
  std::optional<Cost>
  total(const std::function<Cost(const Figures &)> &ofStep) const;
  /// The matmul FLOP of the run without recomputation, if they are known.
  std::optional<Rational> modelFlop() const;
  /// The same with recomputation.
  std::optional<Rational> hardwareFlop() const;
  /// What `figure` has for the jobs that count, added up. None if one has none,
  /// or if there are no jobs.
  std::optional<Rational> sumOfJobs(
      const std::function<std::optional<Rational>(const Run &)> &figure) const;
  /// The matmul FLOP of all steps as peaks have them, two for a multiply-add
  /// whatever the conventions are.
  std::optional<Rational>
  atTwo(const std::function<Cost(const Figures &)> &ofStep) const;
  std::optional<Rational> tokensPerStep() const;
  /// The length of a sequence, be it of tokens or of an axis `T` that the run
  /// gives a size.
  std::optional<Rational> positions() const;
  /// The parameters that the rule counts; see parameterRule.
  Polynomial activeParameters() const {
    return step().parameters - step().idle;
  }
  /// The utilization, which may be assumed.
  std::optional<Rational> knownUtilization() const {
    return utilization ? utilization : assumedUtilization;
  }
  /// Device-seconds as reported, of the run or of all its jobs.
  std::optional<Rational> reportedDeviceTime() const;
  /// The same; else what the model FLOP take at `peak` and the utilization,
  /// each job at its own.
  std::optional<Rational> deviceTime() const;
  /// Seconds: as reported, else the device-time over the devices. Jobs run one
  /// after the other.
  std::optional<Rational> time() const;
  /// The FLOP by the time that the hardware took: as reported, or device-time x
  /// peak x utilization, which may be assumed; two for a multiply-add. None
  /// where one of these is not known.
  std::optional<Rational> flopByTime() const;
  /// MFU: the share that the model FLOP are of what the devices can do at their
  /// peak in the time that the run took; of jobs that report theirs, each at
  /// its own.
  std::optional<Rational> modelUtilization() const;
  /// HFU: the same with what is computed again.
  std::optional<Rational> hardwareUtilization() const;
  /// Bytes; none if they depend on a free axis, or on a part of unknown size.
  std::optional<Rational> memoryPerDevice() const;
  /// What makes up `memory.activations`; empty where activationsByType is.
  std::vector<KeptValue> kept() const;
  /// Bytes that the ops of a step read and write, each by itself.
  std::optional<Rational> trafficOfStep() const;
};

/// Counts a step that has its gradients and updates.
mlir::FailureOr<Run> analyzeRun(StepOp op, const Conventions &conventions);
/// The run with other facts: those of `op`, a net.step that does what `run`
/// does and may be empty. Nothing is counted again.
mlir::FailureOr<Run> reevaluateRun(const Run &run, StepOp op);
/// Adds up the jobs of one.
mlir::FailureOr<Run> analyzeJob(JobOp op, const Conventions &conventions,
                                std::vector<Run> jobs);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_RUN_H
