// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_QUANTITY_H
#define NETC_LIB_TRACE_QUANTITY_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace netc::trace {

/// How a file writes numbers: 1,234.5, or 1.234,5 as in much of Europe.
enum class NumberStyle { Point, Comma };

/// A number of a table, with separators between thousands: a comma or point,
/// spaces or apostrophes. A remark after it is ignored, `12 (3; 9)`. None for
/// `n/a`, `nan`, infinities, for numbers in the other style, and for any other
/// text.
std::optional<double> numberIn(llvm::StringRef text,
                               NumberStyle style = NumberStyle::Point);

/// The one style in which a text is a number. None of a text that is one in
/// both, such as 12 or 1,234, or in neither.
std::optional<NumberStyle> styleOf(llvm::StringRef text);

/// The factor of a unit's prefix: `nsecond` 1e-9, `Kbyte` 1e3, `cycle/usecond`
/// 1e6. 1 without a prefix, as for `%` and `inst`.
double scaleOf(llvm::StringRef unit);

/// A duration in nanoseconds, rounded; none if it does not fit.
std::optional<int64_t> nanosecondsIn(llvm::StringRef text,
                                     llvm::StringRef unit);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_QUANTITY_H
