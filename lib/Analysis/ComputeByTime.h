// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_COMPUTEBYTIME_H
#define NETC_LIB_ANALYSIS_COMPUTEBYTIME_H

#include "lib/Analysis/Run.h"

namespace netc {

/// The compute of a run from the time that its hardware took, in the run's
/// conventions. `devices` to `utilization` are none if the specification gives
/// the FLOP.
struct ComputeByTime {
  Rational flop;
  Rational low, high; ///< FLOP, if all assumptions err in the same direction
  std::optional<Rational> devices;
  std::optional<Rational> deviceHours; ///< of all devices
  std::optional<Rational> peak;        ///< FLOP/s of a device, dense
  std::string format;                  ///< of `peak`; empty if not known
  std::optional<Rational> utilization;
  /// What was assumed because the specification does not state it.
  std::vector<Assumption> defaults;
};

/// None if the run states neither its FLOP nor its time or device-time, or if
/// no peak is known or assumed.
std::optional<ComputeByTime> computeByTimeOf(const Run &run);

/// Compares the compute by time with the count of a run.
struct Comparison {
  Rational ratio;         ///< by time / counted matmul FLOP
  Rational geometricMean; ///< of both, in FLOP, to seven digits
  /// Usual causes of a ratio above 2 or below 1/2; else empty.
  std::vector<std::string> causes;
};

/// None if one of the methods does not apply to the run.
std::optional<Comparison> compareMethods(const Run &run);

/// Warns of reported times of `run` and its jobs that are impossible, and of
/// methods that differ much.
void warnOfTimes(const Run &run);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_COMPUTEBYTIME_H
