// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_KINETO_H
#define NETC_LIB_TRACE_KINETO_H

#include "lib/Trace/Source.h"

namespace netc::trace {

/// Reads what `export_chrome_trace` of torch.profiler writes, since 2021. The
/// memory it takes grows with the events that are kept, not with the file.
llvm::Expected<Trace> readKineto(Source &source, const TraceLimits &limits);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_KINETO_H
