// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_HARDWARE_ASSUMPTION_H
#define NETC_LIB_HARDWARE_ASSUMPTION_H

#include "dialect/Rational.h"

#include <string>

namespace netc {

/// What is taken where a run says nothing.
struct Assumption {
  std::string key;    ///< of the run, which would have said it
  std::string taken;  ///< "f16 on matrix units", "30 %"
  std::string reason; ///< and where else it would lie
  /// What the compute is multiplied by if this is wrong: low <= 1 <= high.
  Rational low = 1, high = 1;

  bool operator==(const Assumption &other) const {
    return key == other.key && taken == other.taken && reason == other.reason &&
           low == other.low && high == other.high;
  }
};

inline llvm::hash_code hash_value(const Assumption &assumption) {
  return llvm::hash_combine(assumption.key, assumption.taken, assumption.reason,
                            assumption.low, assumption.high);
}

} // namespace netc

#endif // NETC_LIB_HARDWARE_ASSUMPTION_H
