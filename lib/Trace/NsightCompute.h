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
  void count(llvm::StringRef label, llvm::StringRef unit, llvm::StringRef value,
             NumberStyle style = {});

private:
  Trace &trace;
};

} // namespace netc::trace

#endif // NETC_LIB_TRACE_NSIGHTCOMPUTE_H
