// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_QUANTITY_H
#define NETC_LIB_TRACE_QUANTITY_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace netc::trace {

/// How a file writes numbers: as 1,234.5, or as 1.234,5 in much of Europe.
enum class NumberStyle { Point, Comma };

/// Parses a number of a table. Thousands may be separated by commas (points in
/// style Comma), spaces or apostrophes. A remark after the number is ignored:
/// `12 (3; 9)`. None for `n/a`, `nan`, infinities, a number in the other style,
/// and any other text.
std::optional<double> numberIn(llvm::StringRef text,
                               NumberStyle style = NumberStyle::Point);

/// The only style in which a text is a number. None if it is one in both
/// styles, such as 12 or 1,234, or in neither.
std::optional<NumberStyle> styleOf(llvm::StringRef text);

/// The factor of a unit's prefix: `nsecond` 1e-9, `Kbyte` 1e3, `cycle/usecond`
/// 1e6. Other units of time are converted to seconds: `min` 60. 1 for other
/// units, such as `%` and `inst`.
double scaleOf(llvm::StringRef unit);

/// Converts a duration to nanoseconds, rounded. None if `text` is no number, or
/// the result does not fit.
std::optional<int64_t> nanosecondsIn(llvm::StringRef text,
                                     llvm::StringRef unit);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_QUANTITY_H
