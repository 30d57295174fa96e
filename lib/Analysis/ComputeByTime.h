// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_ANALYSIS_COMPUTEBYTIME_H
#define NETC_LIB_ANALYSIS_COMPUTEBYTIME_H

#include "lib/Analysis/Run.h"

namespace netc {

/// The compute of a run by the time that its hardware took, in the conventions
/// of the run. What led there is none where the specification gives the FLOP
/// themselves.
struct ComputeByTime {
  Rational flop;
  Rational low, high; ///< FLOP, if all that was assumed is wrong one way
  std::optional<Rational> devices;
  std::optional<Rational> deviceHours; ///< of all devices
  std::optional<Rational> peak;        ///< FLOP/s of a device, dense
  std::string format; ///< the number format of `peak`; empty if not known
  std::optional<Rational> utilization;
  /// What was assumed where the specification says nothing.
  std::vector<Assumption> defaults;
};

/// Of a run that gives its time or device-time, and of which a peak is known or
/// assumed, or that gives its FLOP; else none.
std::optional<ComputeByTime> computeByTimeOf(const Run &run);

/// Both methods side by side, of a run that both can be applied to.
struct Comparison {
  Rational ratio;         ///< by time over counted matmul FLOP
  Rational geometricMean; ///< of both, FLOP, to seven digits
  /// What usually is behind a ratio above 2, or below 1/2; else empty.
  std::vector<std::string> causes;
};

std::optional<Comparison> compareMethods(const Run &run);

/// Warns, where `run` and its jobs say how long they took, of what cannot be,
/// and where the two methods are far apart.
void warnOfTimes(const Run &run);

} // namespace netc

#endif // NETC_LIB_ANALYSIS_COMPUTEBYTIME_H
