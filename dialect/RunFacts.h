// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_DIALECT_RUNFACTS_H
#define NETC_DIALECT_RUNFACTS_H

#include "dialect/Rational.h"
#include "lib/Hardware/Assumption.h"
#include "mlir/IR/Location.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace netc {

/// What the specification says of a run as a whole. Numbers are exact; what is
/// not said is none or empty.
struct RunFacts {
  using Number = std::optional<Rational>;

  // How long the run is.
  Number steps;
  Number examples, tokens; ///< seen in the run
  Number epochs;
  Number batch;            ///< examples a step
  Number accumulate;       ///< parts that a batch is gone through in
  Number tokensPerExample; ///< positions of the first input of whole numbers
  Number times;            ///< of a job, in each step of the one around it

  // What a step does.
  bool isInference = false;    ///< it does not train
  Number decode;               ///< the last positions, made in passes
  std::string decodeAxis;      ///< of these positions
  Rational decodeTogether = 1; ///< positions a pass
  Number lossScale;            ///< 1 if none
  /// Where it is dynamic: what it is multiplied by after so many steps with
  /// finite gradients, and after one without, whose update is skipped.
  Number lossScaleGrowth, lossScaleInterval, lossScaleBackoff;
  std::string recompute;           ///< `full` or `selective`
  Number recomputeEvery;           ///< of so many copies, one
  Number recomputeTogether;        ///< so many copies at once
  std::vector<std::string> shared; ///< instances that other nets may have, too

  // What it ran on.
  Number devices;
  std::string device;        ///< as it is called in the specification
  bool hasOwnDevice = false; ///< of a `hardware` section
  Number deviceMemory;       ///< bytes
  Number peak;               ///< FLOP/s of one device
  std::string peakFormat;    ///< the number format of `peak`
  std::map<std::string, Rational> peaks; ///< of an own device, by format
  std::string precision;
  Number utilization, assumedUtilization;
  Number took;              ///< seconds
  Number tookDeviceSeconds; ///< of all devices
  std::string tookDevice;   ///< what device-time is counted in, if not `device`
  Number tookFlop;
  Number year;
  std::string trainedBy, framework;
  /// What was taken for `peak` and the utilization where nothing is said.
  std::vector<Assumption> assumptions;

  // How it is counted.
  bool isTuning = false; ///< sums leave it out
  Number fma;            ///< FLOP of a multiply-add
  std::string causal;    ///< `full` or `half`

  /// Where some of these are given, by the key of the specification.
  std::map<std::string, mlir::LocationAttr> places;

  bool hasDynamicLossScale() const { return lossScaleInterval.has_value(); }
  bool operator==(const RunFacts &other) const;
};

llvm::hash_code hash_value(const RunFacts &facts);

/// Those of a net.step or net.job; null of other ops.
const RunFacts *runFactsOf(mlir::Operation *op);

/// Where a run is given `key`, if that is noted, or the run.
mlir::Location placeOf(mlir::Operation *run, llvm::StringRef key);

} // namespace netc

#endif // NETC_DIALECT_RUNFACTS_H
