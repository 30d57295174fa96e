// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_TRACE_EXECUTIONTRACE_H
#define NETC_LIB_TRACE_EXECUTIONTRACE_H

#include "lib/Trace/Trace.h"

namespace netc::trace {

/// Gives ops without shapes the inputs of the same ops in the PyTorch execution
/// trace of the same run. Ops are identified by the id of their record function
/// and their name. Returns the number of ops that got shapes.
size_t addShapes(Trace &trace, const Trace &execution);

} // namespace netc::trace

#endif // NETC_LIB_TRACE_EXECUTIONTRACE_H
