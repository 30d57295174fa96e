// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_NSIGHTCOMPUTE_H
#define NETC_LIB_TRACE_NSIGHTCOMPUTE_H

#include "lib/Trace/Quantity.h"
#include "lib/Trace/Trace.h"

namespace netc::trace {

/// The counter that ncu's sections label so: `gpu__time_duration.sum` for
/// `Duration`. An unknown label is returned as it is.
llvm::StringRef metricOf(llvm::StringRef label);

/// Parses the size of a grid or block, `(2, 66, 1)`. Zeros for other text.
std::array<int64_t, 3> dimensionsIn(llvm::StringRef text);

/// Adds counted kernels to a trace, counter by counter.
class CountedKernels {
public:
  explicit CountedKernels(Trace &trace) : trace(trace) {}

  /// Adds a kernel, which gets the counters that follow.
  CountedKernel &add(llvm::StringRef name);
  /// Adds a counter to the last kernel, unless it has one of that name. The
  /// first number that is valid in only one style, 80.5 or 80,5, decides the
  /// style of all.
  void count(llvm::StringRef label, llvm::StringRef unit,
             llvm::StringRef value);

private:
  /// A counter that is a number in both styles, and its value in style Comma.
  struct Ambiguous {
    uint32_t counter; ///< index into Trace::counters
    double value;
  };

  Trace &trace;
  std::optional<NumberStyle> style;
  std::vector<Ambiguous> ambiguous; ///< until the style is known
};

} // namespace netc::trace

#endif // NETC_LIB_TRACE_NSIGHTCOMPUTE_H
