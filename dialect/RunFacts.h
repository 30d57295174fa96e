// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_RUNFACTS_H
#define NETC_DIALECT_RUNFACTS_H

#include "dialect/NetEnums.h"
#include "dialect/Rational.h"
#include "lib/Hardware/Assumption.h"
#include "lib/Hardware/NumberFormat.h"
#include "mlir/IR/Location.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace netc {

/// The facts that a specification states about a whole run. Numbers are exact.
/// A fact that is not stated is none or empty.
struct RunFacts {
  using Number = std::optional<Rational>;

  // The length of the run.
  Number steps;
  Number examples, tokens; ///< seen in the run
  Number epochs;
  Number batch;            ///< examples per step
  Number accumulate;       ///< parts of a batch whose gradients are accumulated
  Number tokensPerExample; ///< positions of the first integer input
  Number times;            ///< runs of a job in each step of the job around it

  // The computation of a step.
  bool isInference = false; ///< whether it does not train
  /// The number of last positions, which are computed in passes.
  Number decode;
  std::string decodeAxis;      ///< the axis of these positions
  Rational decodeTogether = 1; ///< positions per pass
  Number lossScale;            ///< 1 if none
  /// A dynamic loss scale: it is multiplied by `growth` after `interval` steps
  /// with finite gradients, and by `backoff` after a step without. The update
  /// of such a step is skipped.
  Number lossScaleGrowth, lossScaleInterval, lossScaleBackoff;
  std::optional<Recomputed> recompute;
  Number recomputeEvery; ///< recompute one of so many copies
  /// The number of copies that are recomputed together.
  Number recomputeTogether;
  std::vector<std::string> shared; ///< instances that other networks may share

  // The hardware.
  Number devices;
  std::string device;        ///< as the specification spells it
  bool hasOwnDevice = false; ///< whether it is from a `hardware` section
  Number deviceMemory;       ///< bytes
  Number deviceBandwidth;    ///< bytes/s of a device's memory
  Number peak;               ///< FLOP/s of one device
  std::optional<NumberFormat> peakFormat; ///< of `peak`
  std::map<std::string, Rational> peaks; ///< FLOP/s of an own device, by format
  std::string precision;
  Number utilization, assumedUtilization;
  Number took;              ///< seconds
  Number tookDeviceSeconds; ///< of all devices
  /// The device of `tookDeviceSeconds`, if it is not `device`.
  std::string tookDevice;
  Number tookFlop;
  Number year;
  std::optional<TrainedBy> trainedBy;
  std::string framework;
  /// The assumptions behind `peak` and the utilization, if they are not stated.
  std::vector<Assumption> assumptions;

  // The conventions of counting.
  bool isTuning = false; ///< whether sums leave the run out
  Number fma;            ///< FLOP of a multiply-add
  std::optional<CountedMask> causal;

  /// The positions of facts in the specification, by key.
  std::map<std::string, mlir::LocationAttr> places;

  bool hasDynamicLossScale() const { return lossScaleInterval.has_value(); }
  bool operator==(const RunFacts &other) const;
};

llvm::hash_code hash_value(const RunFacts &facts);

/// The facts of a net.step or net.job; null for other ops.
const RunFacts *runFactsOf(mlir::Operation *op);

/// The position of `key` in the specification if it is known, else that of the
/// run.
mlir::Location placeOf(mlir::Operation *run, llvm::StringRef key);

} // namespace netc

#endif // NETC_DIALECT_RUNFACTS_H
