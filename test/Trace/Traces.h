// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NETC_TEST_TRACE_TRACES_H
#define NETC_TEST_TRACE_TRACES_H

#include "lib/Trace/Formats.h"

#include <gtest/gtest.h>

namespace netc::trace {

/// What is read; the test fails where nothing is.
inline Trace expectRead(llvm::Expected<Trace> trace, const std::string &name) {
  if (trace)
    return std::move(*trace);
  ADD_FAILURE() << name << ": " << llvm::toString(trace.takeError());
  return Trace();
}
inline Trace readText(const std::string &text) {
  return expectRead(read(*Source::of(text), TraceLimits()), "a text");
}

} // namespace netc::trace

#endif // NETC_TEST_TRACE_TRACES_H
