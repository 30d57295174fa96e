// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_NSIGHTCOMPUTE_H
#define NETC_LIB_TRACE_NSIGHTCOMPUTE_H

#include "lib/Trace/Quantity.h"
#include "lib/Trace/Trace.h"

namespace netc::trace {

/// The counter for a label in ncu's sections, such as `Duration`; the label
/// itself if it is not known.
llvm::StringRef metricOf(llvm::StringRef label);

/// Parses `(2, 66, 1)`; zeros if it is something else.
std::array<int64_t, 3> dimensionsIn(llvm::StringRef text);

/// Builds the counted kernels of a trace, counter by counter.
class CountedKernels {
public:
  explicit CountedKernels(Trace &trace) : trace(trace) {}

  /// Begins a kernel.
  CountedKernel &add(llvm::StringRef name);
  /// Adds a counter to the last kernel. Of several with one name the first is
  /// kept.
  ///
  /// Numbers are in the style of the first that has but one, 80.5 or 80,5.
  void count(llvm::StringRef label, llvm::StringRef unit,
             llvm::StringRef value);

private:
  /// A counter that is a number in both styles, and its value in the other.
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
