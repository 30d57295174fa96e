// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_HARDWARE_ASSUMPTION_H
#define NETC_LIB_HARDWARE_ASSUMPTION_H

#include "dialect/Rational.h"

#include <string>

namespace netc {

/// An assumption about a fact that a run does not state.
struct Assumption {
  std::string key;    ///< the key of the run that would state the fact
  std::string taken;  ///< the assumed value: "f16 on matrix units", "30 %"
  std::string reason; ///< why, and what else it could be
  /// The range of the factor by which the compute is wrong if the assumption
  /// is: low <= 1 <= high.
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
