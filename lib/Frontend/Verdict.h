// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_FRONTEND_VERDICT_H
#define NETC_LIB_FRONTEND_VERDICT_H

#include "dialect/Rational.h"
#include <string>
#include <variant>
#include <vector>

namespace netc {

/// A side of an `expect`.
struct ExpectSide {
  std::string text; ///< rounded, in a unit of readable size
  /// The number, or the ends of a range, in base units. Empty if it is no
  /// number.
  std::vector<std::variant<Rational, double>> numbers;
  std::string unit; ///< of the numbers; empty if they have none
};

/// The verdict on one `expect`.
struct Verdict {
  std::string text;    ///< as written
  std::string file;    ///< as printed in diagnostics
  unsigned line;       ///< 1-based
  std::string trace;   ///< the trace that was asked, if there are several
  ExpectSide value;    ///< the computed side
  ExpectSide expected; ///< the expected side
  bool holds = false;
};

} // namespace netc

#endif // NETC_LIB_FRONTEND_VERDICT_H
