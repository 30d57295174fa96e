// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_MACHINE_H
#define NETC_LIB_RUNTIME_MACHINE_H

#include "lib/Program/Isa.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace netc::runtime {

/// The caches of one level that this process may use.
struct Cache {
  int count;
  int64_t bytes; ///< of each

  /// Total size in bytes for `threads` threads, each on its own core.
  int64_t of(int threads) const { return std::min(count, threads) * bytes; }
};

/// The processor, as far as this process may use it.
struct Machine {
  std::string cpu;
  int cores;   ///< physical cores that this process may use
  int threads; ///< default number: `cores`, or fewer by the control group
  std::vector<program::Isa> isas; ///< supported ones, in ascending order

  /// Detects the processor. Never fails.
  static Machine detect();
};

/// Throws a Failure with status 3 if the machine lacks the ISA `needed`.
void checkIsa(const std::string &needed, const Machine &machine);

/// The clock rate of the processor, in hertz.
struct Clock {
  /// The highest that the system states, or else the measured one; 0 if
  /// unknown.
  double hertz = 0;
  const char *source = "unknown"; ///< of `hertz`
  double measured = 0;            ///< with one busy thread

  /// Keeps the higher rate of two measurements, since other programs can only
  /// lower the rate.
  void raise(const Clock &again);
};
/// Reads the stated clock rate, and measures the actual one for a few
/// milliseconds. Unknown rates are 0.
Clock detectClock();

/// The f32 FLOP per cycle of a core, by the manufacturer's documents: of its
/// FMA units, or without FMA of an adder and a multiplier. `assumed` names the
/// units.
struct VectorUnits {
  int flop;
  std::string assumed;
};
VectorUnits vectorUnits(program::Isa isa);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_MACHINE_H
