// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_QUANTITY_H
#define NETC_LIB_TRACE_QUANTITY_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace netc::trace {

/// How numbers are written in a file.
struct NumberStyle {
  bool isDecimalComma = false; ///< 1.234,5 instead of 1,234.5

  /// By the first numbers of a text that tell; 1,234 alone is a thousand.
  static NumberStyle of(llvm::StringRef beginning);
};

/// A number of a table, with commas or points between thousands; a remark
/// behind it is left out, `12 (3; 9)`. None for `n/a`, `nan`, infinities and
/// all that is no number.
std::optional<double> numberIn(llvm::StringRef text, NumberStyle style = {});

/// What a unit with a prefix is in the unit without: `nsecond` 1e-9, `Kbyte`
/// 1e3, `cycle/usecond` 1e6. 1 for those that have none, `%` and `inst`.
double scaleOf(llvm::StringRef unit);

/// A length in nanoseconds, rounded; none if it does not fit.
std::optional<int64_t> nanosecondsIn(llvm::StringRef text,
                                     llvm::StringRef unit);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_QUANTITY_H
