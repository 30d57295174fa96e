// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_DIAGNOSTICS_WARNINGS_H
#define NETC_LIB_DIAGNOSTICS_WARNINGS_H

#include <string>

namespace netc {

/// The figure beside which the report of a run shows a warning.
enum class Beside { Compute, ComputeByTime, Comparison, Utilization, Memory };

enum class WarningId {
#define WARNING(enumerator, id, figure, meaning) enumerator,
#include "lib/Diagnostics/Warnings.def"
};

struct WarningTraits {
  const char *id;
  Beside figure;
};
constexpr WarningTraits warningTraits[] = {
#define WARNING(enumerator, id, figure, meaning) {id, Beside::figure},
#include "lib/Diagnostics/Warnings.def"
};

/// A warning as reports show it.
struct Warning {
  /// Such as `impossible-time`; shown as `[-Wimpossible-time]`.
  std::string id;
  std::string about; ///< the network or run; empty if it is about neither
  std::string file;  ///< as printed in diagnostics; may be empty
  unsigned line = 0; ///< 1-based; 0 without a file
  std::string text;
};

} // namespace netc

#endif // NETC_LIB_DIAGNOSTICS_WARNINGS_H
