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

  /// Bytes of those that so many threads have, which run apart.
  int64_t of(int threads) const { return std::min(count, threads) * bytes; }
};

/// The processor, as far as this process may use it.
struct Machine {
  std::string cpu;
  int cores;   ///< physical ones that it may run on
  int threads; ///< that these, and a limit of its control group, suggest
  std::vector<program::Isa> isas; ///< that it has, from the baseline on

  static Machine detect();
};

/// Ends the program with status 3 if it needs an extension that is not there.
void checkIsa(const std::string &needed, const Machine &machine);

/// In hertz; 0 means unknown.
struct Clock {
  double hertz;       ///< the highest that the system states, else measured
  const char *source; ///< of `hertz`
  double measured;    ///< with one thread busy

  /// Takes what is higher: another program may have had the core before.
  void raise(const Clock &again);
};
Clock detectClock();

/// What one core does in a cycle with f32: FLOP of its FMA units (or, without
/// FMA, of its adder and multiplier) by manufacturer's documents, and what was
/// taken for granted about them.
struct VectorUnits {
  int flop;
  std::string assumed;
};
VectorUnits vectorUnits(program::Isa isa);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_MACHINE_H
