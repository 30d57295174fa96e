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

/// The caches of one level that a process may use.
struct Cache {
  int count;
  int64_t bytes; ///< of each

  /// Bytes that `threads` threads have together, each on a core of its own.
  int64_t of(int threads) const { return std::min(count, threads) * bytes; }
};

/// The processor, as far as this process may use it.
struct Machine {
  std::string cpu;
  int cores;   ///< physical cores that this process may run on
  int threads; ///< to use by default: `cores`, or less by its control group
  std::vector<program::Isa> isas; ///< supported ones, from the baseline on

  static Machine detect();
};

/// Throws a Failure with status 3 if the machine lacks the ISA `needed`.
void checkIsa(const std::string &needed, const Machine &machine);

/// In hertz; 0 means unknown.
struct Clock {
  double hertz;       ///< the highest that the system states, else measured
  const char *source; ///< of `hertz`
  double measured;    ///< with one thread busy

  /// Keeps the higher of two measurements: other programs only lower them.
  void raise(const Clock &again);
};
Clock detectClock();

/// f32 FLOP that one core executes per cycle, by the manufacturer's documents:
/// of its FMA units, or without FMA of its adder and multiplier. `assumed` says
/// which units were assumed.
struct VectorUnits {
  int flop;
  std::string assumed;
};
VectorUnits vectorUnits(program::Isa isa);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_MACHINE_H
