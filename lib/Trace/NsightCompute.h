// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_NSIGHTCOMPUTE_H
#define NETC_LIB_TRACE_NSIGHTCOMPUTE_H

#include "lib/Trace/Quantity.h"
#include "lib/Trace/Trace.h"

namespace netc::trace {

/// The counter that a label of ncu's sections stands for, `Duration`; the text
/// itself if it is none.
llvm::StringRef metricOf(llvm::StringRef label);

/// `(2, 66, 1)`; zeros if it is not that.
std::array<int64_t, 3> dimensionsIn(llvm::StringRef text);

/// Builds the kernels of a trace counter by counter.
class CountedKernels {
public:
  explicit CountedKernels(Trace &trace) : trace(trace) {}

  /// Begins a kernel.
  CountedKernel &add(llvm::StringRef name);
  /// Gives the last kernel a counter; of two of one name the first is kept.
  void count(llvm::StringRef label, llvm::StringRef unit, llvm::StringRef value,
             NumberStyle style = {});

private:
  Trace &trace;
};

} // namespace netc::trace

#endif // NETC_LIB_TRACE_NSIGHTCOMPUTE_H
