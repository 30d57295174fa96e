// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_LIB_RUNTIME_STEPTRACE_H
#define NETC_LIB_RUNTIME_STEPTRACE_H

#include "lib/Program/Program.h"
#include "lib/Runtime/Train.h"

#include <string>

namespace netc::runtime {

/// The last step whose ops were timed as JSON; see program::traceOf.
std::string traceOf(const program::Program &program, const Training &training);

} // namespace netc::runtime

#endif // NETC_LIB_RUNTIME_STEPTRACE_H
