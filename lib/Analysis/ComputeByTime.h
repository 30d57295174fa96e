// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_COMPUTEBYTIME_H
#define NETC_LIB_ANALYSIS_COMPUTEBYTIME_H

#include "lib/Analysis/Run.h"

namespace netc {

/// The compute of a run from the time that its hardware took, in the run's
/// conventions. If the specification gives the FLOP, what they follow from is
/// none.
struct ComputeByTime {
  Rational flop;
  Rational low, high; ///< FLOP, if all assumptions err to the same side
  std::optional<Rational> devices;
  std::optional<Rational> deviceHours; ///< of all devices
  std::optional<Rational> peak;        ///< FLOP/s of a device, dense
  std::string format;                  ///< of `peak`; empty if not known
  std::optional<Rational> utilization;
  /// What was assumed because the specification does not state it.
  std::vector<Assumption> defaults;
};

/// None unless the run states its FLOP, or its time or device-time and a peak
/// is known or assumed.
std::optional<ComputeByTime> computeByTimeOf(const Run &run);

/// The two methods, for a run that both apply to.
struct Comparison {
  Rational ratio;         ///< by time / counted matmul FLOP
  Rational geometricMean; ///< of both, in FLOP, to seven digits
  /// Usual causes of a ratio above 2 or below 1/2; else empty.
  std::vector<std::string> causes;
};

std::optional<Comparison> compareMethods(const Run &run);

/// Warns of reported times of `run` and its jobs that are impossible, and of
/// methods that differ much.
void warnOfTimes(const Run &run);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_COMPUTEBYTIME_H
